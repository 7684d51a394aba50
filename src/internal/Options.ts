/**
 * Decoding of options: every mistake at once, each with its place and what would be right. Also the mistakes that any schema
 * has found, as lines.
 */
import * as Either from "effect/Either"
import { flow, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { ParseOptions } from "effect/SchemaAST"
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

/**
 * Every mistake in some options, each with its place and what would be right.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidOptions extends Schema.TaggedError<InvalidOptions>()("vitrine/InvalidOptions", {
  /** The thing that has the mistakes, as in "the options of the content plugin". */
  subject: Schema.String,
  issues: Schema.Array(PlacedIssue)
}) {
  override get message() {
    const issues = this.issues.map(({ message, path }) => ({ message, path: path || "options" }))
    return issuesText(this.subject, issues)
  }
}

/**
 * Decodes the options of a user, strictly: an unknown key is a mistake, a key whose value is `undefined` counts as
 * absent.
 *
 * Schemas say with `expects` what would be right. No other message shows a value, so that no secret is printed by
 * accident.
 */
export const decodeOptions =
  <A, I>(subject: string, schema: Schema.Schema<A, I>) =>
  (input: unknown): Either.Either<A, InvalidOptions> => {
    if (!Predicate.isRecord(input)) {
      const issue = { path: "", message: unexpected("an object", input) }
      return Either.left(new InvalidOptions({ subject, issues: [issue] }))
    }
    return Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })(
      Record.filter(input, Predicate.isNotUndefined)
    ).pipe(Either.mapLeft((error) => new InvalidOptions({ subject, issues: placedIssues(error) })))
  }

/** The mistakes in decoded options. */
export const issuesOf = (decoded: Either.Either<unknown, InvalidOptions>): ReadonlyArray<PlacedIssue> =>
  Either.match(decoded, { onLeft: ({ issues }) => issues, onRight: () => [] })

/** An option that may be left out; `undefined` counts as left out. */
export const omittable = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalToOptional(orUndefined(schema), Schema.typeSchema(schema), {
    decode: Option.filter(Predicate.isNotUndefined),
    encode: identity
  })

/** An option that has a default. */
export const optional = <A, I>(schema: Schema.Schema<A, I>, defaultValue: A) =>
  Schema.optionalToRequired(orUndefined(schema), Schema.typeSchema(schema), {
    decode: flow(
      Option.filter(Predicate.isNotUndefined),
      Option.getOrElse(() => defaultValue)
    ),
    encode: Option.some
  })

/**
 * A declaration, because a union would report a mistake for each of its members. Without effects, because they double the
 * time to check a state.
 */
export const orUndefined = <A, I>(schema: Schema.Schema<A, I>): Schema.Schema<A | undefined, I | undefined> =>
  Schema.declare(
    [schema],
    {
      decode: (schema) => unlessUndefined(ParseResult.decodeUnknownEither(schema)),
      encode: (schema) => unlessUndefined(ParseResult.encodeUnknownEither(schema))
    },
    { arbitrary: (arbitrary) => (fc) => fc.option(arbitrary(fc), { nil: undefined }) }
  )

const unlessUndefined =
  <A>(parse: (input: unknown, options: ParseOptions) => Either.Either<A, ParseResult.ParseIssue>) =>
  (input: unknown, options: ParseOptions): Either.Either<A | undefined, ParseResult.ParseIssue> =>
    input === undefined ? Either.right(undefined) : parse(input, options)

/** Says what an option expects, and shows the value that it got. */
export const expects = <A, I, R>(schema: Schema.Schema<A, I, R>, what: string): Schema.Schema<A, I, R> =>
  explaining(schema, (actual) => unexpected(what, actual))

/**
 * The message for a value that a user made with another major version of Effect. Without it, Effect fails with `Not a
 * valid effect: undefined`.
 */
export const needsEffect3 = (expected: "a Layer" | "an Effect") =>
  `Vitrine needs effect 3: expected ${expected} of that version`

/** As `expects`, for values that must never be shown. */
export const expectsSecret = <A, I, R>(
  schema: Schema.Schema<A, I, R>,
  what: string
): Schema.Schema<A, I, R> => explaining(schema, () => `expected ${what}`)

const explaining = <A, I, R>(schema: Schema.Schema<A, I, R>, message: (actual: unknown) => string) =>
  schema.annotations({
    message: (issue) => ({ message: message(issue.actual), override: !isInside(issue) })
  })

/** The name of a document. `Schema.Record` would lose `__proto__`, which sets a prototype. */
export const documentName = Schema.String.pipe(
  Schema.filter((name) => name !== "__proto__", { identifier: 'every name except "__proto__"' })
)

/**
 * Mistakes inside a composite have their own paths. A struct whose members have defaults is a transformation of a
 * composite.
 */
const isInside = (issue: ParseResult.ParseIssue): boolean =>
  issue._tag === "Composite" || (issue._tag === "Transformation" && isInside(issue.issue))

/** The message for a value that is something else than expected, and no secret. */
export const unexpected = (what: string, value: unknown): string =>
  printableLine(`expected ${what}, got ${show(value)}`)

/** A value for a message, cut after 80 characters. */
export const show = (value: unknown): string => {
  const text =
    typeof value === "string"
      ? JSON.stringify(value)
      : Array.isArray(value)
        ? "an array"
        : typeof value === "object" && value !== null
          ? "an object"
          : typeof value === "function"
            ? "a function"
            : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
