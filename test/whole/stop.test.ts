/**
 * `vitrine stop` where the controller cannot be asked.
 */
import { type SpawnOptions, spawn } from "node:child_process"
import { once } from "node:events"
import { rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { hashOf } from "../../src/files/socketPath.ts"
import { messageOf } from "../../src/internal/SerializedError.ts"
import { findController, locateController } from "../../src/layers/control/runFolder.ts"
import { startHolder } from "../support/holder.ts"
import * as Received from "../support/Received.ts"
import { says } from "../support/says.ts"
import { eventually } from "../support/waiting.ts"

const makeFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  yield* fs.writeFileString(`${folder}/vitrine.config.mjs`, "")
  return folder
})

/** A controller whose socket somebody has removed. */
const unreachable = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* makeFolder
  const holder = yield* startHolder(folder)
  expect(yield* holder.go).toBe("serving")
  const socket = `${folder}/.vitrine/controller.sock`
  yield* fs.remove(socket)
  return { ...holder, folder, socket }
})

const stop = (folder: string) => says("stop", "--config", `${folder}/vitrine.config.mjs`)

/** Waits until the code under test sleeps before its next check, as it does every 50 milliseconds. */
const isLookedAfter = eventually(
  Effect.zipWith(Clock.currentTimeMillis, TestClock.sleeps(), (now, sleeps) =>
    Chunk.some(sleeps, (until) => until === now + 50)
  )
)

const hasDone = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => Effect.map(Fiber.poll(fiber), Option.isSome)

/** Lets it look again and again until it is done, and returns what it said. */
const done = <A, E>(stopping: Fiber.RuntimeFiber<A, E>) =>
  Effect.gen(function* () {
    while (!(yield* hasDone(stopping))) {
      yield* Effect.raceFirst(isLookedAfter, eventually(hasDone(stopping)))
      yield* TestClock.adjust("50 millis")
    }
    return yield* Fiber.join(stopping)
  })

/** Fails for a controller that runs on, and names its process and what to type. */
const isNamed = ({ folder, pid }: Effect.Effect.Success<typeof unreachable>) =>
  Effect.gen(function* () {
    const stopping = yield* Effect.fork(Effect.flip(stop(folder)))
    yield* isLookedAfter
    yield* TestClock.adjust("2 seconds")
    const error = yield* done(stopping)
    expect(messageOf(error)).toBe(
      `The controller (process ${pid}) was not stopped: it still has the lock of its folder, but its socket cannot be reached. To end its process, type: kill ${pid} (if it runs in a container, stop the container).`
    )
    expect(yield* stillServes(folder)).toBe(true)
  })

const stillServes = (folder: string) =>
  Effect.flatMap(locateController(folder), findController).pipe(Effect.map(({ isRunning }) => isRunning))

const scenario = (title: string, test: Effect.Effect<void, unknown, NodeContext.NodeContext | Scope.Scope>) =>
  it.scoped(title, () => Effect.provide(test, NodeContext.layer))

describe("vitrine stop, where the socket does not answer,", () => {
  scenario(
    "waits for a controller that is about to end",
    Effect.gen(function* () {
      const { folder, kill, pid } = yield* unreachable
      const stopping = yield* Effect.fork(stop(folder))
      yield* isLookedAfter
      expect(yield* Fiber.poll(stopping)).toMatchObject({ _tag: "None" })
      yield* kill
      expect(yield* done(stopping)).toEqual([`The controller has ended (process ${pid}).`])
    })
  )

  scenario(
    "fails where the controller runs on, and names its process and what to type",
    Effect.gen(function* () {
      const controller = yield* unreachable
      yield* isNamed(controller)
    })
  )

  scenario(
    "fails where the controller has no connection left for it",
    Effect.gen(function* () {
      const controller = yield* unreachable
      yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((connection) =>
            connection
              .on("error", () => {})
              .end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
          )
          await once(server.listen(controller.socket), "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close())
      )
      yield* isNamed(controller)
    })
  )

  scenario(
    "reports at once that the controller was killed, and spares another process with the same id",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { folder, kill } = yield* unreachable
      yield* kill
      yield* fs.writeFileString(`${folder}/.vitrine/controller.pid`, `${process.pid}\n`)
      expect(String(yield* Effect.flip(stop(folder)))).toContain("No controller is running here: ")
    })
  )
})

