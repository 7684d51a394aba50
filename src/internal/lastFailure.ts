/**
 * What is left alone for a while after it has failed.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "./monotonicMillis.ts"

export interface Failure<E> {
  readonly error: E
  /** How many there were in a row that may pass, this one included; 0 if it is a lasting one. */
  readonly inRow: number
  /** When it may be tried again, in milliseconds of the monotonic clock. */
  readonly retryAt: number
}

export interface LastFailure<E> {
  /** A lasting failure stays until somebody does something. */
  readonly failed: (error: E, isLasting?: boolean) => Effect.Effect<void>
  readonly worked: Effect.Effect<void>
  /** None where it works. */
  readonly get: Effect.Effect<Option.Option<Failure<E>>>
  /** The same; `None` if it may be tried again. */
  readonly resting: Effect.Effect<Option.Option<Failure<E>>>
}

/** `pause` says for how long it is left alone; the first failure is 1, a lasting one 0. */
export const makeLastFailure = <E>(pause: (inRow: number, error: E) => Duration.Duration): LastFailure<E> => {
  const last = Ref.unsafeMake(Option.none<Failure<E>>())
  return {
    failed: (error, isLasting = false) =>
      Effect.flatMap(monotonicMillis, (now) =>
        Ref.update(last, (before) => {
          const inRow = isLasting
            ? 0
            : 1 + Option.match(before, { onNone: () => 0, onSome: ({ inRow }) => inRow })
          return Option.some({ error, inRow, retryAt: now + Duration.toMillis(pause(inRow, error)) })
        })
      ),
    worked: Ref.set(last, Option.none()),
    get: Ref.get(last),
    resting: Effect.zipWith(Ref.get(last), monotonicMillis, (failure, now) =>
      Option.filter(failure, ({ retryAt }) => now < retryAt)
    )
  }
}
