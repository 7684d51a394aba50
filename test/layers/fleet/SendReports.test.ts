import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { addLoggerHere } from "../../../src/internal/loggers.ts"
import { vitrineVersion } from "../../../src/internal/machine.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import { pluginReport } from "../../../src/layers/fetching/pluginReport.ts"
import * as SendReports from "../../../src/layers/fleet/SendReports.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as ScreenPicturesMemory from "../../../src/layers/memory/ScreenPicturesMemory.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { PlayerReport } from "../../../src/services/PlayerReport.ts"
import { ScreenPictures } from "../../../src/services/ScreenPictures.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { type Answer, empty, hangUp, json, silence, text } from "../../support/upstream.ts"

const to = "http://192.0.2.1:8730/"
const decode = Schema.decodeUnknownSync(Schema.parseJson(PlayerReport))

const taken = json(200, { vitrine: vitrineVersion })

/** A hub with this answer, and the reports that it received. */
const makeHub = () => {
  const requests: Array<HttpClientRequest.HttpClientRequest> = []
  const reports: Array<PlayerReport> = []
  let answer: Answer = taken
  const client = HttpClient.make((request, _, signal) => {
    requests.push(request)
    if (request.method === "POST" && request.body._tag === "Uint8Array") {
      reports.push(decode(Buffer.from(request.body.body).toString()))
    }
    return answer(request, signal)
  })
  const answers = (next: Answer) => {
    answer = next
  }
  return { answers, client, reports, requests }
}

const fetching = (progress?: object) => ({
  kind: "content",
  fetchingSince: "1970-01-01T00:00:00.000Z",
  sources: {
    films: { fetchingSince: "1970-01-01T00:00:00.000Z", ...(progress === undefined ? {} : { progress }) }
  }
})

const services = Layer.mergeAll(
  CommandBusMemory.layer,
  EventBusMemory.layer,
  ControllerStateMemory.layer("persistent", { node: { id: "player-1" } }),
  ScreenPicturesMemory.layer
)

/** Starts a player. */
const setUp = Effect.gen(function* () {
  const hub = makeHub()
  const log: Array<string> = []
  const { addReport, updateSlice } = pluginsOf(yield* ControllerState)
  const { publish } = yield* EventBus
  yield* updateSlice("content", () => ({ kind: "content", sources: {} }))
  yield* addReport("content", pluginReport("content", { failingFor: "15 minutes" }))
  const sending = yield* SendReports.make({
    to,
    token: Redacted.make("very-secret"),
    content: "content",
    directory: "/",
    addLogger: addLoggerHere
  }).pipe(Effect.provideService(HttpClient.HttpClient, hub.client), withLog(log))
  yield* withLog(log)(sending.start)
  const passes = (millis: number) => withAdvancingClock(Effect.sleep(millis))
  return { ...hub, ...sending, log, passes, publish, updateSlice }
})

const run = <A, E>(
  test: Effect.Effect<A, E, CommandBus | ControllerState | EventBus | Effect.Effect.Context<typeof setUp>>
) => Effect.provide(test, services)

