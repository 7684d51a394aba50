import { once } from "node:events"
import { lstat } from "node:fs/promises"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { text } from "node:stream/consumers"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { lockFolder } from "../../../src/layers/content/folderLock.ts"
import { contend, leaveDeadSocket } from "../../support/contenders.ts"
import { eventually } from "../../support/waiting.ts"

const scenario = (
  title: string,
  test: (directory: string) => Effect.Effect<void, unknown, FileSystem.FileSystem | Scope.Scope>
) =>
  it.effect(title, () =>
    Effect.flatMap(FileSystem.FileSystem, (fs) =>
      Effect.flatMap(fs.makeTempDirectoryScoped(), (directory) =>
        Effect.zipRight(fs.makeDirectory(`${directory}/scratch`), test(directory))
      )
    ).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

const lock = (directory: string) => lockFolder(directory, `${directory}/scratch`)

const isRefused = (directory: string) =>
  lock(directory).pipe(
    Effect.as(false),
    Effect.catchTag("DownloadsInUse", ({ owner }) => Effect.succeed(owner === `process ${process.pid}`)),
    Effect.scoped
  )

/** The sockets of the one that has the lock: in the folder, and among the temporary files. */
const socketsOf = (directory: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const own = (yield* fs.readDirectory(directory)).filter((name) => name.startsWith(".lock-"))
    const token = own.join().slice(-12)
    const others = (yield* fs.readDirectory(tmpdir())).filter((name) => name.endsWith(`.lock-${token}`))
    expect([own.length, others.length]).toEqual([1, 1])
    return [...own.map((name) => `${directory}/${name}`), ...others.map((name) => `${tmpdir()}/${name}`)]
  })

/** Somebody who is no controller, and does as they like with each that asks. */
const stranger = (directory: string, behave: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((socket) => behave(socket.on("error", () => {})))
      await once(server.listen(`${directory}/.lock-ffffffffffff`), "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )

describe.skipIf(process.platform === "win32")("lockFolder", () => {
  scenario("is one's own until the scope ends, and leaves nothing behind", (directory) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* lock(directory).pipe(
        Effect.zipRight(isRefused(directory)),
        Effect.tap((refused) => Effect.sync(() => expect(refused).toBe(true))),
        Effect.scoped
      )
      expect(yield* isRefused(directory)).toBe(false)
      expect(yield* fs.readDirectory(directory)).toEqual(["scratch"])
      expect((yield* fs.readDirectory(directory, { recursive: true })).length).toBe(1)
    })
  )

  scenario("goes to exactly one of many that come at the same moment after a crash", (directory) =>
    Effect.gen(function* () {
      for (let round = 0; round < 20; round++) {
        yield* leaveDeadSocket(`${directory}/.lock`)
        yield* leaveDeadSocket(`${directory}/.lock-000000000000`)
        yield* leaveDeadSocket(`${directory}/.lock-ffffffffffff`)
        for (const refusal of yield* contend(lock(directory))) {
          expect(refusal).toMatchObject({ _tag: "DownloadsInUse", owner: `process ${process.pid}` })
        }
      }
    })
  )

  scenario("says who has it to whoever asks, so that others are refused at once", (directory) =>
    Effect.gen(function* () {
      yield* lock(directory)
      for (const socket of yield* socketsOf(directory)) {
        const answer = yield* Effect.promise(() => text(connect(socket)))
        expect(answer).toBe(`held by process ${process.pid}`)
        // Every user may ask.
        expect((yield* Effect.promise(() => lstat(socket))).mode & 0o222).toBe(0o222)
      }
    })
  )

  scenario("keeps no connection, whatever is sent over it and however long it is left open", (directory) =>
    Effect.gen(function* () {
      yield* lock(directory)
      for (const path of yield* socketsOf(directory)) {
        const asking = connect({ path, allowHalfOpen: true })
          .on("error", () => {})
          .resume()
        yield* Effect.addFinalizer(() => Effect.sync(() => asking.destroy()))
        // Only writing tells that nobody will read it.
        yield* eventually(
          Effect.sync(() => {
            asking.write("x")
            return asking.destroyed
          })
        )
      }
    })
  )

  scenario("believes what a controller would say, and hears nobody out who says more", (directory) =>
    Effect.gen(function* () {
      const endless = (socket: Socket) => {
        const goOn = () => void socket.write("process 1 ".repeat(1000), (error) => error ?? goOn())
        goOn()
      }
      const strange = (socket: Socket) => socket.end("process 1\u001b[2J")
      for (const behave of [endless, strange]) {
        const refusal = Effect.zipRight(stranger(directory, behave), Effect.flip(lock(directory)))
        expect(yield* Effect.scoped(refusal)).toMatchObject({
          _tag: "DownloadsInUse",
          owner: `it does not answer at ${directory}/.lock-ffffffffffff`
        })
      }
    })
  )

  scenario("is kept when the folder is removed and made anew", (directory) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* lock(directory)
      yield* fs.remove(directory, { recursive: true })
      yield* fs.makeDirectory(`${directory}/scratch`, { recursive: true })
      expect(yield* isRefused(directory)).toBe(true)
    })
  )

  scenario("is held for a folder whose path is too long for a socket", (directory) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const deep = `${directory}/${"deep/".repeat(20)}`
      yield* fs.makeDirectory(`${deep}/scratch`, { recursive: true })
      yield* lock(deep)
      expect(yield* isRefused(deep)).toBe(true)
      expect(yield* fs.readDirectory(deep)).toEqual(["scratch"])
    })
  )

  scenario("is not in the way of other folders", (directory) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const other = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${other}/scratch`)
      yield* lock(directory)
      yield* lock(other)
    })
  )

  scenario("leaves no socket among the temporary files", (directory) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const sockets = Effect.map(fs.readDirectory(tmpdir()), (names) =>
        names.filter((name) => name.startsWith("vitrine-") && name.includes(".lock-"))
      )
      const held = yield* Effect.scoped(Effect.zipRight(lock(directory), sockets))
      expect(held).not.toEqual([])
      const left = new Set(yield* sockets)
      expect(held.some((socket) => !left.has(socket))).toBe(true)
    })
  )
})
