/**
 * The view: the state of a controller at one time, judged once, in the controller, with the opening hours.
 *
 * `/status` and `/healthz` are parts of it, `/metrics` counts it, the dashboard and the command line show it, and a
 * player sends its hub an extract of it. JSON does not change it.
 */
import * as Schema from "effect/Schema"
import { optional, timestamp } from "../internal/schemas.ts"
import { Player } from "./PlayerReport.ts"
import { Mute, Problem } from "./Problem.ts"
import { ContentState, Screen } from "./Slices.ts"
import type { Row, StatusSnapshot } from "./StatusSnapshot.ts"
import { playerStates, screenStates } from "./screenStates.ts"

/** The overall health, from the worst. */
export const Health = Schema.Literal("NO CONTENT", "FAILING", "HELD", "WARNING", "OK")
export type Health = typeof Health.Type

/**
 * `behind`: it has shown another version than the active one for longer than a minute. `hidden`: it is not visible,
 * or does not draw. `silent`: it has not reported for two renewals if it says how often it renews its lease, for 90 s
 * if it only reports whether it is visible or draws, and else until its lease ends; also 15 s after the end of its
 * own event stream, if it has not reported since. An open stream keeps a consumer that reports nothing else from
 * being silent. `never seen`: it is expected, and has never reported a version. `closed for the day`: outside its
 * hours, it would be silent, closed, hidden or never seen.
 */
export type ScreenState = (typeof screenStates)[number]

/** A screen that is expected, or has reported. */
export const ScreenStatus = Schema.Struct({
  id: Schema.String,
  /** Its label, or else its id. */
  name: Schema.String,
  isExpected: Schema.Boolean,
  word: Schema.Literal(...screenStates),
  /** Missing if it is not known. For a silent screen, the time of its last report. */
  since: optional(timestamp),
  /** What is wrong, errors first. */
  problems: Schema.Array(Problem),
  /** The name of its content; missing if there is no content. */
  content: optional(Schema.String),
  /** Whether the version that it last showed is the active one. */
  active: Schema.Boolean,
  /** Its last report; missing if it was never seen. */
  lastReport: optional(Screen)
})
export type ScreenStatus = typeof ScreenStatus.Type

/**
 * `behind`: it has another version than the active one of the hub, and copies nothing. `held`: somebody holds its
 * version. `problem`: it reports an error or that it cannot fetch, has restarted again and again, or two machines
 * report as the same player. `silent`: it has not reported for 25 s. `never seen`: it is expected, and has never
 * reported. `stopped`: it has reported who asked it to end, less than a day ago and not before its place opened.
 * `closed for the day`: outside its hours, it would be silent, never seen or stopped.
 */
export type PlayerState = (typeof playerStates)[number]

/** A player that is expected, or has reported. */
export const PlayerStatus = Schema.Struct({
  id: Schema.String,
  /** Its label in the configuration of the hub, or else its own label, or else its id. */
  name: Schema.String,
  isExpected: Schema.Boolean,
  word: Schema.Literal(...playerStates),
  /**
   * By the clock of the hub; missing if it is not known. For a silent or stopped player, the time of its last report.
   */
  since: optional(timestamp),
  /** The problems of the player, and the problems in its last report; errors first. */
  problems: Schema.Array(Problem),
  /** Its last report, if there is one. */
  lastReport: optional(Player)
})
export type PlayerStatus = typeof PlayerStatus.Type

const {
  activeSince,
  fetchingSince,
  generatedAt,
  held,
  lastSuccess,
  nextFetch,
  rejection,
  reports,
  versionId
} = ContentState.fields

/** A content: the active version, and the state of its fetches. */
export const ContentStatus = Schema.Struct({
  name: Schema.String,
  versionId,
  generatedAt,
  activeSince,
  held,
  fetchingSince,
  /** How much of the next version is copied, in percent; missing if none is being fetched. */
  fetchedPercent: optional(Schema.Number),
  lastFetch: optional(
    Schema.Struct({
      timestamp,
      /** What it did, such as `new version; failed: tours`. */
      result: Schema.String,
      /** Why it failed, or why its first failing source did; missing if nothing failed. */
      failure: optional(Schema.String)
    })
  ),
  lastSuccess,
  nextFetch,
  rejection,
  /** The address of its page, which may show the waiting version; missing if no content server has one. */
  page: optional(Schema.String),
  /** Whether the page is there under each name of this machine. */
  everywhere: optional(Schema.Boolean),
  reports
})
export type ContentStatus = typeof ContentStatus.Type

const Tone = optional(Schema.Literal("ok", "warn", "error", "neutral"))

const RowSchema: Schema.Schema<Row> = Schema.Union(
  Schema.Struct({ type: Schema.Literal("kv"), label: Schema.String, value: Schema.String, tone: Tone }),
  Schema.Struct({
    type: Schema.Literal("list"),
    label: Schema.String,
    items: Schema.Array(Schema.suspend(() => RowSchema))
  }),
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, tone: Tone })
)

const text = optional(Schema.String)

/** The body of `GET /status`. */
export const StatusPart: Schema.Schema<StatusSnapshot> = Schema.Struct({
  header: Schema.Struct({
    startTime: timestamp,
    uptimeMs: Schema.Number,
    mode: Schema.Literal("task", "persistent"),
    node: optional(Schema.Struct({ id: Schema.String, label: text, role: text }))
  }),
  sections: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      order: optional(Schema.Number),
      title: Schema.String,
      rows: Schema.Array(RowSchema)
    })
  )
})

/** The state of a controller at one time, for people. */
export const View = Schema.extend(
  StatusPart,
  Schema.Struct({
    /** In milliseconds since 1970, by the clock of the controller. */
    now: Schema.Number,
    word: Health,
    /** Errors first. Muted and unwatched problems come last and do not count. 256 at most, each with `since` and `count`. */
    problems: Schema.Array(Problem),
    contents: Schema.Array(ContentStatus),
    /** The worst first. Unexpected screens that have closed, or whose lease has ended, are left out. */
    screens: Schema.Array(ScreenStatus),
    /** The worst first; missing if this machine takes no reports. */
    players: optional(Schema.Array(PlayerStatus)),
    /** The mutes that have not ended, the mute that ends last first. */
    mutes: Schema.Array(Mute),
    /** The address of the dashboard; missing if there is none. */
    dashboard: optional(Schema.String)
  })
)
export type View = typeof View.Type
