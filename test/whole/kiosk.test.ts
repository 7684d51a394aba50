/**
 * The page that a kiosk's browser opens from its disk, in a real Chromium, before a real controller.
 */
import { spawn } from "node:child_process"
import { rename } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { pathToFileURL } from "node:url"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Frame, Page } from "playwright-core"
import { Browser, inBrowser, openTab } from "../support/browser.ts"
import { writeFile } from "../support/contentServer.ts"
import { unitSettings } from "../support/deployment.ts"
import { read, repository } from "../support/documents.ts"
import { freePort } from "../support/freePort.ts"
import { isMissing } from "../support/programs.ts"
import { makeProject } from "../support/project.ts"
import * as Received from "../support/Received.ts"
import { makeStageWith } from "../support/stage.ts"
import { eventually } from "../support/waiting.ts"

const page = "deploy/kiosk/index.html"

const pageOf = (script: string) =>
  `<!doctype html><title>Exhibit</title><h1></h1><script type="module">${script}</script>`

const working = pageOf(`
import { connect } from "/vitrine/client.js"
window.exhibit = connect({
  pollEvery: 500,
  load: (version) => version.table("exhibits", "Objects"),
  show: ([object]) => (document.querySelector("h1").textContent = object.title)
})`)

const openBootPage = (query: string) => openTab(`${pathToFileURL(`${repository}/${page}`)}${query}`)

/** The page before an exhibit, both in a browser where each wait is a tenth; asked of what it is even when the exhibit has crashed. */
const openFastBootPage = Effect.fnUntraced(function* (url: string) {
  const context = yield* Browser
  const tab = yield* openTab("about:blank")
  return yield* Effect.promise(async () => {
    await tab.addInitScript(`
      const { setInterval, setTimeout } = window
      window.waits = 0
      window.shows = 0
      window.setInterval = (f, ms) => setInterval(f, ms / 10)
      window.setTimeout = (f, ms) => setTimeout(() => ((waits += ms === 5000), f()), ms / 10)
      addEventListener("message", ({ data }) => (shows += data.vitrine === "shown" && !data.again))`)
    await tab.goto(`${pathToFileURL(`${repository}/${page}`)}?url=${url}`)
    const session = await context.newCDPSession(tab)
    const evaluate = async (expression: string): Promise<unknown> =>
      (await session.send("Runtime.evaluate", { expression })).result.value
    return { evaluate, tab }
  })
})

const isTrue = (where: { readonly evaluate: (condition: string) => Promise<unknown> }, condition: string) =>
  eventually(
    Effect.tryPromise((): Promise<unknown> => where.evaluate(condition)).pipe(
      Effect.map((holds) => holds === true),
      Effect.orElseSucceed(() => false),
      // Asking without a pause takes the processor from the browser.
      Effect.delay("20 millis")
    )
  )

const isCovered = "!document.querySelector('#cover').hidden"

const says = (tab: Page, text: string) =>
  isTrue(tab, `${isCovered} && document.querySelector("p").textContent === ${JSON.stringify(text)}`)

/** What is in the frame, once that shows the title. */
const exhibitIn = Effect.fnUntraced(function* (tab: Page, title: string) {
  yield* isTrue(tab, `!(${isCovered})`)
  const frame = Effect.sync(() => tab.frames().find((frame) => frame !== tab.mainFrame()))
  const shows = Effect.flatMap(frame, (frame) =>
    Effect.promise(async () => (await frame?.textContent("h1").catch(() => "")) === title)
  )
  yield* eventually(shows)
  const shown = yield* frame
  return shown ?? expect.fail("There is no frame")
})

/** A server of a page with these headers; gives its origin. */
const serveExhibit = (headers: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = createServer((_, response) => {
        response.writeHead(200, { "Content-Type": "text/html", ...headers })
        response.end("<!doctype html><h1>Exhibit</h1>")
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" ? address?.port : undefined}`
    })
  )

