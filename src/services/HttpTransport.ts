/**
 * The HTTP/SSE transport as others see it: where it listens and who listens to it.
 */
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

export class HttpTransport extends Context.Tag("vitrine/HttpTransport")<
  HttpTransport,
  {
    /** Where it listens; nowhere in task mode, nor on somebody else's server. */
    readonly address: Option.Option<AddressInfo>

    /** How many event streams are open now. */
    readonly clients: Effect.Effect<number>

    /** What it has done since it was started. */
    readonly statistics: Effect.Effect<TransportStatistics>
  }
>() {}

/** The counts of an HTTP transport, since its start where they do not say otherwise. */
export interface TransportStatistics {
  /** Event streams open now. */
  readonly clients: number
  /** The most event streams that were open at once. */
  readonly mostClients: number
  /** Events that passed the filter, each counted once however many clients there were. */
  readonly eventsForwarded: number
  /** Frames that were not given to a client because it, or everything, had fallen behind; one for each client. */
  readonly framesMissed: number
  /** Clients that were disconnected because they had fallen too far behind. */
  readonly clientsDropped: number
  /** When a frame was not given to a client for the last time. */
  readonly lastMissed: Option.Option<Date>
  readonly lastEvent: Option.Option<{ readonly name: string; readonly at: Date }>
}
