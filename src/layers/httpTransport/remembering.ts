/**
 * Stores replayed events in the `ReplayBacklog`. The forwarding never waits for it.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
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
  const fork = Runtime.runFork(yield* Effect.runtime())
  const waiting = new Map<string, RememberedEvent>()
  let running: Fiber.RuntimeFiber<void> | undefined
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

  const start = () => {
    if (running === undefined && waiting.size > 0) {
      const fiber = fork(rememberAll)
      running = fiber
      fiber.addObserver(() => {
        running = undefined
        start()
      })
    }
  }

  const finish = Effect.suspend(() =>
    running === undefined || warning.isFailing()
      ? Effect.void
      : Effect.interruptible(Effect.timeoutOption(Fiber.await(running), grace))
  )

  const clear = Effect.suspend(() => {
    waiting.clear()
    return running === undefined ? Effect.void : Fiber.interrupt(running)
  })

  const forget = Effect.zipRight(finish, clear)
  yield* Effect.addFinalizer(() => forget)

  const remembering: Remembering = {
    remember: (event) => {
      enqueue(event)
      start()
    },
    forget
  }
  return remembering
})
