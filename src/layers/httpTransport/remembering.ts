/**
 * Stores replayed events in the `ReplayBacklog`. The forwarding never waits for it.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import { messageOf } from "../../internal/SerializedError.ts"
import { resubscribe } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { type RememberedEvent, ReplayBacklog } from "../../services/ReplayBacklog.ts"

/** How long it waits for what is not remembered yet before that is given up. */
const grace = "500 millis"

export interface Remembering {
  /** Has an event remembered soon. Of events of one name that wait, only the latest is: no more wait than names. */
  readonly remember: (event: RememberedEvent) => void
  /** Gives up what is not remembered soon: it may have been numbered otherwise than what comes next. */
  readonly forget: Effect.Effect<void>
}

/** Where the backlog fails, which is logged once until it works again, the same is tried again until it works. */
export const makeRemembering = Effect.gen(function* () {
  const backlog = yield* ReplayBacklog
  const waiting = new Map<string, RememberedEvent>()
  const worker = yield* FiberHandle.make<void, never>()
  const run = yield* FiberHandle.runtime(worker)()
  const warning = makeWarnWhile(
    (message) => `The replay backlog fails, and clients that connect later may miss events: ${message}`
  )

  const enqueue = (event: RememberedEvent) => {
    // A Map keeps the place of a key that is set again; only a new key goes to the end.
    waiting.delete(event.name)
    waiting.set(event.name, event)
  }

  const rememberFirst = Effect.suspend(() => {
    const [event] = waiting.values()
    if (event === undefined) {
      return Effect.void
    }
    const isWaiting = () => waiting.get(event.name) === event
    return backlog.remember(event).pipe(
      // One that the backlog does not take must not keep it from the others.
      Effect.tapErrorCause(() => Effect.sync(() => isWaiting() && enqueue(event))),
      Effect.zipRight(Effect.sync(() => isWaiting() && waiting.delete(event.name))),
      Effect.zipRight(warning.works)
    )
  })

  const rememberAll = Effect.whileLoop({
    while: () => waiting.size > 0,
    body: () => rememberFirst,
    step: () => {}
  }).pipe(
    Effect.sandbox,
    Effect.tapError((cause) => warning.fails(messageOf(Cause.squash(cause)))),
    Effect.retry(resubscribe),
    Effect.ignore
  )

  const forget = Effect.gen(function* () {
    if (!(yield* warning.isFailing)) {
      yield* Effect.timeoutOption(Effect.interruptible(FiberHandle.awaitEmpty(worker)), grace)
    }
    waiting.clear()
    yield* FiberHandle.clear(worker)
  })
  yield* Effect.addFinalizer(() => forget)

  const remembering: Remembering = {
    remember: (event) => {
      const isIdle = waiting.size === 0
      enqueue(event)
      if (isIdle) {
        run(rememberAll)
      }
    },
    forget
  }
  return remembering
})
