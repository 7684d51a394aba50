/**
 * What a transport does, counted in one place: for its status, and as metrics.
 *
 * The metrics count all transports of the process together, without the tags of fibers: they are updated for each event
 * and from callbacks of sockets, where no fiber runs.
 */
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { TransportStatistics } from "../../services/HttpTransport.ts"

/** The statistics of a transport without clients. */
export const nothingDone: TransportStatistics = {
  clients: 0,
  mostClients: 0,
  eventsForwarded: 0,
  framesMissed: 0,
  clientsDropped: 0,
  lastEvent: Option.none()
}

export const metrics = {
  clients: Metric.gauge("vitrine_http_transport_clients", { description: "Event streams open now" }),
  mostClients: Metric.gauge("vitrine_http_transport_clients_max", {
    description: "The most event streams that were open at once"
  }),
  clientsDropped: Metric.counter("vitrine_http_transport_clients_dropped_total", {
    description: "Clients that were disconnected because they had fallen too far behind",
    incremental: true
  }),
  eventsForwarded: Metric.counter("vitrine_http_transport_events_forwarded_total", {
    description: "Events that passed the filter, each counted once however many clients there were",
    incremental: true
  }),
  framesMissed: Metric.counter("vitrine_http_transport_frames_missed_total", {
    description: "Frames that were not given to a client because it, or everything, had fallen behind",
    incremental: true
  }),
  lastEvent: Metric.gauge("vitrine_http_transport_last_event_timestamp_seconds", {
    description: "When the last event was forwarded, as Unix time"
  })
}

const untagged: ReadonlyArray<never> = []

export const makeRecorder = () => {
  let { clientsDropped, eventsForwarded, framesMissed, mostClients } = nothingDone
  let last: { readonly name: string; readonly timestampMs: number } | undefined
  // From the start: an alert on a number that is not there is never raised.
  metrics.clients.unsafeModify(0, untagged)
  const left = (clients: number) => metrics.clients.unsafeModify(-clients, untagged)
  const missed = (frames: number) => {
    framesMissed += frames
    metrics.framesMissed.unsafeUpdate(frames, untagged)
  }
  return {
    /** One more client has joined: so many are there. */
    joined: (clients: number) => {
      metrics.clients.unsafeModify(1, untagged)
      mostClients = Math.max(mostClients, clients)
      const { value } = metrics.clients.unsafeValue(untagged)
      if (value > metrics.mostClients.unsafeValue(untagged).value) {
        metrics.mostClients.unsafeUpdate(value, untagged)
      }
    },
    left,
    /** A client was disconnected with so many frames unsent. */
    dropped: (frames: number) => {
      left(1)
      missed(frames)
      clientsDropped += 1
      metrics.clientsDropped.unsafeUpdate(1, untagged)
    },
    /** One more event. */
    forwarded: (name: string, timestampMs: number) => {
      eventsForwarded += 1
      last = { name, timestampMs }
      metrics.eventsForwarded.unsafeUpdate(1, untagged)
      metrics.lastEvent.unsafeUpdate(timestampMs / 1000, untagged)
    },
    /** So many frames were dropped, each counted once for each client. */
    missed,
    statistics: (clients: number): TransportStatistics => ({
      clients,
      mostClients,
      eventsForwarded,
      framesMissed,
      clientsDropped,
      lastEvent: Option.map(Option.fromNullable(last), ({ name, timestampMs }) => ({
        name,
        at: new Date(timestampMs)
      }))
    })
  }
}
