/**
 * What is different between two states of a table, in the shapes of the payloads of webhooks.
 *
 * Records are told apart by their ids. A record whose id comes from its first cell is destroyed and another one created
 * when that cell is edited, and so is a table or a field that is renamed. The order of records is no change.
 */
import { isDeepStrictEqual } from "node:util"
import * as Arr from "effect/Array"
import { fieldId, tableId } from "./identifiers.ts"
import { type Field, fieldsOf, type ServedRecord, type Table } from "./Table.ts"

export type DataType = "tableData" | "tableFields" | "tableMetadata"

export interface TableChange {
  /** Which webhooks are to have it: those that watch this. Absent for all. */
  readonly dataType?: DataType
  readonly body: ChangeBody
}

/** One key of these. */
export interface ChangeBody {
  readonly createdTablesById?: ById<object>
  readonly destroyedTableIds?: ReadonlyArray<string>
  readonly changedTablesById?: ById<object>
}

type ById<A> = Readonly<Record<string, A>>

/** How many records one payload has at most; the rest goes into the next. */
export const maxRecords = 100

/** What makes the second of the first. A table that is `undefined` is not there. Nothing where both are the same. */
export const changesBetween = (
  before: Table | undefined,
  after: Table | undefined
): ReadonlyArray<TableChange> => {
  if (after === undefined) {
    return before === undefined ? [] : [{ body: { destroyedTableIds: [tableId(before.name)] } }]
  }
  const own = before === undefined ? [created(after)] : fieldChanges(before, after)
  return [...own, ...recordChanges(before?.records ?? [], after)]
}

/** A table as it is created: its records come after it. */
const created = (table: Table): TableChange => ({
  body: {
    createdTablesById: {
      [tableId(table.name)]: {
        metadata: { name: table.name, description: null },
        fieldsById: byId(fieldsOf(table)),
        recordsById: {}
      }
    }
  }
})

const fieldChanges = (before: Table, after: Table): ReadonlyArray<TableChange> => {
  const added = fieldsOf(after).filter(({ name }) => !before.fieldNames.includes(name))
  const removed = before.fieldNames.filter((name) => !after.fieldNames.includes(name))
  const change = {
    ...(added.length > 0 && { createdFieldsById: byId(added) }),
    ...(removed.length > 0 && { destroyedFieldIds: removed.map((name) => fieldId(after.name, name)) })
  }
  return added.length + removed.length === 0
    ? []
    : [{ dataType: "tableFields", body: { changedTablesById: { [tableId(after.name)]: change } } }]
}

const byId = (fields: ReadonlyArray<Field>): ById<Omit<Field, "id">> =>
  Object.fromEntries(fields.map(({ id, ...field }) => [id, field]))

const recordChanges = (
  before: ReadonlyArray<ServedRecord>,
  { name, records }: Table
): ReadonlyArray<TableChange> => {
  const known = new Map(before.map((record) => [record.id, record]))
  const present = new Set(records.map(({ id }) => id))
  const changes: ReadonlyArray<RecordChange> = [
    ...before.flatMap(({ id }) => (present.has(id) ? [] : [{ kind: "destroyed", id } as const])),
    ...records.flatMap((record) => changeOf(name, known.get(record.id), record))
  ]
  return Arr.chunksOf(changes, maxRecords).map((some) => ({
    dataType: "tableData",
    body: { changedTablesById: { [tableId(name)]: collect(some) } }
  }))
}

type RecordChange =
  | { readonly kind: "destroyed"; readonly id: string }
  | { readonly kind: "created" | "changed"; readonly id: string; readonly value: object }

/** The cells that have changed; those that are empty now are `null`. */
const changeOf = (
  table: string,
  before: ServedRecord | undefined,
  { createdTime, fields, id }: ServedRecord
): ReadonlyArray<RecordChange> => {
  if (before === undefined) {
    const cellValuesByFieldId = byFieldId(table, Object.entries(fields))
    return [{ kind: "created", id, value: { createdTime, cellValuesByFieldId } }]
  }
  if (before.fields === fields) {
    return []
  }
  const cells = [...new Set([...Object.keys(before.fields), ...Object.keys(fields)])]
    .map((field) => [field, cellOf(fields, field)] as const)
    .filter(([field, cell]) => !isDeepStrictEqual(cell, cellOf(before.fields, field)))
  const current = { cellValuesByFieldId: byFieldId(table, cells) }
  return cells.length === 0 ? [] : [{ kind: "changed", id, value: { current } }]
}

const cellOf = (fields: ServedRecord["fields"], field: string): unknown =>
  Object.hasOwn(fields, field) ? fields[field] : null

const byFieldId = (table: string, cells: ReadonlyArray<readonly [field: string, cell: unknown]>) =>
  Object.fromEntries(cells.map(([field, cell]) => [fieldId(table, field), cell]))

const collect = (changes: ReadonlyArray<RecordChange>): object => {
  const of = (kind: "created" | "changed") =>
    changes.flatMap((change) => (change.kind === kind ? [[change.id, change.value] as const] : []))
  const [created, changed] = [of("created"), of("changed")]
  const destroyed = changes.flatMap(({ id, kind }) => (kind === "destroyed" ? [id] : []))
  return {
    ...(created.length > 0 && { createdRecordsById: Object.fromEntries(created) }),
    ...(changed.length > 0 && { changedRecordsById: Object.fromEntries(changed) }),
    ...(destroyed.length > 0 && { destroyedRecordIds: destroyed })
  }
}
