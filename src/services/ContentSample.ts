/**
 * What a source would save: the result of `content.check` for one source.
 */
import * as Schema from "effect/Schema"
import { printableLine } from "../internal/printable.ts"
import { count, optional } from "../internal/schemas.ts"
import { Warning } from "./Warning.ts"

/**
 * The content of a field in the sampled records.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SampledField = Schema.Struct({
  /** The name of the field, or of an object and a field in it, with a dot between them: `title.rendered`. */
  field: Schema.String,
  /** The types of its values: `text`, `number`, `boolean`, `list`, `object`, `nothing`. */
  types: Schema.Array(Schema.String),
  /** The first value that is a text or a number, shortened. */
  example: optional(Schema.String)
})

/**
 * Links to files that have the same path in a record.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SampledLinks = Schema.Struct({
  /** As in `find` of `media`. */
  path: Schema.String,
  count,
  /** The link without its parameters, which may be secret. */
  example: Schema.String
})

/**
 * The sampled part of a document.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SampledDocument = Schema.Struct({
  /** Its path in the folder of the source. */
  path: Schema.String,
  holds: Schema.Literal("records", "value"),
  records: count,
  /** From the first 100 records; at most 100. */
  fields: Schema.Array(SampledField),
  /** From all records; at most 20. */
  links: Schema.Array(SampledLinks)
})
export type SampledDocument = typeof SampledDocument.Type

/**
 * What a source would save: the first page of each document, if the source knows pages. Nothing is kept.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentSample = Schema.Struct({
  sourceId: Schema.String,
  sampled: Schema.Array(SampledDocument),
  warnings: optional(Schema.Array(Warning))
})
export type ContentSample = typeof ContentSample.Type

/**
 * There is no source with this id.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoSuchSource extends Schema.TaggedError<NoSuchSource>()("vitrine/NoSuchSource", {
  source: Schema.String,
  /** The ids of the existing sources. */
  sources: Schema.Array(Schema.String)
}) {
  override get message() {
    return `There is no source "${printableLine(this.source, 100)}"; there are: ${this.sources.join(", ")}`
  }
}
