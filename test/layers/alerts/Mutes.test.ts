import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import * as Mutes from "../../../src/layers/alerts/Mutes.ts"
import { maxMutes } from "../../../src/layers/alerts/Mutes.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import { healthOf } from "../../../src/layers/status/view.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { withSyncs } from "../../support/syncedFiles.ts"

const now = Date.parse("2026-11-25T10:00:00.000Z")
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
const day = 86_400

/** Starts a controller with a broken lamp and this file, until the scope ends. */
const startWith = Effect.fnUntraced(function* (file?: string) {
  yield* Mutes.make(file)
  const { dispatch } = yield* CommandBus
  const { state, updateSlice } = pluginsOf(yield* ControllerState)
  yield* updateSlice("lamp", () => ({
    problems: [{ code: "lamp:broken", severity: "error", subject: "left", text: "The lamp is broken" }]
  }))
  const read = Effect.map(state, ({ plugins, problems = [] }) => ({
    mutes: plugins.mutes,
    problems,
    word: healthOf(problems)
  }))
  const mute = (fields: object) => dispatch({ type: "problem.mute", ...fields })
  const unmute = (fields: object) => dispatch({ type: "problem.unmute", ...fields })
  return { mute, read, unmute }
})

const services = ControllerServices.layer("persistent", undefined, { node: { id: "hub" } })

const scenario = (
  title: string,
  test: (
    file: string,
    fs: FileSystem.FileSystem
  ) => Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path>,
  log: Array<string> = []
) =>
  it.scoped(title, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const fs = yield* FileSystem.FileSystem
      yield* test(`${yield* fs.makeTempDirectoryScoped()}/mutes.json`, fs)
    }).pipe(withLog(log), Effect.provide(NodeContext.layer))
  )

const running = <A, E>(
  file: string | undefined,
  test: (
    controller: Effect.Effect.Success<ReturnType<typeof startWith>>
  ) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
) => startWith(file).pipe(Effect.flatMap(test), Effect.scoped, Effect.provide(services))

