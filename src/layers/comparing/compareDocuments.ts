/**
 * Finds the differences of two documents: records by their ids, fields by their names.
 *
 * The order of records and of names in objects does not matter, and neither does what a vendor changes by itself: the
 * signatures of links, and all links of an attachment.
 */
import * as Array from "effect/Array"
import * as Predicate from "effect/Predicate"
import type { ChangeKind } from "../../services/ContentDiff.ts"
import { type JsonObject, mapParts } from "../documents/jsonValues.ts"
import { withoutSignatures } from "../documents/media/links.ts"
import { isReplacement } from "../documents/media/placeMedia.ts"

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
      from: isOld ? old[field] : undefined,
      to: isRecent ? recent[field] : undefined
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
  if (Predicate.isString(one))
    return Predicate.isString(other) && withoutSignatures(one) === withoutSignatures(other)
  if (!Predicate.isReadonlyRecord(one) || !Predicate.isReadonlyRecord(other)) return false
  const names = lastingNames(one)
  return (
    names.length === lastingNames(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

/** Attachments of tables get new links at every listing. */
const lastingNames = (object: JsonObject): ReadonlyArray<string> => {
  const names = Object.keys(object)
  return isAttachment(object) ? names.filter((name) => name !== "url" && name !== "thumbnails") : names
}

const isAttachment = ({ filename, id, localPath }: JsonObject): boolean =>
  Predicate.isString(id) &&
  Predicate.isString(filename) &&
  Predicate.isString(localPath) &&
  localPath.startsWith("attachments/")

/** Replaces attachments and replaced links by the paths of their files, and removes signatures of links. */
export const withoutLinks = (value: unknown): unknown => {
  if (Predicate.isString(value)) return withoutSignatures(value)
  return Predicate.isReadonlyRecord(value) && (isAttachment(value) || isReplacement(value))
    ? value.localPath
    : mapParts(value, withoutLinks)
}
