import { once } from "node:events"
import { chmod, lstat, mkdir, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { basename, dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { unfinishedFile } from "../../../src/files/durable.ts"
import * as IpcClientSocket from "../../../src/layers/control/IpcClientSocket.ts"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import { locateController, readPidFile } from "../../../src/layers/control/runFolder.ts"
import { IpcClient } from "../../../src/services/IpcClient.ts"
import { contend, leaveDeadSocket } from "../../support/contenders.ts"
import { scenario, start, temporaryFolder } from "../../support/control.ts"
import { withLog } from "../../support/logged.ts"
import { somebodySleeps } from "../../support/waiting.ts"

const serve = (folder: string) => IpcServer.make({ folder, stop: Effect.void })
const refusal = (folder: string) => Effect.scoped(Effect.flip(serve(folder)))

describe("the lock of a controller", () => {
  scenario(
    "is refused while another controller has it, with its process and advice",
    Effect.gen(function* () {
      const { client, configurationFolder, folder } = yield* start
      const error = yield* refusal(configurationFolder)
      expect(error._tag).toBe("vitrine/ControllerAlreadyRunning")
      expect(error.message).toBe(
        `A controller is already running here (process ${process.pid}; it has locked ${folder}). Stop it first with "vitrine stop", or give this controller its own folder.`
      )
      yield* client.view
    })
  )

  scenario(
    "goes to exactly one of many that start at the same time, even after a crash",
    Effect.gen(function* () {
      for (let round = 0; round < 5; round++) {
        const folder = yield* temporaryFolder
        const { socket } = yield* locateController(folder)
        yield* Effect.promise(() => mkdir(dirname(socket)))
        yield* leaveDeadSocket(socket)
        for (const refusal of yield* contend(serve(folder))) {
          expect(refusal).toMatchObject({ _tag: "vitrine/ControllerAlreadyRunning" })
        }
      }
    })
  )

  scenario(
    "is refused while a process listens at the socket, whoever has the lock",
    Effect.gen(function* () {
      const { client, configurationFolder, folder, socket } = yield* start
      const fs = yield* FileSystem.FileSystem
      // Without the lock, as after somebody has cleaned up the folder.
      const locks = yield* Effect.map(fs.readDirectory(folder), (names) =>
        names.filter((name) => name.startsWith(".lock"))
      )
      expect(locks).toHaveLength(1)
      yield* Effect.forEach(locks, (lock) => fs.remove(join(folder, lock), { recursive: true }))
      expect(yield* refusal(configurationFolder)).toMatchObject({
        _tag: "vitrine/ControllerAlreadyRunning",
        path: socket,
        owner: `process ${process.pid}`
      })
      yield* client.view
    })
  )

  scenario(
    "removes the unfinished files that a killed controller has left in its folder, and no other file",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temporaryFolder
      const { folder: own } = yield* locateController(folder)
      yield* Effect.promise(() => mkdir(own, { mode: 0o700 }))
      const left = ["mutes.json", "alerts.json", "controller.pid"].map((name) =>
        unfinishedFile(join(own, name))
      )
      const kept = ["mutes.json", "controller.log", ".mutes.json"]
      yield* Effect.forEach([...left, ...kept.map((name) => join(own, name))], (file) =>
        fs.writeFileString(file, "{}")
      )
      yield* serve(folder)
      const names = yield* fs.readDirectory(own)
      expect(names).toEqual(expect.arrayContaining([...kept, "controller.pid"]))
      expect(left.filter((file) => names.includes(basename(file)))).toEqual([])
    })
  )

  scenario(
    "is refused while an unknown process listens at the socket",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { folder: own, pidFile, socket } = yield* locateController(folder)
      yield* Effect.promise(() => mkdir(own))
      const mute = createServer()
      yield* Effect.acquireRelease(
        Effect.promise(() => once(mute.listen(socket), "listening")),
        () => Effect.sync(() => mute.close())
      )
      for (const [written, said] of [
        ["", "has not answered for 5 seconds"],
        ["4711\n", "(process 4711, which does not answer; "]
      ] as const) {
        yield* Effect.promise(() => writeFile(pidFile, written))
        const starting = yield* Effect.fork(refusal(folder))
        yield* somebodySleeps
        yield* TestClock.adjust("5 seconds")
        const error = yield* Fiber.join(starting)
        expect(error._tag).toBe("vitrine/ControllerAlreadyRunning")
        expect(error.message).toContain(said)
      }
    })
  )

  scenario(
    "cannot be opened by other users, even if they could open its folder before",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const own = join(folder, ".vitrine")
      yield* Effect.promise(() => mkdir(own))
      yield* Effect.promise(() => chmod(own, 0o777))
      yield* serve(folder)
      expect((yield* Effect.promise(() => lstat(own))).mode & 0o777).toBe(0o700)
    })
  )

  scenario(
    "is never at the target of a symbolic link",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temporaryFolder
      const elsewhere = yield* temporaryFolder
      yield* Effect.promise(() => symlink(elsewhere, join(folder, ".vitrine")))
      const error = yield* refusal(folder)
      expect(error.message).toBe(
        `The controller's socket cannot be used at ${folder}/.vitrine: it is a file or a link, and must be a folder. Move it away.`
      )
      expect(yield* fs.readDirectory(elsewhere)).toEqual([])
    })
  )

  scenario(
    "is not made if a file, a folder or a link is in its place",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const target = `${yield* temporaryFolder}/target`
      const folder = yield* temporaryFolder
      const { folder: own, socket } = yield* locateController(folder)
      yield* Effect.promise(() => mkdir(own))
      const things: ReadonlyArray<() => Promise<void>> = [
        () => writeFile(socket, "precious"),
        () => mkdir(socket),
        () => symlink(target, socket)
      ]
      for (const put of things) {
        yield* Effect.promise(put)
        const error = yield* refusal(folder)
        expect(error.message).toBe(
          `The controller's socket cannot be used at ${socket}: it is a file, a folder or a link, and must be a socket. Move it away.`
        )
        yield* fs.remove(socket, { recursive: true })
      }
      expect(yield* fs.exists(target)).toBe(false)
      yield* serve(folder)
    })
  )

  scenario(
    "cannot be in a missing folder",
    Effect.gen(function* () {
      const folder = `${yield* temporaryFolder}/gone`
      expect(yield* refusal(folder)).toMatchObject({
        _tag: "vitrine/IpcSocketUnusable",
        path: `${folder}/.vitrine`,
        message: expect.stringContaining("ENOENT")
      })
    })
  )

  scenario(
    "has its socket in its folder on Linux even if the path is too long, and leaves no file there",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* temporaryFolder}${"/deep".repeat(60)}`
      yield* fs.makeDirectory(folder, { recursive: true })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { pidFile, socket } = yield* serve(folder)
          expect((yield* Effect.promise(() => lstat(socket))).mode & 0o777).toBe(0o600)
          const client = yield* IpcClientSocket.make(socket)
          expect(yield* client.process).toEqual({ pid: process.pid })
          expect(yield* refusal(folder)).toMatchObject({ _tag: "vitrine/ControllerAlreadyRunning" })
          expect(yield* readPidFile(pidFile)).toEqual(Option.some(process.pid))
        })
      )
      expect(yield* fs.readDirectory(`${folder}/.vitrine`)).toEqual([])
    }),
    process.platform !== "linux"
  )

  scenario(
    "is in the folder of the option, which is made with its parents",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* temporaryFolder
      const runFolder = `${yield* temporaryFolder}/run/exhibit`
      const { socket } = yield* IpcServer.make({ folder, runFolder, stop: Effect.void })
      expect(dirname(socket)).toBe(runFolder)
      expect((yield* Effect.promise(() => lstat(runFolder))).mode & 0o777).toBe(0o700)
      const client = yield* Effect.provide(IpcClient, IpcClientSocket.layerOfFolder(folder, runFolder))
      expect(yield* client.process).toEqual({ pid: process.pid })
      expect(yield* fs.readDirectory(folder)).toEqual([])
    })
  )

  scenario(
    "is refused in a folder of the option that others can access, which is not changed",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const runFolder = `${yield* temporaryFolder}/shared`
      yield* Effect.promise(() => mkdir(runFolder))
      yield* Effect.promise(() => chmod(runFolder, 0o755))
      const error = yield* Effect.scoped(
        Effect.flip(IpcServer.make({ folder, runFolder, stop: Effect.void }))
      )
      expect(error.message).toBe(
        `The controller's socket cannot be used at ${runFolder}: other users may enter it (its mode is 755). Set its mode to 700, or name a folder that does not exist yet.`
      )
      expect((yield* Effect.promise(() => lstat(runFolder))).mode & 0o777).toBe(0o755)
    })
  )

  scenario(
    "is taken even if the process id cannot be written, with a warning",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const lines: Array<string> = []
      const folder = yield* temporaryFolder
      const { folder: own, pidFile } = yield* locateController(folder)
      yield* fs.makeDirectory(`${pidFile}/occupied`, { recursive: true })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* serve(folder).pipe(withLog(lines))
          expect(lines.join()).toContain(`WARN ${pidFile} could not be written: `)
          expect(yield* readPidFile(pidFile)).toEqual(Option.none())
          const names = yield* fs.readDirectory(own)
          expect(names.filter((name) => name.startsWith("controller.pid"))).toEqual(["controller.pid"])
        })
      )
    })
  )
})
