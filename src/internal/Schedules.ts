/**
 * When actions are retried or repeated, how long they may take, and the last failure of an action.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleInterval from "effect/ScheduleInterval"
import { monotonicMillis } from "./monotonicMillis.ts"

/**
 * The result of the work, or of `end` if `end` comes first. Both have ended when this effect ends, also if this effect
 * is interrupted, so the caller may give back what they use. `Effect.raceFirst` does not wait for them then.
 */
export const endedBy =
  <B, E2, R2>(end: Effect.Effect<B, E2, R2>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const first = yield* Deferred.make<A | B, E | E2>()
        // Child fibers would be interrupted with a caller that cannot be interrupted.
        const fibers = [
          yield* Effect.forkDaemon(Effect.intoDeferred(restore(work), first)),
          yield* Effect.forkDaemon(Effect.intoDeferred(Effect.interruptible(end), first))
        ]
        return yield* Effect.ensuring(restore(Deferred.await(first)), Fiber.interruptAll(fibers))
      })
    )

/**
 * Fails if the effect takes longer. The effect has ended when this fails or is interrupted. `Effect.timeoutFail` is
 * not interrupted if it runs beside others in `Effect.forEach` and one of them fails. Without a limit if the duration
 * is infinite.
 */
export const withTimeout = <E>(duration: Duration.DurationInput, onTimeout: () => E) =>
  Duration.isFinite(Duration.decode(duration))
    ? endedBy(Effect.zipRight(Effect.sleep(duration), Effect.failSync(onTimeout)))
    : <A, E1, R>(effect: Effect.Effect<A, E1, R>): Effect.Effect<A, E | E1, R> => effect

/** Repeats for ever, with this pause after each time. `Effect.repeat` with a Schedule takes four times as many steps. */
export const repeatAfter =
  (pause: Duration.DurationInput) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<never, E, R> =>
    Effect.forever(Effect.zipRight(effect, Effect.sleep(pause)))

/**
 * As `Effect.retry`, but the schedule and the annotations of logs are set up only after a failure: setting them up takes
 * more steps than a small request.
 */
export const retryBy = <A, E, R, B, R2>(
  attempt: Effect.Effect<A, E, R>,
  schedule: Schedule.Schedule<B, NoInfer<E>, R2>,
  annotations: Readonly<Record<string, string>> = {}
): Effect.Effect<A, E, R | R2> =>
  Effect.catchAll(attempt, (failure) => {
    let next: Effect.Effect<A, E, R> = Effect.suspend(() => {
      next = attempt
      return Effect.fail(failure)
    })
    const again = Effect.suspend(() => next)
    return Effect.annotateLogs(Effect.retry(again, schedule), annotations)
  })

/**
 * Waits for a signal, but not longer than the duration: its end is one more signal. A timeout takes twice as many steps.
 */
export const signalWithin = (
  signal: Queue.Queue<void>,
  longest: Duration.DurationInput
): Effect.Effect<void> =>
  Effect.flatMap(Effect.fork(Effect.delay(Queue.offer(signal, undefined), longest)), (timer) =>
    Effect.ensuring(Queue.take(signal), Fiber.interrupt(timer))
  )

/** A pause that doubles with each further failure in a row, up to the longest. The first failure is 1. */
const doubling = (first: Duration.DurationInput, longest: Duration.DurationInput) => (failures: number) =>
  Duration.min(Duration.times(first, 2 ** (failures - 1)), longest)

/** The event bus and the backlog: a second, doubling up to half a minute, each up to a fifth shorter or longer, for ever. */
export const resubscribe = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("30 seconds")),
  Schedule.jittered
)

/**
 * A receiver of alerts: a second, doubling up to five minutes, for ever. Input: whether the post surely did not arrive:
 * then up to half a minute. A receiver that is slow, or responds with an error, may show the alert all the same, each time.
 */
export const delivery = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("5 minutes")),
  Schedule.union(Schedule.spaced("30 seconds").pipe(Schedule.whileInput((isLost: boolean) => isLost)))
)

/** A request that may succeed later: retries after one, two and four seconds. */
export const request = Schedule.intersect(Schedule.exponential("1 second"), Schedule.recurs(3))

/**
 * Another controller that failed, until it is asked first again, and a version that could not be copied: five
 * seconds, doubling up to a minute.
 */
export const upstreamPause = doubling("5 seconds", "1 minute")

/** A fetch that failed: 15 seconds, doubling up to five minutes. */
export const fetchPause = doubling("15 seconds", "5 minutes")

/** A fetch of a local folder that failed, if nobody changes the folder: a minute, doubling up to an hour. */
export const folderPause = doubling("1 minute", "1 hour")

/**
 * Fetches. Input: whether the last fetch failed for a reason that may pass by itself. Output: the number of such
 * failures in a row.
 */
export type Fetches = Schedule.Schedule<number, boolean>

const failuresInRow: Fetches = Schedule.makeWithState(0, (now, failed, before) => {
  const failures = failed ? before + 1 : 0
  return Effect.succeed([
    failures,
    failures,
    ScheduleDecision.continueWith(ScheduleInterval.after(now))
  ] as const)
})

/**
 * Every `every`, or at the start only. A failed fetch is retried after 15 seconds, doubling up to `every`, or up to
 * five minutes without `every`.
 */
export const fetch = (every: Option.Option<Duration.DurationInput>): Fetches => {
  const retry = doubling(
    "15 seconds",
    Option.getOrElse(every, () => "5 minutes" as const)
  )
  return failuresInRow.pipe(
    Schedule.whileOutput((failures) => failures > 0 || Option.isSome(every)),
    Schedule.addDelay((failures) =>
      failures > 0 ? retry(failures) : Option.getOrElse(every, () => Duration.zero)
    )
  )
}

/**
 * Every `every`. With each failure the pause doubles, up to a minute if `every` is shorter. Each pause is up to a
 * fifth shorter, so that replicas do not poll at the same time.
 */
export const poll = (every: Duration.DurationInput): Fetches => {
  const pause = doubling(every, Duration.max(every, "1 minute"))
  return Schedule.addDelayEffect(failuresInRow, (failures) => {
    const longest = Math.round(Duration.toMillis(pause(failures + 1)))
    return Random.nextIntBetween(Math.ceil(longest * 0.8), longest + 1)
  })
}

/**
 * Repeats for ever: after a change, but not sooner than `shortest` after the last time, and not later than `longest`
 * of the last result.
 */
export const whenChanged = <A, E, R, R2>(
  effect: Effect.Effect<A, E, R>,
  pauses: {
    readonly changed: Queue.Queue<void>
    readonly shortest: Duration.DurationInput
    readonly longest: (result: A) => Effect.Effect<Duration.DurationInput, never, R2>
  }
): Effect.Effect<never, E, R | R2> =>
  Effect.gen(function* () {
    const longest = yield* pauses.longest(yield* effect)
    yield* Effect.sleep(pauses.shortest)
    yield* signalWithin(pauses.changed, Duration.subtract(longest, pauses.shortest))
  }).pipe(Effect.forever)

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
  readonly paused: Effect.Effect<Option.Option<Failure<E>>>
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
    paused: Effect.zipWith(Ref.get(last), monotonicMillis, (failure, now) =>
      Option.filter(failure, ({ retryAt }) => now < retryAt)
    )
  }
}