// Most of a test is waiting.
describe.skipIf(isMissing("chromium")).concurrent("the page of a kiosk", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped.each([
      ["X-Frame-Options", "DENY"],
      ["Content-Security-Policy", "frame-ancestors 'none'"]
    ] as const)("stays dark and says why, as long as the exhibit forbids frames: %s", ([name, value]) =>
      Effect.gen(function* () {
        const headers: Record<string, string> = { "Access-Control-Allow-Origin": "*", [name]: value }
        const origin = yield* serveExhibit(headers)
        const { evaluate, tab } = yield* openFastBootPage(`${origin}/`)
        const text = `${origin} forbids frames: remove its X-Frame-Options, or add "file:" to its frame-ancestors`
        yield* says(tab, text)
        yield* isTrue({ evaluate }, "waits > 10")
        yield* says(tab, text)
        delete headers[name]
        yield* exhibitIn(tab, "Exhibit")
      })
    )

    it.scoped("reports that the server of the exhibit allows no access to its responses", () =>
      Effect.gen(function* () {
        const origin = yield* serveExhibit({})
        const tab = yield* openBootPage(`?url=${origin}/`)
        yield* says(tab, `${origin} answers without Access-Control-Allow-Origin`)
      })
    )

    it.scoped("is black until there is a controller, and keeps the exhibit when that is killed", () =>
      Effect.gen(function* () {
        const { folder, run, write } = yield* makeProject
        const port = yield* freePort
        const transportPort = yield* freePort
        yield* writeFile(`${folder}/page/index.html`, working)
        yield* writeFile(`${folder}/content/Objects.csv`, "id,title\n1,Bell\n")
        yield* write(
          "vitrine.config.ts",
          `import { content, contentServer, defineConfig, folderSource, httpTransport } from "vitrine"
export default defineConfig({
  plugins: [
    content({ sources: [folderSource({ id: "exhibits", directory: "content" })] }),
    httpTransport({ port: ${transportPort} }),
    contentServer({ port: ${port}, site: "page" })
  ]
})
`
        )
        const origin = `http://127.0.0.1:${port}`
        const tab = yield* openBootPage(`?url=${origin}/?screen=left-wall&lang=de#top`)
        yield* says(tab, `Waiting for the controller at ${origin}`)

        const first = yield* run(["start"])
        const frame = yield* exhibitIn(tab, "Bell")
        expect(frame.url()).toBe(`${origin}/?screen=left-wall&lang=de#top`)
        yield* isTrue(frame, "isSecureContext && document.hasFocus()")
        yield* isTrue(
          tab,
          "getComputedStyle(document.querySelector('iframe')).backgroundColor === 'rgb(255, 255, 255)'"
        )
        yield* isTrue(frame, "exhibit.state.connection === 'live' && (window.unreloaded = true)")

        yield* first.signal("SIGKILL")
        yield* isTrue(frame, "exhibit.state.connection === 'offline' && window.unreloaded")
        yield* run(["start"])
        yield* isTrue(frame, "exhibit.state.connection === 'live' && window.unreloaded")
        yield* isTrue(tab, `!(${isCovered})`)
      })
    )

    it.scoped("loads the next build of a page that fails at its start, and reports other failures", () =>
      Effect.gen(function* () {
        const { downloads, promote, start } = yield* makeStageWith(pageOf("This is no script"))
        const site = `${downloads.slice(0, -"/downloads".length)}/page`
        const { url } = yield* start()
        yield* promote(1, { "Objects.json": JSON.stringify([{ title: "Bell" }]) })
        yield* Effect.promise(() => rename(site, `${site}.away`))
        const { tab } = yield* openFastBootPage(url)
        yield* says(tab, `${url} answers 404`)
        yield* Effect.promise(() => rename(`${site}.away`, site))
        yield* isTrue(tab, `!(${isCovered})`)
        yield* writeFile(`${site}/index.html`, working)
        yield* exhibitIn(tab, "Bell")
      })
    )

    it.scoped.each([
      [
        "?lang=de&url=http://127.0.0.1:1/?title=A%26B&screen=left#top",
        "?title=A%26B&screen=left&lang=de#top"
      ],
      ["?url=http%3A%2F%2F127.0.0.1%3A1%2F%3Ftitle%3DA%2526B&screen=left", "?title=A%26B&screen=left"],
      ["?watch=1&url=http://127.0.0.1:1/#/left", "#/left"]
    ] as const)("that is opened with %s shows the exhibit with %s", ([query, expected]) =>
      Effect.gen(function* () {
        const tab = yield* openBootPage(query)
        expect(yield* Effect.promise(() => tab.evaluate("exhibit.href"))).toBe(
          `http://127.0.0.1:1/${expected}`
        )
      })
    )

    it.scoped("covers the browser's error page where a link leads nowhere, and loads the exhibit again", () =>
      Effect.gen(function* () {
        const link = `<a href="http://127.0.0.1:${yield* freePort}/">More</a>`
        const { promote, start } = yield* makeStageWith(`${working}${link}`)
        const { url } = yield* start()
        yield* promote(1, { "Objects.json": JSON.stringify([{ title: "Bell" }]) })
        const { tab } = yield* openFastBootPage(url)
        const frame = yield* exhibitIn(tab, "Bell")
        yield* Effect.promise(() => frame.click("a"))
        yield* isTrue(tab, isCovered)
        yield* exhibitIn(tab, "Bell")
      })
    )

    it.scoped("opens no other tab, and no other page in its place, whatever a link asks for", () =>
      Effect.gen(function* () {
        const links = `<a href="/x" target="_blank">More</a> <b onclick="window.open('/x')">Open</b>
          <i onclick="top.location = '/x'">Leave</i>`
        const { promote, start } = yield* makeStageWith(`${working}${links}`)
        const { url } = yield* start()
        yield* promote(1, { "Objects.json": JSON.stringify([{ title: "Bell" }]) })
        const { evaluate, tab } = yield* openFastBootPage(url)
        const frame = yield* exhibitIn(tab, "Bell")
        let popups = 0
        tab.on("popup", () => (popups += 1))
        for (const name of ["a", "b", "i"]) yield* Effect.promise(() => frame.click(name))
        yield* isTrue({ evaluate }, "(waits > 14) && shows === 1")
        expect(popups).toBe(0)
      })
    )

    it.scoped("is silent for the watcher behind another tab, but not on a monitor that is off", () =>
      Effect.gen(function* () {
        const tab = yield* openBootPage("?watch=1&url=http://127.0.0.1:1/")
        const reports = (isHidden: boolean, isFocused: boolean) =>
          Effect.promise(() =>
            tab.evaluate(`
              Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true })
              document.hasFocus = () => ${isFocused}
              !isBehindTab()`)
          )
        // Without a keyboard, the page may never have the focus.
        expect(yield* reports(true, false)).toBe(true)
        expect(yield* reports(false, true)).toBe(true)
        expect(yield* reports(true, true)).toBe(true)
        expect(yield* reports(true, false)).toBe(false)
        expect(yield* reports(false, false)).toBe(true)
      })
    )

    it.scoped("does not reload an exhibit that reports only once that it works", () =>
      Effect.gen(function* () {
        const { start } = yield* makeStageWith(pageOf("parent.postMessage({ vitrine: 'shown' }, '*')"))
        const { url } = yield* start()
        const { evaluate } = yield* openFastBootPage(url)
        yield* isTrue({ evaluate }, "waits > 14")
        expect(yield* Effect.promise(() => evaluate("shows"))).toBe(1)
      })
    )
  })
})

