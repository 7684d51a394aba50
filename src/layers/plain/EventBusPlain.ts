/**
 * The event bus of a plain controller.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { EventBus } from "../../services/EventBus.ts"
import * as EventBusMemory from "../memory/EventBusMemory.ts"
import type { PlainContext, PlainEventHandler } from "./plainController.ts"

/**
 * All subscriptions share one handler on the plain bus until the scope ends; task mode has no handler. Events have the order of the
 * calls of the bus: if an earlier handler emits an event itself, the bus delivers that event first.
 */
export const make = ({ eventBus, mode }: Pick<PlainContext, "eventBus" | "mode">) =>
  Effect.gen(function* () {
    const { publish, ...events } = yield* EventBusMemory.make
    const run = Runtime.runSync(yield* Effect.runtime())
    const warnOfNames = yield* Effect.once(
      Effect.logWarning("Events whose name is no string are not forwarded. Some are on the event bus.")
    )
    // The emitter must not get its failure, and need not wait for it.
    const handler: PlainEventHandler = (name: unknown, payload) => {
      if (typeof name === "string") {
        run(publish(name, payload))
      } else {
        run(warnOfNames)
      }
    }
    if (mode === "persistent") {
      yield* Effect.acquireRelease(
        Effect.sync(() => eventBus.onAny(handler)),
        () => Effect.sync(() => eventBus.offAny(handler))
      )
    }
    return EventBus.of({
      ...events,
      publish: (name, payload) => Effect.sync(() => void eventBus.emit(name, payload))
    })
  })
