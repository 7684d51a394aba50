import { readdirSync, writeFileSync } from "node:fs"
import { rename, symlink, unlink, utimes } from "node:fs/promises"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as SiteBuild from "../../../src/layers/contentServer/SiteBuild.ts"
import { HasDevServer } from "../../../src/services/ContentServer.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import * as server from "../../support/contentServer.ts"
import { withLog } from "../../support/logged.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

/** A folder with a page, and a server's look at it. */
const watching = <A, E, R>(
  test: (watched: Effect.Effect.Success<ReturnType<typeof watch>>) => Effect.Effect<A, E, R>
) => Effect.flatMap(watch(), test).pipe(Effect.provide(server.environment))

const watch = Effect.fnUntraced(function* () {
  const folder = yield* server.makeFolder
  const write = (path: string, content: string) => server.writeFile(`${folder}/${path}`, content)
  yield* write("page/index.html", "<h1>Exhibit</h1>")
  yield* write("page/assets/a.js", "1")

  const events: Array<unknown> = []
  const { subscribe } = yield* EventBus
  const stream = yield* subscribe
  yield* Effect.forkScoped(
    Stream.runForEach(stream, ({ name, payload }) => Effect.sync(() => events.push({ name, payload })))
  )
  // What is done to files has the time of the real clock: it was done a moment ago, unless it is later.
  const setClock = (ms: number) => TestClock.setTime(Date.now() + ms)
  yield* setClock(-60_000)
  const current = yield* SiteBuild.make(`${folder}/page`, "show")
  yield* somebodySleeps
  const build = Effect.map(current, Option.getOrThrow)
  const first = yield* build
  return {
    folder,
    write,
    events,
    first,
    build,
    /** Long after everything that was written. */
    later: setClock(60_000),
    look: Effect.zipRight(TestClock.adjust(SiteBuild.lookMs), somebodySleeps),
    isAnnounced: (build: string) =>
      Effect.zipRight(
        eventually(Effect.sync(() => events.length > 0)),
        Effect.sync(() => expect(events).toEqual([{ name: "show:page:built", payload: { build } }]))
      )
  }
})

