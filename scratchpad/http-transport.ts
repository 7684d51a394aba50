/**
 * The HTTP/SSE transport in an Effect program of its own: no content, no controller.
 *
 *     npx jiti scratchpad/http-transport.ts
 *     curl -N http://127.0.0.1:8710/events
 *     curl -X POST http://127.0.0.1:8710/command -d '{ "type": "dice.roll", "sides": 20 }'
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Random, Schema } from "effect"
import * as Vitrine from "vitrine"

const Dice = { type: "dice.roll", fields: Schema.Struct({ sides: Schema.Int }) }

const program = Effect.gen(function* () {
  const { publish } = yield* Vitrine.EventBus
  const { register } = yield* Vitrine.CommandBus
  const roll = (sides: number) =>
    Effect.tap(Random.nextIntBetween(1, sides + 1), (result) => publish("dice:rolled", { result }))
  yield* register({ ...Dice, run: ({ sides }) => roll(sides) })
  return yield* Effect.never
})

const transport = Vitrine.HttpTransport.layer({
  events: ["dice:*"],
  replayEvents: ["dice:rolled"],
  allowedCommands: [Dice.type]
})

const services = Layer.mergeAll(
  Vitrine.EventBusMemory.layer,
  Vitrine.CommandBusMemory.layer,
  Vitrine.ReplayBacklogMemory.layer,
  Vitrine.ControllerStateMemory.layer("persistent")
)

const layers = Layer.provideMerge(transport, services)
program.pipe(Effect.scoped, Effect.provide(layers), NodeRuntime.runMain)
