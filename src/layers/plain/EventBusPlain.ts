/**
 * The event bus of a plain controller.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { EventBus } from "../../services/EventBus.ts"
import * as EventBusMemory from "../memory/EventBusMemory.ts"
import type { PlainEventBus, PlainEventHandler } from "./PlainContext.ts"

/**
 * Each subscription is one handler on the plain bus. It takes events in the order in which the bus calls it: where a
 * handler that was there before emits something itself, the plain bus tells of that first.
 */
export const make = (plain: PlainEventBus) =>
  EventBus.of({
    publish: (name, payload) => Effect.sync(() => void plain.emit(name, payload)),
    subscribe: Effect.gen(function* () {
      const { publish, subscribe } = yield* EventBusMemory.make
      const feed = yield* subscribe
      const run = Runtime.runSync(yield* Effect.runtime())
      const warnOfNames = yield* Effect.once(
        Effect.logWarning("Events whose name is no string are not forwarded. Some are on the event bus.")
      )
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          // Whoever emits must not see it fail, and need not wait for it.
          const handler: PlainEventHandler = (name: unknown, payload) =>
            run(typeof name === "string" ? publish(name, payload) : warnOfNames)
          plain.onAny(handler)
          return handler
        }),
        (handler) => Effect.sync(() => plain.offAny(handler))
      )
      return feed
    })
  })
