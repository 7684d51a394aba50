/**
 * A warning for the editors of content: the content is published, and somebody should look at it.
 */
import * as Schema from "effect/Schema"
import { english } from "../internal/englishMistakes.ts"
import { at, type Mistake, mistakeText } from "../internal/mistake.ts"
import type { MistakePlace } from "../internal/mistakeParts.ts"
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

/** A warning of no particular kind. Default subject: the whole. */
export const note = (text: string, subject = ""): typeof Warning.Type => ({
  code: "content:note",
  subject,
  text
})

/** The warning about a mistake. */
export const warningOf = (code: string, subject: string, mistake: Mistake): Warning => ({
  code,
  subject,
  text: mistakeText(mistake),
  mistake
})

/** The warning with the place that its text begins with. */
export const placed =
  (place: MistakePlace) =>
  ({ code, mistake, subject, text }: Warning): Warning =>
    mistake === undefined
      ? { code, subject, text: `${english.place(place)}: ${text}` }
      : warningOf(code, subject, at(place, mistake))

/** The warning, about a part of something larger: of a document, a source. */
export const within =
  (whole: string) =>
  (warning: Warning): Warning => ({
    ...warning,
    subject: warning.subject === "" ? whole : `${whole}/${warning.subject}`
  })

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
