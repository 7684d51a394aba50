/**
 * Asks a running controller over its socket, as the command line does. `vitrine status` would find it, too.
 *
 *     npm run build && npx jiti scratchpad/effect/ipc-client.ts
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Deferred, Effect, Layer } from "effect"
import * as Vitrine from "vitrine"

const ask = Effect.gen(function* () {
  const controller = yield* Vitrine.IpcClient.IpcClient
  yield* Console.log((yield* controller.view).sections.map(({ title }) => title))
  yield* controller.stop("a script")
})

const program = Effect.gen(function* () {
  const cwd = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  const [stopping, ready] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const paths = yield* Vitrine.IpcServer.claim({ folder: cwd })
  const server = Vitrine.IpcServer.serve(paths, { stop: Deferred.succeed(stopping, undefined) })
  const running = Vitrine.Controller.runPersistent(
    { cwd, plugins: [Vitrine.httpTransport({ port: 0 })] },
    { endpoint: Effect.as(server, Deferred.await(stopping)), onReady: Deferred.succeed(ready, undefined) }
  )
  const asking = Effect.provide(ask, Vitrine.IpcClientSocket.layerOfFolder(cwd))
  yield* Effect.all([running, Effect.zipRight(Deferred.await(ready), asking)], { concurrency: 2 })
})
const platform = Layer.merge(NodeContext.layer, Vitrine.HttpClientNode.layer)
const services = Layer.provideMerge(Vitrine.ControllerServices.layer("persistent"), platform)
await program.pipe(Effect.scoped, Effect.provide(services), Effect.runPromise)
