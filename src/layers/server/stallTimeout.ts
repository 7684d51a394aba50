/**
 * How long a client may take that has stopped to read, or has closed its side of the connection.
 */
import type { EventEmitter } from "node:events"
import type { Server, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"

/** How long a response may stay unread, and how long a client that sends nothing more is worked for. */
export const stallTimeout = "30 seconds"

/**
 * Lets clients close their side of a connection and be given what they still wait for. Node would close the other
 * side, too, and what is answered later would be lost.
 */
export const allowHalfClosed = <A extends Server>(server: A): Effect.Effect<A> =>
  Effect.map(Effect.runtime(), (runtime) => {
    const run = Runtime.runFork(runtime)
    return Object.assign(server, { httpAllowHalfOpen: true }).on("connection", (socket) => {
      socket.once("end", () => {
        // Node has ended it where nothing is waited for.
        if (!socket.writableEnded) {
          run(closedInTime(socket, () => socket.destroy()))
        }
      })
    })
  })

/** Closes the connection of a client that does not read its response. */
export const readInTime = (response: ServerResponse): Effect.Effect<void> =>
  response.writableLength === 0
    ? Effect.void
    : Effect.asVoid(Effect.forkDaemon(closedInTime(response, () => response.destroy())))

/**
 * Waits for the end of a response, and ends one that stalls: of which nothing more could be written for as long as
 * `stallTimeout`. A client that goes on reading may be slow: it has to take 64 KiB in that time, what is written at once.
 */
export const closedUnlessStalled = (response: ServerResponse): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (response.closed) {
      return Effect.void
    }
    const written = response.socket?.bytesWritten
    let stalled = false
    const check = () => {
      stalled = response.socket?.bytesWritten === written
      if (stalled) {
        response.destroy()
      }
    }
    return Effect.zipRight(
      closedInTime(response, check),
      Effect.suspend(() => (stalled ? Effect.void : closedUnlessStalled(response)))
    )
  })

const closedInTime = (closable: EventEmitter, destroy: () => void): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const closed = () => resume(Effect.void)
    closable.once("close", closed)
    return Effect.sync(() => closable.off("close", closed))
  }).pipe(Effect.timeoutTo({ duration: stallTimeout, onSuccess: () => {}, onTimeout: destroy }))
