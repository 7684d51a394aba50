/**
 * What contents, transports and content servers publish in the state, for others that go by it: pages, hubs, monitoring.
 *
 * Everything that people and programs see of a plugin is made of its slice. No secret is ever in one.
 */
import * as Schema from "effect/Schema"
import { count, listOfChecked, optional, timestamp } from "../internal/schemas.ts"
import { FetchFailure, FetchOutcome, SourceOutcome } from "./ContentEvents.ts"
import { SourceProgress } from "./ContentSource.ts"
import { Player } from "./PlayerReport.ts"
import { Mute } from "./Problem.ts"
import { Hold, Released, VersionOverview } from "./VersionStore.ts"
import { Violation } from "./Violation.ts"

const SourceState = Schema.Struct({
  /** When it began to be fetched; missing where it is not fetched now. */
  fetchingSince: optional(timestamp),
  /** How far that has come. */
  progress: optional(SourceProgress),
  lastSuccess: optional(SourceOutcome),
  /** The last failure, even if it has succeeded since. */
  lastError: optional(Schema.Struct({ timestamp, message: Schema.String })),
  /** What the source itself has to say, as `TableSourceData`. */
  data: optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
})
/** What has become of a source, by its id in the slice of its content. */
export type SourceState = typeof SourceState.Type

const Calls = Schema.Struct({ today: count, month: count })

/** What a table source reports, if its client can. */
export const TableSourceData = Schema.Struct({
  calls: Schema.optional(Calls),
  changes: Schema.optional(
    Schema.Struct({
      /** Why it cannot be asked what has changed. */
      problem: Schema.optional(Schema.String)
    })
  )
})
export type TableSourceData = typeof TableSourceData.Type

const Upstream = Schema.Struct({
  url: Schema.String,
  /** When it was asked last, and what it said: a version, none, or why it could not be asked. */
  askedAt: optional(timestamp),
  versionId: optional(Schema.String),
  problem: optional(Schema.String)
})
/** An address that versions are copied from. */
export type Upstream = typeof Upstream.Type

const Reports = Schema.Struct({
  /** The address of the hub, without credentials. */
  to: Schema.String,
  /** When it took the last one. */
  takenAt: optional(timestamp),
  /** The version of Vitrine that runs there; missing before it took one. */
  vitrine: optional(Schema.String),
  /** Why it takes none, and since when; missing where it does. */
  problem: optional(Schema.Struct({ since: timestamp, reason: Schema.String }))
})
/** What becomes of the reports to a hub. */
export type Reports = typeof Reports.Type

export const Screen = Schema.Struct({
  /** That of the consumer. */
  id: Schema.String,
  versionId: Schema.String,
  /** Since when it is known to show this version. */
  shownSince: timestamp,
  heardAt: timestamp,
  /** How often it says so, in milliseconds; missing where it did not say. */
  renewMs: optional(Schema.Number),
  /** Whether people could see it, and whether it draws; missing where it did not say. */
  visible: optional(Schema.Boolean),
  drawing: optional(Schema.Boolean),
  /** Since when it is not visible or does not draw; missing where that is not so. */
  hiddenSince: optional(timestamp),
  /** What it could not show, and when that was first heard of. */
  problem: optional(Schema.String),
  problemSince: optional(timestamp),
  /** When it said that it closes; missing where it was heard of since. */
  closedAt: optional(timestamp),
  /** When its lease ends or has ended. */
  until: timestamp,
  /** The pages or programs that use its id at once, the oldest first: when each was first and last heard of. */
  runs: optional(
    Schema.Array(Schema.Struct({ since: timestamp, heardAt: timestamp, visible: optional(Schema.Boolean) }))
  ),
  /** How often it was started again in the last ten minutes; missing where it was not. */
  restarts: optional(count)
})
/** A consumer of content, as it was last heard of. */
export type Screen = typeof Screen.Type

