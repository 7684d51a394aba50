/**
 * The slices of contents, transports and content servers in the state, for programs that use them: pages, hubs,
 * monitoring.
 *
 * All views of a plugin are made from its slice. A slice never contains a secret.
 */
import * as Schema from "effect/Schema"
import { count, listOfChecked, optional, timestamp } from "../internal/schemas.ts"
import { FetchFailure, FetchOutcome, SourceOutcome } from "./ContentEvents.ts"
import { SourceProgress } from "./ContentSource.ts"
import { Player } from "./PlayerReport.ts"
import { Mute } from "./Problem.ts"
import { Hold, KeptSource, Released, VersionOverview } from "./VersionStore.ts"
import { Violation } from "./Violation.ts"

const SourceState = Schema.Struct({
  /** When its running fetch began; missing if it is not being fetched. */
  fetchingSince: optional(timestamp),
  /** The progress of this fetch. */
  progress: optional(SourceProgress),
  lastSuccess: optional(SourceOutcome),
  /** The last failure, even if it has succeeded since. */
  lastError: optional(Schema.Struct({ timestamp, message: Schema.String })),
  /** Since when and why it fails, while other sources are published without it; missing if it works. */
  failing: optional(KeptSource),
  /** More about the source from the source itself, as `TableSourceData`. */
  data: optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
})
/**
 * The state of a source, by its id in the slice of its content.
 *
 * @since 0.1.0
 * @category models
 */
export type SourceState = typeof SourceState.Type

const Calls = Schema.Struct({ today: count, month: count })

/**
 * The data of a table source, if its client has them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TableSourceData = Schema.Struct({
  calls: Schema.optional(Calls),
  changes: Schema.optional(
    Schema.Struct({
      /** Why the server cannot be asked for changes. */
      problem: Schema.optional(Schema.String)
    })
  )
})
export type TableSourceData = typeof TableSourceData.Type

const Upstream = Schema.Struct({
  url: Schema.String,
  /** When it was last asked, and its answer: a version, none, or why it could not be asked. */
  askedAt: optional(timestamp),
  versionId: optional(Schema.String),
  problem: optional(Schema.String)
})
/**
 * An address that versions are copied from.
 *
 * @since 0.1.0
 * @category models
 */
export type Upstream = typeof Upstream.Type

const Reports = Schema.Struct({
  /** The address of the hub, without credentials. */
  to: Schema.String,
  /** When the hub accepted the last report. */
  takenAt: optional(timestamp),
  /** The version of Vitrine that runs there; missing before it has accepted a report. */
  vitrine: optional(Schema.String),
  /** Why it accepts no reports, and since when; missing if it does. */
  problem: optional(Schema.Struct({ since: timestamp, reason: Schema.String }))
})
/**
 * The state of the reports to a hub.
 *
 * @since 0.1.0
 * @category models
 */
export type Reports = typeof Reports.Type

/**
 * A consumer of content, by its last report.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Screen = Schema.Struct({
  /** The id of the consumer. */
  id: Schema.String,
  versionId: Schema.String,
  /** Since when it is known to show this version. */
  shownSince: timestamp,
  heardAt: timestamp,
  /** How often it renews its lease, in milliseconds; missing if it did not say. */
  renewMs: optional(Schema.Number),
  /** Whether people could see it, and whether it draws; missing if it did not say. */
  visible: optional(Schema.Boolean),
  drawing: optional(Schema.Boolean),
  /** Since when it is not visible or does not draw; missing if it is visible and draws. */
  hiddenSince: optional(timestamp),
  /** What it could not show, and when this was first reported. */
  problem: optional(Schema.String),
  problemSince: optional(timestamp),
  /** When it said that it closes; missing if it has reported since. */
  closedAt: optional(timestamp),
  /** When its lease ends or has ended. */
  until: timestamp,
  /** The pages or programs that use its id at once, the oldest first: when each has first and last reported. */
  runs: optional(
    Schema.Array(Schema.Struct({ since: timestamp, heardAt: timestamp, visible: optional(Schema.Boolean) }))
  ),
  /** How often it has restarted in the last ten minutes; missing if it has not. */
  restarts: optional(count)
})
/**
 * A consumer of content, by its last report.
 *
 * @since 0.1.0
 * @category models
 */
export type Screen = typeof Screen.Type

