import { execFileSync } from "node:child_process"
import promises from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { afterAll, describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { unfinishedFile } from "../../src/files/durable.ts"
import * as JsonFile from "../../src/files/JsonFile.ts"
import { withAdvancingClock } from "../../src/testing/advancingClock.ts"
import { withLog } from "../support/logged.ts"
import { eventually } from "../support/waiting.ts"

const Item = Schema.Struct({ name: Schema.String, until: Schema.Number })
const open = (file: string | undefined, maxBytes?: number) =>
  JsonFile.make(file, Item, {
    read: "nothing is muted",
    written: "a restart forgets it",
    ...(maxBytes === undefined ? {} : { maxBytes })
  })
const item = (name: string) => ({ name, until: 1 })

const scenario = (
  name: string,
  test: (file: string, fs: FileSystem.FileSystem) => Effect.Effect<unknown, unknown, FileSystem.FileSystem>,
  log: Array<string> = []
) =>
  it.scoped(name, () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* test(join(yield* fs.makeTempDirectoryScoped(), "kept.json"), fs)
    }).pipe(withLog(log), Effect.provide(NodeContext.layer))
  )

/**
 * A disk on which the step with this number never ends: the process was killed there. `half` of the bytes are written
 * before.
 */
const killedAt = (fs: FileSystem.FileSystem, step: number, reached: () => void) => {
  let count = 0
  const next = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (count++ < step) return effect
      reached()
      return Effect.never
    })
  return FileSystem.FileSystem.of({
    ...fs,
    open: (path, options) =>
      Effect.map(next(fs.open(path, options)), (handle) => ({
        ...handle,
        sync: next(handle.sync),
        writeAll: (bytes) =>
          Effect.zipRight(
            handle.writeAll(bytes.subarray(0, bytes.length / 2)),
            next(handle.writeAll(bytes.subarray(bytes.length / 2)))
          )
      }))
  })
}

describe("a list in a file", () => {
  it.effect("is read as it was written, with any content", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.array(FastCheck.record({ name: FastCheck.string(), until: FastCheck.integer() }), {
            maxLength: 200
          }),
          (items) =>
            Effect.gen(function* () {
              const fs = yield* FileSystem.FileSystem
              const file = join(yield* fs.makeTempDirectoryScoped(), "kept.json")
              const { read, write } = yield* open(file)
              expect(yield* write(items)).toBe(true)
              expect(yield* read).toEqual(items)
            }).pipe(Effect.scoped, Effect.provide(NodeContext.layer), Effect.runPromise)
        ),
        { numRuns: 20 }
      )
    )
  )

  scenario("is the old or the new list after a kill at any step, and no other file is left", (file, fs) =>
    Effect.gen(function* () {
      const found: Array<unknown> = []
      // The file is opened, written and synced; then its folder is opened and synced.
      for (const step of [0, 1, 2, 3, 4]) {
        yield* (yield* open(file)).write([item("old")])
        let isKilled = false
        const disk = killedAt(fs, step, () => {
          isKilled = true
        })
        const killed = yield* Effect.provideService(open(file), FileSystem.FileSystem, disk)
        yield* Effect.forkDaemon(killed.write([item("new"), item("newer")]))
        yield* eventually(Effect.sync(() => isKilled))
        found.push((yield* (yield* open(file)).read).map(({ name }) => name))
        expect(yield* fs.readDirectory(dirname(file))).toEqual(["kept.json"])
      }
      const old = ["old"]
      expect(found).toEqual([old, old, old, ["new", "newer"], ["new", "newer"]])
    })
  )

  scenario("removes only its own unfinished files", (file, fs) =>
    Effect.gen(function* () {
      const other = unfinishedFile(join(dirname(file), "other.json"))
      for (const left of [unfinishedFile(file), other]) yield* fs.writeFileString(left, "[")
      expect(yield* (yield* open(file)).read).toEqual([])
      expect((yield* fs.readDirectory(dirname(file))).map((name) => join(dirname(file), name))).toEqual([
        other
      ])
    })
  )

  const damaged: Array<string> = []
  scenario(
    "is empty with one warning if the file cannot be used, and without a warning if there is none",
    (file, fs) =>
      Effect.gen(function* () {
        const { read } = yield* open(file, 1024)
        expect([yield* read, damaged]).toEqual([[], []])
        const said = Effect.gen(function* () {
          expect(yield* read).toEqual([])
          expect(damaged.splice(0)).toEqual([
            expect.stringMatching(/^WARN .*kept\.json cannot be read, and nothing is muted: .+/)
          ])
        })
        for (const text of ["", "[", "null", '{"a":1}', '[{"name":"a","until":"b"}]', " ".repeat(1025)]) {
          yield* fs.writeFileString(file, text)
          yield* said
        }
        yield* fs.remove(file)
        execFileSync("mkfifo", [file])
        yield* said
      }),
    damaged
  )

  const unread: Array<string> = []
  const opened = vi.spyOn(promises, "open")
  syncBuiltinESMExports()
  afterAll(() => {
    opened.mockRestore()
    syncBuiltinESMExports()
  })
  scenario(
    "is kept aside if the disk cannot read it, and read again if that fails only for a moment",
    (file, fs) =>
      Effect.gen(function* () {
        yield* (yield* open(file)).write([item("before")])
        const fails = (code: string) => Promise.reject(Object.assign(new Error(code), { code }))
        const { read, write } = yield* open(file)
        opened.mockImplementationOnce(() => fails("EBUSY"))
        expect((yield* withAdvancingClock(read)).value).toEqual([item("before")])
        opened.mockImplementationOnce(() => fails("EIO"))
        expect(yield* read).toEqual([])
        expect(unread).toEqual([
          `WARN ${file} cannot be read, and nothing is muted: EIO. Before it is written again, it is kept as ${file}.unread`
        ])
        const before = yield* fs.readFileString(file)
        expect(yield* write([item("after")])).toBe(true)
        expect(yield* write([item("later")])).toBe(true)
        expect(yield* fs.readFileString(`${file}.unread`)).toBe(before)
        expect(yield* read).toEqual([item("later")])
      }),
    unread
  )

  const unwritable: Array<string> = []
  scenario(
    "warns once while it cannot be written",
    (file, fs) =>
      Effect.gen(function* () {
        const folder = join(dirname(file), "later")
        const { write } = yield* open(join(folder, "kept.json"))
        expect(yield* Effect.all([write([]), write([])])).toEqual([false, false])
        yield* fs.makeDirectory(folder)
        expect(yield* write([])).toBe(true)
        expect(unwritable).toEqual([
          expect.stringMatching(/^WARN .*kept\.json cannot be written, and a restart forgets it: .+/)
        ])
      }),
    unwritable
  )

  scenario("is lost with the process without a file", () =>
    Effect.gen(function* () {
      const { read, write } = yield* open(undefined)
      expect(yield* write([item("a")])).toBe(true)
      expect(yield* read).toEqual([])
    })
  )
})
