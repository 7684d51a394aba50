/**
 * The messages of one process that wait for the server, with a limit, and those that could not be published.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type { NatsState } from "./pluginReport.ts"

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

  return {
    withEvent: (size) =>
      limited(
        events,
        ({ bytes, count }) =>
          count >= maxEvents || (count > 0 && bytes + size > maxBytes)
            ? undefined
            : { count: count + 1, bytes: bytes + size },
        ({ bytes, count }) => ({ count: count - 1, bytes: bytes - size })
      ),
    withCommand: limited(
      commands,
      (count) => (count >= maxCommands ? undefined : count + 1),
      (count) => count - 1
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

/** Adds an effect while it runs; `add` gives `undefined` if there is no room. */
const limited =
  <S>(ref: Ref.Ref<S>, add: (now: S) => S | undefined, remove: (now: S) => S): Waits =>
  (effect) =>
    Effect.acquireUseRelease(
      Ref.modify(ref, (now) => {
        const next = add(now)
        return [next !== undefined, next ?? now]
      }).pipe(Effect.filterOrFail(identity, () => new TooMuchWaits())),
      () => effect,
      () => Ref.update(ref, remove)
    )
