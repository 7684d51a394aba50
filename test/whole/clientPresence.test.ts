/**
 * What a page of `vitrine/client` tells of itself, in a real browser: that it is visible, draws, and goes.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { Browser, openTab, otherMachine } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import { type Ack, evaluate, makeStage, openStage, shows, waitFor } from "../support/stage.ts"
import { openWindow } from "../support/tabs.ts"
import { eventually } from "../support/waiting.ts"

const quiet = Logger.minimumLogLevel(LogLevel.Warning)
const environment = Layer.mergeAll(Browser.layer, NodeContext.layer).pipe(Layer.provideMerge(quiet))
const withPageCache = Layer.mergeAll(Browser.layerWithPageCache, NodeContext.layer).pipe(
  Layer.provideMerge(quiet)
)

const never = 3_600_000
const token = "secret+token/1234"

const addressOf = (url: string, options: object, query = "") =>
  `${url}${query}#${encodeURIComponent(JSON.stringify(options))}`

/** What was told, in short. */
const told = ({ closing, drawing, visible }: Ack) =>
  closing ? "closing" : visible ? (drawing ? "seen" : "not drawing") : drawing ? "drawing" : "hidden"

/** The reports of each run of a page, without repeats. The acks of two runs may arrive in any order. */
const toldByRun = (acks: ReadonlyArray<Ack>) => {
  const runs = new Map<string | undefined, ReadonlyArray<string>>()
  for (const ack of acks) {
    const before = runs.get(ack.runId) ?? []
    const now = told(ack)
    runs.set(ack.runId, before.at(-1) === now ? before : [...before, now])
  }
  return [...runs.values()]
}

/** A stage with version 1, and what its screens have told so far. */
const makePromoted = Effect.gen(function* () {
  const stage = yield* makeStage
  yield* stage.promote(1)
  const hears = (...words: ReadonlyArray<string>) =>
    eventually(Effect.sync(() => stage.acks.map(told).join() === words.join()))
  return { ...stage, hears }
})

