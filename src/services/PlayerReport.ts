/**
 * What a player reports to its hub: `POST /vitrine/reports` of the hub's content server.
 */
import * as Schema from "effect/Schema"
import { Problem } from "./Problem.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** ISO 8601, UTC, with milliseconds. */
const timestamp = Schema.String

/** The largest body of a report, in bytes before it is compressed. */
export const maxReportBytes = 16_384

/** How often a player reports at least, in milliseconds; it sends each up to a fifth earlier. */
export const reportEvery = 10_000

/** A screen of a player, in the words of its own status. */
export const ReportedScreen = Schema.Struct({
  id: Schema.String,
  label: optional(Schema.String),
  /** `showing`, `behind`, `problem`, `hidden`, `silent`, `closed`, `never seen` or `closed for the day`. */
  word: Schema.String,
  since: optional(timestamp),
  /** The version that it showed last. */
  versionId: optional(Schema.String)
})
export type ReportedScreen = typeof ReportedScreen.Type

/** The state of a player, small enough to be sent every ten seconds. */
export const PlayerReport = Schema.Struct({
  /** The version of Vitrine that runs there. */
  vitrine: Schema.String,
  /** By the clock of the player. */
  sentAt: timestamp,
  node: Schema.Struct({ id: Schema.String, label: optional(Schema.String), role: optional(Schema.String) }),
  /** The name of its host, by which people find it, whatever its id. */
  host: Schema.String,
  /** Random, the same until the player ends: two machines that say they are the same differ by it. */
  runId: Schema.String,
  /** When it was started. */
  startTime: timestamp,
  /** Only in its last report: who asked it to end. */
  stoppedBy: optional(Schema.String),
  /** The active version, where there is one. */
  versionId: optional(Schema.String),
  /** Since when it is the active one. */
  activeSince: optional(timestamp),
  /** How much of the next version is copied, in percent; missing where none is being copied. */
  copiedPercent: optional(Schema.Number),
  /** Where its versions are, in bytes; missing where that is not known. */
  freeDisk: optional(Schema.Number),
  /** The errors first. */
  problems: Schema.Array(Problem),
  /** The worst first. */
  screens: Schema.Array(ReportedScreen),
  /** What it logged last as a warning or an error, the oldest first. */
  warnings: Schema.Array(Schema.String)
})
export type PlayerReport = typeof PlayerReport.Type

/** What a hub answers. */
export const ReportAnswer = Schema.Struct({
  /** The version of Vitrine that runs there. */
  vitrine: Schema.String,
  /** What screens of the player are asked for. A later hub may know other actions. */
  actions: optional(
    Schema.Array(Schema.Struct({ screen: Schema.String, action: Schema.String, by: optional(Schema.String) }))
  )
})
export type ReportAnswer = typeof ReportAnswer.Type
