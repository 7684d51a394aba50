/**
 * What a player reports to its hub: `POST /vitrine/reports` of the hub's content server.
 *
 * Anything that has the token can send anything. So the schema shortens long texts and lists, makes texts printable,
 * and drops unknown fields. An invalid time, a number out of range or a missing field is an error with its place.
 * Decoding its result again changes nothing.
 */
import * as Schema from "effect/Schema"
import { expects } from "../internal/Options.ts"
import { excerpt, printableLine } from "../internal/printable.ts"
import { optional } from "../internal/schemas.ts"
import { Problem } from "./Problem.ts"
import { screenStates } from "./screenStates.ts"

/** The most entries of a report: the first problems and screens, which are the worst, and the last warnings. */
export const maxProblems = 32
export const maxScreens = 64
export const maxWarnings = 10
export const maxDone = 16

/**
 * The most characters of an id, a label or a name. A longer name is cut and ends with a mark; a longer id is an
 * error.
 */
export const maxLine = 64

/** The largest body of a report, in bytes before it is compressed. */
export const maxReportBytes = 16_384

/**
 * The longest time between two reports of a player, in milliseconds. The player sends each report up to a fifth
 * earlier.
 */
export const reportEvery = 10_000

/** A schema that changes values into others of the same type when it decodes them. */
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

/**
 * Tells players and their runs apart. An id is never cut or cleaned, because the result could be the id of another
 * player.
 */
const id = expects(
  Schema.String.pipe(Schema.filter((id) => id !== "" && printableLine(id, maxLine) === id)),
  `one line of at most ${maxLine} characters, without spaces around it`
)

/** A screen of a player has the address `PLAYER/SCREEN`. */
const nodeId = expects(id.pipe(Schema.filter((id) => !id.includes("/"))), 'an id without "/"')

const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(text) && !Number.isNaN(Date.parse(text))

/** ISO 8601, UTC, with milliseconds. */
const time = made(expects(Schema.String.pipe(Schema.filter(isTime)), "a time in ISO 8601, UTC"), (text) =>
  new Date(text).toISOString()
)

const number = (minimum: number, maximum: number) =>
  expects(Schema.Number.pipe(Schema.between(minimum, maximum)), `a number from ${minimum} to ${maximum}`)

const amount = number(0, Number.MAX_SAFE_INTEGER)

/** A list that is cut before its entries are decoded. */
const list = <A, I>(
  entry: Schema.Schema<A, I>,
  cut: (entries: ReadonlyArray<unknown>) => ReadonlyArray<unknown>
) => Schema.compose(made(Schema.Array(Schema.Unknown), cut), Schema.Array(entry), { strict: false })

/** A problem of a player, as a `Problem`. Muted problems are not reported. */
export const ReportedProblem = Schema.Struct({
  code: line,
  severity: expects(Problem.fields.severity, '"error" or "warning"'),
  subject: optional(text),
  player: optional(line),
  text,
  since: optional(time),
  count: optional(amount),
  unwatched: optional(line)
} satisfies Record<Exclude<keyof typeof Problem.fields, "accept" | "muted">, unknown>)

const isScreenState = Schema.is(Schema.Literal(...screenStates))

/** A screen of a player, as in the player's own status. */
export const ReportedScreen = Schema.Struct({
  id: line,
  label: optional(line),
  /** A label of metrics. A word that is not in `screenStates`, from a later Vitrine, becomes `problem`. */
  word: cleaned((word) => (isScreenState(word) ? word : "problem")),
  since: optional(time),
  /** The version that the screen last showed. */
  versionId: optional(line)
})
export type ReportedScreen = typeof ReportedScreen.Type

/** The state of a player, small enough to be sent every ten seconds. */
export const PlayerReport = Schema.Struct({
  /** The version of Vitrine that runs there. */
  vitrine: line,
  /** By the clock of the player. */
  sentAt: time,
  node: Schema.Struct({ id: nodeId, label: optional(line), role: optional(line) }),
  /** The host name of its machine, by which people find it; independent of its id. */
  host: lineOrNothing,
  /** Random, the same until the player ends. It tells two machines with the same id apart. */
  runId: id,
  /** Counts the reports of the run; missing from an older player. */
  number: optional(amount),
  /** When it started. */
  startTime: time,
  /** Only in its last report: who asked it to end. */
  stoppedBy: optional(line),
  /** The active version, if there is one. */
  versionId: optional(line),
  /** Since when this version is active. */
  activeSince: optional(time),
  /** How much of the next version is copied, in percent; missing if none is being copied. */
  copiedPercent: optional(number(0, 100)),
  /** The free space on the disk with the versions, in bytes; missing if it is not known. */
  freeDisk: optional(amount),
  /** The errors first. */
  problems: list(ReportedProblem, (entries) => entries.slice(0, maxProblems)),
  /** How many further problems it has; missing if `problems` has all. */
  moreProblems: optional(amount),
  /** The worst first. */
  screens: list(ReportedScreen, (entries) => entries.slice(0, maxScreens)),
  /** Its last warnings and errors in the log, the oldest first. */
  warnings: list(text, (entries) => entries.slice(-maxWarnings)),
  /** The ids of actions that its screens have received; missing from an older player. */
  done: optional(list(line, (entries) => entries.slice(-maxDone))),
  /** The ids of its screens whose browsers can take pictures; missing if there are none, and from an older player. */
  watched: optional(list(line, (entries) => entries.slice(0, maxScreens)))
})
export type PlayerReport = typeof PlayerReport.Type

/** A player, by the last report that its hub accepted. */
export const Player = Schema.Struct({
  ...PlayerReport.fields,
  /** When the hub accepted the report, by its own clock. */
  heardAt: time,
  /** Where the report came from. */
  address: line,
  /** How far the clock of the player is ahead of the hub's, in milliseconds. */
  clockOffset: number(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  /** Another machine that reports with this id, and has reported in the last minute. */
  duplicate: optional(Schema.Struct({ host: Schema.String, address: Schema.String, heardAt: Schema.String })),
  /** How often the player has restarted in the last ten minutes; missing if it has not. */
  restarts: optional(Schema.Number)
})
export type Player = typeof Player.Type

/** The answer of a hub. */
export const ReportAnswer = Schema.Struct({
  /** The version of Vitrine that runs there. */
  vitrine: Schema.String,
  /** The actions that screens of the player are asked for. A later hub may know other actions. */
  actions: optional(
    Schema.Array(
      Schema.Struct({
        /** For the `done` of the next reports; missing from an older hub. */
        id: optional(Schema.String),
        screen: Schema.String,
        action: Schema.String,
        by: optional(Schema.String)
      })
    )
  ),
  /** The pictures that the player is asked for, of screens in its `watched`; missing from an older hub. */
  pictures: optional(Schema.Array(Schema.Struct({ screen: Schema.String, number: Schema.String })))
})
export type ReportAnswer = typeof ReportAnswer.Type