describe.skipIf(isMissing("chromium"))("a page", () => {
  layer(environment, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("reports at once that it is hidden, visible again, or closed", () =>
      Effect.gen(function* () {
        const { hears, start } = yield* makePromoted
        const { url } = yield* start()
        const window = yield* openWindow
        const tab = yield* window.open(addressOf(url, { pollEvery: never }))
        yield* hears("seen")
        yield* window.open("about:blank")
        yield* hears("seen", "hidden")
        yield* tab.show
        yield* hears("seen", "hidden", "seen")
        yield* tab.close
        yield* hears("seen", "hidden", "seen", "closing")
      })
    )

    it.scoped.each([
      ["the address of the controller", true],
      ["what /endpoint.json says", false]
    ] as const)("reports that it closes with the headers of an ack, by %s", ([, isNamed]) =>
      Effect.gen(function* () {
        const { acks, hears, start } = yield* makePromoted
        const { transportPort, url } = yield* start({ requireJson: true, token })
        const controller = isNamed ? { controller: `http://127.0.0.1:${transportPort}` } : {}
        const tab = yield* openStage(url, { ...controller, pollEvery: never, token })
        yield* hears("seen")
        yield* evaluate(
          tab,
          `{ const send = fetch; fetch = (url, init) => {
            if (init.method === "POST") localStorage.setItem("outlives", init.keepalive)
            return send(url, init)
          } }`
        )
        yield* Effect.promise(() => tab.close())
        yield* hears("seen", "closing")
        const other = yield* openTab(`${url}manifest.json`)
        expect(yield* evaluate(other, "localStorage.getItem('outlives')")).toBe("true")
        expect(new Set(acks.map(({ consumerId, versionId }) => `${consumerId} ${versionId}`)).size).toBe(1)
      })
    )

    it.scoped("reports that it cannot reach the content while it still receives events", () =>
      Effect.gen(function* () {
        const { acks, hears, start } = yield* makePromoted
        const { url } = yield* start()
        const tab = yield* openStage(url)
        yield* hears("seen")
        yield* waitFor(tab, "exhibit.state.connection === 'live'")
        yield* Effect.promise(() => tab.route("**/{manifest,endpoint}.json", (route) => route.abort()))
        yield* hears("seen", "seen")
        expect(acks.at(-1)?.problem).toContain("The content cannot be reached")
        yield* Effect.promise(() => tab.unroute("**/{manifest,endpoint}.json"))
        yield* hears("seen", "seen", "seen")
        expect(acks.at(-1)?.problem).toBeUndefined()
      })
    )

    it.scoped("is the same screen after a reload and in a new profile, by the name in its address", () =>
      Effect.gen(function* () {
        const { acks, start } = yield* makePromoted
        const runsAre = (...runs: ReadonlyArray<ReadonlyArray<string>>) =>
          eventually(Effect.sync(() => JSON.stringify(toldByRun(acks)) === JSON.stringify(runs)))
        const { url } = yield* start()
        const address = addressOf(url, { pollEvery: never }, "?screen=left%20wall")
        const tab = yield* openTab(address)
        yield* runsAre(["seen"])
        yield* Effect.promise(() => tab.reload())
        yield* runsAre(["seen", "closing"], ["seen"])
        const window = yield* openWindow
        yield* window.open(address)
        yield* runsAre(["seen", "closing"], ["seen"], ["seen"])
        yield* evaluate(tab, "location.search += '&page=2'")
        yield* runsAre(["seen", "closing"], ["seen", "closing"], ["seen"], ["seen"])
        expect(new Set(acks.map(({ consumerId }) => consumerId))).toEqual(new Set(["left wall"]))
        const lastRun = [...new Set(acks.map(({ runId }) => runId))].at(-1)
        expect(acks.filter(({ navigated, runId }) => navigated !== (runId === lastRun))).toEqual([])
      })
    )

    it.scoped("reports within seconds that it stops rendering, and that it renders again", () =>
      Effect.gen(function* () {
        const { hears, start } = yield* makePromoted
        const { url } = yield* start()
        const tab = yield* openStage(url)
        yield* hears("seen")
        yield* evaluate(
          tab,
          "{ window.draw = requestAnimationFrame; window.late = []; requestAnimationFrame = (frame) => late.push(frame) }"
        )
        yield* hears("seen", "not drawing")
        yield* evaluate(tab, "{ requestAnimationFrame = draw; for (const frame of late) frame() }")
        yield* hears("seen", "not drawing", "seen")
      })
    )

    it.scoped("sends its id with its event stream, and renews its ack when that is lost", () =>
      Effect.gen(function* () {
        const { hears, start } = yield* makePromoted
        const { transportPort, url } = yield* start({ token })
        const context = yield* Browser
        const tab = yield* Effect.acquireRelease(
          Effect.promise(() => context.newPage()),
          (tab) => Effect.promise(() => tab.close())
        )
        yield* Effect.promise(() =>
          tab.addInitScript(
            "{ const Source = EventSource; EventSource = class extends Source { constructor(url) { super(url); window.source = this } } }"
          )
        )
        const options = { pollEvery: never, token }
        yield* Effect.promise(() => tab.goto(addressOf(url, options, "?screen=left%20wall")))
        yield* hears("seen")
        yield* waitFor(tab, "exhibit.state.connection === 'live'")
        expect(yield* evaluate(tab, "source.url")).toBe(
          `http://127.0.0.1:${transportPort}/events?consumer=left+wall&token=secret%2Btoken%2F1234`
        )
        yield* evaluate(tab, "source.onerror()")
        yield* hears("seen", "seen")
      })
    )
  })

  layer(withPageCache, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped(
      "reports that it closes when it enters the back/forward cache, and that it is back after that",
      () =>
        Effect.gen(function* () {
          const { acks, hears, promote, start } = yield* makePromoted
          const { url } = yield* start()
          const address = url.replace("127.0.0.1", otherMachine)
          const tab = yield* openStage(address, { pollEvery: never })
          yield* hears("seen")
          yield* evaluate(
            tab,
            "{ window.isSame = false; addEventListener('pageshow', () => { isSame = true }) }"
          )
          yield* Effect.promise(() => tab.goto("about:blank"))
          yield* hears("seen", "closing")
          yield* Effect.promise(() => tab.goBack({ waitUntil: "commit" }))
          yield* hears("seen", "closing", "seen")
          expect(yield* evaluate(tab, "isSame")).toBe(true)
          const [seen, closing, back] = acks
          expect(closing?.runId).toBe(seen?.runId)
          expect(back?.runId).not.toBe(seen?.runId)
          expect(back?.navigated).toBe(true)
          yield* promote(2)
          yield* evaluate(tab, "dispatchEvent(new Event('online'))")
          yield* shows(tab, 2)
        })
    )
  })
})
