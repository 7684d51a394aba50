/**
 * Content and a page in a real browser: what it seeks, what it loads again, and what it does not run.
 */
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Page } from "playwright-core"
import { ContentServer } from "../../src/services/ContentServer.ts"
import { Browser, openTab } from "../support/browser.ts"
import * as server from "../support/contentServer.ts"
import { isMissing } from "../support/programs.ts"

const exhibits = `/versions/${server.versionId}/exhibits`

const seconds = 60
const sampleRate = 48_000

/** Silence: 16 bits, mono. */
const wav = (() => {
  const bytes = seconds * sampleRate * 2
  const head = Buffer.alloc(44)
  head.write("RIFF", 0)
  head.writeUInt32LE(36 + bytes, 4)
  head.write("WAVEfmt ", 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRate, 24)
  head.writeUInt32LE(sampleRate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write("data", 36)
  head.writeUInt32LE(bytes, 40)
  return Buffer.concat([head, Buffer.alloc(bytes)])
})()

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="123" height="45">
  <title>before</title>
  <script>document.querySelector("title").textContent = "a script has run"</script>
</svg>`

const files = {
  "tide.wav": wav,
  "map.svg": svg,
  "page.html": "<title>before</title><script>document.title = 'a script has run'</script>",
  "script.js": "document.title = 'a script has run'"
}

const index = `<!doctype html><title>Exhibit</title><img src="${exhibits}/map.svg">
<script src="${exhibits}/script.js"></script><script src="/page.js"></script>`

const running = Layer.unwrapScoped(
  Effect.gen(function* () {
    const folder = yield* server.makeFolder
    yield* server.addVersion(`${folder}/downloads`, files)
    yield* server.writeFile(`${folder}/page/index.html`, index)
    yield* server.writeFile(`${folder}/page/page.js`, "document.documentElement.dataset.page = 'runs'")
    return server.layer({ downloadPath: `${folder}/downloads`, site: `${folder}/page` })
  })
).pipe(Layer.provideMerge(Layer.merge(server.environment, Browser.layer)))

const url = Effect.map(server.port, (port) => `http://127.0.0.1:${port}`)

/** What the server has sent for each path, where a page sees 200 for what it has in its cache. */
const statusesOnTheWire = (page: Page) =>
  Effect.promise(async () => {
    const paths = new Map<string, string>()
    const statuses = new Map<string, number>()
    const session = await page.context().newCDPSession(page)
    session.on("Network.requestWillBeSent", ({ request, requestId }) =>
      paths.set(requestId, new URL(request.url).pathname)
    )
    session.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode }) =>
      statuses.set(requestId, statusCode)
    )
    await session.send("Network.enable")
    return () => Object.fromEntries([...statuses].map(([id, status]) => [paths.get(id), status]))
  })

describe.skipIf(isMissing("chromium"))("the content server in a browser", () => {
  layer(running, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("seeks in a sound by range requests", () =>
      Effect.gen(function* () {
        const page = yield* openTab(yield* url)
        const ranges: Array<string> = []
        page.on("response", (response) => {
          if (response.status() === 206) {
            ranges.push(response.headers()["content-range"] ?? "")
          }
        })
        const position = yield* Effect.promise(() =>
          page.evaluate(
            `new Promise((resolve, reject) => {
              const sound = new Audio("${exhibits}/tide.wav")
              sound.onerror = () => reject(new Error(sound.error.message))
              sound.onloadedmetadata = () => { sound.currentTime = ${seconds - 5} }
              sound.onseeked = () => resolve([sound.duration, sound.currentTime, sound.seekable.end(0)])
            })`
          )
        )
        expect(position).toEqual([seconds, seconds - 5, seconds])
        const starts = ranges.map((range) => Number(/^bytes (\d+)-/.exec(range)?.[1]))
        expect(Math.max(...starts)).toBeGreaterThan(wav.length / 2)
      })
    )

    it.scoped("sends HTTP 304 for a page that is reloaded, and gets no request for a file of a version", () =>
      Effect.gen(function* () {
        const page = yield* openTab(yield* url)
        const load = (path: string) =>
          Effect.promise(() => page.evaluate(`fetch("${path}").then((response) => response.text())`))
        yield* load("/manifest.json")
        yield* load(`${exhibits}/map.svg`)

        const responses = yield* statusesOnTheWire(page)
        yield* Effect.promise(() => page.reload())
        yield* load("/manifest.json")
        const { statistics } = yield* ContentServer
        const { requests } = yield* statistics
        yield* load(`${exhibits}/map.svg`)
        expect((yield* statistics).requests).toBe(requests)
        expect(responses()).toMatchObject({ "/": 304, "/manifest.json": 304 })
      })
    )

    it.scoped("has an SVG shown as an image, and run no script when it is opened directly", () =>
      Effect.gen(function* () {
        const base = yield* url
        const page = yield* openTab(base)
        expect(yield* Effect.promise(() => page.evaluate("document.querySelector('img').naturalWidth"))).toBe(
          123
        )
        for (const [file, title] of [
          ["map.svg", "document.querySelector('title').textContent"],
          ["page.html", "document.title"]
        ] as const) {
          const opened = yield* openTab(`${base}${exhibits}/${file}`)
          expect(yield* Effect.promise(() => opened.evaluate(title)), file).toBe("before")
        }
      })
    )

    it.scoped("has a script of the page run, and not one of an editor", () =>
      Effect.gen(function* () {
        const page = yield* openTab(yield* url)
        yield* Effect.promise(() => page.waitForSelector("html[data-page=runs]"))
        expect(yield* Effect.promise(() => page.title())).toBe("Exhibit")
      })
    )
  })
})
