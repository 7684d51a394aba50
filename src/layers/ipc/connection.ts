/**
 * One connection: its requests in, their answers out, at no more cost than a bounded one, whatever the peer does.
 */
import type { Socket } from "node:net"
import * as Cause from "effect/Cause"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { messageOf } from "../../services/ErrorDescription.ts"
import { makeSocketSink } from "../transport/SocketSink.ts"
import type { EventFeed } from "./EventFeed.ts"
import * as JsonRpc from "./JsonRpc.ts"
import { type Line, tooLong } from "./lines.ts"
import type { Methods } from "./methods.ts"
import { socketLines } from "./socketLines.ts"

/** The longest request, in bytes, as over HTTP. */
export const maxRequestBytes = 65_536

/** How many requests of a connection are carried out at once. Others are not read before one is answered. */
export const maxConcurrentRequests = 16

/** How long a peer may leave its answers unread. */
export const patience = "10 seconds"

/**
 * Answers what comes over the connection until the peer ends its side, or `closing` is done; then what was asked
 * for is still answered, and the connection closed.
 *
 * A command goes on when whoever asked for it is gone, and takes up the connection until it has ended.
 */
export const serveConnection = (
  socket: Socket,
  { closing, feed, methods }: { closing: Deferred.Deferred<void>; feed: EventFeed; methods: Methods }
): Effect.Effect<void> => {
  const sink = makeSocketSink(socket)

  const carryOut = (line: Line): Effect.Effect<void> => {
    if (line === tooLong) {
      return Effect.sync(() => socket.write(JsonRpc.error(null, requestTooLong)))
    }
    if (isBlank(line)) {
      return Effect.void
    }
    return Either.match(JsonRpc.parseRequest(line), {
      onLeft: ({ error, id }) => Effect.sync(() => socket.write(JsonRpc.error(id, error))),
      onRight: (request) => {
        const { id } = request
        const send = (answer: (id: JsonRpc.Id) => string) => {
          if (id !== undefined) {
            socket.write(answer(id))
          }
        }
        return Effect.matchCauseEffect(methods(request, sink), {
          onSuccess: ({ afterwards, result }) =>
            Effect.sync(() => {
              send((id) => JsonRpc.result(id, result))
              afterwards?.()
            }),
          onFailure: (cause) => Effect.map(errorOf(cause), (error) => send((id) => JsonRpc.error(id, error)))
        })
      }
    })
  }

  return socketLines(socket, maxRequestBytes).pipe(
    Stream.interruptWhenDeferred(closing),
    Stream.mapEffect((line) => Effect.zipRight(carryOut(line), untilRead(socket)), {
      concurrency: maxConcurrentRequests,
      unordered: true
    }),
    Stream.runDrain,
    Effect.ensuring(Effect.sync(() => feed.unsubscribe(sink))),
    Effect.zipRight(ended(socket)),
    Effect.ensuring(Effect.sync(() => socket.destroy()))
  )
}

const requestTooLong = new JsonRpc.RpcError({
  code: JsonRpc.errorCode.invalidRequest,
  message: `A request must not exceed ${maxRequestBytes} bytes.`
})

const isBlank = (line: Uint8Array) => line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)

const errorOf = (cause: Cause.Cause<JsonRpc.RpcError>): Effect.Effect<JsonRpc.RpcError> => {
  const failure = Cause.failureOption(cause)
  if (failure._tag === "Some") {
    return Effect.succeed(failure.value)
  }
  if (Cause.isInterruptedOnly(cause)) {
    return Effect.interrupt
  }
  return Effect.as(
    Effect.logError("A request over the controller's socket failed unexpectedly", cause),
    new JsonRpc.RpcError({ code: JsonRpc.errorCode.internalError, message: messageOf(Cause.squash(cause)) })
  )
}

/** Waits while the peer reads, but not for ever: it is disconnected. */
const untilRead = (socket: Socket): Effect.Effect<void> =>
  Effect.suspend(() =>
    socket.writableNeedDrain && !socket.destroyed ? patiently(socket, "drain") : Effect.void
  )

const ended = (socket: Socket): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (socket.destroyed) {
      return Effect.void
    }
    socket.end()
    return patiently(socket, "finish")
  })

const patiently = (socket: Socket, event: "drain" | "finish"): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const done = () => resume(Effect.void)
    socket.once(event, done).once("close", done)
    return Effect.sync(() => socket.off(event, done).off("close", done))
  }).pipe(
    Effect.timeoutTo({
      duration: patience,
      onSuccess: () => {},
      onTimeout: () => void socket.destroy()
    })
  )
