/**
 * Time limits for clients that do not read, or that have closed their side of the connection.
 */
import type { Server, ServerResponse } from "node:http"
import type { Readable, Writable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"

/** How long a response may stay unread, and how long the server works for a client that has closed its side. */
export const stallTimeout = "30 seconds"

/**
 * Lets clients close their side of a connection and still get their responses. Node would close the other side, too, and
 * later responses would be lost.
 */
export const allowHalfClosed = <A extends Server>(server: A): Effect.Effect<A> =>
  Effect.map(Effect.runtime(), (runtime) => {
    const run = Runtime.runFork(runtime)
    return Object.assign(server, { httpAllowHalfOpen: true }).on("connection", (socket) => {
      socket.once("end", () => {
        // If no response is pending, Node has ended the socket.
        if (!socket.writableEnded) {
          run(closedInTime(socket, () => socket.destroy()))
        }
      })
    })
  })

/**
 * Bytes of responses that wait in memory until their clients read them. A module variable, because all servers share the
 * memory of the process.
 */
let unread = 0

/** The limit of `unread`, in bytes. Each client has its own copy, and the process returns memory to the system late. */
export const maxUnread = 64 * 1024 * 1024

/**
 * Closes the connection of a client that does not read its response: after `stallTimeout`, or at once if `maxUnread` is
 * exceeded already. `bytes` are those that wait. Bytes in the buffers of the system, at least some hundred KiB, do not count.
 */
export const readInTime = (response: ServerResponse, bytes: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (unread > maxUnread) {
      return Effect.sync(() => void response.destroy())
    }
    unread += bytes
    response.once("close", () => {
      unread -= bytes
    })
    return endIfStalled(response)
  })

/** How often to check whether a client has read something. */
export const checkEvery = "5 seconds"

/** Checks in a row without progress until a response has stalled; together they take `stallTimeout`. */
const maxIdleChecks = 6

/**
 * Ends a response if nothing more could be written for `stallTimeout`. A slow client keeps its response if it reads 256 KiB, the
 * size of one write, in that time.
 */
export const endIfStalled = (response: ServerResponse): Effect.Effect<void> =>
  Effect.map(Effect.forkDaemon(Effect.interruptible(untilStalled(response))), (fiber) => {
    response.once("close", () => fiber.unsafeInterruptAsFork(fiber.id()))
  })

const untilStalled = (response: ServerResponse, idleChecks = 0): Effect.Effect<void> => {
  const written = response.socket?.bytesWritten
  return idleChecks === maxIdleChecks
    ? Effect.sync(() => void response.destroy())
    : Effect.flatMap(Effect.sleep(checkEvery), () =>
        untilStalled(response, response.socket?.bytesWritten === written ? idleChecks + 1 : 0)
      )
}

/** How long the last bytes of a connection may take, in milliseconds. */
const endGraceMs = 1000

/** Cuts a connection after a moment, or that of a request, if it does not end before. */
export const cutSoon = (connection: Readable): void => {
  const timer = setTimeout(() => connection.destroy(), endGraceMs)
  connection.once("close", () => clearTimeout(timer))
}

/** Waits until the stream is closed. Can be interrupted even if its caller cannot. */
export const closed = (closable: Writable): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const onClose = () => resume(Effect.void)
    if (closable.closed) {
      onClose()
    }
    closable.once("close", onClose)
    return Effect.sync(() => closable.off("close", onClose))
  }).pipe(Effect.interruptible)

const closedInTime = (closable: Writable, destroy: () => void): Effect.Effect<void> =>
  Effect.timeoutTo(closed(closable), { duration: stallTimeout, onSuccess: () => {}, onTimeout: destroy })
