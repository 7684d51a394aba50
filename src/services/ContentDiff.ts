/**
 * The differences between two versions: the result of `content.diff`.
 */
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"
import { KeptSource, VersionId } from "./VersionStore.ts"

const counter = Schema.NonNegativeInt

/**
 * Counts of differences.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Changes = Schema.Struct({ added: counter, changed: counter, removed: counter })
export type Changes = typeof Changes.Type

/**
 * What happened to a record, a key or a file.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ChangeKind = Schema.Literal("added", "changed", "removed")
export type ChangeKind = typeof ChangeKind.Type

/**
 * A value before and after, each as JSON text on one line of 120 characters at most; missing if there was no value.
 * An attachment is its `localPath`. Long texts start with `…`, shortly before the first difference.
 */
const valueChange = {
  from: optional(Schema.String),
  to: optional(Schema.String)
}

/**
 * A field of a record that has changed.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FieldChange = Schema.Struct({ field: Schema.String, ...valueChange })
export type FieldChange = typeof FieldChange.Type

/**
 * A record by its id, or a key of a key/value table.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RecordChange = Schema.Struct({
  id: Schema.String,
  /** What people call the record: the text of its field `name`, `title` or `label`. Missing if it has none. */
  name: optional(Schema.String),
  change: ChangeKind,
  /** For a changed record; at most ten. */
  fields: optional(Schema.Array(FieldChange)),
  /** How many more fields have changed. */
  moreFields: optional(Schema.Positive),
  /** The value of a key. */
  ...valueChange
})
export type RecordChange = typeof RecordChange.Type

/**
 * A table that has other bytes. If all counts are 0, its links or its order have changed.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DocumentDiff = Schema.Struct({
  sourceId: Schema.String,
  /** The name of its file, without the extension. */
  document: Schema.String,
  /** The path of its file in the folder of the source. */
  path: Schema.String,
  ...Changes.fields,
  /** In the order of the later version, then the removed records. */
  records: Schema.Array(RecordChange),
  /** How many records are counted and not listed. */
  more: Schema.NonNegativeInt
})
export type DocumentDiff = typeof DocumentDiff.Type

/**
 * A file, by its digest.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FileChange = Schema.Struct({
  sourceId: Schema.String,
  /** In the folder of the source, with forward slashes. */
  path: Schema.String,
  change: ChangeKind
})
export type FileChange = typeof FileChange.Type

/**
 * The differences between two versions. It lists 1,000 records and 1,000 files at most, and counts all.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentDiff = Schema.Struct({
  from: VersionId,
  to: VersionId,
  /** The tables that differ, 100 at most; further tables are in `files`. */
  documents: Schema.Array(DocumentDiff),
  /** The other files, and tables that are too large to compare. */
  files: Schema.Struct({
    ...Changes.fields,
    list: Schema.Array(FileChange),
    /** How many files are counted and not listed. */
    more: Schema.NonNegativeInt
  }),
  /** The sources that could not be fetched for the later version; missing if there are none. */
  kept: optional(Schema.Array(KeptSource))
})
export type ContentDiff = typeof ContentDiff.Type

/**
 * How the active version differs from the version announced before it; the payload of `content:version:compared`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ComparedVersion = Schema.Struct({
  from: VersionId,
  versionId: VersionId,
  /** As in `ContentDiff`, without the records. */
  documents: Schema.Array(DocumentDiff.omit("records", "more")),
  files: Changes,
  /** The first changes in words, four lines at most. */
  changes: Schema.Array(Schema.String)
})
export interface ComparedVersion extends Schema.Schema.Type<typeof ComparedVersion> {}

/**
 * There are no two versions to compare.
 *
 * @since 0.1.0
 * @category errors
 */
export class CannotCompare extends Schema.TaggedError<CannotCompare>()("vitrine/CannotCompare", {
  /** What is missing. */
  detail: Schema.String,
  /** The versions on disk, the oldest first. */
  versions: Schema.Array(VersionId)
}) {
  override get message() {
    const versions = this.versions.length === 0 ? "no versions" : this.versions.join(", ")
    return `Cannot compare: ${this.detail}. On disk: ${versions}.`
  }
}
