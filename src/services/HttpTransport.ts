/**
 * The HTTP/SSE transport for other parts: where it listens, and its statistics.
 */
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

export class HttpTransport extends Context.Tag("vitrine/HttpTransport")<
  HttpTransport,
  {
    /** Where it listens; `None` in task mode, and on a server of somebody else. */
    readonly address: Option.Option<AddressInfo>

    /** How many event streams are open now. */
    readonly clients: Effect.Effect<number>

    /** Counts since its start. */
    readonly statistics: Effect.Effect<TransportStatistics>
  }
>() {}

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
