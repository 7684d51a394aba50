/**
 * Why a source has nothing new: the content stays as it is.
 */
import * as Schema from "effect/Schema"
import { messageOf, OptionalErrorChain } from "../internal/SerializedError.ts"
import { Violation } from "./Violation.ts"

/** A source could not be fetched or asked, or what it gave cannot be saved or is not as expected. */
export class SourceError extends Schema.TaggedError<SourceError>()("vitrine/SourceError", {
  /** Its id. The functions of a source leave it out: the source adds it. */
  source: Schema.optional(Schema.String),
  /** Where it is wrong, for people: a document, file or table, with its page, record, field or line where that is known. */
  place: Schema.optional(Schema.String),
  /** What is wrong, and what would be right. Default the message of `cause`. */
  detail: Schema.optional(Schema.String),
  /** The HTTP status, where that is what is wrong. */
  status: Schema.optional(Schema.Number),
  /**
   * Whether the same fetch may succeed later without anybody doing something: the server cannot be reached, or fails.
   * It is tried again soon then, and else when the next fetch is due. Not for what costs something at every try and
   * fails for good: a refusal, a spent quota, a full disk. Default `false`.
   */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  /** What is not as expected, where everything came, and is not to be shown: the version is rejected. */
  violations: Schema.optional(Schema.NonEmptyArray(Violation)),
  cause: OptionalErrorChain
}) {
  override get message() {
    const { cause, detail = messageOf(cause), place, source } = this
    return [
      ...(source === undefined ? [] : [`Source "${source}"`]),
      ...(place === undefined ? [] : [place]),
      detail
    ].join(": ")
  }
}
