/**
 * A document of a source, before it is saved.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { RecordKey } from "../../internal/recordKey.ts"
import { causeWithoutSecrets, OptionalErrorChain } from "../../internal/SerializedError.ts"
import type { WantedFile } from "./media/WantedFile.ts"

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
  readonly key?: RecordKey | undefined
  /** Where it comes from, for relative links in it. */
  readonly url?: string | undefined
  /** Whether its records come as they are to be saved: the names in them in order. Default false. */
  readonly isSorted?: boolean
  /** Saves it again from its beginning where what was read of it is worth nothing. Default never. */
  readonly again?: <A, F, R>(save: Effect.Effect<A, E | F, R>) => Effect.Effect<A, E | F, R>
  /** What its source says of it; asked for when all of it was read. */
  readonly about?: () => DocumentFacts
}

/** What a source knows of a document that it has given. */
export interface DocumentFacts {
  /** The files that it names, where their places are known. */
  readonly files?: ReadonlyArray<WantedFile>
  /** How many records a value was made of. Default 1. */
  readonly records?: number
  /** The record that a field of a value is from. */
  readonly recordOf?: (field: string) => string | undefined
}

/** A document cannot be had, or cannot be saved. */
export class DocumentNotSaved extends Schema.TaggedError<DocumentNotSaved>()("vitrine/DocumentNotSaved", {
  document: Schema.String,
  /** Where it is a table. */
  kind: Schema.optional(Schema.Literal("table")),
  /** What is wrong, and what would be right. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  cause: OptionalErrorChain
}) {
  override get message() {
    return `${this.kind === "table" ? "Table" : "Document"} "${this.document}": ${this.detail}`
  }

  /** Without secrets; and without its cause where this has one: that may be any error of a step. */
  hidden(hide: (text: string) => string): DocumentNotSaved {
    const { cause, detail, document, isTransient, kind } = this
    return new DocumentNotSaved({
      document,
      detail: hide(detail),
      isTransient,
      kind,
      cause: causeWithoutSecrets(cause, hide)
    })
  }
}

/** Work on what is nested too deeply throws, wherever it is done: here it becomes the failure of its document. */
export const catchTooDeep =
  (failed: (detail: string, cause?: unknown) => DocumentNotSaved) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | DocumentNotSaved, R> =>
    Effect.catchSomeDefect(work, (defect) =>
      defect instanceof RangeError
        ? Option.some(failed(`cannot be written as JSON: ${rangeText(defect)}`, defect))
        : Option.none()
    )

const rangeText = ({ message }: RangeError): string =>
  /call stack/.test(message) ? "it is nested too deeply" : message
