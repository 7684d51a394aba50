/**
 * The end of the process, after a signal or with an exit status, even if something blocks.
 */
import * as Effect from "effect/Effect"
import { nextTurn } from "../../internal/nextTurn.ts"

const endLimitMs = 2000
const turnMs = 10

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Ends the process within two seconds (of its own turns) after SIGINT or SIGTERM, even if something still runs. SIGHUP, for
 * example of a closed terminal, counts as SIGTERM, except for a process that was started in the background.
 */
export const exitAfterSignals = (): void => {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      eachTurnUntilLimit(() => {}).unref()
    })
  }
  // `start --detach` has a channel to its child until the child is ready.
  const isInBackground = process.connected
  process.on("SIGHUP", () => {
    if (!isInBackground) {
      process.emit("SIGTERM", "SIGTERM")
    }
  })
}

/**
 * While the effect runs, signals end the process at once. User code may block the event loop, so signals must end the process. Call
 * before anything is opened.
 */
export const withoutSignalHandlers = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // Waits two turns: a signal that has arrived, but whose handler was not called yet, is lost when the handler is removed.
  Effect.zipRight(Effect.repeatN(nextTurn, 1), withoutHandlers(effect))

const withoutHandlers = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      endingSignals.map((signal) => {
        const listeners = process.listeners(signal)
        process.removeAllListeners(signal)
        return { signal, listeners }
      })
    ),
    () => effect,
    (removed) =>
      Effect.sync(() => {
        for (const { listeners, signal } of removed) {
          for (const listener of listeners) process.on(signal, listener)
        }
      })
  )

/** The exit statuses of commands (docs/operate.md). */
const statuses = { success: 0, failure: 1, fetchFailed: 3 }

/** Sets the status of a command that ends without an error. The last call counts. */
export const setExitStatus = (status: keyof typeof statuses): void => {
  process.exitCode = statuses[status]
}

/** Ends the process with the status. Running file operations get two seconds to end. */
export const exitProcess = (status: number): void => {
  const tryToEnd = () => {
    if (!isWaitingForThreads()) {
      process.exit(status)
    }
  }
  tryToEnd()
  eachTurnUntilLimit(tryToEnd)
}

/** Counts two seconds in turns of this process, because it may get few turns on a busy machine. */
const eachTurnUntilLimit = (turn: () => void): NodeJS.Timeout => {
  let turns = endLimitMs / turnMs
  return setInterval(() => {
    if (turns-- > 0) {
      turn()
    } else {
      endWithoutIt()
    }
  }, turnMs)
}

/** `process.exit` would wait for ever for its threads. */
const endWithoutIt = () => {
  console.error("error: Something did not stop within two seconds. Ending without it.")
  if (isWaitingForThreads()) {
    process.kill(process.pid, "SIGKILL")
  } else {
    process.exit(1)
  }
}

/** Whether file operations or DNS lookups are running: these may never end on a disk or a network that does not respond. */
const isWaitingForThreads = () =>
  process
    .getActiveResourcesInfo()
    .some((name) => /^(FSReq|FileHandleCloseReq|GetAddrInfoReq|GetNameInfoReq)/.test(name))
