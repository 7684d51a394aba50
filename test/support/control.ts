/**
 * A controller's socket in its own folder.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type * as TestServices from "effect/TestServices"
import * as IpcClientSocket from "../../src/layers/control/IpcClientSocket.ts"
import * as IpcServer from "../../src/layers/control/IpcServer.ts"
import * as ControllerStateMemory from "../../src/layers/controller/ControllerStateMemory.ts"
import * as CommandBusMemory from "../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../src/layers/memory/EventBusMemory.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import { connect } from "./rawHttp.ts"

const controller = Layer.mergeAll(
  EventBusMemory.layer,
  CommandBusMemory.layer,
  ControllerStateMemory.layer("persistent")
)
type Environment = Layer.Layer.Success<typeof controller> | FileSystem.FileSystem | Scope.Scope

const provided = <A, E>(test: Effect.Effect<A, E, Environment>) =>
  test.pipe(Effect.scoped, Effect.provide([controller, NodeFileSystem.layer]))

/** A test that has a bus for commands, one for events, and a state. */
export const scenario = <A, E>(
  title: string,
  test: Effect.Effect<A, E, Environment | TestServices.TestServices>,
  skip = false
) =>
  it.effect.skipIf(skip)(title, () =>
    test.pipe(Effect.scoped, Effect.provide([controller, NodeFileSystem.layer]))
  )

/** The same with real time. */
export const liveScenario = <A, E>(title: string, test: Effect.Effect<A, E, Environment>) =>
  it.live(title, () => provided(test))

export const temporaryFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
})

/** Serves a new folder. `end` ends that alone, and fails where it takes two seconds. */
export const start = Effect.gen(function* () {
  const configurationFolder = yield* temporaryFolder
  const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
  let stops = 0
  const stoppers: Array<string> = []
  const stop = Effect.sync(() => {
    stops += 1
  })
  const paths = yield* Scope.extend(
    IpcServer.make({
      folder: configurationFolder,
      stop,
      noteStop: (by) => Effect.sync(() => void stoppers.push(by))
    }),
    scope
  )
  const end = Scope.close(scope, Exit.void).pipe(Effect.disconnect, Effect.timeout("2 seconds"))
  const client = yield* IpcClientSocket.make(paths.socket)
  const place = { path: paths.socket }
  return {
    ...paths,
    configurationFolder,
    client,
    end,
    place,
    stoppers,
    stops: () => stops,
    connect: connect(place)
  }
})

export const register = (type: string, run: Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(CommandBus, (commands) =>
    commands.register({ type, fields: Schema.Struct({}), run: () => run })
  )

export const publish = (name: string, payload: unknown) =>
  Effect.flatMap(EventBus, (bus) => bus.publish(name, payload))
