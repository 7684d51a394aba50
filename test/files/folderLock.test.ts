import { once } from "node:events"
import { lstat, mkdir, readdir } from "node:fs/promises"
import { connect, createServer, type Socket } from "node:net"
import { userInfo } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { lockFolder, lockHolder } from "../../src/files/folderLock.ts"
import { hashOf, pipePath } from "../../src/files/socketPath.ts"
import { contend, leaveDeadSocket } from "../support/contenders.ts"
import { scenarios } from "../support/scenario.ts"
import { mayMount, smallDisk } from "../support/tmpfs.ts"
import { eventually } from "../support/waiting.ts"

const scenario = scenarios(
  NodeFileSystem.layer,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    yield* fs.makeDirectory(`${directory}/scratch`)
    return { directory, fs }
  })
)

const lock = (directory: string) => lockFolder(directory, `${directory}/scratch`)

const isRefused = (directory: string) =>
  lock(directory).pipe(
    Effect.as(false),
    Effect.catchTag("vitrine/FolderLocked", ({ owner, path, pid }) =>
      Effect.succeed(owner === `process ${process.pid}` && pid === process.pid && path === directory)
    ),
    Effect.scoped
  )

/** The socket of the process that has the lock. */
const socketOf = (directory: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const names = yield* fs.readDirectory(`${directory}/.lock`)
    expect(names).toHaveLength(1)
    return `${directory}/.lock/${names[0]}`
  })

/** The sockets of a folder that cannot have sockets. */
const spareSockets = (directory: string) =>
  Effect.promise(() =>
    readdir(join(userInfo().homedir, ".local", "state", "vitrine")).catch((): ReadonlyArray<string> => [])
  ).pipe(Effect.map((names) => names.filter((name) => name.startsWith(hashOf(directory)))))

