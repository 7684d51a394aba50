import { execFileSync } from "node:child_process"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberStatus from "effect/FiberStatus"
import * as TestClock from "effect/TestClock"
import * as PlayersFile from "../../../src/layers/fleet/playersFile.ts"
import * as server from "../../support/contentServer.ts"
import { player, report, sending, token } from "../../support/fleet.ts"
import { withLog } from "../../support/logged.ts"
import { eventually } from "../../support/waiting.ts"

const inFolder = <A, E, R>(test: (downloads: string) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(server.makeFolder, test).pipe(Effect.provide(server.environment))

const fileOf = (downloads: string) => `${downloads}/.players.json`

const readText = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orElseSucceed(fs.readFileString(file), () => ""))

const post = (body: unknown) => server.request(sending(JSON.stringify(body)))

describe("the players of a hub", () => {
  it.scoped("are written within a minute, and at the end", () =>
    inFolder((downloadPath) =>
      Effect.gen(function* () {
        const file = fileOf(downloadPath)
        yield* Effect.gen(function* () {
          yield* post(report())
          expect(yield* readText(file)).toBe("")
          yield* TestClock.adjust("1 minute")
          yield* eventually(Effect.map(readText(file), (text) => text.includes("hall-3")))
          yield* post(report({ node: { id: "hall-4" } }))
          expect(yield* readText(file)).not.toContain("hall-4")
        }).pipe(Effect.provide(server.layer({ downloadPath, reports: { token } })))
        expect(yield* readText(file)).toContain("hall-4")
        const fs = yield* FileSystem.FileSystem
        expect(yield* fs.readDirectory(`${downloadPath}/.staging`)).toEqual([])
        expect(yield* (yield* PlayersFile.make(downloadPath)).read).toHaveLength(2)
      })
    )
  )

  it.scoped("do not delay the shutdown if the disk hangs", () =>
    inFolder((downloadPath) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const hanging = FileSystem.FileSystem.of({
          ...fs,
          open: (path, options) => (path.includes(".staging") ? Effect.never : fs.open(path, options))
        })
        const ending = yield* Effect.gen(function* () {
          yield* post(report())
          yield* TestClock.adjust("1 minute")
        }).pipe(
          Effect.provide(server.layer({ downloadPath, reports: { token } })),
          Effect.provideService(FileSystem.FileSystem, hanging),
          Effect.fork
        )
        yield* eventually(
          Effect.zipRight(TestClock.adjust("1 second"), Effect.map(Fiber.status(ending), FiberStatus.isDone))
        )
        expect(yield* readText(fileOf(downloadPath))).toBe("")
      })
    )
  )

  it.scoped("are not written if nothing was reported", () =>
    inFolder((downloadPath) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("5 minutes").pipe(
          Effect.provide(server.layer({ downloadPath, reports: { token } }))
        )
        expect(yield* readText(fileOf(downloadPath))).toBe("")
      })
    )
  )

  it.scoped("are not served over HTTP", () =>
    inFolder((downloadPath) =>
      Effect.gen(function* () {
        yield* (yield* PlayersFile.make(downloadPath)).write([player()])
        yield* Effect.gen(function* () {
          for (const target of [
            "/.players.json",
            "/versions/../.players.json",
            "/versions/.players.json",
            "/%2eplayers.json"
          ]) {
            const answer = yield* server.get(target)
            expect(answer.status).toBe(404)
            expect(answer.body.toString()).not.toContain("hall-3")
          }
        }).pipe(Effect.provide(server.layer({ downloadPath, reports: { token } })))
      })
    )
  )

  it.scoped("are read as they were written, also a thousand", () =>
    inFolder((downloadPath) =>
      Effect.gen(function* () {
        const players = Array.from({ length: 1000 }, (_, index) => player({ node: { id: `p${index}` } }))
        const { read, write } = yield* PlayersFile.make(downloadPath)
        expect(yield* write(players)).toBe(true)
        expect(yield* read).toEqual(players)
      })
    )
  )

  it.scoped("are none, with one warning, if the file is invalid", () => {
    const log: Array<string> = []
    return inFolder((downloadPath) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { read } = yield* PlayersFile.make(downloadPath)
        const file = fileOf(downloadPath)
        expect(yield* read).toEqual([])
        expect(log).toEqual([])
        const damaged = [
          "",
          "[",
          "null",
          '{"players":[]}',
          JSON.stringify([player(), { ...player(), heardAt: "soon" }]),
          "[".repeat(100_000)
        ]
        for (const text of damaged) {
          log.length = 0
          yield* fs.writeFileString(file, text)
          expect(yield* read).toEqual([])
          expect(log).toEqual([expect.stringMatching(/^WARN .*\.players\.json cannot be used, /)])
        }
        log.length = 0
        yield* fs.truncate(file, 1_000_000_000)
        expect(yield* read).toEqual([])
        expect(log).toEqual([expect.stringContaining("it is no file that a hub writes")])
        yield* fs.remove(file)
        execFileSync("mkfifo", [file])
        expect(yield* read).toEqual([])
      })
    ).pipe(withLog(log))
  })

  it.scoped("are cleaned when they are read", () =>
    inFolder((downloadPath) =>
      Effect.gen(function* () {
        const { read } = yield* PlayersFile.make(downloadPath)
        yield* server.writeFile(
          fileOf(downloadPath),
          JSON.stringify([{ ...player(), host: "a\u001b[2J", extra: 1, duplicate: {} }])
        )
        expect(yield* read).toEqual([player({ host: "a [2J" })])
      })
    )
  )

  it.scoped("continue with one warning while the file cannot be written", () => {
    const log: Array<string> = []
    return inFolder((folder) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const downloadPath = `${folder}/downloads`
        yield* fs.writeFileString(downloadPath, "a file in its place")
        const { write } = yield* PlayersFile.make(downloadPath)
        expect(yield* write([player()])).toBe(false)
        expect(yield* write([player()])).toBe(false)
        expect(log).toEqual([expect.stringMatching(/^WARN .*\.players\.json cannot be written, /)])
        yield* fs.remove(downloadPath)
        expect(yield* write([player()])).toBe(true)
        expect(log).toHaveLength(1)
      })
    ).pipe(withLog(log))
  })
})
