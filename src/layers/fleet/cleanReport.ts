/**
 * What a player reports, bounded and cleaned: anything that has the token can send anything.
 *
 * Texts are cut and made printable, lists are cut, unknown fields are dropped. What cannot be used at all (a time that is none, a
 * number out of its range, a missing field) is said with its place.
 */
import * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { expects } from "../../internal/Options.ts"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { excerpt, printableLine } from "../../internal/printable.ts"
import type { PlayerReport, ReportedScreen } from "../../services/PlayerReport.ts"
import { Problem } from "../../services/Problem.ts"
import type { Player } from "../../services/Slices.ts"
import { screenWords } from "../status/screens.ts"

/** How many are kept: problems and screens the first, because those are the worst, and warnings the last. */
export const maxProblems = 32
export const maxScreens = 64
export const maxWarnings = 10

/** Characters of an id, a label, a name. A mark behind them says that there were more. */
export const maxLine = 64

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** What comes in as one, made another one of the same type. */
const made = <A, I>(from: Schema.Schema<A, I>, make: (input: A) => A) =>
  Schema.transform(from, Schema.typeSchema(from), {
    strict: true,
    decode: make,
    encode: (output) => output
  })

const cleaned = (clean: (text: string) => string) => made(Schema.String, clean)

const lineOrNothing = cleaned((text) => printableLine(text, maxLine))

const line = expects(lineOrNothing.pipe(Schema.nonEmptyString()), "one line that is not empty")

const text = cleaned(excerpt)

/** What tells players and their runs apart: cut or cleaned, it could be that of another. */
const id = expects(
  Schema.String.pipe(Schema.filter((id) => id !== "" && printableLine(id, maxLine) === id)),
  `one line of at most ${maxLine} characters, without spaces around it`
)

/** A screen of a player has the address `PLAYER/SCREEN`. */
const nodeId = expects(id.pipe(Schema.filter((id) => !id.includes("/"))), 'an id without "/"')

const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(text) && !Number.isNaN(Date.parse(text))

const time = made(expects(Schema.String.pipe(Schema.filter(isTime)), "a time in ISO 8601, UTC"), (text) =>
  new Date(text).toISOString()
)

const number = (minimum: number, maximum: number) =>
  expects(Schema.Number.pipe(Schema.between(minimum, maximum)), `a number from ${minimum} to ${maximum}`)

const amount = number(0, Number.MAX_SAFE_INTEGER)

/** Cut before anything in it is looked at. */
const list = <A, I>(
  entry: Schema.Schema<A, I>,
  cut: (entries: ReadonlyArray<unknown>) => ReadonlyArray<unknown>
) => Schema.compose(made(Schema.Array(Schema.Unknown), cut), Schema.Array(entry), { strict: false })

const problem = Schema.Struct({
  code: line,
  severity: expects(Problem.fields.severity, '"error" or "warning"'),
  subject: optional(text),
  player: optional(line),
  text,
  since: optional(time),
  count: optional(amount)
} satisfies Record<Exclude<keyof typeof Problem.fields, "muted">, unknown>)

/** A problem as it is taken. */
export const cleanProblem = Schema.decodeUnknownOption(problem)

const isScreenWord = Schema.is(Schema.Literal(...screenWords))

/** It becomes a label of metrics: an unknown one, from a later Vitrine, is `problem`. */
const screenWord = cleaned((word) => (isScreenWord(word) ? word : "problem"))

const screen = Schema.Struct({
  id: line,
  label: optional(line),
  word: screenWord,
  since: optional(time),
  versionId: optional(line)
} satisfies Record<keyof typeof ReportedScreen.fields, unknown>)

/** A screen as it is taken. */
export const cleanScreen = Schema.decodeUnknownOption(screen)

const fields = {
  vitrine: line,
  sentAt: time,
  node: Schema.Struct({ id: nodeId, label: optional(line), role: optional(line) }),
  host: lineOrNothing,
  runId: id,
  startTime: time,
  stoppedBy: optional(line),
  versionId: optional(line),
  activeSince: optional(time),
  copiedPercent: optional(number(0, 100)),
  freeDisk: optional(amount),
  problems: list(problem, (entries) => entries.slice(0, maxProblems)),
  screens: list(screen, (entries) => entries.slice(0, maxScreens)),
  warnings: list(text, (entries) => entries.slice(-maxWarnings))
} satisfies Record<keyof typeof PlayerReport.fields, unknown>

const decodeReport = Schema.decodeUnknownEither(Schema.Struct(fields))

/** What is wrong, in one line. */
const said = (error: ParseResult.ParseError): string => issueText(placedIssues(error))

/** A report, or what in it cannot be used. */
export const cleanReport = (input: unknown): Either.Either<PlayerReport, string> =>
  Either.mapLeft(decodeReport(input), said)

const player = Schema.Struct({
  ...fields,
  heardAt: time,
  address: line,
  clockOffset: number(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
})

const decodePlayers = Schema.decodeUnknownEither(Schema.parseJson(Schema.Array(player)))

/** Players that were written down as JSON, with the same care. */
export const cleanPlayers = (json: string): Either.Either<ReadonlyArray<Player>, string> =>
  Either.mapLeft(decodePlayers(json), said)
