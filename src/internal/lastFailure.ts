/**
 * The last failure of an action, and the pause after it.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { monotonicMillis } from "./monotonicMillis.ts"

export interface Failure<E> {
  readonly error: E
  /** Transient failures in a row, including this one; 0 for a permanent failure. */
  readonly inRow: number
  /** When a retry is allowed, in milliseconds of the monotonic clock. */
  readonly retryAt: number
}

export interface LastFailure<E> {
  /** A permanent failure (`isPermanent`) stays until somebody does something. */
  readonly failed: (error: E, isPermanent?: boolean) => Effect.Effect<void>
  readonly worked: Effect.Effect<void>
  /** `None` if the last try worked. */
  readonly get: Effect.Effect<Option.Option<Failure<E>>>
  /** The last failure, while a retry is not allowed yet; otherwise `None`. */
  readonly resting: Effect.Effect<Option.Option<Failure<E>>>
}

/** `pause` is the time until a retry; `inRow` is 1 for the first failure, 0 for a permanent one. */
export const makeLastFailure = <E>(pause: (inRow: number, error: E) => Duration.Duration): LastFailure<E> => {
  const last = Ref.unsafeMake(Option.none<Failure<E>>())
  return {
    failed: (error, isPermanent = false) =>
      Effect.flatMap(monotonicMillis, (now) =>
        Ref.update(last, (before) => {
          const inRow = isPermanent
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
