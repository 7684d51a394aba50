import { readdirSync } from "node:fs"
import { hostname } from "node:os"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { nodeIdOf } from "../../../src/internal/machine.ts"
import * as DashboardLayer from "../../../src/layers/dashboard/Dashboard.ts"
import { Dashboard } from "../../../src/layers/dashboard/Dashboard.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import * as dashboard from "../../support/dashboard.ts"
import { read } from "../../support/documents.ts"
import { serverSlice, wellPlayer } from "../../support/fleet.ts"
import { pluginsOf } from "../../support/plugins.ts"
import * as rawHttp from "../../support/rawHttp.ts"
import { memoryServices, publish, register } from "../../support/transport.ts"
import { nextPause, somebodySleepsFor } from "../../support/waiting.ts"

const versionId = "19700101T000000Z"
const epoch = "1970-01-01T00:00:00.000Z"
const fine = { versionId, generatedAt: epoch, sources: {} }

const overviewOf = (versionId: string) => ({
  versionId,
  active: true,
  isWaiting: false,
  isRead: false,
  leases: []
})

const player = (id: string) => wellPlayer(id, epoch, { versionId })

const healthz = Effect.map(dashboard.get("/healthz"), ({ body, status }) => ({
  code: status,
  ...JSON.parse(body)
}))

/** The data of the last event of that name. */
const lastEvent = (text: string, name: string): unknown =>
  JSON.parse(new RegExp(`.*event: ${name}\\ndata: (.*?)\\n\\n`, "s").exec(text)?.[1] ?? "null")