// One after the other: exhibits of several tabs may be in one process.
describe.skipIf(isMissing("chromium"))("the page of a kiosk", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("loads an exhibit again whose process has ended", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStageWith(working)
        const { url } = yield* start()
        yield* promote(1, { "Objects.json": JSON.stringify([{ title: "Bell" }]) })
        const { evaluate, tab } = yield* openFastBootPage(url)
        const frame = yield* exhibitIn(tab, "Bell")
        yield* isTrue({ evaluate }, "waits > 14")
        expect(yield* Effect.promise(() => evaluate("shows"))).toBe(1)

        yield* crashFrame(frame)
        yield* isTrue({ evaluate }, `shows === 2 && !(${isCovered})`)
      })
    )

    it.scoped("loads an exhibit again whose process has ended just after it was shown", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStageWith(working)
        const { url } = yield* start()
        const { evaluate, tab } = yield* openFastBootPage(url)
        yield* isTrue({ evaluate }, "tries === 0 && loadedAt > 0")
        yield* promote(1, { "Objects.json": JSON.stringify([{ title: "Bell" }]) })
        yield* isTrue({ evaluate }, "shows === 1")
        const frame = tab.frames().find((frame) => frame !== tab.mainFrame())
        yield* crashFrame(frame ?? tab)
        yield* isTrue({ evaluate }, `shows === 2 && !(${isCovered})`)
      })
    )
  })
})

/** The watcher of a browser, whose minutes are a few seconds; the browser is a script of Node. */
const watch = (...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const fast =
        "data:text/javascript,const f = setInterval; globalThis.setInterval = (g, ms) => f(g, ms / 25)"
      return spawn(process.execPath, ["--import", fast, `${repository}/deploy/kiosk/watch.mjs`, ...args], {
        stdio: ["ignore", "pipe", "pipe"]
      })
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map((child) => {
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
      return {
        child,
        ended: Effect.promise(() => ended),
        stderr: Received.from(child.stderr),
        stdout: Received.from(child.stdout)
      }
    })
  )

