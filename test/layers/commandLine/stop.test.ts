/**
 * `vitrine stop` where the controller cannot be asked.
 */
import { once } from "node:events"
import { createServer } from "node:net"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { command } from "../../../src/layers/commandLine/stop.ts"
import * as JsonRpc from "../../../src/layers/ipc/JsonRpc.ts"
import { eventually } from "../../support/waiting.ts"
import { startHolder } from "../ipc/holder.ts"
import { says } from "./says.ts"

/** A controller whose socket somebody has removed. */
const unreachable = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
  const holder = yield* startHolder(folder)
  expect(yield* holder.go).toBe("serving")
  const socket = `${folder}/.vitrine/controller.sock`
  yield* fs.remove(socket)
  return { ...holder, folder, socket }
})

const stop = (folder: string) => says(command, "stop", "--config", `${folder}/vitrine.config.mjs`)

/** Waits until the process is looked after, which is done every 50 milliseconds. */
const isLookedAfter = eventually(
  Effect.map(
    TestClock.sleeps(),
    Chunk.some((until) => until === 50)
  )
)

/** Lets the time pass until the process has ended, and that is noticed. */
const letEnd = (ended: Effect.Effect<unknown>) =>
  Effect.zipRight(ended, eventually(Effect.as(TestClock.adjust("50 millis"), true)))

/** Stops one that ends by no other means. */
const isEndedBySignal = ({ ended, folder, pid }: Effect.Effect.Success<typeof unreachable>) =>
  Effect.gen(function* () {
    const stopping = yield* Effect.fork(stop(folder))
    yield* isLookedAfter
    yield* TestClock.adjust("2 seconds")
    yield* letEnd(ended)
    expect(yield* Fiber.join(stopping)).toEqual([`The controller has ended (process ${pid}).`])
  })

const scenario = (title: string, test: Effect.Effect<void, unknown, NodeContext.NodeContext | Scope.Scope>) =>
  it.scoped(title, () => Effect.provide(test, NodeContext.layer))

describe("vitrine stop, where nobody listens", () => {
  scenario(
    "waits for a controller that is about to end",
    Effect.gen(function* () {
      const { folder, kill, pid } = yield* unreachable
      const stopping = yield* Effect.fork(stop(folder))
      yield* isLookedAfter
      expect(yield* Fiber.poll(stopping)).toMatchObject({ _tag: "None" })
      yield* letEnd(kill)
      expect(yield* Fiber.join(stopping)).toEqual([`The controller has ended (process ${pid}).`])
    })
  )

  scenario(
    "ends a controller that runs by a signal",
    Effect.gen(function* () {
      const controller = yield* unreachable
      yield* isEndedBySignal(controller)
    })
  )

  scenario(
    "ends a controller that has no connection left for it",
    Effect.gen(function* () {
      const controller = yield* unreachable
      yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((connection) => {
            const { RpcError, error, errorCode } = JsonRpc
            const full = new RpcError({ code: errorCode.tooManyConnections, message: "All are in use." })
            connection.on("error", () => {}).end(error(null, full))
          })
          await once(server.listen(controller.socket), "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close())
      )
      yield* isEndedBySignal(controller)
    })
  )

  scenario(
    "says so at once where the one before was killed, and leaves alone who has its number now",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { folder, kill } = yield* unreachable
      yield* kill
      yield* fs.writeFileString(`${folder}/.vitrine/controller.pid`, `${process.pid}\n`)
      expect(yield* stop(folder)).toEqual([expect.stringMatching(/^No controller is running here: /)])
    })
  )
})
