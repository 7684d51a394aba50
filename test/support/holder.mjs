/**
 * A controller of the built package, with nothing but its socket: `node holder.mjs FOLDER`. It says `ready` and
 * waits for a line on its standard input; then it says `serving`, or why not, and ends when it is asked to stop.
 */
import { createInterface } from "node:readline"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as IpcServer from "../../dist/layers/control/IpcServer.js"
import * as ControllerStateMemory from "../../dist/layers/controller/ControllerStateMemory.js"
import * as CommandBusMemory from "../../dist/layers/memory/CommandBusMemory.js"
import * as EventBusMemory from "../../dist/layers/memory/EventBusMemory.js"

const [folder = ""] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${line}\n`)

const input = createInterface({ input: process.stdin })
say("ready")
await new Promise((resolve) => input.once("line", resolve))
input.close()

await Effect.gen(function* () {
  const stopped = yield* Deferred.make()
  yield* IpcServer.make({ folder, stop: Deferred.succeed(stopped, undefined) })
  say("serving")
  yield* Deferred.await(stopped)
}).pipe(
  Effect.scoped,
  Effect.provide(
    Layer.mergeAll(EventBusMemory.layer, CommandBusMemory.layer, ControllerStateMemory.layer("persistent"))
  ),
  Effect.catchAll((error) => Effect.sync(() => say(`failed ${error._tag} ${error.message}`))),
  Effect.runPromise
)
say("ended")