/** Waits while the time passes. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(effect, Effect.forever(nextPause))

const firstReadHangs = <R>(services: Context.Context<R | ControllerState>) => {
  const state = Context.get(services, ControllerState)
  let hangs = true
  const read = Effect.suspend(() => {
    const hung = hangs ? Effect.never : state.read
    hangs = false
    return hung
  })
  return Context.add(services, ControllerState, { ...state, read })
}

const over =
  (options: Parameters<typeof dashboard.layer>[0] = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.scoped, Effect.provide(dashboard.layer(options)))

describe("GET /healthz", () => {
  it.effect("is 200 or 503 with the reasons", () =>
    Effect.gen(function* () {
      expect(yield* healthz).toEqual({ code: 200, status: "ok", word: "OK", findings: [] })
      yield* dashboard.setContent({ sources: {} })
      expect(yield* healthz).toEqual({
        code: 503,
        status: "failing",
        word: "NO CONTENT",
        findings: [
          {
            code: "content:none",
            tone: "error",
            text: 'There is no version of "content": nothing was fetched yet'
          }
        ]
      })
    }).pipe(over())
  )

  it.effect("follows the options of the content", () =>
    Effect.gen(function* () {
      const rules = { failingFor: "1 minute", maxAge: "2 minutes" } as const
      const failure = { timestamp: epoch, error: { name: "E", message: "no network" } }
      yield* dashboard.setContent({ ...fine, lastFetch: failure, failingSince: epoch }, rules)
      yield* TestClock.adjust("59 seconds")
      expect(yield* healthz).toMatchObject({ code: 200, word: "WARNING" })
      yield* TestClock.adjust("1 second")
      expect(yield* healthz).toMatchObject({ code: 503, word: "FAILING" })
      yield* dashboard.setContent({ ...fine, lastSuccess: epoch })
      expect(yield* healthz).toMatchObject({ code: 200, word: "OK" })
      yield* TestClock.adjust("2 minutes")
      expect(yield* healthz).toMatchObject({ code: 503, word: "FAILING" })
    }).pipe(over())
  )
})

describe("the routes for reading", () => {
  it.effect("are a page with its files, the metrics, the state and the status", () =>
    Effect.gen(function* () {
      const types = yield* Effect.forEach(
        ["/", "/dashboard.css", "/dashboard.js", "/newsreader.woff2", "/metrics", "/state", "/status"],
        (target) =>
          Effect.map(dashboard.get(target), ({ headers, status }) => [status, headers["content-type"]])
      )
      expect(types).toEqual([
        [200, "text/html; charset=utf-8"],
        [200, "text/css; charset=utf-8"],
        [200, "text/javascript; charset=utf-8"],
        [200, "font/woff2"],
        [200, "text/plain; version=0.0.4; charset=utf-8"],
        [200, "application/json"],
        [200, "application/json"]
      ])
      const { body } = yield* dashboard.get("/")
      expect(body.match(/(?:src|href)="(?!data:)([^"]*)"/g)).toEqual([
        'href="dashboard.css"',
        'src="dashboard.js"',
        'href="healthz"',
        'href="status"',
        'href="metrics"'
      ])
      expect(yield* dashboard.request({ method: "HEAD", target: "/" })).toMatchObject({
        status: 200,
        body: ""
      })
    }).pipe(over())
  )

  it.effect("have the players of a hub in the metrics", () =>
    Effect.gen(function* () {
      const { updateSlice } = pluginsOf(yield* ControllerState)
      yield* updateSlice("content-server", () => serverSlice({ players: [player("hall-3")] }))
      expect((yield* dashboard.get("/metrics")).body).toContain('\nvitrine_player_up{player="hall-3"} 1\n')
      yield* TestClock.adjust("25 seconds")
      expect((yield* dashboard.get("/metrics")).body).toContain('\nvitrine_player_up{player="hall-3"} 0\n')
    }).pipe(over())
  )

  it.effect("have every file beside the page, and every import", () =>
    Effect.gen(function* () {
      const files = readdirSync(new URL("../../../src/layers/dashboard/page", import.meta.url))
      const { body } = yield* dashboard.get("/dashboard.css")
      const imported = [...body.matchAll(/url\("(.*?)"\)/g)].map(([, name]) => name)
      expect(imported).toHaveLength(4)
      const served = yield* Effect.filter(files, (name) =>
        Effect.map(dashboard.get(`/${name}`), ({ status }) => status === 200)
      )
      expect(files.filter((name) => !served.includes(name))).toEqual(["fonts.txt", "index.html"])
    }).pipe(over())
  )

  it.effect("have the machine and the version of Vitrine as labels of a metric", () =>
    Effect.gen(function* () {
      const { body } = yield* dashboard.get("/metrics")
      const version = JSON.parse(read("package.json")).version
      expect(body).toContain(`\nvitrine_node_info{id="${nodeIdOf(hostname())}",version="${version}"} 1\n`)
    }).pipe(over())
  )

  it.effect("are no others", () =>
    Effect.gen(function* () {
      expect(yield* dashboard.get("/index.html")).toMatchObject({
        status: 404,
        body: '{"error":{"message":"Not found: GET /index.html"}}'
      })
      expect((yield* dashboard.request({ method: "POST", target: "/healthz" })).status).toBe(404)
      expect((yield* dashboard.get("/../package.json")).status).toBe(404)
      expect((yield* dashboard.get("http://[")).status).toBe(400)
    }).pipe(over())
  )
})

describe("the event stream", () => {
  it.effect("begins with everything, and continues with changes", () =>
    Effect.gen(function* () {
      yield* dashboard.setContent(fine)
      const { received } = yield* dashboard.openEvents
      expect(received.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*retry: 2000\n\n/s)
      expect(lastEvent(received.text(), "overview")).toMatchObject({
        word: "OK",
        node: { id: nodeIdOf(hostname()) },
        actions: "open",
        contents: [{ name: "content", versionId }]
      })
      yield* dashboard.setContent({ sources: {} })
      yield* publish("content:fetch:start", { timestamp: epoch })
      yield* somebodySleepsFor("500 millis")
      yield* TestClock.adjust("500 millis")
      const text = yield* received.until((text) => text.includes("NO CONTENT"))
      expect(lastEvent(text, "overview")).toMatchObject({ word: "NO CONTENT" })
      expect(text.match(/event: log\n/g)).toHaveLength(1)
    }).pipe(over())
  )

  it.effect("begins at once while a page before waits for versions, and has all else without them", () =>
    Effect.gen(function* () {
      yield* dashboard.setContent(fine)
      yield* register("content.versions", Effect.never)
      const open = Effect.flatMap(dashboard.port, rawHttp.connect).pipe(
        Effect.tap(({ received, send }) => {
          send(rawHttp.format({ target: "/events" }))
          return received.until((text) => text.includes("retry: 2000\n\n"))
        })
      )
      yield* Effect.scoped(open)
      const { received } = yield* open
      const text = yield* inTime(received.until((text) => text.includes("event: log\n")))
      expect(lastEvent(text, "overview")).toMatchObject({ word: "OK", contents: [{ name: "content" }] })
      expect(lastEvent(text, "overview")).not.toHaveProperty("contents.0.versions")
    }).pipe(over())
  )

  it.effect("says in the log that the state cannot be read, and goes on when it can", () =>
    Effect.gen(function* () {
      const { received } = yield* Effect.flatMap(dashboard.port, rawHttp.connect).pipe(
        Effect.tap(({ send }) => send(rawHttp.format({ target: "/events" })))
      )
      yield* received.until((text) => text.includes("retry: 2000\n\n"))
      yield* somebodySleepsFor("10 seconds")
      yield* TestClock.adjust("10 seconds")
      const text = yield* inTime(received.until((text) => text.includes("event: log\n")))
      expect(text).toContain("The dashboard shows nothing new. The state was not read within 10s.")
    }).pipe(
      Effect.scoped,
      Effect.provide(
        DashboardLayer.layer({ port: 0 }).pipe(
          Layer.provideMerge(Layer.map(memoryServices(), firstReadHangs))
        )
      )
    )
  )

  it.effect("says in the log that the state has a mistake, and goes on without the mistake", () =>
    Effect.gen(function* () {
      const { updateSlice } = pluginsOf(yield* ControllerState)
      const { received } = yield* dashboard.openEvents
      let reads = 0
      yield* updateSlice("lamp", () => ({
        get kind() {
          reads++
          throw new Error("The lamp is broken")
        }
      }))
      reads = 0
      yield* inTime(Effect.repeat(Effect.yieldNow(), { until: () => reads > 0 }))
      yield* updateSlice("lamp", () => ({}))
      const text = yield* inTime(received.until((text) => text.includes("The dashboard shows nothing new")))
      expect(text).toContain("The dashboard shows nothing new. The lamp is broken")
    }).pipe(over())
  )

  it.effect("sends only the time while nothing changes", () =>
    Effect.gen(function* () {
      yield* dashboard.setContent(fine)
      const { received } = yield* dashboard.openEvents
      const text = yield* inTime(received.until((text) => (text.match(/event: now\n/g) ?? []).length > 2))
      expect(text.match(/event: overview\n/g)).toHaveLength(1)
    }).pipe(over())
  )

  it.effect("has players of a hub, and their number on each version", () =>
    Effect.gen(function* () {
      yield* dashboard.setContent(fine)
      yield* register("content.versions", Effect.succeed({ versions: [overviewOf(versionId)] }))
      const { updateSlice } = pluginsOf(yield* ControllerState)
      yield* updateSlice("content-server", () =>
        serverSlice({ players: [player("hall-1"), player("hall-2")] })
      )
      const { received } = yield* dashboard.openEvents
      expect(lastEvent(received.text(), "overview")).toMatchObject({
        players: { shown: [{ name: "hall-1" }, { name: "hall-2" }], words: { "up to date": 2 } },
        contents: [{ versions: [{ versionId, players: 2, screens: 0 }] }]
      })
    }).pipe(over())
  )

  it.effect("has the page of a content, to preview a waiting version", () =>
    Effect.gen(function* () {
      yield* dashboard.setContent(fine)
      const { updateSlice } = pluginsOf(yield* ControllerState)
      for (const name of ["content-server", "archive-server"]) {
        const page = `http://127.0.0.1:1/${name}/`
        yield* updateSlice(name, () => serverSlice({ everywhere: true, page }))
      }
      const { received } = yield* dashboard.openEvents
      expect(lastEvent(received.text(), "overview")).toMatchObject({
        contents: [{ name: "content", page: "http://127.0.0.1:1/content-server/", everywhere: true }]
      })
    }).pipe(over())
  )

  it.effect("is small with a thousand players", () =>
    Effect.gen(function* () {
      yield* dashboard.setContent(fine)
      const { updateSlice } = pluginsOf(yield* ControllerState)
      const unwell = { code: "b", severity: "error", text: "x".repeat(300) } as const
      const screens = Array.from({ length: 100 }, (_, index) => ({ id: `screen-${index}`, word: "closed" }))
      yield* updateSlice("content-server", () =>
        serverSlice({
          players: Array.from({ length: 1000 }, (_, index) => ({
            ...player(`hall-${index}`),
            screens,
            problems: [unwell]
          }))
        })
      )
      const { received } = yield* dashboard.openEvents
      expect(received.text().length).toBeLessThan(200_000)
      expect(lastEvent(received.text(), "overview")).toMatchObject({
        players: { words: { problem: 1000 } }
      })
    }).pipe(over())
  )

  it.effect("polls what has no events, and has versions if there is a command for them", () =>
    Effect.gen(function* () {
      let asked = 0
      yield* dashboard.setContent(fine)
      yield* register(
        "content.versions",
        Effect.sync(() => ({
          versions: [
            {
              versionId,
              active: true,
              isWaiting: false,
              isRead: false,
              leases: [],
              changes: [`change-${++asked}`]
            }
          ]
        }))
      )
      const { received } = yield* dashboard.openEvents
      const text = yield* inTime(received.until((text) => text.includes("change-3")))
      expect(lastEvent(text, "overview")).toMatchObject({
        contents: [{ versions: [{ changes: ["change-3"] }] }]
      })
    }).pipe(over())
  )

  it.effect("reads nothing while no page is open", () =>
    Effect.gen(function* () {
      let asked = 0
      yield* dashboard.setContent(fine)
      yield* register(
        "content.versions",
        Effect.sync(() => ++asked)
      )
      yield* Effect.scoped(dashboard.openEvents)
      yield* withAdvancingClock(Effect.sleep("1 minute"))
      const before = asked
      yield* Effect.forEach(Array.from({ length: 10 }), () =>
        Effect.zipRight(
          publish("content:fetch:start", { timestamp: epoch }),
          withAdvancingClock(Effect.sleep("1 minute"))
        )
      )
      expect(asked).toBe(before)
    }).pipe(over())
  )

  it.effect("reads nothing again for a further page, or one that is refused", () =>
    Effect.gen(function* () {
      let asked = 0
      yield* dashboard.setContent(fine)
      yield* register(
        "content.versions",
        Effect.sync(() => ++asked)
      )
      yield* dashboard.openEvents
      const { received } = yield* dashboard.openEvents
      expect(received.text()).toMatch(/^cache-control: no-store, no-transform\r$/im)
      expect(lastEvent(received.text(), "overview")).toMatchObject({ contents: [{ versionId }] })
      expect((yield* dashboard.get("/events")).status).toBe(503)
      expect(asked).toBe(1)
    }).pipe(over({ maxClients: 2 }))
  )
})

describe("the dashboard", () => {
  it.effect("opens nothing in task mode, but reports mistakes in its options", () =>
    Effect.gen(function* () {
      const { address } = yield* Dashboard
      expect(Option.isNone(address)).toBe(true)
      const { state } = yield* ControllerState
      expect((yield* state).plugins).toEqual({})
      const error = yield* Effect.flip(DashboardLayer.make({ port: -1, host: "", token: "short" }))
      expect(error.message).toMatch(/port: .*\n.*host: .*\n.*token: /s)
      expect(error.message).not.toContain("short")
    }).pipe(Effect.scoped, Effect.provide(dashboard.layer({}, "task")))
  )

  it.effect("is in the status, and its log begins with its start", () =>
    Effect.gen(function* () {
      const port = yield* dashboard.port
      const { status } = yield* ControllerState
      const { sections } = yield* status
      expect(sections).toMatchObject([
        { title: "Dashboard", rows: [{ value: `http://127.0.0.1:${port}` }, { value: "0 of 32" }] }
      ])
      const { received } = yield* dashboard.openEvents
      expect(lastEvent(received.text(), "log")).toMatchObject([
        { level: "info", text: expect.stringContaining(`Dashboard on http://127.0.0.1:${port}`) }
      ])
    }).pipe(over())
  )

  it.effect("reports that its port is in use", () =>
    Effect.gen(function* () {
      const port = yield* dashboard.port
      const error = yield* Effect.flip(DashboardLayer.make({ port }))
      expect(error.message).toContain(`port ${port} is already in use`)
    }).pipe(over())
  )
})
