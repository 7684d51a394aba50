/**
 * Key/value tables, as one object.
 *
 * It owns how the columns `key` and `value` are read. Other columns are notes.
 */

import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { type Code, type Fields, type Mistake, mistake } from "../../internal/mistake.ts"
import type { RowPlace } from "../../internal/mistakeParts.ts"
import { excerpt } from "../../internal/printable.ts"
import type { TableRecord } from "../../services/TableSourceClient.ts"
import type { Warning } from "../../services/Warning.ts"
import { withinBudget } from "./budget.ts"
import { fill } from "./jsonValues.ts"
import { nameKey, nameWarnings } from "./names.ts"
import { warn } from "./warnings.ts"

export interface KeyValues {
  /** The values by key, all keys sorted. */
  readonly value: Readonly<Record<string, unknown>>
  /** The id of the record of a key. Without an index, of the record in which its list first occurs. */
  readonly recordOf: (key: string) => string | undefined
  /** The rows that were left out, and why: one message for each kind of mistake. */
  readonly warnings: ReadonlyArray<Warning>
}

/** The last item of an array is `name[9999]`. */
const maxIndex = 9999

/**
 * Builds the object of a key/value table. Messages name its rows by their ids, or as `rowOf` says.
 *
 * - `"true"` and `"false"` become booleans, and text becomes a number if the number is written exactly so;
 *   every other value stays as it is. An empty cell is `null`.
 * - `name[0]`, `name[1]`, … become an array `name`; what is missing between them is `null`.
 * - Capitals and invisible characters in the names of the two columns do not count.
 * - A row without a key is left out, and the last of several rows with one key counts, both with a warning.
 *
 * Fails if a column is missing, if a key is used for a value and for an array, or if an array would be too long. Throws
 * `Refused`.
 */
export const keyValues = (
  records: ReadonlyArray<TableRecord>,
  rowOf: (id: string) => RowPlace = (id) => ({ id: excerpt(id) })
): Either.Either<KeyValues, Mistake> => {
  const entries = new Map<string, Entry>()
  const withoutKey: Array<string> = []
  const repeated = new Map<string, Array<string>>()
  const repeats = (key: string, first: string | undefined, id: string) =>
    repeated.set(key, [...(repeated.get(key) ?? [first ?? ""]), id].slice(-maxNamed))
  const failed = <C extends Code>(code: C, ...fields: Fields[C]) => Either.left(mistake(code, {}, ...fields))
  const columns = new Set(records.flatMap(({ fields }) => Object.keys(fields)))
  const named = (wanted: string): string =>
    columns.has(wanted) ? wanted : ([...columns].find((column) => nameKey(column) === wanted) ?? wanted)
  const [keyColumn, valueColumn] = [named("key"), named("value")]
  const lacking = [keyColumn, valueColumn].find((column) => !columns.has(column))
  if (lacking !== undefined && [...columns].some((column) => column !== keyColumn)) {
    return failed("keys:column", { missing: lacking, columns: [...columns].slice(0, 10) })
  }

  for (const { fields, id } of records) {
    const key = keyOf(cell(fields, keyColumn))
    if (key === "") {
      withoutKey.push(id)
      continue
    }
    const value = coerce(cell(fields, valueColumn))
    const { index, name } = placeOf(key)
    if (index !== undefined && index > maxIndex) {
      return failed("keys:index", { key, at: rowOf(id), last: `${name}[${maxIndex}]` })
    }
    const earlier = entries.get(name)
    if (earlier !== undefined && (earlier.items === undefined) !== (index === undefined)) {
      return failed("keys:both", { key: name, at: [earlier.id, id].map(rowOf) })
    }
    if (index === undefined) {
      if (earlier !== undefined) repeats(key, earlier.id, id)
      entries.set(name, { id, value })
    } else {
      const items = earlier?.items ?? new Map<number, Item>()
      if (items.has(index)) repeats(key, items.get(index)?.id, id)
      entries.set(name, { id: earlier?.id ?? id, items: items.set(index, { id, value }) })
    }
  }

  withinBudget(
    "written",
    [...entries.values()].reduce((sum, entry) => sum + lengthOf(entry), 0)
  )

  const at = withoutKey.slice(0, maxNamed).map(rowOf)
  return Either.right({
    value: fill(
      {},
      Object.fromEntries(Array.from(entries, ([name, entry]) => [name, valueOf(entry)])),
      [...entries.keys()].sort()
    ),
    recordOf: (key) => {
      const { index, name } = placeOf(key)
      return index === undefined ? entries.get(name)?.id : entries.get(name)?.items?.get(index)?.id
    },
    warnings: [
      ...(withoutKey.length === 0 ? [] : [warn("keys:missing", "", { at, count: withoutKey.length })]),
      ...[...repeated]
        .slice(0, maxNamed)
        .map(([key, ids]) => warn("keys:twice", "", { key, at: ids.map(rowOf) })),
      ...nameWarnings("column", columns)
    ]
  })
}

/** The content of a key: a value, or the items of an array by their index. */
interface Entry {
  /** The record in which the key first occurs. */
  readonly id: string
  readonly value?: unknown
  readonly items?: Map<number, Item>
}

interface Item {
  readonly id: string
  readonly value: unknown
}

/** The most named keys, and the most named rows of each. */
const maxNamed = 5

/** Fields that every object inherits are no cells. */
const cell = (fields: TableRecord["fields"], name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

const keyOf = (key: unknown): string =>
  Predicate.isString(key) ? key : Predicate.isNumber(key) ? String(key) : ""

const itemKey = /^(?<name>.+)\[(?<index>0|[1-9]\d*)\]$/s

const placeOf = (key: string): { readonly name: string; readonly index?: number } => {
  const { index, name } = itemKey.exec(key)?.groups ?? {}
  return index === undefined || name === undefined ? { name: key } : { name, index: Number(index) }
}

const coerce = (value: unknown): unknown => {
  if (value === undefined) return null
  if (!Predicate.isString(value)) return value
  if (value === "true") return true
  if (value === "false") return false
  const number = Number(value)
  return Number.isFinite(number) && String(number) === value ? number : value
}

/** The number of items of its array. */
const lengthOf = ({ items }: Entry): number => (items === undefined ? 0 : Math.max(...items.keys()) + 1)

const valueOf = (entry: Entry): unknown =>
  entry.items === undefined
    ? entry.value
    : Array.from({ length: lengthOf(entry) }, (_, index) => entry.items?.get(index)?.value ?? null)
