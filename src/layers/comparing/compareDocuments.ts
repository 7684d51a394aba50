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

/** A record with its id, or a key with its value. */
export type Entry = readonly [id: string, value: unknown]

/** Some entries of each of two documents. Those that are equal may be left out of both. */
export interface Batch {
  readonly before: ReadonlyArray<Entry>
  readonly after: ReadonlyArray<Entry>
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

/**
 * What is different in two documents that come in batches: of each batch what has changed, then all that was added or removed. Entries wait
 * in memory for those of the same id: few do where both documents have about the same order.
 */
export function* compareBatches(batches: Iterable<Batch>): Generator<ReadonlyArray<EntryChange>> {
  const before = new Map<string, unknown>()
  const after = new Map<string, unknown>()
  for (const batch of batches) {
    const changes: Array<EntryChange> = []
    const compare = (id: string, before: unknown, after: unknown) => {
      if (!isSame(before, after)) changes.push({ id, change: "changed", before, after })
    }
    for (const [index, [id, value]] of batch.after.entries()) {
      const [otherId, other] = batch.before[index] ?? []
      if (id === otherId) {
        compare(id, other, value)
      } else {
        after.set(id, value)
        if (otherId !== undefined) before.set(otherId, other)
      }
    }
    for (const [id, value] of batch.before.slice(batch.after.length)) before.set(id, value)
    for (const [id] of [...batch.after, ...batch.before]) {
      if (before.has(id) && after.has(id)) {
        compare(id, before.get(id), after.get(id))
        before.delete(id)
        after.delete(id)
      }
    }
    yield changes
  }
  yield Array.fromIterable(after).map(([id, after]) => ({ id, change: "added", after }))
  yield Array.fromIterable(before).map(([id, before]) => ({ id, change: "removed", before }))
}

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
