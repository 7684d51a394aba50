/**
 * The HTTP transport as a plugin of a plain controller.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ReplayBacklog } from "../../services/ReplayBacklog.ts"
import * as HttpTransport from "../httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "../httpTransport/HttpTransportConfig.ts"
import * as ReplayBacklogMemory from "../memory/ReplayBacklogMemory.ts"
import { setUp } from "./instance.ts"
import type { HttpTransportPlugin } from "./PlainController.ts"

/** Exposes the commands and the events of a plain controller over loopback HTTP and Server-Sent Events. */
export const httpTransport = (options: HttpTransportConfig = {}): HttpTransportPlugin => {
  const name = "http-transport"
  // No layer: to build one takes a turn, in which the controller may emit something.
  const acquire = HttpTransport.make(options).pipe(
    Effect.provideServiceEffect(ReplayBacklog, ReplayBacklogMemory.make),
    Effect.map(({ address }) => ({ address: Option.getOrNull(address) }))
  )
  return { name, setup: (context) => setUp(name, context, acquire) }
}
