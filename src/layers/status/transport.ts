/**
 * What the status says of an HTTP transport.
 */
import { countText, durationText } from "../../internal/readable.ts"
import type { TransportState } from "../../services/Slices.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { kv, list, text } from "./rows.ts"

export const rows = (slice: TransportState, now: number): ReadonlyArray<Row> => {
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
      framesMissed === 0 ? "ok" : "warn"
    ),
    kv("Last event", lastEvent === undefined ? "none yet" : `${lastEvent.name} at ${lastEvent.at}`)
  ]
}

/** That no events come from the bus. */
export const busRows = (problem: TransportState["problem"]): ReadonlyArray<Row> =>
  problem === undefined
    ? []
    : [kv("Event bus", `no events since ${problem.since}: ${problem.reason}`, "error")]

const groupRows = ({ clients, streams }: TransportState, now: number): ReadonlyArray<Row> => {
  if (streams.length === 0) {
    return []
  }
  const shown = streams.map(({ origin, since, streams, userAgent }) =>
    kv(
      origin || "no origin",
      `${countText(streams, "stream")} for up to ${durationText(now - Date.parse(since))}, ${userAgent || "no user agent"}`
    )
  )
  const others = streams.reduce((rest, { streams }) => rest - streams, clients)
  const rest = others === 0 ? [] : [text(`and ${countText(others, "stream")} of other clients`)]
  return [list("Streams by client", [...shown, ...rest])]
}

/** How full it is when it matters who takes up the room. */
const nearlyFull = 0.75

/** Warns where the pages of one origin hold more than half of the streams, and others may soon get none. */
const crowdRows = ({ clients, largestOrigin, maxClients }: TransportState): ReadonlyArray<Row> => {
  const { origin = "", streams = 0 } = largestOrigin ?? {}
  return clients >= nearlyFull * maxClients && streams > clients / 2 && streams > 1
    ? [
        text(
          `Pages of ${origin} hold ${streams} of ${countText(clients, "event stream")}. If that is not your page, "allowedOrigins" keeps it out.`,
          "warn"
        )
      ]
    : []
}
