/**
 * The messages of one process that wait for the server, with a limit, and those that could not be published.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type { NatsState } from "./pluginReading.ts"

export interface Traffic {
  /** Runs an effect that an event of this size, in bytes, waits for. */
  readonly withEvent: (bytes: number) => Waits

  /** Runs an effect that a command for another process waits for. */
  readonly withCommand: Waits

  /** Counts an event that was not published, or may not have been. */
  readonly failed: (reason: string) => Effect.Effect<void>

  /** For the state. */
  readonly now: Effect.Effect<Pick<NatsState, "failures" | "lastFailure" | "waiting">>
}

/** Fails at once if too much waits already. */
export type Waits = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TooMuchWaits, R>

export class TooMuchWaits extends Schema.TaggedError<TooMuchWaits>()("vitrine/TooMuchWaits", {}) {
  readonly detail = "too many events wait for the server already"
}

/** How many events may wait for the server. */
export const maxEvents = 1024

/** How many bytes these events may have together; one event may always wait. */
export const maxBytes = 16 * 1024 * 1024

/**
 * How many commands of this process other processes may execute at the same time, and how many it executes for them.
 */
export const maxCommands = 256

export const makeTraffic = Effect.gen(function* () {
  const events = yield* Ref.make({ count: 0, bytes: 0 })
  const commands = yield* Ref.make(0)
  const failures = yield* Ref.make<Pick<NatsState, "failures" | "lastFailure">>({ failures: 0 })

  const addEvent = (size: number) =>
    Ref.modify(events, (now) =>
      now.count >= maxEvents || (now.count > 0 && now.bytes + size > maxBytes)
        ? [false, now]
        : [true, { count: now.count + 1, bytes: now.bytes + size }]
    )

  const addCommand = Ref.modify(commands, (count) =>
    count >= maxCommands ? [false, count] : [true, count + 1]
  )

  return {
    withEvent: (size) => (effect) =>
      Effect.acquireUseRelease(
        orTooMuch(addEvent(size)),
        () => effect,
        () => Ref.update(events, ({ bytes, count }) => ({ count: count - 1, bytes: bytes - size }))
      ),
    withCommand: (effect) =>
      Effect.acquireUseRelease(
        orTooMuch(addCommand),
        () => effect,
        () => Ref.update(commands, (count) => count - 1)
      ),
    failed: (reason) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Ref.update(failures, ({ failures }) => ({
          failures: failures + 1,
          lastFailure: { at: new Date(now).toISOString(), reason }
        }))
      ),
    now: Effect.map(
      Effect.all([Ref.get(events), Ref.get(commands), Ref.get(failures)]),
      ([{ count }, commands, failures]) => ({ waiting: { events: count, commands }, ...failures })
    )
  } satisfies Traffic
})

const orTooMuch = (isAdded: Effect.Effect<boolean>) =>
  Effect.flatMap(isAdded, (isAdded) => (isAdded ? Effect.void : new TooMuchWaits()))
