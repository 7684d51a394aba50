/**
 * The transport's part of the status.
 */
import * as Option from "effect/Option"
import type { Row } from "../../services/ControllerState.ts"
import type { TransportStatistics } from "../../services/HttpTransport.ts"

export const statusRows = (
  url: string,
  maxClients: number,
  { clients, clientsDropped, eventsForwarded, framesMissed, lastEvent, mostClients }: TransportStatistics
): ReadonlyArray<Row> => [
  { type: "kv", label: "Address", value: url },
  {
    type: "kv",
    label: "Event streams",
    value: `${clients} of ${maxClients}, ${mostClients} at most so far`,
    tone: clients < maxClients ? "ok" : "warn"
  },
  { type: "kv", label: "Events forwarded", value: String(eventsForwarded) },
  {
    type: "kv",
    label: "Missed by slow clients",
    value: `${framesMissed} frames, ${clientsDropped} clients disconnected`,
    tone: framesMissed === 0 ? "ok" : "warn"
  },
  {
    type: "kv",
    label: "Last event",
    value: Option.match(lastEvent, {
      onNone: () => "none yet",
      onSome: ({ at, name }) => `${name} at ${at.toISOString()}`
    })
  }
]
