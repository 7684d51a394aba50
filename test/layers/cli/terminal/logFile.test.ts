import { existsSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { openLogFile } from "../../../../src/layers/cli/terminal/logFile.ts"
import { mayMount, smallDisk } from "../../../support/tmpfs.ts"
import { eventually } from "../../../support/waiting.ts"

const name = "controller.log"

const scenario = (
  title: string,
  test: (
    folder: string,
    fs: FileSystem.FileSystem
  ) => Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path>,
  { skip = false } = {}
) =>
  it.scopedLive.skipIf(skip)(title, () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* test(yield* fs.makeTempDirectoryScoped(), fs)
    }).pipe(Effect.provide(NodeContext.layer))
  )

describe("a log file", () => {
  scenario("has every line when its scope ends, after the existing ones", (folder, fs) =>
    Effect.gen(function* () {
      for (const lines of [["one", "two"], ["three"]]) {
        yield* Effect.scoped(
          Effect.map(openLogFile(`${folder}/${name}`), (write) => {
            for (const line of lines) write(line)
          })
        )
      }
      expect(yield* fs.readFileString(`${folder}/${name}`)).toBe("one\ntwo\nthree\n")
    })
  )

  scenario("is rotated when it is large, and keeps a number of old files", (folder, fs) =>
    Effect.gen(function* () {
      for (let round = 0; round < 8; round++) {
        yield* Effect.scoped(
          Effect.map(openLogFile(`${folder}/${name}`), (write) => {
            write(`${round}${"x".repeat(5.1 * 1024 * 1024)}`)
          })
        )
      }
      const files = yield* fs.readDirectory(folder)
      expect(files.sort()).toEqual([name, ...[1, 2, 3, 4].map((old) => `${name}.${old}`)])
      for (const file of files) {
        expect(Number((yield* fs.stat(`${folder}/${file}`)).size)).toBeLessThan(11 * 1024 * 1024)
      }
    })
  )

  scenario("grows if it cannot be renamed, and the old files stay", (folder, fs) =>
    Effect.gen(function* () {
      const log = `${folder}/${name}`
      yield* fs.makeDirectory(`${log}.full/in the way`, { recursive: true })
      yield* fs.writeFileString(`${log}.1`, "old")
      for (let round = 0; round < 3; round++) {
        yield* Effect.scoped(
          Effect.map(openLogFile(log), (write) => {
            write("x".repeat(5.1 * 1024 * 1024))
          })
        )
      }
      expect(yield* fs.readFileString(`${log}.1`)).toBe("old")
      expect(Number((yield* fs.stat(log)).size)).toBeGreaterThan(15 * 1024 * 1024)
    })
  )

  scenario("is created again if it or its folder was removed", (folder, fs) =>
    Effect.gen(function* () {
      const file = `${folder}/logs/${name}`
      const write = yield* openLogFile(file)
      write("before")
      yield* eventually(Effect.sync(() => existsSync(file)))
      yield* fs.remove(`${folder}/logs`, { recursive: true })
      yield* eventually(
        Effect.sync(() => {
          write("after")
          return existsSync(file)
        })
      )
    }).pipe(Effect.scoped)
  )

  scenario("continues in the new file if logrotate moves the old one and creates another", (folder, fs) =>
    Effect.gen(function* () {
      const file = `${folder}/${name}`
      const moved = `${folder}/moved`
      const lines: Array<string> = []
      yield* Effect.scoped(
        Effect.gen(function* () {
          const open = yield* openLogFile(file)
          const write = () => {
            lines.push(`line ${lines.length}`)
            open(`line ${lines.length - 1}`)
          }
          write()
          yield* eventually(Effect.map(fs.readFileString(file), (text) => text.includes("line 0\n")))
          yield* fs.rename(file, moved)
          yield* fs.writeFileString(file, "")
          yield* eventually(
            Effect.zipRight(
              Effect.sync(write),
              Effect.map(fs.readFileString(file), (text) => text !== "")
            )
          )
          const before = yield* fs.readFileString(moved)
          write()
          expect(yield* fs.readFileString(moved)).toBe(before)
        })
      )
      const written = (yield* fs.readFileString(moved)) + (yield* fs.readFileString(file))
      expect(written).toBe(lines.map((line) => `${line}\n`).join(""))
    })
  )

  scenario("has its first line even if that comes long after the file was opened", (folder, fs) =>
    Effect.gen(function* () {
      const openedAt = performance.now()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const write = yield* openLogFile(`${folder}/${name}`)
          yield* eventually(Effect.sync(() => performance.now() - openedAt > 1500))
          write("one")
          write("two")
        })
      )
      expect(yield* fs.readFileString(`${folder}/${name}`)).toBe("one\ntwo\n")
    })
  )

  scenario("keeps at most 8 MiB of lines that are not written", (folder, fs) =>
    Effect.gen(function* () {
      const mebibyte = "x".repeat(1024 * 1024 - 1)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const write = yield* openLogFile(`${folder}/${name}`)
          // The disk gets nothing before the next turn of the event loop.
          const kept = Array.from({ length: 20 }, () => write(mebibyte)).filter((isKept) => isKept)
          expect(kept).toHaveLength(8)
          yield* eventually(Effect.sync(() => write("after")))
        })
      )
      const names = (yield* fs.readDirectory(folder)).sort().reverse()
      const files = yield* Effect.forEach(names, (file) => fs.readFileString(`${folder}/${file}`))
      expect(files.join("").replace(/x+\n/g, "x")).toBe("xxxxxxxxafter\n")
    })
  )

  scenario("reports at once why it cannot be written", (folder, fs) =>
    Effect.gen(function* () {
      yield* fs.writeFileString(`${folder}/in the way`, "")
      const failure = (file: string) =>
        Effect.map(Effect.flip(Effect.scoped(openLogFile(file))), ({ message }) => message)
      expect(yield* failure(folder)).toBe(
        `The log cannot be written to ${folder}: a folder stands where a file is needed. Name another file with --log-file FILE.`
      )
      expect(yield* failure(`${folder}/in the way/${name}`)).toContain(
        "something else of this name stands there."
      )
    })
  )

  scenario(
    "reports at once that its folder cannot be created (skipped without /proc)",
    () =>
      Effect.gen(function* () {
        const file = `/proc/vitrine/logs/${name}`
        const { message } = yield* Effect.flip(Effect.scoped(openLogFile(file)))
        expect(message).toBe(
          `The log cannot be written to ${file}: it is not there. Name another file with --log-file FILE.`
        )
      }),
    { skip: !existsSync("/proc/self") }
  )

  scenario(
    "waits for room on a full disk (skipped if this user may not mount one)",
    (_, fs) =>
      Effect.gen(function* () {
        const disk = yield* smallDisk
        const file = `${disk.folder}/${name}`
        yield* disk.fill(0)
        const write = yield* openLogFile(file)
        write("lost")
        yield* disk.free
        const isWritten = Effect.map(
          Effect.orElseSucceed(fs.readFileString(file), () => ""),
          (text) => text.includes("again\n")
        )
        yield* eventually(
          Effect.zipRight(
            Effect.sync(() => write("again")),
            isWritten
          )
        )
      }).pipe(Effect.scoped),
    { skip: !mayMount }
  )

  scenario("continues when it can be written again", (folder, fs) =>
    Effect.gen(function* () {
      const logs = `${folder}/logs`
      const file = `${logs}/${name}`
      yield* Effect.scoped(
        Effect.gen(function* () {
          const write = yield* openLogFile(file)
          yield* fs.remove(logs, { recursive: true })
          yield* fs.writeFileString(logs, "in the way")
          write("lost")
          yield* fs.remove(logs)
          yield* fs.makeDirectory(logs)
          yield* eventually(
            Effect.zipRight(
              Effect.sync(() => write("again")),
              fs.exists(file)
            )
          )
        })
      )
      expect(yield* fs.readFileString(file)).toContain("again\n")
    })
  )
})
