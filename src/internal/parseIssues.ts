/**
 * The mistakes that a schema found, as lines that say the place.
 */
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { excerpt, printableLine } from "./printable.ts"

/**
 * A mistake: where it is, as in `sources[0].id`, and what would be right.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PlacedIssue = Schema.Struct({ path: Schema.String, message: Schema.String })
export type PlacedIssue = typeof PlacedIssue.Type

/** All issues of a decoding error. */
export const placedIssues = (error: ParseResult.ParseError): ReadonlyArray<PlacedIssue> =>
  formatted(error).map(({ _tag, message, path }) => ({
    path: excerpt(formatPath(path)),
    message: printableLine(issueMessage(_tag, message), maxMessage)
  }))

/** The most characters of a message, which may list all known keys. */
const maxMessage = 1000

const issueMessage = (tag: ParseResult.ArrayFormatterIssue["_tag"], message: string): string =>
  tag === "Unexpected"
    ? message
        .replace("is unexpected, expected: ", "there is no such key; known are: ")
        .replaceAll(" | ", ", ")
    : tag === "Missing" && message === "is missing"
      ? "is required"
      : message

/** The decoded value is part of the error, and may be nested too deeply to print. */
const formatted = (error: ParseResult.ParseError): ReadonlyArray<ParseResult.ArrayFormatterIssue> =>
  Option.getOrElse(Option.liftThrowable(ParseResult.ArrayFormatter.formatErrorSync)(error), () => [
    { _tag: "Type", path: [], message: "it is nested too deeply" }
  ])

/** The same as one line of text. */
export const issueText = (issues: ReadonlyArray<PlacedIssue>): string =>
  issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join("; ")

/** The same as a line with their number and a line for each. */
export const issuesText = (subject: string, issues: ReadonlyArray<PlacedIssue>): string => {
  const count = issues.length === 1 ? "is an invalid value" : `are ${issues.length} invalid values`
  return [
    `There ${count} in ${subject}:`,
    ...issues.map(({ message, path }) => `  ${path}: ${message}`)
  ].join("\n")
}

/** `["sources", 0, "id"]` as `sources[0].id`. */
const formatPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`,
    ""
  )