describe("vitrine status, where the socket does not answer,", () => {
  const status = (folder: string) =>
    Effect.map(Effect.flip(says("status", "--config", `${folder}/vitrine.config.mjs`)), messageOf)

  scenario(
    "reports a running controller whose socket was removed, and none after its end",
    Effect.gen(function* () {
      const { folder, kill, pid } = yield* unreachable
      const runs = `it runs (process ${pid}), but does not listen there.`
      expect(yield* status(folder)).toContain(runs)
      yield* kill
      expect(yield* status(folder)).toMatch(/^No controller is running here: /)
    })
  )
})

/** A process that has to do with nothing. */
const bystander = Effect.acquireRelease(
  Effect.sync(() => spawn("sleep", ["1000"], { stdio: "ignore" })),
  (child) => Effect.sync(() => child.kill("SIGKILL"))
)

const lives = (child: { readonly exitCode: number | null; readonly signalCode: NodeJS.Signals | null }) =>
  child.exitCode === null && child.signalCode === null

const run = (command: ReadonlyArray<string>, options: SpawnOptions = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const [program = "", ...args] = command
      const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] })
      const said = Received.from(child.stdout)
      const exited = Effect.promise(async () => lives(child) && (await once(child, "exit")))
      return { child, exited, says: (word: string) => said.until((text) => text.includes(word)) }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const impostorProgram = fileURLToPath(new URL("../support/impostor.mjs", import.meta.url))

/** Somebody in the place of a controller who names the bystander. */
const startImpostor = (behaviour: "ends" | "stays") =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* makeFolder
    yield* fs.makeDirectory(`${folder}/.vitrine`)
    yield* fs.chmod(`${folder}/.vitrine`, 0o700)
    const victim = yield* bystander
    const socket = `${folder}/.vitrine/controller.sock`
    const node = [process.execPath, impostorProgram, socket, `${victim.pid}`, behaviour]
    const impostor = yield* run(node)
    yield* impostor.says("listening")
    return { ...impostor, folder, victim }
  })

describe("vitrine stop, where the socket names another process,", () => {
  it.scopedLive("treats the end of the connection as the end, and spares the process", () =>
    Effect.gen(function* () {
      const { folder, victim } = yield* startImpostor("ends")
      expect(yield* stop(folder)).toEqual([`The controller has ended (process ${victim.pid}).`])
      expect(lives(victim)).toBe(true)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped(
    "fails where the controller does not end, names the process and what to type, and signals none",
    () =>
      Effect.gen(function* () {
        const { child, folder, says, victim } = yield* startImpostor("stays")
        const stopping = yield* Effect.fork(Effect.flip(stop(folder)))
        yield* says("asked")
        yield* TestClock.adjust("5 seconds")
        expect(messageOf(yield* Fiber.join(stopping))).toBe(
          `The controller (process ${victim.pid}) was not stopped: it was asked to end, and has not ended within 5 seconds. To end its process, type: kill -9 ${victim.pid} (if it runs in a container, stop the container).`
        )
        expect([lives(victim), lives(child)]).toEqual([true, true])
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped.skipIf(process.getuid?.() !== 0)(
    "uses no socket that another user has made among the temporary files (skipped unless root)",
    () =>
      Effect.gen(function* () {
        const folder = yield* makeFolder
        const victim = yield* bystander
        const socket = `${tmpdir()}/vitrine-${hashOf(`${folder}/.vitrine`)}.lock-ffffffffffff`
        const program = `require("net").createServer((c) => c.end("held by process ${victim.pid}")).listen("${socket}", () => console.log("listening"))`
        const { says } = yield* run([process.execPath, "-e", program], { uid: 65534, gid: 65534 })
        yield* Effect.addFinalizer(() => Effect.promise(() => rm(socket, { force: true })))
        yield* says("listening")
        expect(String(yield* Effect.flip(stop(folder)))).toContain("No controller is running here: ")
        expect(lives(victim)).toBe(true)
        const holder = yield* startHolder(folder)
        expect(yield* holder.go).toBe("serving")
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
