/**
 * Changes as they are listed: short, and fit for a terminal.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"
import type { FieldChange, RecordChange } from "../../services/ContentDiff.ts"
import { compareFields, type EntryChange, type ValueChange, withoutLinks } from "./compareDocuments.ts"
import type { Tables } from "./readTables.ts"

/** Characters of a value, and of a name or an id. */
const maxText = 120
/** How many fields of a record are listed. */
const maxFields = 10
/** How many characters before the first difference are shown of a long text. */
const context = 20

/** A change of a record or of a key, as it is listed. It may rest inside a record of many fields. */
export function* recordChange(holds: Tables["holds"], entry: EntryChange): Generator<void, RecordChange> {
  const { after, before, change } = entry
  const id = printableLine(entry.id, maxText)
  if (holds === "keys") {
    return { id, change, ...valueTexts(valuesOf(entry)) }
  }
  const name = Option.match(nameOf(after ?? before), { onNone: () => ({}), onSome: (name) => ({ name }) })
  const fields = change === "changed" ? yield* compareFields(before, after) : []
  const more = fields.length - maxFields
  return {
    id,
    ...name,
    change,
    ...(change === "changed" ? { fields: fields.slice(0, maxFields).map(fieldChange) } : {}),
    ...(more > 0 ? { moreFields: more } : {})
  }
}

const valuesOf = ({ after, before, change }: EntryChange): Omit<ValueChange, "field"> => ({
  ...(change === "added" ? {} : { from: before }),
  ...(change === "removed" ? {} : { to: after })
})

const fieldChange = ({ field, ...values }: ValueChange): FieldChange => ({
  field: printableLine(field, maxText),
  ...valueTexts(values)
})

const valueTexts = (values: Omit<ValueChange, "field">): Omit<FieldChange, "field"> => {
  const from = "from" in values ? textOf(values.from) : undefined
  const to = "to" in values ? textOf(values.to) : undefined
  const start = from === undefined || to === undefined ? 0 : startOfDifference(from, to)
  return {
    ...(from === undefined ? {} : { from: cut(from, start) }),
    ...(to === undefined ? {} : { to: cut(to, start) })
  }
}

const textOf = (value: unknown): string => JSON.stringify(withoutLinks(value))

const cut = (text: string, start: number): string =>
  printableLine(start === 0 ? text : `…${text.slice(start)}`, maxText)

/** Where two texts are shown from: where one is long, shortly before they begin to differ. */
const startOfDifference = (one: string, other: string): number => {
  if (Math.max(one.length, other.length) <= maxText) return 0
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  return Math.max(0, same - context)
}

const isName = /^(name|title|label)$/i

/** The text that people know a record by. */
const nameOf = (record: unknown): Option.Option<string> => {
  const found = Predicate.isReadonlyRecord(record)
    ? Object.entries(record).find(([field, value]) => isName.test(field) && Predicate.isString(value))
    : undefined
  return Option.map(Option.fromNullable(found), ([, value]) => printableLine(String(value), maxText))
}
