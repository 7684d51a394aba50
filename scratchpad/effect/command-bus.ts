/**
 * The command bus: commands with fields of a schema, and errors that have a type.
 *
 *     npm run build && npx jiti scratchpad/effect/command-bus.ts
 */
import { Console, Effect, Schema } from "effect"
import { CommandBus, CommandBusMemory } from "vitrine"

const program = Effect.gen(function* () {
  const { dispatch, register, types } = yield* CommandBus.CommandBus
  yield* register({
    type: "lamp.dim",
    fields: Schema.Struct({ percent: Schema.Int.pipe(Schema.between(0, 100)) }),
    run: ({ percent }) => Effect.succeed({ brightness: percent / 100 })
  })
  yield* Console.log(yield* types)
  yield* Console.log(yield* dispatch({ type: "lamp.dim", percent: 40 }))
  yield* dispatch({ type: "lamp.dim", percent: 400 }).pipe(
    Effect.catchTag("vitrine/InvalidCommandFields", ({ message }) => Console.log(message))
  )
  yield* dispatch({ type: "lamp.explode" }).pipe(
    Effect.catchTag("vitrine/UnknownCommand", ({ message }) => Console.log(message))
  )
})

await program.pipe(Effect.scoped, Effect.provide(CommandBusMemory.layer), Effect.runPromise)
