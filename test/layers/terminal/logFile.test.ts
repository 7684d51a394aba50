import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { openLogFile } from "../../../src/layers/terminal/logFile.ts"
import { eventually } from "../../support/waiting.ts"

const name = "controller.log"

const scenario = (
  title: string,
  test: (folder: string, fs: FileSystem.FileSystem) => Effect.Effect<void, unknown>
) =>
  it.scopedLive(title, () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* test(yield* fs.makeTempDirectoryScoped(), fs)
    }).pipe(Effect.provide(NodeContext.layer))
  )

describe("a log file", () => {
  scenario("has every line by the end of its scope, after those that were there", (folder, fs) =>
    Effect.gen(function* () {
      for (const lines of [["one", "two"], ["three"]]) {
        yield* Effect.scoped(
          Effect.map(openLogFile({ folder, name }), (write) => {
            for (const line of lines) write(line)
          })
        )
      }
      expect(yield* fs.readFileString(`${folder}/${name}`)).toBe("one\ntwo\nthree\n")
    })
  )

  scenario("is replaced when it is large, and so many old ones are kept", (folder, fs) =>
    Effect.gen(function* () {
      for (let round = 0; round < 6; round++) {
        yield* Effect.scoped(
          Effect.map(openLogFile({ folder, name, size: "1K", kept: 2 }), (write) => {
            write(`${round}${"x".repeat(1100)}`)
          })
        )
      }
      const files = yield* fs.readDirectory(folder)
      expect(files.sort()).toEqual([name, `${name}.1`, `${name}.2`])
      for (const file of files) {
        expect(Number((yield* fs.stat(`${folder}/${file}`)).size)).toBeLessThan(2300)
      }
    })
  )

  scenario("goes on when it can be written again", (folder, fs) =>
    Effect.gen(function* () {
      const inTheWay = `${folder}/logs`
      yield* fs.writeFileString(inTheWay, "")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const write = yield* openLogFile({ folder: inTheWay, name })
          write("lost")
          yield* fs.remove(inTheWay)
          yield* fs.makeDirectory(inTheWay)
          yield* eventually(
            Effect.zipRight(
              Effect.sync(() => write("again")),
              fs.exists(`${inTheWay}/${name}`)
            )
          )
        })
      )
      expect(yield* fs.readFileString(`${inTheWay}/${name}`)).toContain("again\n")
    })
  )
})
