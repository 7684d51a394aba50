import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as Command from "@effect/cli/Command"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { command } from "../../../src/layers/commandLine/stop.ts"
import { eventually } from "../../support/waiting.ts"

const someProcess = Effect.acquireRelease(
  Effect.sync(() => spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" })),
  (child) => end(child)
)

/** Waits until the process is looked after, which is done every 50 milliseconds. */
const isLookedAfter = eventually(
  Effect.map(
    TestClock.sleeps(),
    Chunk.some((until) => until === 50)
  )
)

const end = (child: ChildProcess) =>
  Effect.promise(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, "exit")
      child.kill("SIGKILL")
      await exit
    }
  })

/** Stops the controller whose process id is in its file, and that nobody can talk to. */
const stop = (pid: number | undefined) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
    yield* fs.makeDirectory(`${folder}/.vitrine`)
    yield* fs.writeFileString(`${folder}/.vitrine/controller.pid`, `${pid}\n`)
    const said: Array<string> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    yield* Command.run(Command.withSubcommands(Command.make("vitrine"), [command]), {
      name: "vitrine",
      version: "0.0.0"
    })(["node", "vitrine", "stop", "--config", `${folder}/vitrine.config.mjs`]).pipe(
      Console.withConsole({ ...console, log: (text) => Effect.sync(() => void said.push(String(text))) })
    )
    return said
  })

const scenario = (title: string, test: Effect.Effect<void, unknown, NodeContext.NodeContext | Scope.Scope>) =>
  it.scoped(title, () => Effect.provide(test, NodeContext.layer))

describe("vitrine stop, where nobody listens", () => {
  scenario(
    "waits for a controller that is about to end",
    Effect.gen(function* () {
      const child = yield* someProcess
      const stopping = yield* Effect.fork(stop(child.pid))
      yield* isLookedAfter
      expect(yield* Fiber.poll(stopping)).toMatchObject({ _tag: "None" })
      yield* end(child)
      yield* TestClock.adjust("50 millis")
      expect(yield* Fiber.join(stopping)).toEqual([`The controller has ended (process ${child.pid}).`])
    })
  )

  scenario(
    "leaves a process alone that has the number of a killed controller",
    Effect.gen(function* () {
      const child = yield* someProcess
      const stopping = yield* Effect.fork(stop(child.pid))
      yield* isLookedAfter
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(stopping)).toEqual([expect.stringMatching(/^No controller is running here: /)])
      expect(child.signalCode).toBe(null)
    })
  )

  scenario(
    "says that there is none, where the one before was killed",
    Effect.gen(function* () {
      const child = yield* someProcess
      yield* end(child)
      expect(yield* stop(child.pid)).toEqual([expect.stringMatching(/^No controller is running here: /)])
    })
  )
})
