/**
 * `vitrine/client/helpers` and what is preloaded, in a real browser, by the samples of the documentation.
 */
import { readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { inBrowser, openTab } from "../support/browser.ts"
import { repository, samplesOf } from "../support/documents.ts"
import { isMissing } from "../support/programs.ts"
import { evaluate, makeStage, makeStageWith, openStage, sessionOf, shows, waitFor } from "../support/stage.ts"

it.each(["helpers.js", "helpers.global.js"])("dist/%s is no larger than it may be, compressed", (name) => {
  const size = gzipSync(readFileSync(`${repository}/dist/${name}`)).length
  expect(size).toBeLessThan(name === "helpers.js" ? 1952 : 2176)
})

/** A page with the sample of the documentation that calls the function, and a content server for it. */
const openSample = Effect.fnUntraced(function* (name: string, rows: ReadonlyArray<object>) {
  const [sample] = samplesOf("docs/page.md").filter(
    ({ info, text }) => info === "client" && text.includes(`${name}(`)
  )
  const { outputFiles } = yield* Effect.promise(() =>
    build({
      stdin: { contents: sample?.text ?? "", resolveDir: repository },
      alias: {
        "vitrine/client/helpers": `${repository}/dist/helpers.js`,
        "vitrine/client": `${repository}/dist/client.js`
      },
      bundle: true,
      format: "esm",
      logLevel: "error",
      write: false
    })
  )
  const script = outputFiles.map(({ text }) => text).join("")
  const { promote, start } = yield* makeStageWith(
    `<!doctype html><title></title><script type="module">${script}</script>`
  )
  const { url } = yield* start()
  yield* promote(1, { "Objects.json": JSON.stringify(rows) })
  return { promote, url }
})

const text = "document.body.textContent.trim()"

describe.skipIf(isMissing("chromium"))("a page", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("has its own element for each preload of a URL, which is requested once", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const { url } = yield* start()
        yield* promote(1)
        const tab = yield* openStage(url)
        yield* shows(tab, 1)
        const requests: Array<string> = []
        tab.on("request", (request) => requests.push(request.url()))
        const preloaded = `(async () => {
          const { version } = exhibit.state
          const address = version.url("exhibits", "picture.svg")
          const [[one], [two, three]] = await Promise.all([version.preload([address]), version.preload([address, address])])
          document.body.append(one, two, three)
          return [new Set([one, two, three]).size, ...[one, two, three].map(({ complete, naturalWidth, isConnected }) =>
            complete && isConnected && naturalWidth), document.images.length]
        })()`
        expect(yield* evaluate(tab, preloaded)).toEqual([3, 1, 1, 1, 4])
        expect(requests.filter((address) => new URL(address).pathname.endsWith(".svg"))).toEqual([])
      })
    )

    it.scoped("switches its language, as the documentation shows", () =>
      Effect.gen(function* () {
        const { url } = yield* openSample("language", [
          { id: "1", title_de: "Glocke", title_en: "Bell" },
          { id: "2", title_en: "Globe" }
        ])
        const tab = yield* openTab(url)
        const names = "[...document.querySelectorAll('li')].map(({ textContent }) => textContent).join()"
        yield* waitFor(tab, `${names} === "Glocke,Globe"`)
        yield* Effect.promise(() => tab.getByRole("button").click())
        yield* waitFor(tab, `${names} === "Bell,Globe"`)
        expect(yield* evaluate(tab, "document.documentElement.lang")).toBe("en")
      })
    )

    it.scoped("shows what is valid now, as the documentation shows", () =>
      Effect.gen(function* () {
        const soon = new Date(Date.now() + 86_400_000).toISOString()
        const { url } = yield* openSample("current", [
          { id: "1", title: "Now", begin: "2026-01-01" },
          { id: "2", title: "Tomorrow", begin: soon },
          { id: "3", title: "Over", end: "2026-01-01" }
        ])
        const tab = yield* openTab("about:blank")
        yield* Effect.promise(() => tab.clock.install())
        yield* Effect.promise(() => tab.goto(url))
        yield* Effect.promise(() => tab.clock.runFor(1000))
        yield* waitFor(tab, `${text} === "Now"`)
        yield* Effect.promise(() => tab.clock.fastForward(86_500_000))
        yield* waitFor(tab, `${text} === "NowTomorrow"`)
      })
    )

    it.scoped(
      "has an attract loop that ends by pointer, key, wheel, touch and gamepad, as the documentation shows",
      () =>
        Effect.gen(function* () {
          const { promote, url } = yield* openSample("idle", [{ id: "1", title: "Bell" }])
          const tab = yield* openTab("about:blank")
          yield* Effect.promise(() => tab.clock.install())
          yield* Effect.promise(() => tab.goto(url))
          const pass = (ms: number) => Effect.promise(() => tab.clock.runFor(ms))
          const attracts = evaluate(tab, "!document.querySelector('h1').hidden")
          const pressed = `Object.defineProperty(navigator, "getGamepads", { configurable: true,
          value: () => [null, { axes: [0.01], buttons: [{ value: window.pressed }] }] })`
          const session = yield* sessionOf(tab)
          yield* pass(1000)
          yield* waitFor(tab, `${text} === "Bell"`)
          const acts: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
            ["pointer", () => tab.mouse.move(10, 10)],
            ["key", () => tab.keyboard.press("a")],
            ["wheel", () => tab.mouse.wheel(0, 1)],
            ["press", () => tab.mouse.down()],
            [
              "touch",
              () =>
                session.send("Input.dispatchTouchEvent", {
                  type: "touchStart",
                  touchPoints: [{ x: 90, y: 90 }]
                })
            ],
            [
              "gamepad",
              () =>
                tab.evaluate(
                  `{ window.pressed = 0; ${pressed}; dispatchEvent(new Event("gamepadconnected")) }`
                )
            ],
            ["button", () => tab.evaluate("{ window.pressed = 1 }")]
          ]
          for (const [name, act] of acts) {
            yield* pass(61_000)
            expect([name, yield* attracts]).toEqual([name, true])
            yield* Effect.promise(act)
            yield* pass(100)
            yield* waitFor(tab, "document.querySelector('h1').hidden")
            yield* pass(58_000)
            expect([name, yield* attracts]).toEqual([name, false])
          }
          yield* promote(2, { "Objects.json": JSON.stringify([{ id: "1", title: "Globe" }]) })
          yield* pass(10_000)
          yield* waitFor(tab, `${text} === "Globe"`)
        })
    )

    it.scoped(
      "detects idleness in a frame separately, ignores a resting pointer, and stops when it is ended",
      () =>
        Effect.gen(function* () {
          const { start } =
            yield* makeStageWith(`<!doctype html><script src="/vitrine/helpers.global.js"></script><script>
          const said = []
          if (parent === window) document.write("<iframe src='/' width=500 height=500></iframe>")
          else {
            Object.defineProperty(navigator, "getGamepads", { value: () => { throw new DOMException("no", "SecurityError") } })
            window.stop = vitrineHelpers.idle(60_000, { begin: () => said.push("begin"), end: () => said.push("end") })
          }
        </script>`)
          const { url } = yield* start()
          const tab = yield* openTab("about:blank")
          yield* Effect.promise(() => tab.clock.install())
          yield* Effect.promise(() => tab.goto(url))
          const inFrame = (script: string) => Effect.promise(async () => tab.frames()[1]?.evaluate(script))
          const pass = (ms: number) => Effect.promise(() => tab.clock.runFor(ms))
          yield* Effect.promise(() => tab.mouse.move(50, 50))
          yield* pass(61_000)
          yield* inFrame(
            "{ dispatchEvent(new PointerEvent('pointermove', last)) }".replace(
              "last",
              "{ screenX: 1, screenY: 1 }"
            )
          )
          yield* pass(61_000)
          yield* inFrame("{ dispatchEvent(new PointerEvent('pointermove', { screenX: 1, screenY: 1 })) }")
          expect(yield* inFrame("said")).toEqual(["begin", "end", "begin"])
          yield* Effect.promise(() => tab.mouse.click(60, 60))
          expect(yield* inFrame("said.join()")).toBe("begin,end,begin,end")
          yield* inFrame("stop()")
          yield* pass(200_000)
          yield* Effect.promise(() => tab.mouse.click(70, 70))
          expect(yield* inFrame("said.length")).toBe(4)
        })
    )
  })
})
