/**
 * What a fetch would change: the result of `content.check`.
 */
import * as Schema from "effect/Schema"

const counter = Schema.NonNegativeInt

/** How many of something a fetch would change. */
export const Changes = Schema.Struct({ added: counter, changed: counter, removed: counter })
export type Changes = typeof Changes.Type

/** What would change in the records of a document; of a key/value table, in its keys. */
export const DocumentChanges = Schema.Struct({
  document: Schema.String,
  /** Of its file, in the folder of the source. */
  path: Schema.String,
  /** How many there would be. */
  records: counter,
  ...Changes.fields
})
export type DocumentChanges = typeof DocumentChanges.Type

/** What a fetch would change; the result of `content.check`. */
export const ContentCheck = Schema.Struct({
  /** In the order of the configuration. */
  sources: Schema.Array(
    Schema.Struct({
      sourceId: Schema.String,
      /** Whether anything in it would change, if only the order of records: there would be a new version. */
      changed: Schema.Boolean,
      records: counter,
      /** Missing where the source cannot compare what it fetched. */
      documents: Schema.optionalWith(Schema.Array(DocumentChanges), { exact: true }),
      /** The other files of the source. */
      files: Changes,
      warnings: Schema.optionalWith(Schema.Array(Schema.String), { exact: true })
    })
  )
})
export type ContentCheck = typeof ContentCheck.Type

/** The content is copied from another controller, which checks what it fetches. */
export class NotFetchedHere extends Schema.TaggedError<NotFetchedHere>()("vitrine/NotFetchedHere", {}) {
  override get message() {
    return 'Versions are copied here, not fetched: run "vitrine check" on the hub, the machine that fetches them.'
  }
}
