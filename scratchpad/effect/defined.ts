/**
 * A command and an event with types for both sides. The buses carry their encoded form: here, dates as text.
 *
 *     npm run build && npx jiti scratchpad/effect/defined.ts
 */
import { Console, Effect, Layer, Schema, Stream } from "effect"
import { CommandBus, CommandBusMemory, EventBus, EventBusMemory } from "vitrine"

const open = CommandBus.define({
  type: "hall.open",
  fields: Schema.Struct({ until: Schema.Date }),
  success: Schema.Struct({ minutes: Schema.Number })
})
const opened = EventBus.define("hall:opened", Schema.Struct({ until: Schema.Date }))

const program = Effect.gen(function* () {
  yield* open.register(({ until }) =>
    Effect.as(opened.publish({ until }), { minutes: until.getTime() / 60_000 })
  )
  const feed = yield* opened.subscribe
  const { minutes } = yield* open.dispatch({ until: new Date(600_000) })
  yield* Console.log(`Open for ${minutes} minutes`)
  yield* Stream.runForEach(Stream.take(feed, 1), ({ until }) => Console.log(until.toISOString()))
})

const buses = Layer.merge(CommandBusMemory.layer, EventBusMemory.layer)
await program.pipe(Effect.scoped, Effect.provide(buses), Effect.runPromise)
