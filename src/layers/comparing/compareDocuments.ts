/**
 * What is different in two documents: records by their ids, fields by their names.
 *
 * The order of records, and that of names in objects, make no difference. A saved attachment is its file: its links change
 * at every listing.
 */
import * as Array from "effect/Array"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { ChangeKind } from "../../services/ContentDiff.ts"

/** The records of a table by their ids, or the values of a key/value table by their keys. */
export interface Document {
  readonly holds: "records" | "keys"
  readonly ids: ReadonlyArray<string>
  readonly has: (id: string) => boolean
  /** It may be parsed at each call. */
  readonly valueOf: (id: string) => unknown
  /** Of a document that is not parsed: equal texts are equal values. */
  readonly textOf?: (id: string) => string
}

/** What became of a record or a key, with the values that it had and has. */
export interface EntryChange {
  readonly id: string
  readonly change: ChangeKind
  readonly before?: unknown
  readonly after?: unknown
}

/** A field that has changed. `from` and `to` are missing where it had no value. */
export interface ValueChange {
  readonly field: string
  readonly from?: unknown
  readonly to?: unknown
}

export const emptyDocument = (holds: Document["holds"]): Document => ({
  holds,
  ids: [],
  has: () => false,
  valueOf: () => undefined
})

/** All ids of two documents: in the order of the later one, then those that are in the other one only. */
export const allIds = (before: Document, after: Document): ReadonlyArray<string> => [
  ...after.ids,
  ...before.ids.filter((id) => !after.has(id))
]

/** What became of a record or a key of one of the documents; `None` where it is the same. */
export const compareEntry = (before: Document, after: Document, id: string): Option.Option<EntryChange> => {
  if (!before.has(id)) {
    return Option.some({ id, change: "added", after: after.valueOf(id) })
  }
  if (!after.has(id)) {
    return Option.some({ id, change: "removed", before: before.valueOf(id) })
  }
  if (hasSameText(before, after, id)) {
    return Option.none()
  }
  const values = { before: before.valueOf(id), after: after.valueOf(id) }
  return isSame(values.before, values.after)
    ? Option.none()
    : Option.some({ id, change: "changed", ...values })
}

const hasSameText = (before: Document, after: Document, id: string): boolean =>
  before.textOf !== undefined && after.textOf !== undefined && before.textOf(id) === after.textOf(id)

/** The fields that are different in two records. */
export const compareFields = (before: unknown, after: unknown): ReadonlyArray<ValueChange> => {
  const [old, recent] = [recordOf(before), recordOf(after)]
  const names = [...Object.keys(recent), ...Object.keys(old).filter((name) => !Object.hasOwn(recent, name))]
  return Array.filterMap(names, (field) => {
    const isOld = Object.hasOwn(old, field)
    const isRecent = Object.hasOwn(recent, field)
    return isOld && isRecent && isSame(old[field], recent[field])
      ? Option.none()
      : Option.some({
          field,
          ...(isOld ? { from: old[field] } : {}),
          ...(isRecent ? { to: recent[field] } : {})
        })
  })
}

const recordOf = (value: unknown) => (Predicate.isReadonlyRecord(value) ? value : {})

/** As deep as JSON is. Copies without links, compared with `isDeepStrictEqual`, take four times as long. */
const isSame = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (globalThis.Array.isArray(one)) {
    return (
      globalThis.Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSame(item, other[index]))
    )
  }
  if (!Predicate.isReadonlyRecord(one) || !Predicate.isReadonlyRecord(other)) return false
  if (Predicate.isString(one.localPath)) return one.localPath === other.localPath
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

/** A value with the path of its file in the place of each saved attachment. */
export const withoutLinks = (value: unknown): unknown => {
  if (globalThis.Array.isArray(value)) {
    return value.map(withoutLinks)
  }
  if (!Predicate.isReadonlyRecord(value)) {
    return value
  }
  return Predicate.isString(value.localPath)
    ? value.localPath
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutLinks(part)]))
}
