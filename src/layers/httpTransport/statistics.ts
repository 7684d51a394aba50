/**
 * The counts of a transport, for its status, and as metrics with its name as the tag `transport`.
 */
import { constVoid } from "effect/Function"
import * as Metric from "effect/Metric"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import { makeCount } from "../status/metrics.ts"

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

/**
 * The counts of an HTTP transport, since its start unless stated otherwise.
 *
 * @since 0.1.0
 * @category models
 */
export interface TransportStatistics {
  /** Event streams open now. */
  readonly clients: number
  /** The most event streams that were open at once. */
  readonly mostClients: number
  /** Events that passed the filter. Each counts once, for any number of clients. */
  readonly eventsForwarded: number
  /** Frames that a client missed because the client, or the whole transport, had fallen behind; one for each client. */
  readonly framesMissed: number
  /** Clients that were disconnected because they had fallen too far behind. */
  readonly clientsDropped: number
  /** When a client last missed a frame. */
  readonly lastMissed: Option.Option<Date>
  readonly lastEvent: Option.Option<{ readonly name: string; readonly at: Date }>
}

export interface Recorder {
  /** A client has joined. */
  readonly joined: () => void
  /** A client has gone; `missed` is the number of frames that it missed if it was dropped, or else 0. */
  readonly left: (missed: number) => void
  /** An event was forwarded. */
  readonly forwarded: (name: string, timestampMs: number) => void
  /** Frames were dropped; each counts once for each client. */
  readonly missed: (frames: number) => void
  readonly statistics: () => TransportStatistics
}

/** Records nothing: for an event stream without a status and metrics. */
export const unrecorded: Recorder = {
  joined: constVoid,
  left: constVoid,
  forwarded: constVoid,
  missed: constVoid,
  statistics: () => ({
    clients: 0,
    mostClients: 0,
    eventsForwarded: 0,
    framesMissed: 0,
    clientsDropped: 0,
    lastMissed: Option.none(),
    lastEvent: Option.none()
  })
}

// No Refs: clients come and go in callbacks of sockets, where no fiber runs.
export const makeRecorder = (name: string, now: () => number = Date.now): Recorder => {
  const tags = [MetricLabel.make("transport", name)]
  const clients = makeCount(metrics.clients, tags)
  const clientsDropped = makeCount(metrics.clientsDropped, tags)
  const eventsForwarded = makeCount(metrics.eventsForwarded, tags)
  const framesMissed = makeCount(metrics.framesMissed, tags)
  let mostClients = 0
  let lastEvent: TransportStatistics["lastEvent"] = Option.none()
  let lastMissed: TransportStatistics["lastMissed"] = Option.none()
  const missed = (frames: number) => {
    if (frames > 0) {
      framesMissed.add(frames)
      lastMissed = Option.some(new Date(now()))
    }
  }
  // Set from the start, because an alert on a missing metric never fires.
  clients.add(0)
  return {
    joined: () => {
      clients.add(1)
      mostClients = Math.max(mostClients, clients.total())
      metrics.mostClients.unsafeUpdate(mostClients, tags)
    },
    left: (frames) => {
      clients.add(-1)
      if (frames > 0) {
        missed(frames)
        clientsDropped.add(1)
      }
    },
    forwarded: (name, timestampMs) => {
      eventsForwarded.add(1)
      lastEvent = Option.some({ name, at: new Date(timestampMs) })
      metrics.lastEvent.unsafeUpdate(timestampMs / 1000, tags)
    },
    missed,
    statistics: () => ({
      clients: clients.total(),
      mostClients,
      eventsForwarded: eventsForwarded.total(),
      framesMissed: framesMissed.total(),
      clientsDropped: clientsDropped.total(),
      lastMissed,
      lastEvent
    })
  }
}
