/**
 * The page of `vitrine init --page`, as a newcomer sees it first.
 */
import { request } from "node:http"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Browser, openTab } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import { makeReader } from "../support/reader.ts"

/** The status of a path that is sent as it is: `fetch` would resolve its dots. */
const statusOf = (url: string, path: string) =>
  Effect.promise(
    () =>
      new Promise((resolve, reject) =>
        request(url, { path }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .on("error", reject)
          .end()
      )
  )

/** Keeps the durations of timers with which the slide show would race. */
const keepDelays = `
  const { setTimeout } = window
  window.badDelays = []
  window.setTimeout = (run, ms, ...args) => {
    if (!(ms > 0 && ms < 2 ** 31)) badDelays.push(ms)
    return setTimeout(run, ms, ...args)
  }
`

describe.skipIf(isMissing("chromium"))("the page of a new project", () => {
  layer(Layer.provideMerge(Browser.layer, NodeContext.layer), { excludeTestServices: true, timeout: 60_000 })(
    (it) => {
      it.scoped("shows the tables and their changes accessibly, and serves no other file", () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const reader = yield* makeReader
          expect(yield* reader.run("npx vitrine init --page")).toMatchObject({ status: 0 })
          yield* reader.useFreePorts("vitrine.config.ts")
          const text = yield* fs.readFileString(`${reader.folder}/vitrine.config.ts`)
          yield* reader.keepRunning("npx vitrine start", /New version/)

          const port = /contentServer\(\{ port: (\d+),/.exec(text)?.[1]
          const url = `http://127.0.0.1:${port}`
          const tab = yield* openTab(url)
          const chosen = (title: string) =>
            Effect.promise(() => tab.waitForSelector(`h2:text-is("${title}")`, { timeout: 30_000 }))
          yield* chosen("The Penrice Fog Bell")
          expect(yield* Effect.promise(() => tab.textContent("h1"))).toMatch(/^Kept/)
          yield* Effect.promise(() =>
            tab.waitForFunction(
              "document.images.length === 4 && [...document.images].every(({ naturalWidth }) => naturalWidth > 0)"
            )
          )
          expect(yield* Effect.promise(() => tab.title())).toMatch(/^Kept/)
          expect(yield* Effect.promise(() => tab.locator("body").ariaSnapshot())).toMatch(
            new RegExp(
              [
                /- heading "Kept.*" \[level=1\]\n/,
                /- main:\n +- figure:\n +- img "A bronze bell with a broad rim"\n/,
                / +- heading "The Penrice Fog Bell" \[level=2\]\n/,
                /- navigation "Kept.*":\n +- list:\n +- listitem:\n +- button "The Penrice Fog Bell"/
              ]
                .map(({ source }) => source)
                .join("[^]*")
            )
          )
          // How many stops there are before it depends on fonts: the text is a stop only if it can be scrolled.
          const isReached = Effect.promise(() =>
            tab.keyboard
              .press("Tab")
              .then(() => tab.locator(":focus", { hasText: "The Sulking Barometer" }).count())
              .then((count) => count === 1)
          )
          const reached = yield* Effect.repeat(isReached, { times: 12, until: (isReached) => isReached })
          expect(reached).toBe(true)
          yield* Effect.promise(() => tab.keyboard.press("Enter"))
          yield* chosen("The Sulking Barometer")
          const pressed = 'nav [aria-current="true"]:focus-visible'
          expect(yield* Effect.promise(() => tab.textContent(pressed))).toBe("The Sulking Barometer")
          // Without it, the browser asks for one that is not there.
          expect(yield* Effect.promise(() => tab.getAttribute("link[rel=icon]", "href"))).toBe("data:,")
          yield* fs.writeFileString(`${reader.folder}/content/Objects.csv`, "title\nA New Bell\nA New Lamp\n")
          yield* chosen("A New Bell")

          yield* Effect.promise(() => tab.evaluate(keepDelays))
          for (const [title, slideSeconds] of Object.entries({ zero: 0, never: 1e10, none: -1 })) {
            yield* fs.writeFileString(
              `${reader.folder}/content/Settings.csv`,
              `key,value\ntitle,${title}\nslideSeconds,"${slideSeconds}"\n`
            )
            yield* Effect.promise(() => tab.waitForSelector(`h1:text-is("${title}")`, { timeout: 30_000 }))
          }
          expect(yield* Effect.promise(() => tab.evaluate("badDelays"))).toEqual([])

          expect(yield* statusOf(url, "/manifest.json")).toBe(200)
          for (const path of ["/../vitrine.config.ts", "/..%2fvitrine.config.ts", "/versions/", "/.env"]) {
            expect(yield* statusOf(url, path)).toBe(404)
          }
        })
      )
    }
  )
})