describe("a build of the page", () => {
  it.scoped("is announced when its files have not changed from one poll to the next", () =>
    watching(({ build, events, first, isAnnounced, look, write }) =>
      Effect.gen(function* () {
        expect(first).toMatch(/^[0-9a-f]{16}$/)
        for (const content of ["2", "22", "222"]) {
          yield* write("page/assets/a.js", content)
          yield* look
          expect(yield* build).toBe(first)
        }
        expect(events).toEqual([])
        yield* look
        const second = yield* build
        expect(second).not.toBe(first)
        yield* isAnnounced(second)
        yield* look
        expect(yield* build).toBe(second)
        expect(events).toHaveLength(1)
      })
    )
  )

  it.scoped("is announced at once where the whole folder was replaced", () =>
    watching(({ build, first, folder, isAnnounced, later, look, write }) =>
      Effect.gen(function* () {
        yield* write("next/index.html", "<h1>Next</h1>")
        yield* later
        yield* somebodySleeps
        yield* Effect.promise(() => rename(`${folder}/page`, `${folder}/before`))
        yield* Effect.promise(() => rename(`${folder}/next`, `${folder}/page`))
        yield* look
        expect(yield* build).not.toBe(first)
        yield* isAnnounced(yield* build)
      })
    )
  )

  it.scoped("is not announced at once where the new folder is still being written", () =>
    watching(({ build, first, folder, look, write }) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => rename(`${folder}/page`, `${folder}/before`))
        yield* write("page/index.html", "<h1>Next</h1>")
        yield* look
        expect(yield* build).toBe(first)
        yield* look
        expect(yield* build).not.toBe(first)
      })
    )
  )

  it.scoped("is announced at once where a symbolic link leads to another folder", () =>
    Effect.gen(function* () {
      const folder = yield* server.makeFolder
      yield* server.writeFile(`${folder}/1/index.html`, "1")
      yield* server.writeFile(`${folder}/2/index.html`, "2")
      yield* Effect.promise(() => symlink("1", `${folder}/page`))
      yield* TestClock.setTime(Date.now() + 60_000)
      const current = yield* SiteBuild.make(`${folder}/page`, "content")
      yield* somebodySleeps
      const first = yield* current
      yield* Effect.promise(async () => {
        await symlink("2", `${folder}/link`)
        await rename(`${folder}/link`, `${folder}/page`)
      })
      yield* TestClock.adjust(SiteBuild.lookMs)
      yield* somebodySleeps
      expect(yield* current).not.toEqual(first)
    }).pipe(Effect.provide(server.environment))
  )

  it.scoped("depends only on the paths and the content of served files", () =>
    watching(({ build, events, first, folder, look, write }) =>
      Effect.gen(function* () {
        yield* write("page/assets/a.js", "1")
        yield* Effect.promise(() => utimes(`${folder}/page/index.html`, 1, 1))
        yield* write("page/.git/HEAD", "main")
        yield* write("elsewhere.js", "2")
        yield* Effect.promise(() => symlink("../elsewhere.js", `${folder}/page/link.js`))
        yield* look
        yield* look
        expect(yield* build).toBe(first)
        yield* Effect.promise(() => rename(`${folder}/page/assets/a.js`, `${folder}/page/assets/b.js`))
        yield* look
        yield* look
        const renamed = yield* build
        expect(renamed).not.toBe(first)
        yield* Effect.promise(() => rename(`${folder}/page/assets/b.js`, `${folder}/page/assets/a.js`))
        yield* look
        yield* look
        expect(yield* build).toBe(first)
        yield* eventually(Effect.sync(() => events.length === 2))
      })
    )
  )

  it.scoped(
    "is kept where the folder cannot be read, with one warning, and where it is missing, without one",
    () => {
      const lines: Array<string> = []
      return watching(({ build, events, first, folder, look, write }) =>
        Effect.gen(function* () {
          yield* Effect.promise(() => rename(`${folder}/page`, `${folder}/away`))
          yield* Effect.all([look, look])
          expect(lines).toEqual([])
          yield* write("page", "a file")
          yield* Effect.all([look, look])
          expect(lines).toEqual([expect.stringMatching(/^WARN The page cannot be read, so that .*ENOTDIR/)])
          expect(yield* build).toBe(first)
          yield* Effect.promise(() => unlink(`${folder}/page`))
          yield* Effect.promise(() => rename(`${folder}/away`, `${folder}/page`))
          yield* Effect.all([look, look])
          expect(yield* build).toBe(first)
          expect(events).toEqual([])
        })
      ).pipe(withLog(lines))
    }
  )

  it.scoped.each([
    ["dist", ". Is the page built?"],
    ["page", "."]
  ])(
    "causes a warning at the start where its folder %s is missing, and is announced when it is there",
    ([name, end]) => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const folder = yield* server.makeFolder
        const current = yield* SiteBuild.make(`${folder}/${name}`, "show")
        yield* somebodySleeps
        expect(lines).toEqual([`WARN The folder of the page is missing: ${folder}/${name}${end}`])
        yield* server.writeFile(`${folder}/${name}/index.html`, "<h1>Exhibit</h1>")
        yield* Effect.zipRight(TestClock.adjust(SiteBuild.lookMs), somebodySleeps)
        expect(Option.isSome(yield* current)).toBe(true)
        expect(lines).toHaveLength(1)
      }).pipe(Effect.provide(server.environment), withLog(lines))
    }
  )

  it.scoped("causes no warning where a dev server serves the page", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      yield* SiteBuild.make(`${yield* server.makeFolder}/dist`, "show")
      yield* somebodySleeps
      expect(lines).toEqual([])
    }).pipe(Effect.provideService(HasDevServer, true), Effect.provide(server.environment), withLog(lines))
  })

  it.scoped("has a limited number of files, with one warning above", () => {
    const lines: Array<string> = []
    return watching(({ folder, look }) =>
      Effect.gen(function* () {
        const rest = SiteBuild.maxNames - readdirSync(`${folder}/page`, { recursive: true }).length
        for (let number = 0; number < rest; number++) {
          writeFileSync(`${folder}/page/.${number}`, "")
        }
        yield* Effect.all([look, look])
        expect(lines.filter((line) => line.startsWith("WARN"))).toEqual([])
        writeFileSync(`${folder}/page/.more`, "")
        yield* Effect.all([look, look, look])
        expect(lines.filter((line) => line.startsWith("WARN"))).toEqual([
          "WARN The page has more than 5000 files and folders: changes in the rest are not noticed."
        ])
      })
    ).pipe(withLog(lines))
  })
})
