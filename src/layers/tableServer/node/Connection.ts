/**
 * Ends of a connection that no server would choose.
 *
 * It goes past `@effect/platform` to the socket. It would not need that if the platform let a handler close or reset the
 * connection of its request.
 */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"

/** Closes the connection as soon as what was written is sent. */
export const close = (request: HttpServerRequest): Effect.Effect<void> =>
  Effect.sync(() => socketOf(request).destroySoon())

/** Resets the connection (RST), whatever was written. */
export const reset = (request: HttpServerRequest): Effect.Effect<void> =>
  Effect.sync(() => {
    socketOf(request).resetAndDestroy()
  })

const socketOf = (request: HttpServerRequest) => NodeHttpServerRequest.toIncomingMessage(request).socket