/** A process that is no controller: `behave` gets each connection. */
const stranger = (directory: string, behave: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((socket) => behave(socket.on("error", () => {})))
      await mkdir(`${directory}/.lock`, { recursive: true })
      await once(server.listen(`${directory}/.lock/lock-ffffffffffff`), "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )

describe.skipIf(process.platform === "win32")("lockFolder", () => {
  scenario("is exclusive until the scope ends, and leaves nothing behind", function* ({ directory, fs }) {
    yield* lock(directory).pipe(
      Effect.zipRight(isRefused(directory)),
      Effect.tap((refused) => Effect.sync(() => expect(refused).toBe(true))),
      Effect.scoped
    )
    expect(yield* isRefused(directory)).toBe(false)
    expect(yield* fs.readDirectory(directory)).toEqual(["scratch"])
    expect((yield* fs.readDirectory(directory, { recursive: true })).length).toBe(1)
  })

  scenario(
    "goes to exactly one of many that start at the same time after a crash",
    function* ({ directory, fs }) {
      for (let round = 0; round < 20; round++) {
        yield* fs.makeDirectory(`${directory}/.lock`, { recursive: true })
        yield* leaveDeadSocket(`${directory}/.lock/lock-000000000000`)
        yield* leaveDeadSocket(`${directory}/.lock/lock-ffffffffffff`)
        for (const refusal of yield* contend(lock(directory))) {
          expect(refusal).toMatchObject({ _tag: "vitrine/FolderLocked", pid: process.pid })
        }
      }
    }
  )

  scenario("names its owner on request, so that others are refused at once", function* ({ directory }) {
    yield* lock(directory)
    const socket = yield* socketOf(directory)
    const answer = yield* Effect.promise(() => text(connect(socket)))
    expect(answer).toBe(`held by process ${process.pid}`)
    // Every user may connect.
    expect((yield* Effect.promise(() => lstat(socket))).mode & 0o222).toBe(0o222)
  })

  scenario(
    "closes every connection, whatever is sent and however long it is left open",
    function* ({ directory }) {
      yield* lock(directory)
      const asking = connect({ path: yield* socketOf(directory), allowHalfOpen: true })
        .on("error", () => {})
        .resume()
      yield* Effect.addFinalizer(() => Effect.sync(() => asking.destroy()))
      // Only a write shows that nobody reads any more.
      yield* eventually(
        Effect.sync(() => {
          asking.write("x")
          return asking.destroyed
        })
      )
    }
  )

  scenario(
    "accepts the response of a controller, and disconnects a process that sends more",
    function* ({ directory }) {
      const endless = (socket: Socket) => {
        const goOn = () => void socket.write("process 1 ".repeat(1000), (error) => error ?? goOn())
        goOn()
      }
      const strange = (socket: Socket) => socket.end("process 1\u001b[2J")
      for (const behave of [endless, strange]) {
        const refusal = Effect.zipRight(stranger(directory, behave), Effect.flip(lock(directory)))
        expect(yield* Effect.scoped(refusal)).toMatchObject({
          _tag: "vitrine/FolderLocked",
          owner: `it does not answer at ${directory}/.lock/lock-ffffffffffff`
        })
      }
    }
  )

  scenario(
    "is gone with a removed folder, and can be taken again if no process has it",
    function* ({ directory, fs }) {
      const makeAnew = fs
        .remove(directory, { recursive: true })
        .pipe(Effect.zipRight(fs.makeDirectory(`${directory}/scratch`, { recursive: true })))
      const isLocked = yield* lock(directory)
      expect(yield* isLocked).toBe(true)
      const before = yield* socketOf(directory)
      yield* makeAnew
      expect(yield* isLocked).toBe(false)
      const isLockedAgain = yield* lock(directory)
      expect(yield* socketOf(directory)).not.toBe(before)
      expect(yield* isRefused(directory)).toBe(true)
      yield* makeAnew
      yield* lock(directory)
      expect(yield* isLockedAgain).toBe(false)
      expect(yield* isRefused(directory)).toBe(true)
    }
  )

  scenario(
    "can be taken for a folder whose path is too long for a socket, in that folder",
    function* ({ directory, fs }) {
      const deep = `${directory}${"/deep".repeat(60)}`
      yield* fs.makeDirectory(`${deep}/scratch`, { recursive: true })
      for (let round = 0; round < 5; round++) {
        for (const refusal of yield* contend(lock(deep))) {
          expect(refusal).toMatchObject({ _tag: "vitrine/FolderLocked", pid: process.pid })
        }
      }
      expect(yield* fs.readDirectory(deep)).toEqual(["scratch"])
      yield* lock(deep)
      yield* socketOf(deep)
      const holder = yield* lockHolder(deep)
      expect(Option.flatMap(holder, ({ pid }) => pid)).toEqual(Option.some(process.pid))
      expect(yield* spareSockets(deep)).toEqual([])
    }
  )

  scenario(
    "depends on no folder for temporary files, and leaves nothing there",
    function* ({ directory, fs }) {
      const temporary = process.env.TMPDIR
      const elsewhere = `${directory}/elsewhere`
      yield* fs.makeDirectory(elsewhere)
      yield* lock(directory)
      process.env.TMPDIR = elsewhere
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (temporary === undefined) {
            delete process.env.TMPDIR
          } else {
            process.env.TMPDIR = temporary
          }
        })
      )
      expect(yield* isRefused(directory)).toBe(true)
      expect(yield* fs.readDirectory(elsewhere)).toEqual([])
    }
  )

  scenario("does not affect other folders", function* ({ directory, fs }) {
    const other = yield* fs.makeTempDirectoryScoped()
    yield* fs.makeDirectory(`${other}/scratch`)
    yield* lock(directory)
    yield* lock(other)
  })

  it.scopedLive.skipIf(!mayMount)(
    "is held in the user's own folder if the disk allows no sockets (skipped if this user may not mount)",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder, makeReadOnly } = yield* smallDisk
        yield* fs.makeDirectory(`${folder}/scratch`)
        yield* makeReadOnly
        for (const refusal of yield* contend(lock(folder))) {
          expect(refusal).toMatchObject({ _tag: "vitrine/FolderLocked", pid: process.pid })
        }
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Effect.flatten(lock(folder))
            expect(yield* spareSockets(folder)).toHaveLength(1)
            expect(yield* isRefused(folder)).toBe(true)
          })
        )
        expect(yield* spareSockets(folder)).toEqual([])
      }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})

it("the named pipe of a folder does not depend on the letter case of the folder's path", () => {
  const pipe = pipePath("C:\\Exhibit\\downloads")
  expect(pipe).toMatch(/^\\\\\.\\pipe\\vitrine-[0-9a-f]{16}$/)
  expect(pipePath("c:\\EXHIBIT\\Downloads")).toBe(pipe)
  expect(pipePath("c:\\exhibit2\\downloads")).not.toBe(pipe)
})
