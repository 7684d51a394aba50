/**
 * How long a client may take that has stopped to read, or has closed its side of the connection.
 */
import type { Server, ServerResponse } from "node:http"
import type { Writable } from "node:stream"
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

/**
 * Bytes of responses that wait in memory until their clients read them. In the module, because the memory is that of the process,
 * however many servers it has.
 */
let unread = 0

/** How many these may be. Each client has its own copy, and memory that was needed once is given back late. */
export const maxUnread = 64 * 1024 * 1024

/**
 * Closes the connection of a client that does not read its response: when it has stalled, and at once where `maxUnread` is
 * exceeded already. What the system takes at once, some hundred KiB at least, does not wait.
 */
export const readInTime = (response: ServerResponse): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { writableLength } = response
    if (writableLength === 0) {
      return Effect.void
    }
    if (unread > maxUnread) {
      return Effect.sync(() => void response.destroy())
    }
    unread += writableLength
    response.once("close", () => {
      unread -= writableLength
    })
    return endIfStalled(response)
  })

/** How often it is checked whether a client has read something. */
export const checkEvery = "5 seconds"

/** So many checks in a row that find nothing are the `stallTimeout`. */
const maxIdleChecks = 6

/**
 * Ends a response that stalls: of which nothing more could be written for as long as `stallTimeout`. A client that goes on
 * reading may be slow: it has to take 256 KiB in that time, what is written at once.
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

/** Waits until it is closed; it can be interrupted even if its caller cannot. */
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
