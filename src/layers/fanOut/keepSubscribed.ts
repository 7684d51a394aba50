/**
 * A subscription to the event bus that outlives its feeds: one that ends, fails or dies is reported and replaced.
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { growingPauses } from "../../internal/growingPauses.ts"
import { runChunks } from "../../internal/runChunks.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWaitingEvents, subscriberCapacity } from "../../internal/waitingEvents.ts"
import { type BusEvent, EventBus, EventBusError, type Subscribe } from "../../services/EventBus.ts"

/** Why no events are received, and since when. */
export interface FeedProblem {
  readonly reason: string
  readonly since: Date
}

export interface Subscription {
  /** None while a feed is open. */
  readonly problem: Effect.Effect<Option.Option<FeedProblem>>
}

export interface Subscriber<E = EventBusError> {
  /** Who it is, as the log says it: `The HTTP transport`. */
  readonly name: string

  /** Readies itself for a new feed, which has begun. The scope is that of the feed. */
  readonly open: Effect.Effect<void, E, Scope.Scope>

  /** Takes events in one synchronous function. Gives an Effect only where something is wrong. */
  readonly take: (events: ReadonlyArray<BusEvent>) => Effect.Effect<void, E, Scope.Scope> | undefined

  /** What it does when a feed that was open is lost. */
  readonly lost: Effect.Effect<void>

  /** What it does between two feeds; it is interrupted when the next one is open. */
  readonly meanwhile: Effect.Effect<void>
}

/** How long the first feed may take to open: a bus that hangs must not hold up the start of the controller. */
const startTimeout = "15 seconds"

const notOpen = new EventBusError({ action: "subscribe", detail: `no feed was open after ${startTimeout}` })

/** A feed that was open for so long works: its recovery is logged, and so is the next problem. */
const stableAfter = "30 seconds"

/** After a feed that was open for so long, in milliseconds, the pauses begin anew. */
const briefly = 5000

const neverOpened = Number.POSITIVE_INFINITY

/**
 * Subscribes until the scope ends. When it returns, the first feed is open, or the attempt has failed or taken longer
 * than 15 seconds; where that dies, it dies.
 *
 * A problem is logged once, until a feed was stable in between, and so is its end.
 */
export const keepSubscribed = Effect.fnUntraced(function* <E>({
  lost,
  meanwhile,
  name,
  open,
  take
}: Subscriber<E>) {
  const { subscribe } = yield* EventBus
  const { listen } = subscribe
  const pauses = yield* Schedule.driver(growingPauses)
  const problem = yield* Ref.make(Option.none<FeedProblem>())
  const outer = yield* Effect.scope
  let openedAt = neverOpened
  let isReported = false

  const recovered = Effect.suspend(() => {
    isReported = false
    return Effect.logInfo(`${name} receives events again`)
  })

  const opened = Effect.gen(function* () {
    openedAt = yield* Clock.currentTimeMillis
    yield* Ref.set(problem, Option.none())
    if (isReported) {
      yield* Effect.forkScoped(Effect.delay(recovered, stableAfter))
    }
  })

  const streamed = Effect.gen(function* () {
    const feed = yield* subscribe
    yield* open
    return runChunks(feed, (events) => take(Chunk.toReadonlyArray(events)))
  })

  const listened = (listen: NonNullable<Subscribe["listen"]>) =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void, E>()
      const scope = yield* Effect.scope
      const runtime = yield* Effect.runtime<Scope.Scope>()
      /** What comes while it is opened, or while something that was wrong is dealt with. */
      const waiting = makeWaitingEvents<BusEvent>()
      let isOpen = false
      let isBusy = true
      const deal = (events: ReadonlyArray<BusEvent>) => {
        const effect = takeOrFail(events)
        if (effect !== undefined) {
          isBusy = true
          Runtime.runFork(
            runtime,
            Effect.matchCauseEffect(effect, {
              onSuccess: () => Effect.sync(dealWithWaiting),
              onFailure: (cause) => Deferred.failCause(ended, cause)
            }),
            { scope }
          )
        }
      }
      /** Whoever publishes must not see it throw. */
      const takeOrFail = (events: ReadonlyArray<BusEvent>) => {
        try {
          return take(events)
        } catch (defect) {
          return Effect.die(defect)
        }
      }
      const dealWithWaiting = () => {
        isBusy = false
        const events = waiting.takeAll()
        if (events.length > 0) {
          deal(events)
        }
      }
      yield* listen({
        events: (events) => {
          if (!isBusy) {
            deal(events)
          } else if (isOpen || waiting.length() + events.length <= subscriberCapacity) {
            for (const event of events) {
              waiting.offer(event)
            }
          } else {
            // Without an event before them, nobody could tell that some are missing.
            Deferred.unsafeDone(ended, Effect.dieMessage("too many events came while it was opened"))
          }
        },
        end: () => Deferred.unsafeDone(ended, Effect.void)
      })
      yield* open
      isOpen = true
      dealWithWaiting()
      return Deferred.await(ended)
    })

  const failed = (reason: string) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const wasOpen = openedAt !== neverOpened
      if (now - openedAt >= briefly) {
        yield* pauses.reset
      }
      openedAt = neverOpened
      yield* Ref.update(problem, (before) =>
        Option.some({
          reason,
          since: Option.match(before, { onNone: () => new Date(now), onSome: ({ since }) => since })
        })
      )
      yield* isReported
        ? Effect.logDebug(`${name} still receives no events: ${reason}`)
        : Effect.logWarning(`${name} receives no events, and tries again until it does: ${reason}`)
      isReported = true
      if (wasOpen) {
        yield* lost
      }
    })

  /** Subscribes, and gives what reads the feed to its end. */
  const attempt = Effect.gen(function* () {
    const scope = yield* Scope.fork(outer, ExecutionStrategy.sequential)
    const read = yield* (listen === undefined ? streamed : listened(listen)).pipe(
      Effect.zipLeft(opened),
      Scope.extend(scope),
      Effect.tapErrorCause((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    return Effect.matchCauseEffect(Scope.extend(read, scope), {
      onSuccess: () => Effect.zipRight(Scope.close(scope, Exit.void), failed("the bus has ended the feed")),
      onFailure: (cause) =>
        Effect.zipRight(Scope.close(scope, Exit.failCause(cause)), failed(messageOf(Cause.squash(cause))))
    })
  })

  const attemptLater = Effect.raceFirst(
    Effect.zipRight(Effect.ignore(pauses.next(undefined)), attempt),
    Effect.zipRight(meanwhile, Effect.never)
  )
  const again = Effect.matchCauseEffect(attemptLater, {
    onSuccess: (readToEnd) => readToEnd,
    onFailure: (cause) => failed(messageOf(Cause.squash(cause)))
  })
  const inTime = Effect.timeoutFail(Effect.disconnect(attempt), {
    duration: startTimeout,
    onTimeout: () => notOpen
  })
  // A bus within this process is listened to at once: nothing that is published next is missed.
  const first = listen === undefined ? inTime : attempt
  const readToEnd = yield* first.pipe(
    Effect.catchAll((error) => Effect.as(failed(messageOf(error)), Effect.void))
  )
  yield* Effect.forkIn(Effect.zipRight(readToEnd, Effect.forever(again)), outer)

  const subscription: Subscription = { problem: Ref.get(problem) }
  return subscription
})
