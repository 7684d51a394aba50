/**
 * Texts of changes for lists: short, and safe for a terminal.
 */

import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"
import type { FieldChange, RecordChange } from "../../services/ContentDiff.ts"
import { compareFields, type EntryChange, type ValueChange, withoutLinks } from "./compareDocuments.ts"
import type { Tables } from "./readTables.ts"

/** The longest value, name or id, in characters. */
const maxText = 120
/** How many fields of a record are listed. */
const maxFields = 10
/** How many characters of a long text come before the first difference. */
const context = 20

/** Describes a change of a record or of a key. Yields after some work, because a record may have many fields. */
export function* recordChange(holds: Tables["holds"], entry: EntryChange): Generator<void, RecordChange> {
  const { after, before, change } = entry
  const id = printableLine(entry.id, maxText)
  if (holds === "keys") {
    return { id, change, ...valueTexts(valuesOf(entry)) }
  }
  const fields = change === "changed" ? yield* compareFields(before, after) : undefined
  const more = (fields?.length ?? 0) - maxFields
  return {
    id,
    change,
    name: nameOf(after ?? before),
    fields: fields?.slice(0, maxFields).map(fieldChange),
    moreFields: more > 0 ? more : undefined
  }
}

const valuesOf = ({ after, before, change }: EntryChange): Omit<ValueChange, "field"> => ({
  from: change === "added" ? undefined : before,
  to: change === "removed" ? undefined : after
})

const fieldChange = ({ field, ...values }: ValueChange): FieldChange => ({
  field: printableLine(field, maxText),
  ...valueTexts(values)
})

const valueTexts = (values: Omit<ValueChange, "field">): Omit<FieldChange, "field"> => {
  const short = [values.from, values.to].map(textOf)
  // The paths of two files may be equal where, for example, their sizes are not.
  const [from, to] = short[0] === short[1] ? [JSON.stringify(values.from), JSON.stringify(values.to)] : short
  const start = from === undefined || to === undefined ? 0 : startOfDifference(from, to)
  return { from: from && cut(from, start), to: to && cut(to, start) }
}

const textOf = (value: unknown): string | undefined => JSON.stringify(withoutLinks(value))

const cut = (text: string, start: number): string =>
  printableLine(start === 0 ? text : `…${text.slice(start)}`, maxText)

/** Where the excerpts of two texts begin: in long texts, shortly before the first difference. */
const startOfDifference = (one: string, other: string): number => {
  if (Math.max(one.length, other.length) <= maxText) return 0
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  return Math.max(0, same - context)
}

const isName = /^(name|title|label)$/i

/** The text by which people know a record. */
const nameOf = (record: unknown): string | undefined => {
  const found = Predicate.isReadonlyRecord(record)
    ? Object.entries(record).find(([field, value]) => isName.test(field) && Predicate.isString(value))
    : undefined
  return found && printableLine(String(found[1]), maxText)
}
