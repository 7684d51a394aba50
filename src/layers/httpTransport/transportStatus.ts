/**
 * The transport's part of the status.
 */
import * as Option from "effect/Option"
import { printableLine } from "../../internal/printable.ts"
import { countText, durationText } from "../../internal/readable.ts"
import type { Row } from "../../services/ControllerState.ts"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import { type FeedProblem, problemRows } from "../fanOut/keepSubscribed.ts"
import type { StreamGroup } from "./Audience.ts"

export interface TransportOverview {
  readonly address: string
  readonly maxClients: number
  readonly statistics: TransportStatistics
  /** Why no events come from the bus, where none do. */
  readonly problem: Option.Option<FeedProblem>
  /** Who has the streams, the one with the most first. */
  readonly streams: ReadonlyArray<StreamGroup>
}

export const statusRows = ({
  address,
  maxClients,
  problem,
  statistics,
  streams
}: TransportOverview): ReadonlyArray<Row> => {
  const { clients, clientsDropped, eventsForwarded, framesMissed, lastEvent, mostClients } = statistics
  return [
    { type: "kv", label: "Address", value: address },
    ...problemRows(problem),
    {
      type: "kv",
      label: "Event streams",
      value: `${clients} of ${maxClients}, ${mostClients} at most so far`,
      tone: clients < maxClients ? "ok" : "warn"
    },
    ...crowdRows(streams, clients, maxClients),
    ...groupRows(streams),
    { type: "kv", label: "Events forwarded", value: String(eventsForwarded) },
    {
      type: "kv",
      label: "Missed by clients",
      value: `${framesMissed} frames, ${clientsDropped} clients disconnected`,
      tone: framesMissed === 0 ? "ok" : "warn"
    },
    {
      type: "kv",
      label: "Last event",
      value: Option.match(lastEvent, {
        onNone: () => "none yet",
        onSome: ({ at, name }) => `${printableLine(name, maxName)} at ${at.toISOString()}`
      })
    }
  ]
}

/** What is counted, as data. */
export const statisticsData = ({
  clients: _,
  lastEvent,
  ...counts
}: TransportStatistics): Readonly<Record<string, unknown>> => ({
  ...counts,
  ...Option.match(lastEvent, {
    onNone: () => ({}),
    onSome: ({ at, name }) => ({
      lastEvent: { name: printableLine(name, maxName), at: at.toISOString() }
    })
  })
})

/** What changes with the clients, as data. */
export const audienceState = (
  streams: ReadonlyArray<StreamGroup>,
  problem: Option.Option<FeedProblem>,
  now: number
): Readonly<Record<string, unknown>> => ({
  clients: streams.reduce((sum, { streams }) => sum + streams, 0),
  streams: streams.slice(0, maxGroups).map(({ oldestMs, origin, streams, userAgent }) => ({
    origin,
    userAgent,
    streams,
    since: new Date(now - oldestMs).toISOString()
  })),
  ...Option.match(problem, { onNone: () => ({}), onSome: (problem) => ({ problem }) })
})

/** How much of the name of an event is shown. */
const maxName = 100

/** How many groups are shown. */
export const maxGroups = 10

const groupRows = (streams: ReadonlyArray<StreamGroup>): ReadonlyArray<Row> => {
  if (streams.length === 0) {
    return []
  }
  const shown = streams.slice(0, maxGroups).map(
    ({ oldestMs, origin, streams, userAgent }): Row => ({
      type: "kv",
      label: origin || "no origin",
      value: `${countText(streams, "stream")} for up to ${durationText(oldestMs)}, ${userAgent || "no user agent"}`
    })
  )
  const others = streams.slice(maxGroups).reduce((sum, { streams }) => sum + streams, 0)
  const rest: ReadonlyArray<Row> =
    others === 0 ? [] : [{ type: "text", text: `and ${countText(others, "stream")} of other clients` }]
  return [{ type: "list", label: "Streams by client", items: [...shown, ...rest] }]
}

/** How full it is when it matters who takes up the room. */
const nearlyFull = 0.75

/** Warns where the pages of one origin hold more than half of the streams, and others may soon get none. */
const crowdRows = (
  streams: ReadonlyArray<StreamGroup>,
  clients: number,
  maxClients: number
): ReadonlyArray<Row> => {
  const byOrigin = new Map<string, number>()
  for (const { origin, streams: count } of streams) {
    byOrigin.set(origin, (byOrigin.get(origin) ?? 0) + count)
  }
  const [origin, count] = [...byOrigin].reduce((most, entry) => (entry[1] > most[1] ? entry : most), ["", 0])
  return origin !== "" && clients >= nearlyFull * maxClients && count > clients / 2 && count > 1
    ? [
        {
          type: "text",
          text: `Pages of ${origin} hold ${count} of ${countText(clients, "event stream")}. If that is not your page, "allowedOrigins" keeps it out.`,
          tone: "warn"
        }
      ]
    : []
}
