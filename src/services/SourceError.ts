/**
 * Why a source has no new content: the content stays as it is.
 */
import * as Schema from "effect/Schema"
import { MistakeSchema } from "../internal/mistake.ts"
import { messageOf, OptionalErrorChain } from "../internal/SerializedError.ts"
import { Violation } from "./Violation.ts"

/**
 * A source could not be fetched or polled, or its content cannot be saved or does not meet the expectations.
 *
 * @since 0.1.0
 * @category errors
 */
export class SourceError extends Schema.TaggedError<SourceError>()("vitrine/SourceError", {
  /** Its id. The functions of a source leave it out, and the source adds it. */
  source: Schema.optional(Schema.String),
  /**
   * The place of the mistake, for people: a document, file or table, with its page, record, field or line if that is
   * known.
   */
  place: Schema.optional(Schema.String),
  /** What is wrong, and what would be right. Default the message of `cause`. */
  detail: Schema.optional(Schema.String),
  /** The HTTP status, if the status is the problem. */
  status: Schema.optional(Schema.Number),
  /**
   * Whether the same fetch may succeed later without anybody doing something: the server cannot be reached, or fails.
   * If so, it is retried soon; if not, at the next fetch. `false` for a failure that is permanent and costs something
   * at every try: a refusal, a spent quota, a full disk. Default `false`.
   */
  isTransient: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  /** The violations, if everything came but must not be shown: the version is rejected. */
  violations: Schema.optional(Schema.NonEmptyArray(Violation)),
  /** The mistakes of the content that it is about, for other languages. They stay in the process. */
  mistakes: Schema.optional(Schema.Array(MistakeSchema)),
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
