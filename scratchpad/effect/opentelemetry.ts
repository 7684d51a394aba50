/**
 * The metrics and spans of a fetch, exported to a collector of OpenTelemetry.
 *
 *     npm run build && npx jiti scratchpad/effect/opentelemetry.ts
 */
import * as Otlp from "@effect/opentelemetry/Otlp"
import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { CommandBus, Controller, ControllerServices, content, HttpClientNode } from "vitrine"

const baseUrl = process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? "http://127.0.0.1:4318"
// Vitrine's client sends requests to this machine only if a configuration contains its address.
const exporter = Otlp.layerJson({ baseUrl, resource: { serviceName: "exhibit" } })
const telemetry = Layer.provide(exporter, FetchHttpClient.layer)

const fetched = { fingerprint: "full moon", records: 1, bytes: 0 }
const source = { id: "sky", fetch: () => Effect.succeed(fetched) }
const sky = content({ sources: [{ id: source.id, issues: [], make: Effect.succeed(source) }] })

const program = Effect.gen(function* () {
  const cwd = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  const fetch = Effect.flatMap(CommandBus.CommandBus, ({ dispatch }) => dispatch({ type: "content.fetch" }))
  yield* Effect.flatMap(Controller.runTask({ cwd, plugins: [sky] }, fetch), Console.log)
})

const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)
const layers = Layer.provideMerge(Layer.merge(telemetry, ControllerServices.layer("task")), platform)
await program.pipe(Effect.scoped, Effect.provide(layers), Effect.runPromise)
