/**
 * One connection: its requests in, their answers out, at no more cost than a bounded one, whatever the peer does.
 */
import type { Socket } from "node:net"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeSocketSink } from "../fanOut/SocketSink.ts"
import type { EventFeed } from "./EventFeed.ts"
import * as JsonRpc from "./JsonRpc.ts"
import { type Line, tooLong } from "./lines.ts"
import type { Methods } from "./methods.ts"
import { readLines } from "./socketLines.ts"

/** The longest request, in bytes, as over HTTP. */
export const maxRequestBytes = 65_536

/** How many requests of a connection are carried out at once. Others are not read before one is answered. */
export const maxConcurrentRequests = 16

/** How long a peer may leave its answers unread. */
export const patience = "10 seconds"

/** A peer that asks for nothing in this time, waits for no answer and has not subscribed is not kept. */
const idleLimit = "30 seconds"

/** How many requests are looked at before everything else in this process has its turn. */
const requestsInTurn = 64

/**
 * Answers what comes over the connection until the peer ends its side, or `closing` is done; then what was asked
 * for is still answered, and the connection closed.
 *
 * A command goes on when whoever asked for it is gone, and takes up the connection until it has ended. A connection
 * that is not used is closed.
 */
export const serveConnection = (socket: Socket, { closing, feed, methods }: ConnectionContext) => {
  const { more, next } = readLines(socket, { maxBytes: maxRequestBytes, endsLastLine: true })
  const sink = makeSocketSink(socket)
  // Each request may have to wait for it.
  socket.setMaxListeners(2 * maxConcurrentRequests)
  let begun = 0
  let running = 0

  /** Lets the time pass, and tells whether the peer has, too. */
  const idles = Effect.gen(function* () {
    const before = begun
    yield* Effect.sleep(idleLimit)
    return begun === before && running === 0 && !feed.isSubscribed(sink)
  })

  const serve = Effect.gen(function* () {
    const places = yield* Effect.makeSemaphore(maxConcurrentRequests)

    const answer = (id: JsonRpc.Id | undefined, text: (id: JsonRpc.Id) => string) => {
      if (id !== undefined) {
        socket.write(text(id))
      }
    }

    const carryOut = ({ id, ...request }: JsonRpc.Request) =>
      Effect.matchCauseEffect(methods(request, sink), {
        onSuccess: ({ afterwards, result }) =>
          Effect.sync(() => {
            answer(id, (id) => JsonRpc.result(id, result))
            afterwards?.()
          }),
        onFailure: (cause) =>
          Effect.map(errorOf(cause), (error) => answer(id, (id) => JsonRpc.error(id, error)))
      }).pipe(
        Effect.zipRight(untilRead(socket)),
        Effect.ensuring(
          Effect.suspend(() => {
            running -= 1
            return places.release(1)
          })
        )
      )

    const begin = (line: Line) => {
      const request = line === tooLong ? requestTooLong : JsonRpc.parseRequest(line)
      if (Either.isRight(request)) {
        running += 1
        return Effect.zipRight(places.take(1), Effect.fork(carryOut(request.right)))
      }
      socket.write(JsonRpc.error(request.left.id, request.left.error))
      return untilRead(socket)
    }

    const isClosing = Effect.as(Deferred.await(closing), false)
    const goOn = Effect.zipRight(eventLoopTurn, Effect.raceFirst(more, isClosing))
    for (;;) {
      const line = next()
      if (line !== undefined) {
        yield* begin(line)
        if (++begun % requestsInTurn === 0) {
          yield* eventLoopTurn
        }
      } else if (!(yield* goOn)) {
        break
      }
    }
    yield* places.take(maxConcurrentRequests)
    feed.unsubscribe(sink)
    yield* ended(socket)
  })

  return Effect.raceFirst(serve, Effect.repeat(idles, { until: (idles) => idles })).pipe(
    Effect.ensuring(Effect.sync(() => socket.destroy()))
  )
}

export interface ConnectionContext {
  /** Done when no more requests are to be read. */
  readonly closing: Deferred.Deferred<void>
  readonly feed: EventFeed
  readonly methods: Methods
}

const requestTooLong = Either.left<JsonRpc.BadRequest>({
  id: null,
  error: new JsonRpc.RpcError({
    code: JsonRpc.errorCode.invalidRequest,
    message: `A request must not exceed ${maxRequestBytes} bytes.`
  })
})

/** Effect's own yielding lets other fibers go on, but keeps sockets and timers waiting for a long time. */
const eventLoopTurn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

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
