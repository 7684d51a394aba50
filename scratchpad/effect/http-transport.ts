/**
 * Two HTTP transports on the same buses: the first for everybody, the second with more commands.
 *
 *     npm run build && npx jiti scratchpad/effect/http-transport.ts
 */
import { Console, Effect, Layer, Option, Schema } from "effect"
import * as Vitrine from "vitrine"

const { HttpTransport } = Vitrine.HttpTransport
const services = Layer.mergeAll(
  Vitrine.EventBusMemory.layer,
  Vitrine.CommandBusMemory.layer,
  Vitrine.ReplayBacklogMemory.layer,
  Vitrine.ControllerStateMemory.layer("persistent")
)

const send = (name: string, allowedCommands: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { port } = Option.getOrThrow((yield* HttpTransport).address)
    const request = { method: "POST", body: '{ "type": "lamp.on" }' }
    const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/command`, request))
    yield* Console.log(response.status, yield* Effect.promise(() => response.text()))
  }).pipe(Effect.provide(Vitrine.HttpTransport.layer({ port: 0, name, allowedCommands })))

const program = Effect.gen(function* () {
  const { register } = yield* Vitrine.CommandBus.CommandBus
  yield* register({ type: "lamp.on", fields: Schema.Struct({}), run: () => Effect.succeed("bright") })
  yield* Effect.all([send("everybody", []), send("desk", ["lamp.on"])])
})
await program.pipe(Effect.scoped, Effect.provide(services), Effect.runPromise)