/** The slice of content, fetched or copied. Its times are those of this run of the controller. */
export const ContentState = Schema.Struct({
  kind: Schema.Literal("content"),
  /** The active version, where there is one. */
  versionId: optional(Schema.String),
  /** When the active version was made. */
  generatedAt: optional(timestamp),
  /** Since when it is the active one: at the earliest since the start. */
  activeSince: optional(timestamp),
  /** Missing where it is not held. */
  held: optional(Hold),
  /** Missing where the active version has not waited for somebody. */
  released: optional(Released),
  /** When the fetch began that runs now; missing where none does. */
  fetchingSince: optional(timestamp),
  /** Absent before the first fetch has ended. */
  lastFetch: optional(Schema.Union(FetchOutcome, FetchFailure)),
  /** When a fetch last succeeded. */
  lastSuccess: optional(timestamp),
  /** After the last fetch, in bytes: what was free where the versions are, and the size of the active one. */
  disk: optional(
    Schema.Struct({
      freeBytes: Schema.Number,
      versionBytes: Schema.Number,
      /** Inodes; missing where the file system does not count them. */
      freeFiles: Schema.optional(Schema.Number),
      versionFiles: Schema.Number
    })
  ),
  /** When the first one failed of those that have failed since; missing where the last one did not. */
  failingSince: optional(timestamp),
  /** When it is fetched next, or its sources are asked what has changed. Missing while a fetch runs, and where none is planned. */
  nextFetch: optional(
    Schema.Struct({
      at: timestamp,
      /** Whether it is because the last one failed. */
      isRetry: Schema.Boolean
    })
  ),
  /** Whether it finds out just now if there is something to fetch. */
  isPolling: optional(Schema.Boolean),
  /** What is not as expected, since the first fetch of which a version was rejected, until one succeeds. */
  rejection: optional(
    Schema.Struct({ since: timestamp, sourceId: Schema.String, violations: Schema.Array(Violation) })
  ),
  /** By their ids. */
  sources: Schema.Record({ key: Schema.String, value: SourceState }),
  /** On disk, the oldest first, with their leases. Absent where they cannot be read. */
  versions: optional(Schema.Array(VersionOverview)),
  /** Consumers with a fresh lease, and those of the expected screens that had one; at most 256. */
  screens: optional(Schema.Array(Screen)),
  /** For copied content, the addresses in the order of preference. */
  copiedFrom: optional(Upstream),
  /** For copied content that is reported to a hub. */
  reports: optional(Reports)
})
export type ContentState = typeof ContentState.Type

/** Why no events come from the bus. */
export const BusProblem = Schema.Struct({ since: timestamp, reason: Schema.String })
export type BusProblem = typeof BusProblem.Type

/** The slice of an HTTP transport: its event streams, and what it has sent. */
export const TransportState = Schema.Struct({
  kind: Schema.Literal("http-transport"),
  /** Where it listens, or its path on another server. */
  url: optional(Schema.String),
  /** On all interfaces of this machine: under each name of it, beside that in `url`. Absent in earlier versions. */
  everywhere: optional(Schema.Boolean),
  path: optional(Schema.String),
  maxClients: count,
  clients: count,
  /** Clients that say the same of themselves, the group with the most streams first; ten at most. */
  streams: Schema.Array(
    Schema.Struct({
      /** Empty where none was sent, as the user agent. */
      origin: Schema.String,
      userAgent: Schema.String,
      streams: count,
      /** When the first of them was opened. */
      since: timestamp
    })
  ),
  /** Consumers that have or had their own stream, 256 at most; `endedAt` where none is open. Absent in earlier versions. */
  consumers: optional(
    Schema.Array(Schema.Struct({ id: Schema.String, since: timestamp, endedAt: optional(timestamp) }))
  ),
  /** The origin whose pages hold the most streams, all of them counted; missing where no client sent one. */
  largestOrigin: optional(Schema.Struct({ origin: Schema.String, streams: count })),
  problem: optional(BusProblem),
  mostClients: count,
  eventsForwarded: count,
  framesMissed: count,
  clientsDropped: count,
  /** When a client missed an event for the last time; missing where none has. */
  lastMissed: optional(timestamp),
  lastEvent: optional(Schema.Struct({ name: Schema.String, at: timestamp }))
})
export type TransportState = typeof TransportState.Type

/** The slice of a content server. */
export const ContentServerState = Schema.Struct({
  kind: Schema.Literal("content-server"),
  url: Schema.String,
  /** As of a transport. */
  everywhere: optional(Schema.Boolean),
  /** The address of its page; missing where it serves none. With `?version=waiting`, the page may show what waits. */
  page: optional(Schema.String),
  maxConnections: count,
  connections: count,
  openResponses: count,
  requests: count,
  bytes: count,
  /** Those that report here, 1,024 at most; absent where it takes no reports. */
  players: optional(listOfChecked(Player))
})
export type ContentServerState = typeof ContentServerState.Type

/** The slice of a controller that somebody has asked to end. */
export const Stop = Schema.Struct({ kind: Schema.Literal("stop"), by: Schema.String })
export type Stop = typeof Stop.Type

/** The slice of a controller whose problems can be muted; some may be over. */
export const Mutes = Schema.Struct({ kind: Schema.Literal("mutes"), mutes: Schema.Array(Mute) })
export type Mutes = typeof Mutes.Type
