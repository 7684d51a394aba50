/**
 * Content from your own source, as versions in a folder, without a controller.
 *
 *     npm run build && npx jiti scratchpad/effect/content.ts
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import * as Vitrine from "vitrine"

const make = Effect.map(FileSystem.FileSystem, (fs): Vitrine.ContentSource.ContentSource => {
  const save = (directory: string) => Effect.orDie(fs.writeFileString(`${directory}/moon.json`, '"full"'))
  const fetched = { fingerprint: "full", records: 1, bytes: 6 }
  return { id: "sky", fetch: ({ directory }) => Effect.as(save(directory), fetched) }
})
const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const layers = Vitrine.Content.layer({ sources: [{ id: "sky", issues: [], make }] }).pipe(
  Layer.provide(
    Layer.unwrapScoped(Effect.map(temporary, (directory) => Vitrine.VersionStoreDisk.layer({ directory })))
  ),
  Layer.provide([Vitrine.EventBusMemory.layer, Vitrine.CommandBusMemory.layer]),
  Layer.provide([Vitrine.ControllerStateMemory.layer("task"), Vitrine.RequestPacingMemory.layer]),
  Layer.provide([Vitrine.HttpClientNode.layer, NodeContext.layer])
)

const fetch = Effect.flatMap(Vitrine.Content.Content, ({ fetch }) => fetch)
const twice = Effect.replicateEffect(Effect.tap(fetch, Console.log), 2)
await twice.pipe(Effect.provide(layers), Effect.runPromise)
