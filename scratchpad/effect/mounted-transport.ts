/**
 * The transport on your own server, under a prefix beside other routes. Works with any server of the platform.
 *
 *     npm run build && npx jiti scratchpad/effect/mounted-transport.ts
 */
import { createServer } from "node:http"
import { HttpLayerRouter, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"
import { CommandBus, ControllerServices, HttpTransport } from "vitrine"

const hello = HttpLayerRouter.add("GET", "/", HttpServerResponse.text("Welcome to Hall 2"))
const transport = HttpTransport.routes({ prefix: "/vitrine", allowedCommands: ["lamp.on"] })
const app = HttpLayerRouter.serve(Layer.merge(hello, transport)).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(ControllerServices.layer("persistent"))
)

const program = Effect.gen(function* () {
  const { register } = yield* CommandBus.CommandBus
  yield* register({ type: "lamp.on", fields: Schema.Struct({}), run: () => Effect.succeed("bright") })
  const url = yield* HttpServer.addressFormattedWith(Effect.succeed)
  const read = (path: string, body?: string) =>
    Effect.promise(async () => (await fetch(url + path, body ? { method: "POST", body } : {})).text())
  yield* Console.log(yield* read("/"), yield* read("/vitrine/command", '{ "type": "lamp.on" }'))
  const events = yield* Effect.promise(() => fetch(`${url}/vitrine/events`))
  yield* Console.log(events.headers.get("content-type"))
})
await program.pipe(Effect.scoped, Effect.provide(app), Effect.runPromise)