describe("a mute", () => {
  scenario("is listed, and its problem counts again when it expires", (file) =>
    running(file, ({ mute, read }) =>
      Effect.gen(function* () {
        expect((yield* read).word).toBe("FAILING")
        const muted = { name: "left", until: at(60), by: "anna@desk", why: "painting" }
        expect(yield* mute({ ...muted, until: "2026-11-25T11:01:00+01:00" })).toEqual({
          ...muted,
          problems: 1
        })
        expect(yield* read).toMatchObject({ word: "OK", problems: [{ code: "lamp:broken", muted }] })
        yield* TestClock.adjust("60 seconds")
        const { problems, word } = yield* read
        expect(word).toBe("FAILING")
        expect(problems[0]).not.toMatchObject({ muted: expect.anything() })
      })
    )
  )

  scenario("can be ended or extended by its name", (file) =>
    running(file, ({ mute, read, unmute }) =>
      Effect.gen(function* () {
        yield* mute({ name: "left", until: at(60) })
        yield* mute({ name: "left", until: at(30) })
        expect((yield* read).mutes).toEqual({
          kind: "mutes",
          mutes: [{ name: "left", until: at(30), by: "somebody" }]
        })
        yield* unmute({ name: "left", by: "ben" })
        expect((yield* read).word).toBe("FAILING")
        expect(String(yield* Effect.flip(unmute({ name: "left" })))).toContain(
          'Nothing is muted by the name "left".'
        )
      })
    )
  )

  scenario("is kept after a restart, unless it has expired meanwhile", (file, fs) =>
    Effect.gen(function* () {
      yield* running(file, ({ mute }) =>
        Effect.zipRight(mute({ name: "right", until: at(60) }), mute({ name: "left", until: at(120) }))
      )
      yield* TestClock.adjust("90 seconds")
      yield* running(file, ({ mute, read }) =>
        Effect.gen(function* () {
          expect(yield* read).toMatchObject({ word: "OK", mutes: { mutes: [{ name: "left" }] } })
          yield* mute({ name: "other", until: at(120) })
        })
      )
      expect(yield* fs.readFileString(file)).not.toContain("right")
      expect((yield* fs.stat(file)).mode & 0o777).toBe(0o600)
      yield* TestClock.adjust("90 seconds")
      yield* running(file, ({ read }) =>
        Effect.gen(function* () {
          expect((yield* read).mutes).toEqual({ kind: "mutes", mutes: [] })
        })
      )
    })
  )

  scenario("is kept after a restart of a machine that has no battery for its clock", (file, fs) =>
    Effect.gen(function* () {
      yield* running(file, ({ mute }) => mute({ name: "left", until: at(day) }))
      yield* TestClock.setTime(0)
      yield* running(file, ({ mute, read }) =>
        Effect.gen(function* () {
          expect(yield* read).toMatchObject({ word: "OK", mutes: { mutes: [{ name: "left" }] } })
          yield* TestClock.setTime(now)
          yield* mute({ name: "right", until: at(60) })
          expect((yield* read).word).toBe("OK")
        })
      )
      expect(yield* fs.readFileString(file)).toContain("left")
    })
  )

  scenario("is synced to disk before it replaces the earlier file", (file, fs) =>
    Effect.gen(function* () {
      const synced: Array<string> = []
      const disk = withSyncs((path) => {
        synced.push(path === file || !existsSync(file) ? path : `${path}, after ${file} is there`)
        return undefined
      })
      yield* running(file, ({ mute }) => mute({ name: "left", until: at(60) })).pipe(Effect.provide(disk))
      expect(synced).toEqual([
        expect.stringContaining(dirname(file)),
        `${dirname(file)}, after ${file} is there`
      ])
      expect(yield* fs.readDirectory(dirname(file))).toEqual(["mutes.json"])
    })
  )

  scenario(
    "is in the file and in the controller alike if its caller leaves while it is written",
    (file, fs) =>
      Effect.gen(function* () {
        let leave = () => {}
        const disk = withSyncs(() => {
          leave()
          return undefined
        })
        const muted = { name: "left", until: at(60), by: "anna@desk" }
        yield* running(file, ({ mute, read }) =>
          Effect.gen(function* () {
            const caller = yield* Effect.fork(mute(muted))
            leave = () => caller.unsafeInterruptAsFork(caller.id())
            yield* Fiber.await(caller)
            expect((yield* read).mutes).toEqual({
              kind: "mutes",
              mutes: JSON.parse(yield* fs.readFileString(file))
            })
          })
        ).pipe(Effect.provide(disk))
        expect(yield* fs.readFileString(file)).toContain("anna@desk")
      })
  )

  const log: Array<string> = []
  scenario(
    "is lost with a message if the file is invalid; the next mute replaces the file",
    (file, fs) =>
      Effect.gen(function* () {
        yield* fs.writeFileString(file, '[{ "name": "left", "until": "soo')
        yield* running(file, ({ mute, read }) =>
          Effect.gen(function* () {
            expect((yield* read).word).toBe("FAILING")
            yield* mute({ name: "left", until: at(60) })
          })
        )
        yield* running(file, ({ read }) => Effect.map(read, ({ word }) => expect(word).toBe("OK")))
        yield* fs.writeFileString(file, JSON.stringify([{ name: "left", until: "soon" }]))
        yield* running(file, ({ read }) => Effect.map(read, ({ word }) => expect(word).toBe("FAILING")))
        expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
          expect.stringContaining(`${file} cannot be read, and nothing is muted`)
        ])
      }),
    log
  )

  const unwritable: Array<string> = []
  scenario(
    "ends with the controller if there is no file, or it cannot be written",
    (file) =>
      Effect.gen(function* () {
        const inMissing = join(dirname(file), "missing", "mutes.json")
        for (const path of [undefined, inMissing]) {
          yield* running(path, ({ mute, read }) =>
            Effect.gen(function* () {
              const muted = yield* mute({ name: "left", until: at(60) })
              expect(muted).toEqual(
                path === undefined
                  ? expect.not.objectContaining({ isKept: false })
                  : expect.objectContaining({ isKept: false })
              )
              expect((yield* read).word).toBe("OK")
            })
          )
        }
        expect(unwritable.filter((line) => line.startsWith("WARN"))).toEqual([
          expect.stringContaining(`${inMissing} cannot be written`)
        ])
      }),
    unwritable
  )

  scenario("ends within 30 days, whatever is requested", (file) =>
    running(file, ({ mute, read }) =>
      Effect.gen(function* () {
        for (const until of [
          at(0),
          at(-1),
          at(30 * day + 1),
          "soon",
          "",
          "1970-01-01",
          `${"9".repeat(5000)}`
        ]) {
          expect(String(yield* Effect.flip(mute({ name: "left", until })))).toContain("Not muted")
        }
        expect((yield* read).word).toBe("FAILING")
        yield* mute({ name: "left", until: at(30 * day) })
        expect((yield* read).word).toBe("OK")
      })
    )
  )

  scenario("has a short name, and shortened texts without control characters", (file) =>
    running(file, ({ mute, read }) =>
      Effect.gen(function* () {
        for (const name of ["", "x".repeat(513), 7, undefined, null]) {
          const error = yield* Effect.flip(mute({ name, until: at(60) }))
          expect(error._tag).toBe("vitrine/InvalidCommandFields")
        }
        const long = `\u001b[2J${"x".repeat(100_000)}`
        yield* mute({ name: "left", until: at(60), by: long, why: `${long}\n` })
        expect((yield* read).problems[0]?.muted).toEqual({
          name: "left",
          until: at(60),
          by: expect.stringMatching(/^\[2Jx{61}…$/),
          why: expect.stringMatching(/^\[2Jx{197}…$/)
        })
      })
    )
  )

  scenario("is one of at most a hundred", (file) =>
    running(file, ({ mute, read }) =>
      Effect.gen(function* () {
        for (let index = 0; index < maxMutes; index++) {
          yield* mute({ name: `lamp ${index}`, until: at(60) })
        }
        expect(String(yield* Effect.flip(mute({ name: "left", until: at(60) })))).toContain(
          "there are 100 mutes"
        )
        yield* mute({ name: "lamp 0", until: at(120) })
        yield* TestClock.adjust("60 seconds")
        yield* mute({ name: "left", until: at(120) })
        expect((yield* read).word).toBe("OK")
      })
    )
  )
})
