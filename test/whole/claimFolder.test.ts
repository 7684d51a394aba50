/**
 * Who has a controller's folder, where controllers are separate processes.
 */
import { lstat } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as IpcClientSocket from "../../src/layers/control/IpcClientSocket.ts"
import * as IpcServer from "../../src/layers/control/IpcServer.ts"
import { locateController, readPidFile } from "../../src/layers/control/runFolder.ts"
import { liveScenario, temporaryFolder } from "../support/control.ts"
import { startHolder } from "../support/holder.ts"

describe("the lock of a controller", () => {
  liveScenario(
    "names its owner, and is free as soon as that is killed",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { pidFile, socket } = yield* locateController(folder)
      const [first, second] = yield* Effect.all([startHolder(folder), startHolder(folder)], {
        concurrency: "unbounded"
      })
      expect(yield* first.go).toBe("serving")
      expect(yield* second.go).toContain(
        `ControllerAlreadyRunning A controller is already running here (process ${first.pid};`
      )
      const client = yield* IpcClientSocket.make(socket)
      expect(yield* client.process).toEqual({ pid: first.pid })
      expect(yield* readPidFile(pidFile)).toEqual(Option.some(first.pid))
      yield* first.kill
      expect(yield* Effect.flip(client.process)).toMatchObject({ _tag: "vitrine/ControllerNotRunning" })
      expect((yield* Effect.promise(() => lstat(socket))).isSocket()).toBe(true)
      expect(yield* readPidFile(pidFile)).toEqual(Option.some(first.pid))
      yield* IpcServer.make({ folder, stop: Effect.void })
      expect(yield* client.process).toEqual({ pid: process.pid })
      expect(yield* readPidFile(pidFile)).toEqual(Option.some(process.pid))
    })
  )

  liveScenario(
    "goes to one of several processes that start when the owner was killed, and that one can be stopped",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { folder: own, socket } = yield* locateController(folder)
      const fs = yield* FileSystem.FileSystem
      const holders = yield* Effect.replicateEffect(startHolder(folder), 3, { concurrency: "unbounded" })
      const [killed, ...contenders] = holders
      yield* killed?.go ?? Effect.void
      yield* killed?.kill ?? Effect.void
      const outcomes = yield* Effect.forEach(contenders, ({ go }) => go, { concurrency: "unbounded" })
      expect(outcomes.filter((outcome) => outcome === "serving")).toHaveLength(1)
      const winner = contenders[outcomes.indexOf("serving")]
      for (const outcome of outcomes.filter((outcome) => outcome !== "serving")) {
        // The one that it gave way to; that may have given way to another.
        expect(contenders.some(({ pid }) => outcome.includes(`process ${pid};`))).toBe(true)
      }
      const client = yield* IpcClientSocket.make(socket)
      yield* client.stop("anna@desk")
      expect(yield* winner?.ended ?? Effect.void).toMatch(/\nended\n$/)
      expect(yield* fs.readDirectory(own)).toEqual([])
    })
  )
})