const exhibit = "http://127.0.0.1:8730/?screen=left&title=A%26B"

/** Says its last argument, and tells the watcher that the page works, so many times. */
const browserOf = (reports: number) => `
  const address = process.argv.at(-1)
  console.log(address)
  const port = new URL(address).searchParams.get("watch")
  let count = 0
  setInterval(() => count++ < ${reports} && fetch("http://127.0.0.1:" + port + "/"), 100)`

/**
 * Crashes the process of a frame. Playwright still gets events of the frame when that is detached, and throws in a handler of its own
 * that nobody can await ("Frame has been detached."): until the end of the scope, this one failure is no failure of the test.
 */
const crashFrame = Effect.fnUntraced(function* (frame: Frame | Page) {
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const listeners = process.listeners("unhandledRejection")
      process.removeAllListeners("unhandledRejection")
      process.on("unhandledRejection", (reason, promise) => {
        if (reason instanceof Error && reason.message === "Frame has been detached.") return
        for (const listener of listeners) listener(reason, promise)
      })
      return listeners
    }),
    (listeners) =>
      Effect.sync(() => {
        process.removeAllListeners("unhandledRejection")
        for (const listener of listeners) process.on("unhandledRejection", listener)
      })
  )
  const context = yield* Browser
  const renderer = yield* Effect.promise(() => context.newCDPSession(frame))
  renderer.send("Page.crash").catch(() => {})
})

describe.concurrent("the watcher of a kiosk's browser", () => {
  it.scopedLive("opens the page for the exhibit, and ends the browser when the page is silent", () =>
    Effect.gen(function* () {
      const { ended, stderr, stdout } = yield* watch(exhibit, process.execPath, "-e", browserOf(30), "--")
      expect(yield* stdout.until((text) => text.includes("\n"))).toMatch(
        /^file:\/\/.*\/deploy\/kiosk\/index\.html\?watch=\d+&url=http:\/\/127\.0\.0\.1:8730\/\?screen=left&title=A%26B\n$/
      )
      const since = Date.now()
      expect(yield* ended).toBe(1)
      expect(Date.now() - since).toBeGreaterThan(3000)
      expect(stderr.text()).toBe("The page of the kiosk is silent: the browser is ended\n")
    })
  )

  it.scopedLive("ends with the browser, and with the same exit status", () =>
    Effect.gen(function* () {
      expect(yield* (yield* watch(exhibit, process.execPath, "-e", "process.exit(3)")).ended).toBe(3)
      const running = yield* watch(exhibit, process.execPath, "-e", browserOf(1e6), "--")
      yield* running.stdout.until((text) => text.includes("\n"))
      running.child.kill("SIGTERM")
      expect(yield* running.ended).toBe(0)
    })
  )

  it.scopedLive("reports a missing argument and a missing browser", () =>
    Effect.gen(function* () {
      expect(yield* (yield* watch("left-wall", "chromium")).ended).toBe(64)
      const without = yield* watch(exhibit, "/nowhere/chromium")
      expect(yield* without.ended).toBe(1)
      expect(without.stderr.text()).toContain("The browser cannot be started: spawn /nowhere/chromium ENOENT")
    })
  )
})

it("the systemd unit of the kiosk opens the only file that the policies of the browser allow", () => {
  const [start = ""] = unitSettings(read("deploy/systemd/kiosk.service")).get("ExecStart") ?? []
  const folder = "/opt/exhibit/node_modules/vitrine/deploy/kiosk"
  expect(start).toMatch(
    new RegExp(`^/opt/exhibit/node_modules/.bin/node ${folder}/watch\\.mjs \\$\\{URL\\} /usr/bin/cage -- `)
  )
  expect(JSON.parse(read("deploy/chromium/policies.json")).URLAllowlist).toEqual([
    "127.0.0.1",
    "localhost",
    `file://${folder}/index.html`
  ])
})

it("the browser of a kiosk fetches no components, models, dictionaries or times", () => {
  expect(JSON.parse(read("deploy/chromium/policies.json"))).toMatchObject({
    BrowserNetworkTimeQueriesEnabled: false,
    ComponentUpdatesEnabled: false,
    SpellcheckEnabled: false
  })
})
