/**
 * What one process has on its way to the server, which bounds it, and what it could not publish.
 */
import type { NatsState } from "./NatsState.ts"

export interface Traffic {
  /** An event that waits for the server; gives what ends the wait, or nothing where too much waits already. */
  readonly addEvent: (bytes: number) => (() => void) | undefined

  /** A command that another process executes; the same. */
  readonly addCommand: () => (() => void) | undefined

  /** An event that was not published, or may not have been. */
  readonly failed: (at: Date, reason: string) => void

  /** For the state. */
  readonly now: () => Pick<NatsState, "failures" | "lastFailure" | "waiting">
}

/** How many events wait for the server at most. */
export const maxEvents = 1024

/** How many bytes they have at most together; one event may always wait. */
export const maxBytes = 16 * 1024 * 1024

/** How many commands a process has others execute at the same time, and how many it executes for them. */
export const maxCommands = 256

export const makeTraffic = (): Traffic => {
  let events = 0
  let bytes = 0
  let commands = 0
  let failures = 0
  let last: Pick<NatsState, "lastFailure"> = {}

  return {
    addEvent: (size) => {
      if (events >= maxEvents || (events > 0 && bytes + size > maxBytes)) {
        return undefined
      }
      events += 1
      bytes += size
      return () => {
        events -= 1
        bytes -= size
      }
    },
    addCommand: () => {
      if (commands >= maxCommands) {
        return undefined
      }
      commands += 1
      return () => {
        commands -= 1
      }
    },
    failed: (at, reason) => {
      failures += 1
      last = { lastFailure: { at: at.toISOString(), reason } }
    },
    now: () => ({ waiting: { events, commands }, failures, ...last })
  }
}
