/**
 * A document of a source, before it is saved.
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { RecordKey } from "../../internal/recordKey.ts"
import { OptionalErrorChain } from "../../internal/SerializedError.ts"

/** What is in a document: one JSON value, or records that come some at a time. */
export type DocumentContent<E> = Data.TaggedEnum<{
  Value: { readonly value: Effect.Effect<unknown, E> }
  Records: { readonly pages: Stream.Stream<ReadonlyArray<unknown>, E> }
}>

interface DocumentContentDefinition extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: DocumentContent<this["A"]>
}

/**
 * `Records({ pages })` is read page by page when the document is saved, and with `steps` as a whole; `Value({ value })` always is.
 */
export const { Records, Value } = Data.taggedEnum<DocumentContentDefinition>()

/** One JSON file of a source. `E` is why it cannot be read. */
export interface Document<E> {
  /** It is saved as `<name>.json`. */
  readonly name: string
  readonly content: DocumentContent<E>
  /** What identifies its records: fields, as paths with dots. Default `["id"]`. */
  readonly key?: RecordKey
  /** Where it comes from, for relative links in it. */
  readonly url?: string
}

/** A document cannot be had, or cannot be saved. */
export class DocumentNotSaved extends Schema.TaggedError<DocumentNotSaved>()("vitrine/DocumentNotSaved", {
  document: Schema.String,
  /** What is wrong, and what would be right. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  cause: OptionalErrorChain
}) {
  override get message() {
    return `Document "${this.document}": ${this.detail}`
  }
}
