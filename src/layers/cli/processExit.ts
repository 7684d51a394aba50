/**
 * How the process of a command ends: after a signal, or with a status, whatever holds it up.
 */
import * as Effect from "effect/Effect"
import { nextTurn } from "../../internal/nextTurn.ts"

const endLimitMs = 2000
const turnMs = 10

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Ends the process at most two seconds of its own turns after SIGINT or SIGTERM, whatever runs on. SIGHUP, as of a terminal
 * that is closed, counts as SIGTERM, but not for one that was started in the background.
 */
export const exitAfterSignals = (): void => {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      eachTurnUntilLimit(() => {}).unref()
    })
  }
  // `start --detach` has a channel to its child, until that is ready.
  const isInBackground = process.connected
  process.on("SIGHUP", () => {
    if (!isInBackground) {
      process.emit("SIGTERM", "SIGTERM")
    }
  })
}

/**
 * While the effect runs, signals end the process at once: it runs code of the user, and no handler of a signal is called while that
 * loops. Nothing may be open yet that has to be closed.
 */
export const withoutSignalHandlers = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // Two turns: a signal that has come meanwhile, for which no handler was called yet, is lost when that is removed.
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
    (taken) =>
      Effect.sync(() => {
        for (const { listeners, signal } of taken) {
          for (const listener of listeners) process.on(signal, listener)
        }
      })
  )

/** The exit statuses of commands (docs/operate.md). */
const statuses = { success: 0, failure: 1, fetchFailed: 3 }

/** The status of a command that ends without an error. The last one that is set counts. */
export const setExitStatus = (status: keyof typeof statuses): void => {
  process.exitCode = statuses[status]
}

/** Ends the process with the status. File operations that have begun have two seconds to end. */
export const exitProcess = (status: number): void => {
  const tryToEnd = () => {
    if (!isWaitingForThreads()) {
      process.exit(status)
    }
  }
  tryToEnd()
  eachTurnUntilLimit(tryToEnd)
}

/** Two seconds are counted in turns of this process, of which it may have few on a busy machine. */
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

/** `process.exit` waits for its threads, and would do so for ever. */
const endWithoutIt = () => {
  console.error("error: Something did not stop within two seconds. Ending without it.")
  if (isWaitingForThreads()) {
    process.kill(process.pid, "SIGKILL")
  } else {
    process.exit(1)
  }
}

/** Whether files or names of hosts are being looked for: on a disk or a network that does not answer, without end. */
const isWaitingForThreads = () =>
  process
    .getActiveResourcesInfo()
    .some((name) => /^(FSReq|FileHandleCloseReq|GetAddrInfoReq|GetNameInfoReq)/.test(name))
