/**
 * The event bus: a live feed that misses no event after it has begun.
 *
 *     npm run build && npx jiti scratchpad/effect/event-bus.ts
 */
import { Console, Effect, Fiber, Stream } from "effect"
import { EventBus, EventBusMemory } from "vitrine"

const program = Effect.gen(function* () {
  const { publish, subscribe } = yield* EventBus.EventBus
  const feed = yield* subscribe
  const listener = yield* feed.pipe(
    Stream.filter(({ name }) => name.startsWith("lamp:")),
    Stream.take(2),
    Stream.runForEach(({ name, payload }) => Console.log(name, payload)),
    Effect.fork
  )
  yield* publish("lamp:on", { room: "Hall 2" })
  yield* publish("door:open", {})
  yield* publish("lamp:off", { room: "Hall 2" })
  yield* Fiber.join(listener)
})

await program.pipe(Effect.scoped, Effect.provide(EventBusMemory.layer), Effect.runPromise)
