import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberStatus from "effect/FiberStatus"
import * as TestClock from "effect/TestClock"
import * as server from "../../support/contentServer.ts"
import { player, report, sending, token } from "../../support/fleet.ts"
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
        expect(JSON.parse(yield* readText(file))).toHaveLength(2)
      })
    )
  )

  it.scoped("do not delay the shutdown if the disk hangs", () =>
    inFolder((downloadPath) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const hanging = FileSystem.FileSystem.of({
          ...fs,
          open: (path, options) => (path.includes(".players.json") ? Effect.never : fs.open(path, options))
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
        yield* server.writeFile(fileOf(downloadPath), JSON.stringify([player()]))
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
})