describe("a player that reports", () => {
  it.scoped("posts its state with its token, compressed", () =>
    run(
      Effect.gen(function* () {
        const { passes, reports, requests } = yield* setUp
        yield* passes(100)
        expect(requests.map(({ method, url }) => [method, url])).toEqual([["POST", `${to}vitrine/reports`]])
        expect(requests[0]?.headers).toMatchObject({
          authorization: "Bearer very-secret",
          "content-type": "application/json"
        })
        expect(reports).toEqual([
          expect.objectContaining({
            vitrine: vitrineVersion,
            node: { id: "player-1" },
            runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
            freeDisk: expect.any(Number)
          })
        ])
      })
    )
  )

  it.scoped("does so every eight to ten seconds while nothing changes", () =>
    run(
      Effect.gen(function* () {
        const { passes, reports, state } = yield* setUp
        yield* passes(60_000)
        const gaps = reports
          .slice(1)
          .map(({ sentAt }, index) => Date.parse(sentAt) - Date.parse(reports[index]?.sentAt ?? ""))
        expect(gaps.length).toBeGreaterThanOrEqual(5)
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(8000)
        expect(Math.max(...gaps)).toBeLessThanOrEqual(10_000)
        expect(new Set(gaps).size).toBeGreaterThan(1)
        expect(yield* state).toEqual({ to, takenAt: reports.at(-1)?.sentAt, vitrine: vitrineVersion })
      })
    )
  )

  it.scoped("does so at once when something changes, but at most once a second", () =>
    run(
      Effect.gen(function* () {
        const { passes, publish, reports } = yield* setUp
        yield* passes(2000)
        yield* publish("content:version:promoted", {})
        yield* passes(100)
        expect(reports).toHaveLength(2)
        yield* Effect.repeatN(Effect.zipRight(publish("controller:problem:begin", {}), passes(100)), 19)
        expect(reports).toHaveLength(4)
        yield* publish("tours:version:promoted", {})
        yield* publish("content:source:progress", {})
        yield* passes(5000)
        expect(reports).toHaveLength(5)
      })
    )
  )

  it.scoped("sends the percentage of a copy every two seconds", () =>
    run(
      Effect.gen(function* () {
        const { passes, publish, reports, updateSlice } = yield* setUp
        yield* passes(1000)
        const attachments = { done: 0, total: 1, bytes: 10, totalBytes: 40 }
        const progress = { document: "film.mp4", documents: { done: 0, total: 1 }, records: 0, attachments }
        yield* updateSlice("content", () => fetching(progress))
        yield* publish("content:fetch:start", {})
        yield* passes(9000)
        expect(new Set(reports.slice(1).map(({ copiedPercent }) => copiedPercent))).toEqual(new Set([25]))
        expect(reports.length).toBeGreaterThanOrEqual(5)
        expect(reports.length).toBeLessThanOrEqual(7)
      })
    )
  )

  it.scoped("sends its last ten warnings", () =>
    run(
      Effect.gen(function* () {
        const { passes, reports } = yield* setUp
        yield* Effect.logInfo("all is well")
        yield* Effect.forEach(Array.from({ length: 12 }).keys(), (index) =>
          Effect.fork(Effect.logWarning(`lamp ${index}\u001b[2J in /srv/secret/hall.txt`))
        )
        yield* passes(11_000)
        expect(reports.at(-1)?.warnings).toEqual(
          Array.from(
            { length: 10 },
            (_, index) => `1970-01-01T00:00:00.000Z lamp ${index + 2}�[2J in …/hall.txt`
          )
        )
      })
    )
  )

  it.scoped("continues if the hub does not respond, with the time in the state and one line in the log", () =>
    run(
      Effect.gen(function* () {
        const { answers, log, passes, reports, state } = yield* setUp
        yield* passes(1000)
        answers(hangUp)
        yield* passes(60_000)
        const since = reports[1]?.sentAt
        const reason = "the connection to http://192.0.2.1:8730 failed: other side closed"
        expect(yield* state).toMatchObject({
          takenAt: "1970-01-01T00:00:00.000Z",
          problem: { since, reason }
        })
        expect(log).toEqual([
          `WARN Reports are not accepted by ${to}, and are sent again until they are: ${reason}`
        ])
        answers(taken)
        yield* passes(10_000)
        expect(yield* state).toEqual({ to, takenAt: reports.at(-1)?.sentAt, vitrine: vitrineVersion })
        expect(log.slice(1)).toEqual([`INFO Reports are accepted by ${to} again`])
        answers(silence)
        const lastTaken = reports.length
        yield* passes(60_000)
        expect(yield* state).toMatchObject({
          problem: {
            since: reports[lastTaken]?.sentAt,
            reason: "http://192.0.2.1:8730 did not respond within 10000 ms"
          }
        })
        expect(log).toHaveLength(3)
        answers(taken)
      })
    )
  )

  const refusals: ReadonlyArray<readonly [Answer, RegExp]> = [
    [
      empty(401),
      /refuses the token \(401\): the token in "report" must equal the token of "reports" of its contentServer/
    ],
    [
      empty(404),
      /accepts no reports \(404\): set "reports" of its contentServer, or correct the address in "report"/
    ],
    [empty(405), /accepts no reports \(405\): set "reports" of its contentServer/],
    [empty(413), /the report is too large for .* \(413\): run the same version of Vitrine there and here/],
    [
      empty(302, { location: "http://127.0.0.1/secret" }),
      /redirects to http:\/\/127.0.0.1, which reports do not follow/
    ],
    [empty(503), /^http:\/\/192.0.2.1:8730 responds with HTTP 503$/],
    [
      text(200, "<h1>Hello</h1>"),
      /the server at http:\/\/192.0.2.1:8730\/vitrine\/reports is no content server/
    ],
    [text(200, " ".repeat(9000)), /gave more than 8.0 KiB/]
  ]

  it.scoped.each(refusals)("explains a refusal without showing a secret (%#)", ([answer, reason]) =>
    run(
      Effect.gen(function* () {
        const { answers, passes, requests, state } = yield* setUp
        yield* passes(1000)
        const before = requests.length
        answers(answer)
        yield* passes(10_000)
        const { problem } = yield* state
        expect(problem?.reason).toMatch(reason)
        expect(problem?.reason).not.toContain("secret")
        expect(requests.length - before).toBeLessThanOrEqual(2)
      })
    )
  )

  it.scoped("asks its screens for the actions that the hub answers with, once for each answer", () =>
    run(
      Effect.gen(function* () {
        const { answers, log, passes } = yield* setUp
        const asked: Array<unknown> = []
        yield* Effect.flatMap(CommandBus, ({ register }) =>
          register({
            type: "content.screen",
            fields: Schema.Struct({
              screen: Schema.String,
              action: Schema.Literal("reload", "identify"),
              by: Schema.optional(Schema.String)
            }),
            run: (fields) => Effect.sync(() => asked.push(fields))
          })
        )
        answers((request, signal) => {
          answers(taken)
          return json(200, {
            vitrine: vitrineVersion,
            actions: [
              { screen: "left", action: "open", type: "content.fetch" },
              { screen: "left", action: "reload", by: "Anna", type: "content.fetch" }
            ]
          })(request, signal)
        })
        yield* passes(30_000)
        expect(asked).toEqual([{ screen: "left", action: "reload", by: "Anna" }])
        expect(log).toEqual([
          expect.stringMatching(
            /^WARN An action that the hub asks of a screen failed: .*"content.screen".* wrong fields/
          )
        ])
      })
    )
  )

  it.scoped("asks for a repeated action once, and confirms it when the screen has received it", () =>
    run(
      Effect.gen(function* () {
        const { answers, passes, publish, reports } = yield* setUp
        const asked: Array<unknown> = []
        yield* Effect.flatMap(CommandBus, ({ register }) =>
          register({
            type: "content.screen",
            fields: Schema.Struct({ screen: Schema.String, action: Schema.String }),
            run: (fields) => Effect.sync(() => asked.push(fields))
          })
        )
        const actions = [{ id: "one", screen: "left", action: "reload" }]
        answers(json(200, { vitrine: vitrineVersion, actions }))
        yield* passes(30_000)
        expect(asked).toEqual([{ screen: "left", action: "reload" }])
        expect(reports.map(({ done }) => done)).toEqual(reports.map(() => []))
        yield* publish("local:screen:taken", { screen: "right", actions: ["reload"] })
        yield* publish("local:screen:taken", { screen: "left", actions: ["reload"] })
        yield* passes(2000)
        expect(reports.at(-1)?.done).toEqual(["one"])
        expect(reports.map(({ number = 0 }, index) => number - index)).toEqual(
          reports.map(() => reports[0]?.number)
        )
      })
    )
  )

  it.scoped("asks a screen of another content of this player through that content", () =>
    run(
      Effect.gen(function* () {
        const { answers, log, passes, updateSlice } = yield* setUp
        const { addReport } = pluginsOf(yield* ControllerState)
        const at = "1970-01-01T00:30:00.000Z"
        yield* updateSlice("local", () => ({
          kind: "content",
          sources: {},
          screens: [{ id: "menu", versionId: "20261121T093000Z", shownSince: at, heardAt: at, until: at }]
        }))
        yield* addReport("local", pluginReport("local", { failingFor: "15 minutes" }))
        const asked: Array<unknown> = []
        yield* Effect.flatMap(CommandBus, ({ register }) =>
          register({
            type: "local.screen",
            fields: Schema.Struct({ screen: Schema.String, action: Schema.String }),
            run: (fields) => Effect.sync(() => asked.push(fields))
          })
        )
        answers((request, signal) => {
          answers(taken)
          const actions = [{ screen: "menu", action: "reload" }]
          return json(200, { vitrine: vitrineVersion, actions })(request, signal)
        })
        yield* passes(30_000)
        expect(asked).toEqual([{ screen: "menu", action: "reload" }])
        expect(log).toEqual([])
      })
    )
  )

  /** A hub that asks for these pictures with every answer, and answers the pictures so; the screen "left" is watched. */
  const withPictures = (
    pictures: ReadonlyArray<{ readonly screen: string; readonly number: string }>,
    answer: Answer
  ) =>
    Effect.gen(function* () {
      const { open, wanted, ...own } = yield* ScreenPictures
      yield* open([])
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.flatMap(wanted("left"), (found) =>
            Option.isNone(found)
              ? Effect.void
              : Effect.ignore(own.answer(found.value, Either.left("a dialog is open")))
          )
        )
      )
      const player = yield* setUp
      player.answers((request, signal) =>
        (request.method === "PUT" ? answer : json(200, { vitrine: vitrineVersion, pictures }))(
          request,
          signal
        )
      )
      const sent = () =>
        player.requests
          .filter(({ method }) => method === "PUT")
          .map(({ body, headers, url }) => [
            url.slice(to.length),
            headers["vitrine-picture"],
            headers["content-type"],
            body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : ""
          ])
      return { ...player, sent }
    })

  it.scoped("sends a picture that the hub asks for once, and only of a screen that it has reported", () =>
    run(
      Effect.gen(function* () {
        const { log, passes, reports, requests, sent } = yield* withPictures(
          [
            { screen: "left", number: "one" },
            { screen: "other", number: "two" },
            { screen: "left", number: "a\r\nb" }
          ],
          empty(204)
        )
        yield* passes(60_000)
        expect(reports.at(-1)?.watched).toEqual(["left"])
        expect(sent()).toEqual([
          ["vitrine/pictures/player-1/left", "one", "text/plain; charset=utf-8", "a dialog is open"]
        ])
        expect(requests.find(({ method }) => method === "PUT")?.headers.authorization).toBe(
          "Bearer very-secret"
        )
        expect(log).toEqual([])
      })
    )
  )

  it.scoped("takes each picture once, also if the hub asks for more than may wait", () =>
    run(
      Effect.gen(function* () {
        const numbers = Array.from({ length: 40 }, (_, index) => ({ screen: "left", number: `${index}` }))
        const { passes, sent } = yield* withPictures(numbers, empty(204))
        yield* passes(60_000)
        expect(
          sent()
            .map(([, number]) => Number(number))
            .sort((one, other) => one - other)
        ).toEqual(numbers.map(({ number }) => Number(number)))
      })
    )
  )

  it.scoped("continues to report, and warns once, without its token, if the hub refuses pictures", () =>
    run(
      Effect.gen(function* () {
        const numbers = Array.from({ length: 4 }, (_, index) => ({ screen: "left", number: `${index}` }))
        const { log, passes, reports, sent } = yield* withPictures(numbers, text(401, "very-secret"))
        yield* passes(60_000)
        expect(sent()).toHaveLength(4)
        expect(reports.length).toBeGreaterThan(5)
        expect(log).toEqual([
          `WARN Pictures of screens do not reach ${to}: the server responds with HTTP 401`
        ])
      })
    )
  )

  it.scoped("says nothing about a picture that the hub does not want any more", () =>
    run(
      Effect.gen(function* () {
        const { log, passes, sent } = yield* withPictures([{ screen: "left", number: "one" }], empty(409))
        yield* passes(30_000)
        expect(sent()).toHaveLength(1)
        expect(log).toEqual([])
      })
    )
  )

  it.scoped("reports while a picture is taken", () =>
    run(
      Effect.gen(function* () {
        const { passes, reports, sent } = yield* withPictures([{ screen: "left", number: "one" }], silence)
        yield* passes(25_000)
        expect(sent()).toHaveLength(1)
        expect(reports.length).toBeGreaterThan(2)
      })
    )
  )

  it.scoped("shows the version of the hub without control characters", () =>
    run(
      Effect.gen(function* () {
        const { answers, passes, state } = yield* setUp
        answers(json(200, { vitrine: `\u001b[2J${"9".repeat(1000)}` }))
        yield* passes(10_000)
        expect((yield* state).vitrine).toMatch(/^\[2J9+…$/)
      })
    )
  )

  const ending = (exit: Exit.Exit<unknown, unknown>, prepare: Effect.Effect<void, never, ControllerState>) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { passes, reports, updateSlice } = yield* Scope.extend(setUp, scope)
      yield* updateSlice("lamp", () => ({
        problems: [{ code: "lamp:broken", severity: "error", text: "The lamp is broken" }]
      }))
      yield* passes(11_000)
      const before = reports.length
      yield* prepare
      yield* Scope.close(scope, exit)
      return reports.slice(before)
    })

  it.scoped("reports at its end who stopped it", () =>
    run(
      Effect.gen(function* () {
        const { updateSlice } = pluginsOf(yield* ControllerState)
        const asked = updateSlice("stop", () => ({ kind: "stop", by: "anna@desk" }))
        expect(yield* ending(Exit.interrupt(FiberId.none), Effect.void)).toEqual([
          expect.objectContaining({ stoppedBy: "the system", problems: [], screens: [] })
        ])
        expect(yield* ending(Exit.void, asked)).toEqual([expect.objectContaining({ stoppedBy: "anna@desk" })])
      })
    )
  )

  it.scoped("reports nothing at its end if it has failed", () =>
    run(
      Effect.gen(function* () {
        expect(yield* ending(Exit.fail("a plugin fails"), Effect.void)).toEqual([])
        expect(yield* ending(Exit.die("a defect"), Effect.void)).toEqual([])
      })
    )
  )

  it.scoped("ends at most half a second later if the hub does not respond", () =>
    run(
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { answers, passes } = yield* Scope.extend(setUp, scope)
        yield* passes(1000)
        answers(silence)
        const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
        yield* passes(500)
        yield* Fiber.join(closing)
      })
    )
  )
})
