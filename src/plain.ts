/**
 * Vitrine for plain controllers, those without Effect in them: its transport as a plugin, its tables as a source.
 */

import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ResultAsync } from "neverthrow"
import { type Instance, setUp } from "./layers/plain/instance.ts"
import type { PlainContext } from "./layers/plain/PlainContext.ts"
import * as ReplayBacklogMemory from "./layers/ReplayBacklogMemory.ts"
import * as HttpTransport from "./layers/transport/HttpTransport.ts"
import { decode, type HttpTransportConfig } from "./layers/transport/HttpTransportOptions.ts"
import { ReplayBacklog } from "./services/ReplayBacklog.ts"

export type {
  PlainContext,
  PlainEventBus,
  PlainEventHandler,
  PlainLogger,
  PlainResult,
  PlainSettled
} from "./layers/plain/PlainContext.ts"
export type { HttpTransportConfig }

export interface HttpTransportPlugin {
  readonly name: "http-transport"

  /**
   * Opens the port, in persistent mode. It never throws: mistakes in the options, in task mode too, and a port that
   * cannot be bound are an `err` that names the reason and has it as its cause.
   *
   * Events that are emitted once it has returned are forwarded or remembered; its result need not be there yet.
   */
  readonly setup: (context: PlainContext) => ResultAsync<HttpTransportInstance, Error>
}

export interface HttpTransportInstance extends Instance {
  /** Where it listens; `null` in task mode. */
  readonly address: AddressInfo | null
}

/** Exposes the commands and the events of a plain controller over loopback HTTP and Server-Sent Events. */
export const httpTransport = (options: HttpTransportConfig = {}): HttpTransportPlugin => {
  const name = "http-transport"
  // No layer: to build one takes a turn, in which the controller may emit something.
  const acquire = Effect.suspend(() => decode(options)).pipe(
    Effect.flatMap(HttpTransport.make),
    Effect.provideServiceEffect(ReplayBacklog, ReplayBacklogMemory.make),
    Effect.map(({ address }) => ({ address: Option.getOrNull(address) }))
  )
  return { name, setup: (context) => setUp(name, context, acquire) }
}