/**
 * The slice of content, fetched or copied. Its times are from this run of the controller.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentState = Schema.Struct({
  kind: Schema.Literal("content"),
  /** The active version, if there is one. */
  versionId: optional(Schema.String),
  /** When the active version was made. */
  generatedAt: optional(timestamp),
  /** The sources that could not be fetched for the active version; missing if there are none. */
  kept: optional(Schema.Array(KeptSource)),
  /** Since when this version is active: at the earliest since the start. */
  activeSince: optional(timestamp),
  /** Missing if it is not held. */
  held: optional(Hold),
  /** Missing if the active version did not wait to be released. */
  released: optional(Released),
  /** When the running fetch began; missing if none runs. */
  fetchingSince: optional(timestamp),
  /** Since when the running fetch or poll has shown no progress; missing if none runs. */
  quietSince: optional(timestamp),
  /** Absent before the first fetch has ended. */
  lastFetch: optional(Schema.Union(FetchOutcome, FetchFailure)),
  /** When a fetch of all sources last succeeded. */
  lastSuccess: optional(timestamp),
  /** After the last fetch, in bytes: the free space on the disk of the versions, and the size of the active version. */
  disk: optional(
    Schema.Struct({
      freeBytes: Schema.Number,
      versionBytes: Schema.Number,
      /** Inodes; missing if the file system does not count them. */
      freeFiles: Schema.optional(Schema.Number),
      versionFiles: Schema.Number,
      /** A failing memory card becomes read-only. */
      isReadOnly: Schema.optional(Schema.Boolean)
    })
  ),
  /**
   * When the first of the latest failures in a row happened, by the clock as it is set now; missing if the last fetch did
   * not fail.
   */
  failingSince: optional(timestamp),
  /** When it is next fetched, or its sources are next polled. Missing while a fetch runs, and if none is planned. */
  nextFetch: optional(
    Schema.Struct({
      at: timestamp,
      /** Whether this is a retry after a failure. */
      isRetry: Schema.Boolean
    })
  ),
  /** Whether it is polling its sources now. */
  isPolling: optional(Schema.Boolean),
  /** The violations, since the first fetch whose version was rejected, until a fetch succeeds. */
  rejection: optional(
    Schema.Struct({ since: timestamp, sourceId: Schema.String, violations: Schema.Array(Violation) })
  ),
  /** By their ids. */
  sources: Schema.Record({ key: Schema.String, value: SourceState }),
  /** On disk, the oldest first, with their leases. Absent if they cannot be read. */
  versions: optional(Schema.Array(VersionOverview)),
  /** Consumers with a fresh lease, and expected screens that had a lease; at most 256. */
  screens: optional(Schema.Array(Screen)),
  /** For copied content, the addresses in the order of preference. */
  copiedFrom: optional(Upstream),
  /** For copied content that is reported to a hub. */
  reports: optional(Reports)
})
export interface ContentState extends Schema.Schema.Type<typeof ContentState> {}

/**
 * Why the bus delivers no events.
 *
 * @since 0.1.0
 * @category schemas
 */
export const BusProblem = Schema.Struct({ since: timestamp, reason: Schema.String })
export type BusProblem = typeof BusProblem.Type

/**
 * The slice of an HTTP transport: its event streams, and what it has sent.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TransportState = Schema.Struct({
  kind: Schema.Literal("http-transport"),
  /** Where it listens, or its path on another server. */
  url: optional(Schema.String),
  /**
   * Whether it listens on all interfaces: then it has an address for each name of this machine, beside `url`. Absent
   * in earlier versions.
   */
  everywhere: optional(Schema.Boolean),
  path: optional(Schema.String),
  maxClients: count,
  clients: count,
  /** Groups of clients with the same origin and user agent, the group with the most streams first; ten at most. */
  streams: Schema.Array(
    Schema.Struct({
      /** Empty if the client sent none; the same for the user agent. */
      origin: Schema.String,
      userAgent: Schema.String,
      streams: count,
      /** When the first stream of the group was opened. */
      since: timestamp
    })
  ),
  /**
   * Consumers that have or had their own stream, 256 at most; `endedAt` if no stream is open. Absent in earlier
   * versions.
   */
  consumers: optional(
    Schema.Array(Schema.Struct({ id: Schema.String, since: timestamp, endedAt: optional(timestamp) }))
  ),
  /** The origin whose pages have the most streams, all of them counted; missing if no client sent an origin. */
  largestOrigin: optional(Schema.Struct({ origin: Schema.String, streams: count })),
  problem: optional(BusProblem),
  /** Options that have no effect, and why; absent if there are none. */
  unused: optional(Schema.String),
  mostClients: count,
  eventsForwarded: count,
  framesMissed: count,
  clientsDropped: count,
  /** When a client last missed an event; missing if none has. */
  lastMissed: optional(timestamp),
  lastEvent: optional(Schema.Struct({ name: Schema.String, at: timestamp }))
})
export type TransportState = typeof TransportState.Type

/**
 * The slice of a content server.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ContentServerState = Schema.Struct({
  kind: Schema.Literal("content-server"),
  url: Schema.String,
  /** As for a transport. */
  everywhere: optional(Schema.Boolean),
  /**
   * The address of its page; missing if it serves none. With `?version=waiting`, the page may show the waiting
   * version.
   */
  page: optional(Schema.String),
  /** Since when and why nobody can open this page. */
  pageProblem: optional(Schema.Struct({ since: timestamp, message: Schema.String })),
  maxConnections: count,
  connections: count,
  openResponses: count,
  requests: count,
  bytes: count,
  /** The players that report here, 1,024 at most; absent if it takes no reports. */
  players: optional(listOfChecked(Player))
})
export type ContentServerState = typeof ContentServerState.Type

/**
 * The slice of a controller that was asked to end.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Stop = Schema.Struct({ kind: Schema.Literal("stop"), by: Schema.String })
export type Stop = typeof Stop.Type

/**
 * The slice of a controller whose problems can be muted. Some mutes may be over.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Mutes = Schema.Struct({ kind: Schema.Literal("mutes"), mutes: Schema.Array(Mute) })
export type Mutes = typeof Mutes.Type
