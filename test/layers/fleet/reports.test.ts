import { gzipSync } from "node:zlib"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { vitrineVersion } from "../../../src/internal/machine.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { maxReportBytes, ReportAnswer } from "../../../src/services/PlayerReport.ts"
import { ScreenPictures } from "../../../src/services/ScreenPictures.ts"
import { ContentServerState } from "../../../src/services/Slices.ts"
import { follow } from "../../support/content.ts"
import * as server from "../../support/contentServer.ts"
import { player, report, sending, token } from "../../support/fleet.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"

const { request } = server

/** A hub that expects `hall-1`. */
const environment = Layer.mergeAll(
  ControllerStateMemory.layer("persistent", { node: { id: "hub" }, players: [{ id: "hall-1" }] }),
  CommandBusMemory.layer,
  EventBusMemory.layer,
  ScreenPicturesMemory.layer,
  NodeContext.layer
)

const withHub = <A, E, R>(
  test: (downloads: string) => Effect.Effect<A, E, R>,
  { file, takesReports = true }: { readonly file?: string; readonly takesReports?: boolean } = {}
) =>
  Effect.gen(function* () {
    const downloadPath = `${yield* server.makeFolder}/downloads`
    yield* server.addVersion(downloadPath, { "Objects.json": "[]" })
    if (file !== undefined) {
      yield* server.writeFile(`${downloadPath}/.players.json`, file)
    }
    return yield* test(downloadPath).pipe(
      Effect.provide(server.layer({ downloadPath, ...(takesReports ? { reports: { token } } : {}) }))
    )
  }).pipe(Effect.provide(environment))

const post = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  request(sending(body, headers))

const id = expect.stringMatching(/^[\da-f-]{36}$/)

const messageOf = ({ body }: server.Answer): string => JSON.parse(body.toString()).error.message

const slice = Effect.flatMap(ControllerState, ({ state }) =>
  Effect.flatMap(state, ({ plugins }) => Schema.decodeUnknown(ContentServerState)(plugins["content-server"]))
)

const players = Effect.map(slice, ({ players = [] }) => players)

