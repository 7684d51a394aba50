/**
 * A subscription to the event bus that outlives its feeds: a feed that ends, fails or dies is reported and replaced.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { monotonicMillis, now } from "../../internal/monotonicMillis.ts"
import { printableLine } from "../../internal/printable.ts"
import { resubscribe } from "../../internal/Schedules.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { type BusEvent, EventBus, EventBusError } from "../../services/EventBus.ts"
import type { BusProblem } from "../../services/Slices.ts"

/** A feed of the bus, or the pause after it. */
export interface Feed {
  /** Whether the bus is connected: a pause has no events. */
  readonly isOpen: boolean
  /** The sequence at which the feed begins, if the bus tells it. */
  readonly first?: number | undefined
  /** Ends when the feed ends. A slow reader misses the oldest events. */
  readonly events: Stream.Stream<BusEvent>
}

export interface Subscription {
  /** One feed after the other, without an end. For one reader, which must read each feed to its end. */
  readonly feeds: Stream.Stream<Feed>
  /** Why no events come; `None` while a feed is open. */
  readonly problem: SubscriptionRef.SubscriptionRef<Option.Option<BusProblem>>
}

/** The longest reason in the state, in characters. The log has the whole reason. */
const maxReason = 500

/** How long the start waits for the first feed: each subscription to a bus that hangs delays the start of the controller. */
const startTimeout = "1 second"

/** How long the first feed may take to open. */
const openTimeout = "15 seconds"

const notOpen = new EventBusError({ action: "subscribe", detail: `no feed was open after ${openTimeout}` })

/** A feed that was open for this long counts as stable: its recovery is logged, and so is the next problem. */
const stableAfter = "30 seconds"

/** After a feed that was open for this long, in milliseconds, the pauses start again from the shortest. */
const briefly = 5000

/**
 * Subscribes until the scope ends. When it returns, the first feed is open, or the attempt has failed or taken longer
 * than a second. The first attempt is given up after 15 seconds; a feed that comes later is closed.
 *
 * A problem is logged once until a feed was stable, and so is the end of the problem. `name` is the subject of the log
 * messages.
 */
export const make = Effect.fnUntraced(function* (name: string) {
  const { subscribe } = yield* EventBus
  const outer = yield* Effect.scope
  const pauses = yield* Schedule.driver(resubscribe)
  const problem = yield* SubscriptionRef.make(Option.none<BusProblem>())
  const openedAt = yield* Ref.make(Option.none<number>())
  const warning = makeWarnWhile(
    (reason) => `${name} receives no events, and tries again until it does: ${reason}`,
    `${name} receives events again`
  )

  const opened = Effect.gen(function* () {
    yield* Ref.set(openedAt, Option.some(yield* monotonicMillis))
    yield* Ref.set(problem, Option.none())
    if (yield* warning.isFailing) {
      yield* Effect.forkScoped(Effect.delay(warning.works, stableAfter))
    }
  })

  const failed = Effect.fnUntraced(function* (reason: string) {
    const { monotonic, wall } = yield* now
    const wasOpen = yield* Ref.getAndSet(openedAt, Option.none())
    if (Option.exists(wasOpen, (at) => monotonic - at >= briefly)) {
      yield* pauses.reset
    }
    yield* Ref.update(problem, (before) =>
      Option.some({
        reason: printableLine(reason, maxReason),
        since: Option.match(before, {
          onNone: () => new Date(wall).toISOString(),
          onSome: ({ since }) => since
        })
      })
    )
    yield* warning.fails(reason)
  })

  /** Opens a feed. If this fails, the failure is reported, and the feed has no events. */
  const next = Effect.gen(function* () {
    const scope = yield* Scope.fork(outer, ExecutionStrategy.sequential)
    const close = Scope.close(scope, Exit.void)
    return yield* Effect.zipLeft(subscribe, opened).pipe(
      Scope.extend(scope),
      Effect.map(
        (events): Feed => ({
          isOpen: true,
          first: events.first,
          events: events.pipe(
            Stream.concat(Stream.dieMessage("the bus has ended the feed")),
            Stream.catchAllCause((cause) => Stream.execute(failed(messageOf(Cause.squash(cause))))),
            Stream.ensuring(close)
          )
        })
      ),
      Effect.catchAllCause((cause) =>
        Effect.as(Effect.zipRight(close, failed(messageOf(Cause.squash(cause)))), nothing)
      ),
      Effect.onInterrupt(() => close)
    )
  })

  const pause: Feed = { isOpen: false, events: Stream.execute(Effect.ignore(pauses.next(undefined))) }

  // Starts now, not in the next turn: events published after this must be received.
  const beginning = Runtime.runFork(yield* Effect.runtime())(next)
  const opening = yield* Fiber.join(beginning).pipe(
    Effect.timeoutFail({ duration: openTimeout, onTimeout: () => notOpen }),
    Effect.onError(() => Fiber.interruptFork(beginning)),
    Effect.catchAll(({ message }) => Effect.as(failed(message), nothing)),
    Effect.forkScoped
  )
  const first = yield* Effect.flatMap(
    Fiber.poll(beginning),
    Option.match({
      onNone: () => Effect.timeoutOption(Fiber.join(opening), startTimeout),
      onSome: (exit) => Effect.asSome(exit)
    })
  )
  const subscription: Subscription = {
    feeds: Stream.concat(
      Option.match(first, {
        onNone: () => Stream.concat(Stream.make(nothing), Stream.fromEffect(Fiber.join(opening))),
        onSome: (feed) => Stream.make(feed)
      }),
      Stream.forever(Stream.concat(Stream.make(pause), Stream.fromEffect(next)))
    ),
    problem
  }
  return subscription
})

const nothing: Feed = { isOpen: false, events: Stream.empty }
