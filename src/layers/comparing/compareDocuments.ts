/**
 * Finds the differences of two documents: records by their ids, fields by their names.
 *
 * The order of records and of names in objects does not matter. A saved attachment counts as its file, because its
 * links change in every response.
 */
import * as Array from "effect/Array"
import * as Predicate from "effect/Predicate"
import type { ChangeKind } from "../../services/ContentDiff.ts"

/** A record with its id, or a key with its value. */
export type Entry = readonly [id: string, value: unknown]

/** Some entries of each of two documents. Equal entries may be missing from both. */
export interface Batch {
  readonly before: ReadonlyArray<Entry>
  readonly after: ReadonlyArray<Entry>
}

/** A change of a record or a key, with its old and its new value. */
export interface EntryChange {
  readonly id: string
  readonly change: ChangeKind
  readonly before?: unknown
  readonly after?: unknown
}

/** A changed field. `from` or `to` is missing if the field had no value. */
export interface ValueChange {
  readonly field: string
  readonly from?: unknown
  readonly to?: unknown
}

/**
 * Compares two documents that come in batches: each batch gives changed entries, the end gives added and removed ones.
 * An entry waits in memory for the entry of the same id; few wait if both documents have about the same order. Throws
 * if two entries of a document have the same id.
 */
export const makeComparison = () => {
  const before = new Map<string, unknown>()
  const after = new Map<string, unknown>()

  const wait = (entries: Map<string, unknown>, id: string, value: unknown) => {
    if (entries.has(id)) throw new Error("Two records have the same key.")
    entries.set(id, value)
  }

  return {
    add: (batch: Batch): ReadonlyArray<EntryChange> => {
      const changes: Array<EntryChange> = []
      for (const [id, value] of batch.before) wait(before, id, value)
      for (const [id, value] of batch.after) wait(after, id, value)
      for (const [id] of [...batch.after, ...batch.before]) {
        if (before.has(id) && after.has(id)) {
          const [old, recent] = [before.get(id), after.get(id)]
          if (!isSame(old, recent)) changes.push({ id, change: "changed", before: old, after: recent })
          before.delete(id)
          after.delete(id)
        }
      }
      return changes
    },

    /** The entries without a counterpart. */
    end: (): ReadonlyArray<EntryChange> => [
      ...Array.fromIterable(after).map(([id, after]): EntryChange => ({ id, change: "added", after })),
      ...Array.fromIterable(before).map(([id, before]): EntryChange => ({ id, change: "removed", before }))
    ]
  }
}

/** The fields that differ in two records. Yields after each thousand fields. */
export function* compareFields(before: unknown, after: unknown): Generator<void, ReadonlyArray<ValueChange>> {
  const [old, recent] = [recordOf(before), recordOf(after)]
  const names = [...Object.keys(recent), ...Object.keys(old).filter((name) => !Object.hasOwn(recent, name))]
  const changes: Array<ValueChange> = []
  for (const [index, field] of names.entries()) {
    if (index % 1000 === 999) yield
    const isOld = Object.hasOwn(old, field)
    const isRecent = Object.hasOwn(recent, field)
    if (isOld && isRecent && isSame(old[field], recent[field])) continue
    changes.push({
      field,
      ...(isOld ? { from: old[field] } : {}),
      ...(isRecent ? { to: recent[field] } : {})
    })
  }
  return changes
}

const recordOf = (value: unknown) => (Predicate.isReadonlyRecord(value) ? value : {})

/** Recurses as deep as the JSON is. Copying without links and `isDeepStrictEqual` take four times as long. */
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

/** Replaces each saved attachment by the path of its file. */
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
