/**
 * Rows and problems of the status, from the slice of an HTTP transport.
 */
import { countText, durationText } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"
import type { TransportState } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { busRows, isRecentLoss, kv, list, text } from "../status/rows.ts"
import { reportOf, titleOf, transportsOf } from "../status/slices.ts"

export const pluginReport = (name: string) =>
  reportOf(transportsOf, name, (slice, { now }) => ({
    sections: [{ name, order: 20, title: titleOf("HTTP transport", name, slice), rows: rows(slice, now) }],
    problems: problems(name, slice, now),
    logs: ["transport:no-events"]
  }))

const problems = (name: string, slice: TransportState, now: number): ReadonlyArray<Problem> => {
  const { clients, clientsDropped, framesMissed, kind, lastMissed, maxClients, problem, unused } = slice
  const transport = name === kind ? "HTTP transport" : `HTTP transport "${name}"`
  const crowd = crowdText(slice)
  const warnings = {
    "transport:full":
      clients >= maxClients &&
      `All ${countText(maxClients, "event stream")} of the ${transport} are open: further clients are refused. The status lists the clients. Close one, or raise "maxClients"`,
    "transport:crowded": crowd,
    "transport:options": unused !== undefined && `Some options of the ${transport} have no effect: ${unused}`,
    "transport:missed":
      isRecentLoss(lastMissed, now) &&
      `Clients of the ${transport} were too slow for ${countText(framesMissed, "event")} since the start, and ${countText(clientsDropped, "client")} disconnected, last at ${lastMissed}`
  }
  const found = Object.entries(warnings).flatMap(
    ([code, text]): ReadonlyArray<Problem> =>
      text ? [{ code, severity: "warning", subject: name, text }] : []
  )
  if (problem === undefined) {
    return found
  }
  const { reason, since } = problem
  const text = `The ${transport} receives no events since ${since}: ${reason}`
  return [{ code: "transport:no-events", severity: "warning", subject: name, text, since }, ...found]
}

const rows = (slice: TransportState, now: number): ReadonlyArray<Row> => {
  const { clients, clientsDropped, eventsForwarded, framesMissed, lastEvent, maxClients } = slice
  return [
    kv("Address", slice.url ?? `${slice.path} of another server`),
    ...busRows(slice.problem),
    kv(
      "Event streams",
      `${clients} of ${maxClients}, ${slice.mostClients} at most so far`,
      clients < maxClients ? "ok" : "warn"
    ),
    ...crowdRows(slice),
    ...groupRows(slice, now),
    kv("Events forwarded", String(eventsForwarded)),
    kv(
      "Missed by clients",
      `${countText(framesMissed, "event")}, ${countText(clientsDropped, "client")} disconnected`,
      isRecentLoss(slice.lastMissed, now) ? "warn" : "ok"
    ),
    kv("Last event", lastEvent === undefined ? "none yet" : `${lastEvent.name} at ${lastEvent.at}`)
  ]
}

const groupRows = ({ clients, streams }: TransportState, now: number): ReadonlyArray<Row> => {
  if (streams.length === 0) {
    return []
  }
  const largest = streams.map(({ origin, since, streams, userAgent }) =>
    kv(
      origin || "no origin",
      `${countText(streams, "stream")} for up to ${durationText(now - Date.parse(since))}, ${userAgent || "no user agent"}`
    )
  )
  const others = streams.reduce((rest, { streams }) => rest - streams, clients)
  const rest = others === 0 ? [] : [text(`and ${countText(others, "stream")} of other clients`)]
  return [list("Streams by client", [...largest, ...rest])]
}

/** The share of open streams from which the status warns of an origin with more than half of them. */
const nearlyFull = 0.75

const crowdRows = (slice: TransportState): ReadonlyArray<Row> => {
  const crowd = crowdText(slice)
  return crowd === undefined ? [] : [text(crowd, "warn")]
}

/** A warning if pages of one origin use more than half of the streams, and other clients may soon get none. */
const crowdText = ({ clients, largestOrigin, maxClients }: TransportState): string | undefined => {
  const { origin = "", streams = 0 } = largestOrigin ?? {}
  return clients >= nearlyFull * maxClients && streams > clients / 2 && streams > 1
    ? `Pages of ${origin} use ${streams} of ${countText(clients, "event stream")}. If it is not your page, set "allowedOrigins" to refuse it.`
    : undefined
}
