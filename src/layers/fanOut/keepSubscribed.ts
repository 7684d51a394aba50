/**
 * A subscription to the event bus that outlives its feeds: one that ends, fails or dies is reported and replaced.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
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
import { printableLine } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { resubscribe } from "../../internal/schedules.ts"
import { type BusEvent, EventBus, EventBusError } from "../../services/EventBus.ts"
import type { BusProblem } from "../../services/Slices.ts"

/** How much of a reason is shown; the log has it whole. */
const maxReason = 500

export interface Subscription {
  /** None while a feed is open. */
  readonly problem: SubscriptionRef.SubscriptionRef<Option.Option<BusProblem>>
}

/** A feed of the bus. It never ends without a failure. Between two feeds it is one without events. */
export type Feed = Stream.Stream<BusEvent, EventBusError | FeedEnded>

export interface Subscriber {
  /** Who it is, as the log says it: `The HTTP transport`. */
  readonly name: string

  /** Readies itself for a new feed, which has begun. */
  readonly open?: Effect.Effect<void, EventBusError>

  /** Reads a feed. The feed waits where it does, and the bus drops the oldest of too many events. */
  readonly read: (feed: Feed) => Effect.Effect<void, EventBusError | FeedEnded>

  /** What it does when a feed that was open is lost. */
  readonly lost?: Effect.Effect<void>
}

/** The bus has ended a feed, or the pause behind it is over. */
export class FeedEnded extends Data.TaggedError("vitrine/FeedEnded") {
  override get message() {
    return "the bus has ended the feed"
  }
}

/** How long the first feed may take to open: a bus that hangs must not hold up the start of the controller. */
const startTimeout = "15 seconds"

const notOpen = new EventBusError({ action: "subscribe", detail: `no feed was open after ${startTimeout}` })

/** A feed that was open for so long works: its recovery is logged, and so is the next problem. */
const stableAfter = "30 seconds"

/** After a feed that was open for so long, in milliseconds, the pauses begin again. */
const briefly = 5000

/**
 * Subscribes until the scope ends. When it returns, the first feed is open, or the attempt has failed or taken longer
 * than 15 seconds; where that dies, it dies.
 *
 * A problem is logged once, until a feed was stable in between, and so is its end.
 */
export const keepSubscribed = Effect.fnUntraced(function* ({
  lost = Effect.void,
  name,
  open = Effect.void,
  read
}: Subscriber) {
  const { subscribe } = yield* EventBus
  const outer = yield* Effect.scope
  const runtime = yield* Effect.runtime<Scope.Scope>()
  const pauses = yield* Schedule.driver(resubscribe)
  const problem = yield* SubscriptionRef.make(Option.none<BusProblem>())
  const openedAt = yield* Ref.make(Option.none<number>())
  const isReported = yield* Ref.make(false)

  const recovered = Effect.zipRight(
    Ref.set(isReported, false),
    Effect.logInfo(`${name} receives events again`)
  )

  const opened = Effect.gen(function* () {
    yield* Ref.set(openedAt, Option.some(yield* Clock.currentTimeMillis))
    yield* Ref.set(problem, Option.none())
    if (yield* Ref.get(isReported)) {
      yield* Effect.forkScoped(Effect.delay(recovered, stableAfter))
    }
  })

  const failed = (reason: string) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const wasOpen = yield* Ref.getAndSet(openedAt, Option.none())
      if (Option.exists(wasOpen, (at) => now - at >= briefly)) {
        yield* pauses.reset
      }
      yield* Ref.update(problem, (before) =>
        Option.some({
          reason: printableLine(reason, maxReason),
          since: Option.match(before, {
            onNone: () => new Date(now).toISOString(),
            onSome: ({ since }) => since
          })
        })
      )
      yield* (yield* Ref.getAndSet(isReported, true))
        ? Effect.logDebug(`${name} still receives no events: ${reason}`)
        : Effect.logWarning(`${name} receives no events, and tries again until it does: ${reason}`)
      if (Option.isSome(wasOpen)) {
        yield* lost
      }
    })

  const readToEnd = (events: Stream.Stream<BusEvent, EventBusError>) =>
    Effect.exit(read(Stream.concat(events, Stream.fail(new FeedEnded()))))

  /** Subscribes, and gives what reads the feed to its end. */
  const attempt = Effect.gen(function* () {
    const scope = yield* Scope.fork(outer, ExecutionStrategy.sequential)
    const feed = yield* subscribe.pipe(
      Effect.zipLeft(open),
      Effect.zipLeft(opened),
      Scope.extend(scope),
      Effect.tapErrorCause((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    return readToEnd(feed).pipe(
      Effect.tap((exit) => Scope.close(scope, exit)),
      Effect.flatMap((exit) => failed(reasonOf(exit)))
    )
  })

  const pause = Stream.execute(Effect.ignore(pauses.next(undefined)))

  const again = readToEnd(pause).pipe(
    Effect.zipRight(attempt),
    Effect.matchCauseEffect({
      onSuccess: (reading) => reading,
      onFailure: (cause) => failed(messageOf(Cause.squash(cause)))
    })
  )

  // It begins now, not in the next turn: whatever is published after this must be heard.
  const first = Runtime.runFork(runtime)(attempt)
  const reading = yield* Fiber.join(first).pipe(
    Effect.timeoutFail({ duration: startTimeout, onTimeout: () => notOpen }),
    Effect.onError(() => Fiber.interruptFork(first)),
    Effect.catchAll((error) => Effect.as(failed(messageOf(error)), Effect.void))
  )
  yield* Effect.forkIn(Effect.zipRight(reading, Effect.forever(again)), outer)

  const subscription: Subscription = { problem }
  return subscription
})

const reasonOf = (exit: Exit.Exit<void, EventBusError | FeedEnded>) =>
  messageOf(Exit.isSuccess(exit) ? new FeedEnded() : Cause.squash(exit.cause))
