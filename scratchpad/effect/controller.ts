/**
 * A controller in a program: a configuration is set up, a task is done with it, everything is shut down.
 *
 *     npm run build && npx jiti scratchpad/effect/controller.ts
 */
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"
import * as Vitrine from "vitrine"

const lamp: Vitrine.Plugin.Plugin = {
  name: "lamp",
  issues: [],
  setup: () =>
    Effect.gen(function* () {
      const { register } = yield* Vitrine.CommandBus.CommandBus
      yield* register({ type: "lamp.on", fields: Schema.Struct({}), run: () => Effect.succeed("bright") })
      yield* Effect.addFinalizer(() => Console.log("The lamp is off."))
      return Console.log("Everything is set up.")
    })
}
const configuration = { cwd: process.cwd(), plugins: [lamp, Vitrine.httpTransport()] }

const task = Effect.gen(function* () {
  const { dispatch } = yield* Vitrine.CommandBus.CommandBus
  yield* Console.log(yield* dispatch({ type: "lamp.on" }))
})
const platform = Layer.merge(NodeContext.layer, Vitrine.HttpClientNode.layer)
const services = Layer.provideMerge(Vitrine.ControllerServices.layer("task"), platform)
await Vitrine.Controller.runTask(configuration, task).pipe(Effect.provide(services), Effect.runPromise)
