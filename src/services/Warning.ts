/**
 * A warning for the editors of content: the content is published, and somebody should look at it.
 */
import * as Schema from "effect/Schema"
import type { Mistake } from "../internal/mistake.ts"
import { shellWords } from "../internal/printable.ts"

/**
 * A warning about the content of a source.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Warning = Schema.Struct({
  /** Its kind, for example `gone:records` (docs/problems.md). */
  code: Schema.String,
  /** What it is about, without numbers that change: `source`, `source/document`, `source/document/field`, or a file. */
  subject: Schema.String,
  /** What is wrong, where, and what to do: a sentence for people. */
  text: Schema.String
})
export interface Warning extends Schema.Schema.Type<typeof Warning> {
  /** The mistake that the text is about, for other languages. It stays in the process. */
  readonly mistake?: Mistake | undefined
}

/** The codes of the warnings that Vitrine itself gives. The readers log them, so the status does not. */
export const warningCodes: ReadonlyArray<string> = [
  "cell:error",
  "content:more",
  "content:note",
  "file:cut",
  "file:elsewhere",
  "file:encoding",
  "file:missing",
  "file:signed",
  "file:unplayable",
  "file:wrong",
  "gone:document",
  "gone:field",
  "gone:files",
  "gone:language",
  "gone:records",
  "names:alike",
  "names:twice",
  "number:large",
  "records:twice",
  "rights:field"
]

/**
 * There is no such warning that somebody can accept.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoSuchWarning extends Schema.TaggedError<NoSuchWarning>()("vitrine/NoSuchWarning", {
  code: Schema.String,
  subject: Schema.String,
  /** Those that can be accepted. */
  warnings: Schema.Array(Warning.pick("code", "subject"))
}) {
  override get message() {
    const all = this.warnings.slice(0, maxListed).map(nameOf).join(", ")
    const more = this.warnings.length > maxListed ? `, and ${this.warnings.length - maxListed} more` : ""
    return `There is no warning ${nameOf(this)}. ${all === "" ? "There is nothing to accept" : `There are: ${all}${more}`}.`
  }
}

const maxListed = 20

const nameOf = ({ code, subject }: Pick<Warning, "code" | "subject">): string =>
  shellWords(code, ...(subject === "" ? [] : [subject]))