describe("a hub", () => {
  it.scoped("accepts a report, and has the player in its state", () =>
    withHub(() =>
      Effect.gen(function* () {
        expect(yield* players).toEqual([])
        const answer = yield* post(JSON.stringify(report()))
        expect(answer).toMatchObject({
          status: 200,
          headers: { "content-type": "application/json", "cache-control": "no-store" }
        })
        expect(
          Either.isRight(Schema.decodeUnknownEither(Schema.parseJson(ReportAnswer))(answer.body.toString()))
        ).toBe(true)
        expect(yield* players).toEqual([
          { ...report(), heardAt: expect.any(String), address: "127.0.0.1", clockOffset: expect.any(Number) }
        ])
      })
    )
  )

  it.scoped("reloads a screen of a player of its second content, whichever content was asked", () =>
    withHub(() =>
      Effect.gen(function* () {
        const { publish } = yield* EventBus
        yield* post(JSON.stringify(report()))
        yield* publish("archive:screen:asked", { screen: "hall-3/left", action: "reload" })
        const { body } = yield* post(JSON.stringify(report()))
        expect(JSON.parse(body.toString()).actions).toEqual([{ id, screen: "left", action: "reload" }])
      })
    )
  )

  it.scoped(
    "responds to a report of an older player with the actions for its screens, once, six at a time",
    () =>
      withHub(() =>
        Effect.gen(function* () {
          const { publish } = yield* EventBus
          const actionsOf = (changes: Parameters<typeof report>[0] = {}) =>
            Effect.map(
              post(JSON.stringify(report(changes))),
              ({ body }) => JSON.parse(body.toString()).actions
            )
          const other = { node: { id: "hall-4" } }
          yield* publish("content:screen:asked", { screen: "hall-3/left", action: "reload", by: "Anna" })
          yield* publish("content:screen:asked", { screen: "hall-4/left", action: "identify" })
          yield* publish("content:screen:asked", { screen: "left", action: "identify" })
          yield* publish("content:screen:asked", { screen: "hall-3/left", action: "open" })
          expect(
            (yield* request(sending(JSON.stringify(report()), { Authorization: "Bearer wrong" }))).status
          ).toBe(401)
          expect(yield* actionsOf({ stoppedBy: "Anna" })).toBeUndefined()
          expect(yield* actionsOf()).toEqual([{ id, screen: "left", action: "reload", by: "Anna" }])
          expect(yield* actionsOf()).toBeUndefined()
          expect(yield* actionsOf(other)).toEqual([{ id, screen: "left", action: "identify" }])

          for (const screen of ["1", "2", "3", "4", "5", "6", "7"]) {
            yield* publish("content:screen:asked", { screen: `hall-3/${screen}`, action: "reload" })
          }
          expect(yield* actionsOf()).toHaveLength(6)
          expect(yield* actionsOf()).toEqual([{ id, screen: "7", action: "reload" }])
        })
      )
  )

  it.scoped("gives a player an action again until its screen has received it, and announces that then", () =>
    withHub(() =>
      Effect.gen(function* () {
        const { publish } = yield* EventBus
        const { until } = yield* follow
        const actionsOf = (done: ReadonlyArray<string>) =>
          Effect.map(
            post(JSON.stringify(report({ done }))),
            ({ body }) => JSON.parse(body.toString()).actions ?? []
          )
        yield* publish("content:screen:asked", { screen: "hall-3/left", action: "reload" })
        const [lost, given] = [yield* actionsOf([]), yield* actionsOf([])]
        expect(given).toEqual([{ id, screen: "left", action: "reload" }])
        expect(given).toEqual(lost)
        expect(yield* actionsOf([given[0].id])).toEqual([])
        const events = yield* until("content:screen:taken")
        expect(events.map(({ name }) => name)).toEqual(["content:screen:asked", "content:screen:taken"])
        expect(events.at(-1)?.payload).toEqual({ screen: "hall-3/left", actions: ["reload"] })
      })
    )
  )

  it.scoped("asks a player for the pictures that are wanted of its watched screens, until they come", () =>
    withHub(() =>
      Effect.gen(function* () {
        const pictures = yield* ScreenPictures
        const asked = (changes: Parameters<typeof report>[0]) =>
          Effect.map(
            post(JSON.stringify(report(changes))),
            ({ body }) => JSON.parse(body.toString()).pictures
          )
        const ask = (screen: string) => Effect.forkScoped(Effect.either(pictures.ask(screen)))
        const asking = yield* ask("hall-3/left")
        yield* ask("hall-4/left")
        yield* ask("left")
        yield* Effect.yieldNow()
        expect(yield* asked({})).toBeUndefined()
        expect(yield* asked({ watched: ["left"], stoppedBy: "Anna" })).toBeUndefined()
        const [wanted, ...others] = yield* asked({ watched: ["left", "right"] })
        expect(others).toEqual([])
        expect(wanted).toEqual({ screen: "left", number: expect.stringMatching(/^[0-9a-f]{32}$/) })
        expect(yield* asked({ watched: ["left"] })).toEqual([wanted])
        expect([...(yield* pictures.watched)].sort()).toEqual(["hall-3/left", "hall-3/right"])
        expect((yield* players).map((player) => "watched" in player)).toEqual([false])

        const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0])
        const put = (authorization: string, number = wanted.number) =>
          Effect.map(
            request({
              method: "PUT",
              target: "/vitrine/pictures/hall-3/left",
              headers: {
                Authorization: authorization,
                "Content-Type": "image/jpeg",
                "Vitrine-Picture": number
              },
              body: jpeg
            }),
            ({ status }) => status
          )
        expect(yield* put("Bearer wrong")).toBe(401)
        expect(yield* put(`Bearer ${token}`, "0".repeat(32))).toBe(409)
        expect(yield* put(`Bearer ${token}`)).toBe(204)
        expect(yield* put(`Bearer ${token}`)).toBe(409)
        expect(yield* Effect.flatten(Fiber.join(asking))).toMatchObject({ jpeg })
        expect(yield* asked({ watched: ["left"] })).toBeUndefined()
      })
    )
  )

  it.scoped("asks a player for eight pictures at a time, in turn, in an answer that the player reads", () =>
    withHub(() =>
      Effect.gen(function* () {
        const { publish } = yield* EventBus
        const pictures = yield* ScreenPictures
        const watched = Array.from({ length: 9 }, (_, index) => `${index}${"💡".repeat(63)}`)
        for (const screen of watched) {
          yield* Effect.forkScoped(Effect.either(pictures.ask(`hall-3/${screen}`)))
          yield* publish("content:screen:asked", {
            screen: `hall-3/${screen}`,
            action: "identify",
            by: "💡".repeat(64)
          })
        }
        yield* Effect.yieldNow()
        const { body } = yield* post(JSON.stringify(report({ watched, done: [] })))
        const answer = JSON.parse(body.toString())
        expect(answer.pictures.map(({ screen }: { readonly screen: string }) => screen)).toEqual(
          watched.slice(0, 8)
        )
        expect(answer.actions).toHaveLength(6)
        expect(body.length).toBeLessThanOrEqual(8192)
        const next = JSON.parse((yield* post(JSON.stringify(report({ watched })))).body.toString())
        expect(next.pictures.map(({ screen }: { readonly screen: string }) => screen)).toEqual([
          watched[8],
          ...watched.slice(0, 7)
        ])
      })
    )
  )

  it.scoped("responds to a report that requests actions as to any other", () =>
    withHub(() =>
      Effect.gen(function* () {
        const wishes = { actions: [{ screen: "left", action: "reload" }] }
        for (const _ of [1, 2]) {
          const { body } = yield* post(JSON.stringify({ ...report(), ...wishes }))
          expect(JSON.parse(body.toString())).toEqual({ vitrine: vitrineVersion })
        }
      })
    )
  )

  it.scoped("accepts a report in gzip, by any of its names, and in other encodings than UTF-8", () =>
    withHub(() =>
      Effect.gen(function* () {
        const text = JSON.stringify({ ...report(), host: "Köln" })
        for (const [body, headers] of [
          [gzipSync(text), { "Content-Encoding": "gzip" }],
          [gzipSync(text), { "Content-Encoding": "X-GZIP" }],
          [Buffer.from(text), { "Content-Encoding": "UTF-8" }],
          [Buffer.from(text, "latin1"), { "Content-Type": "application/json; charset=iso-8859-1" }],
          [Buffer.from(text), { "Content-Type": "application/json; charset=iso-8859-1" }]
        ] as const) {
          expect((yield* post(body, headers)).status).toBe(200)
          expect(yield* players).toMatchObject([{ host: "Köln" }])
        }
      })
    )
  )

  it.scoped(
    "does not count the time that its clock was set by, or that it slept, as silence of its players",
    () =>
      withJumpingClock(({ adjust, set }) =>
        withHub(() =>
          Effect.gen(function* () {
            const { state } = yield* ControllerState
            const seconds = Effect.gen(function* () {
              const now = yield* Clock.currentTimeMillis
              return (yield* players).map(({ heardAt }) => (now - Date.parse(heardAt)) / 1000)
            })
            // The hub knows its players from the first look at its state on.
            yield* state
            yield* adjust("1 hour")
            yield* post(JSON.stringify(report({ node: { id: "hall-1" } })))
            yield* adjust("10 seconds")
            for (const step of [3_600_000, -7_200_000, 94_608_000_000]) {
              yield* set(step)
              expect(yield* seconds).toEqual([10])
              expect((yield* state).problems?.map(({ code }) => code)).not.toContain("player:silent")
            }
            yield* adjust("20 seconds")
            expect(yield* seconds).toEqual([30])
            expect((yield* state).problems?.map(({ code }) => code)).toContain("player:silent")
          })
        )
      )
  )

  it.scoped("does not shorten the absence of a player that stopped when its clock is set", () =>
    withJumpingClock(({ adjust, set }) =>
      withHub(() =>
        Effect.gen(function* () {
          yield* adjust("1 hour")
          yield* post(JSON.stringify(report({ stoppedBy: "the system" })))
          const [before] = yield* players
          yield* adjust("10 seconds")
          yield* set(57_600_000)
          expect(yield* players).toMatchObject([{ heardAt: before?.heardAt, stoppedBy: "the system" }])
        })
      )
    )
  )

  it.scoped("accepts no report without the option, and has no players in its state", () =>
    withHub(
      () =>
        Effect.gen(function* () {
          const answer = yield* post(JSON.stringify(report()))
          expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, OPTIONS" } })
          expect((yield* slice).players).toBeUndefined()
        }),
      { takesReports: false }
    )
  )

  it.scoped("accepts no report without its token", () =>
    withHub(() =>
      Effect.gen(function* () {
        for (const authorization of ["", "Bearer", `Bearer ${token}x`, `Basic ${token}`, "Bearer \u00e9"]) {
          const answer = yield* post(JSON.stringify(report()), { Authorization: authorization })
          expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } })
          expect(messageOf(answer)).not.toContain(token)
        }
        const inQuery = yield* request({
          ...sending(JSON.stringify(report()), { Authorization: "" }),
          target: `/vitrine/reports?token=${token}`
        })
        expect(inQuery.status).toBe(401)
        expect(yield* players).toEqual([])
      })
    )
  )

  it.scoped("accepts no report from a page in a browser", () =>
    withHub(() =>
      Effect.gen(function* () {
        const asked = yield* request({
          method: "OPTIONS",
          target: "/vitrine/reports",
          headers: {
            Origin: "http://attacker.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type"
          }
        })
        const allowed = asked.headers["access-control-allow-headers"]?.toLowerCase() ?? ""
        expect(allowed).not.toMatch(/authorization|content-type|\*/)
        expect(asked.headers["access-control-allow-methods"]).not.toMatch(/POST|\*/)
        for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
          expect((yield* post(JSON.stringify(report()), { "Content-Type": type })).status).toBe(415)
        }
        expect(yield* players).toEqual([])
      })
    )
  )

  it.scoped("refuses an invalid report, with the reason", () =>
    withHub(() =>
      Effect.gen(function* () {
        const refused = (body: string | Uint8Array, headers = {}) =>
          Effect.map(post(body, headers), (answer) => [answer.status, messageOf(answer)] as const)
        const gzip = { "Content-Encoding": "gzip" }
        expect(yield* refused("{")).toEqual([400, "The body is not valid JSON."])
        expect(yield* refused(JSON.stringify({ ...report(), sentAt: "now" }))).toEqual([
          400,
          'The report cannot be used: sentAt: expected a time in ISO 8601, UTC, got "now"'
        ])
        expect(yield* refused("no gzip", gzip)).toEqual([400, "The body is not valid gzip."])
        expect(yield* refused("x", { "Content-Encoding": "br" })).toEqual([
          400,
          'The "Content-Encoding" must be gzip or missing.'
        ])
        const tooLarge = [413, `The body exceeds ${maxReportBytes} bytes.`]
        expect(yield* refused(JSON.stringify({ ...report(), extra: "x".repeat(maxReportBytes) }))).toEqual(
          tooLarge
        )
        const bomb = gzipSync(Buffer.alloc(20_000_000, " "), { level: 9 })
        expect(bomb.length).toBeLessThan(65_536)
        expect(yield* refused(bomb, gzip)).toEqual(tooLarge)
        const screens = Array.from({ length: 100_000 }, (_, index) => ({ id: `${index}`, word: "showing" }))
        expect((yield* post(JSON.stringify({ ...report(), screens }))).status).toBe(413)
        expect((yield* post(gzipSync(JSON.stringify({ ...report(), screens })), gzip)).status).toBe(413)
        expect(yield* players).toEqual([])
        expect((yield* post(JSON.stringify(report()))).status).toBe(200)
      })
    )
  )

  it.scoped("limits a player that sends too much, and no other", () =>
    withHub(() =>
      Effect.gen(function* () {
        const answers = yield* Effect.forEach(
          Array.from({ length: 40 }),
          () => post(JSON.stringify(report())),
          {
            concurrency: 8
          }
        )
        const refused = answers.filter(({ status }) => status === 429)
        expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20)
        expect(refused.length).toBeGreaterThan(0)
        expect(refused[0]?.headers["retry-after"]).toBe("10")
        expect((yield* post(JSON.stringify(report({ node: { id: "hall-4" } })))).status).toBe(200)
      })
    )
  )

  it.scoped("has room for an expected player, and reports once that it has no room for others", () => {
    const log: Array<string> = []
    const many = Array.from({ length: 1024 }, (_, index) => player({ node: { id: `other-${index}` } }))
    return withHub(
      () =>
        Effect.gen(function* () {
          for (const id of ["new", "newer"]) {
            const answer = yield* post(JSON.stringify(report({ node: { id } })))
            expect(answer.status).toBe(503)
            expect(messageOf(answer)).toMatch(/^Too many players: 1024 report here already/)
          }
          expect((yield* post(JSON.stringify(report({ node: { id: "hall-1" } })))).status).toBe(200)
          const ids = (yield* players).map(({ node }) => node.id)
          expect(ids).toHaveLength(1024)
          expect(ids).toContain("hall-1")
          expect(log.filter((line) => line.includes("Too many players"))).toHaveLength(1)
        }),
      { file: JSON.stringify(many) }
    ).pipe(withLog(log))
  })
})
