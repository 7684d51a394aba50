/**
 * The event bus of a plain controller.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import { EventBus } from "../../services/EventBus.ts"
import * as EventPubSub from "../memory/EventPubSub.ts"
import type { PlainEventBus, PlainEventHandler } from "./PlainController.ts"

/**
 * All subscriptions share one handler on the plain bus, which is there while there are any. It takes events in the order
 * in which the bus calls it: where a handler that was there before emits something itself, the plain bus tells of that
 * first.
 */
export const make = (plain: PlainEventBus) =>
  Effect.gen(function* () {
    const { publish, subscribe } = yield* EventPubSub.make
    const run = Runtime.runSync(yield* Effect.runtime())
    const warnOfNames = yield* Effect.once(
      Effect.logWarning("Events whose name is no string are not forwarded. Some are on the event bus.")
    )
    let subscriptions = 0
    // The emitter must not see it fail, and need not wait for it.
    const handler: PlainEventHandler = (name: unknown, payload) => {
      if (typeof name === "string") {
        run(publish(name, payload))
      } else {
        run(warnOfNames)
      }
    }
    const handled = Effect.acquireRelease(
      Effect.sync(() => {
        subscriptions += 1
        if (subscriptions === 1) {
          plain.onAny(handler)
        }
      }),
      () =>
        Effect.sync(() => {
          subscriptions -= 1
          if (subscriptions === 0) {
            plain.offAny(handler)
          }
        })
    )
    return EventBus.of({
      publish: (name, payload) => Effect.sync(() => void plain.emit(name, payload)),
      subscribe: Effect.zipRight(handled, subscribe),
      emptied: Stream.empty
    })
  })
