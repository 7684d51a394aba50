/**
 * `vitrine/client` in a real browser, before real servers: what a page shows while everything goes wrong around it.
 */
import { spawn } from "node:child_process"
import diagnostics from "node:diagnostics_channel"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { build } from "esbuild"
import type { Dialog, Page, Route } from "playwright-core"
import { compile as compileSvelte } from "svelte/compiler"
import { compileScript, parse } from "vue/compiler-sfc"
import { inBrowser, openTab, otherMachine } from "../support/browser.ts"
import { repository, samplesOf } from "../support/documents.ts"
import { isMissing, pathOf } from "../support/programs.ts"
import {
  drawn,
  evaluate,
  idOf,
  makeShowing,
  makeStage,
  makeStageWith,
  openStage,
  sessionOf,
  shows,
  waitFor
} from "../support/stage.ts"
import * as transport from "../support/transport.ts"
import { eventually } from "../support/waiting.ts"

it.each([
  ["client.js", 7.4],
  ["client.global.js", 7.6],
  ["preview.js", 8.2],
  ["preview.global.js", 8.4]
] as const)("dist/%s is no larger than %s KB, compressed", (name, kilobytes) => {
  const file = readFileSync(new URL(`../../dist/${name}`, import.meta.url))
  expect(gzipSync(file).length).toBeLessThan(kilobytes * 1024)
})

const isLive = "exhibit.state.connection === 'live'"

/** The first of these tabs that has the stream. */
const liveOf = (tabs: ReadonlyArray<Page>) =>
  Effect.findFirst(tabs, (tab) => Effect.map(evaluate(tab, isLive), Boolean)).pipe(
    Effect.repeat({ until: Option.isSome }),
    Effect.flatten
  )

/** A tab that shows the address, and gets this answer from all addresses that match the pattern. */
const openRouted = Effect.fnUntraced(function* (
  pattern: string,
  answer: Parameters<Route["fulfill"]>[0],
  url: string
) {
  const tab = yield* openTab("about:blank")
  yield* Effect.promise(() => tab.route(pattern, (route) => route.fulfill(answer)))
  yield* Effect.promise(() => tab.goto(url))
  return tab
})

const countRequests = (tab: Page, event: "requestfailed") => {
  let count = 0
  tab.on(event, () => count++)
  return () => count
}

const mountReact = (sample: string) =>
  `import { createRoot } from "react-dom/client"\n${sample}\ncreateRoot(document.querySelector("main")).render(<App />)`

const mountVue = (sample: string) => {
  const { content } = compileScript(parse(sample).descriptor, {
    id: "sample",
    genDefaultAs: "App",
    inlineTemplate: true
  })
  return `import { createApp } from "vue"\n${content}\ncreateApp(App).mount("main")`
}

const mountSvelte = (sample: string) => {
  const { js } = compileSvelte(sample, { name: "App" })
  return `import { mount } from "svelte"\n${js.code}\nmount(App, { target: document.querySelector("main") })`
}

/** A module for the browser, with the framework and the client that is built. */
const bundle = async (contents: string) => {
  const { outputFiles } = await build({
    stdin: { contents, loader: "jsx", resolveDir: repository },
    alias: { "vitrine/client": `${repository}/dist/client.js` },
    bundle: true,
    define: { "process.env.NODE_ENV": '"production"' },
    format: "esm",
    jsx: "automatic",
    logLevel: "error",
    write: false
  })
  return outputFiles.map(({ text }) => text).join("")
}

const never = 3_600_000

const kept = `caches.match("https://vitrine.invalid/").then((kept) => kept?.json())`

/** The id of the version that the browser keeps, and the paths of its files. */
const keptVersion = `${kept}.then((kept) => kept?.versionId)`
const keptPaths = `${kept}.then((kept) => Object.keys(kept?.keys ?? {}))`

// Most of a test is waiting.
describe.skipIf(isMissing("chromium")).concurrent("a page", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("shows each version when it is announced, an older one too", () =>
      Effect.gen(function* () {
        const { acks, promote, servers, tab } = yield* makeShowing({ pollEvery: never })
        yield* waitFor(tab, isLive)
        for (const number of [2, 1]) {
          yield* promote(number)
          yield* servers.announce
          yield* shows(tab, number)
        }
        yield* eventually(Effect.sync(() => acks.length === 3))
        expect(acks.map(({ versionId }) => versionId)).toEqual([idOf(1), idOf(2), idOf(1)])
        expect(yield* drawn(tab)).toEqual([1, 2, 1].map((number) => [idOf(number), number, number]))
      })
    )

    it.scoped("shows its name at once and above all else when it is asked to", () =>
      Effect.gen(function* () {
        const { acks, answers, servers, tab } = yield* makeShowing()
        yield* waitFor(tab, isLive)
        yield* eventually(Effect.sync(() => acks.length === 1))
        yield* evaluate(
          tab,
          `{
            const dialog = document.body.appendChild(document.createElement("dialog"))
            dialog.append(document.createElement("input"))
            dialog.showModal()
          }`
        )
        yield* servers.ask("screen-2")
        answers.push({ actions: ["identify"], ids: ["1"], label: "Left wall" })
        yield* servers.ask("screen-1")
        yield* waitFor(tab, "document.querySelector('[data-vitrine=name]') !== null")
        yield* eventually(Effect.sync(() => acks.length === 3))
        expect(acks.map(({ done }) => done)).toEqual([[], [], ["1"]])
        expect(
          yield* evaluate(
            tab,
            `(() => {
              const name = document.querySelector("[data-vitrine=name]")
              const { height, width } = name.getBoundingClientRect()
              return {
                text: name.innerText,
                isAbove: name.matches(":popover-open"),
                isLarge: parseFloat(getComputedStyle(name).fontSize) > innerWidth / 10,
                isWhole: width === innerWidth && height === innerHeight && name.scrollWidth <= innerWidth,
                focus: document.activeElement.localName,
                below: document.elementFromPoint(1, 1).localName
              }
            })()`
          )
        ).toEqual({
          text: "Left wall",
          isAbove: true,
          isLarge: true,
          isWhole: true,
          focus: "input",
          below: "dialog"
        })
      })
    )

    it.scoped("reloads once when it is asked to, which is no restart", () =>
      Effect.gen(function* () {
        const { acks, answers, servers, tab } = yield* makeShowing()
        yield* waitFor(tab, isLive)
        yield* eventually(Effect.sync(() => acks.length === 1))
        let loaded = 0
        tab.on("load", () => loaded++)
        answers.push({ actions: ["reload"], ids: ["1"] })
        yield* servers.ask("screen-1")
        yield* eventually(Effect.sync(() => loaded === 1))
        yield* shows(tab, 1)
        expect(acks.map(({ done }) => done)).toContainEqual(["1"])
        yield* waitFor(tab, isLive)
        const before = acks.length
        yield* servers.ask("screen-1")
        yield* eventually(Effect.sync(() => acks.length > before))
        yield* waitFor(tab, isLive)
        expect(loaded).toBe(1)
        expect([acks[0]?.navigated, acks.at(-1)?.navigated]).toEqual([false, true])
      })
    )

    it.scoped(
      "polls while it gets no event stream, then uses the stream, and continues after a restart",
      () =>
        Effect.gen(function* () {
          const { promote, start } = yield* makeStage
          const first = yield* start({ maxClients: 1 })
          yield* promote(1)
          const other = yield* Scope.make()
          yield* Scope.extend(Effect.provide(transport.openEvents, first.services), other)
          const tab = yield* openStage(first.url)
          yield* shows(tab, 1)
          yield* promote(2)
          yield* shows(tab, 2)
          expect(yield* evaluate(tab, "exhibit.state.connection")).toBe("polling")
          yield* Scope.close(other, Exit.void)
          yield* waitFor(tab, isLive)

          yield* first.stop
          yield* waitFor(tab, "exhibit.state.connection === 'offline'")
          yield* promote(3)
          expect(yield* evaluate(tab, "document.body.dataset.number")).toBe("2")
          yield* start({ port: first.transportPort }, first.port)
          yield* shows(tab, 3)
          yield* waitFor(tab, isLive)
        })
    )

    it.scoped(
      "does not show a version with a broken picture, reports it, and shows the version once it is repaired",
      () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const { acks, downloads, promote, tab } = yield* makeShowing()
          yield* promote(2, { "picture.svg": "x".repeat(100) })
          const problem = expect.stringMatching(
            `^Version ${idOf(2)} cannot be shown: .*/${idOf(2)}/exhibits/picture.svg\\?[0-9a-f]{8} cannot be loaded`
          )
          yield* eventually(Effect.sync(() => acks.length > 1))
          const { runId, ...ack } = acks.at(-1) ?? {}
          expect(runId).toBeDefined()
          expect(ack).toEqual({
            consumerId: "screen-1",
            versionId: idOf(1),
            navigated: false,
            done: [],
            problem,
            renewMs: 20_000,
            visible: true,
            drawing: true
          })
          expect(yield* evaluate(tab, "[document.body.dataset.number, exhibit.state.next]")).toEqual([
            "1",
            idOf(2)
          ])

          const missing = `${downloads}/versions/${idOf(3)}/exhibits/Objects.json`
          yield* promote(3)
          yield* fs.rename(missing, `${missing}.away`)
          yield* waitFor(tab, "exhibit.state.problem?.includes('there is no table')")
          yield* fs.rename(`${missing}.away`, missing)
          yield* shows(tab, 3)
          yield* eventually(Effect.sync(() => acks.at(-1)?.versionId === idOf(3)))
          expect(acks.at(-1)).toMatchObject({ consumerId: "screen-1", versionId: idOf(3) })
          expect(acks.at(-1)?.problem).toBeUndefined()
          expect(yield* evaluate(tab, "exhibit.state.problem === undefined")).toBe(true)
        })
    )

    it.scoped("reports that the content is unreachable, with its URL, and warns once", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const servers = yield* start()
        const manifest = `${servers.url}manifest.json`
        const tab = yield* openStage(servers.url)
        const warnings: Array<string> = []
        tab.on("console", (message) => message.type() === "warning" && warnings.push(message.text()))
        yield* promote(1)
        yield* shows(tab, 1)
        expect(yield* evaluate(tab, "exhibit.state.problem === undefined")).toBe(true)
        warnings.length = 0

        for (const times of [1, 2]) {
          const failures = countRequests(tab, "requestfailed")
          yield* Effect.promise(() => tab.route("**/manifest.json", (route) => route.abort()))
          yield* waitFor(tab, "exhibit.state.connection === 'offline'")
          yield* eventually(Effect.sync(() => failures() > 2))
          expect(yield* evaluate(tab, "exhibit.state.problem")).toBe(
            `The content cannot be reached: ${manifest}: TypeError: Failed to fetch`
          )
          expect(warnings).toHaveLength(times)
          expect(warnings.at(-1)).toContain(manifest)
          yield* Effect.promise(() => tab.unroute("**/manifest.json"))
          yield* waitFor(tab, "exhibit.state.connection !== 'offline' && exhibit.state.problem === undefined")
        }
        yield* evaluate(tab, "exhibit.close()")
        expect(warnings).toHaveLength(2)
      })
    )

    it.scoped("says why there is no content: none yet, a file for a page, another manifest", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const { url } = yield* start()
        const says = (tab: Page, problem: string) =>
          waitFor(tab, `exhibit.state.problem === ${JSON.stringify(problem)}`)
        const tab = yield* openStage(url)
        yield* says(tab, `There is no content at ${url}manifest.json`)
        yield* promote(1)
        yield* shows(tab, 1)
        expect(yield* evaluate(tab, "exhibit.state.problem === undefined")).toBe(true)

        yield* says(
          yield* openStage(url, { content: "file://" }),
          'The content cannot be reached: file://manifest.json: TypeError: Failed to fetch. Give "content", the address of the content server'
        )
        const app = yield* openRouted("**/manifest.json", { json: { name: "App", icons: [] } }, url)
        yield* says(app, `The content cannot be reached: ${url}manifest.json is no manifest of Vitrine`)
      })
    )

    it.scoped(
      "stops loading a version when another one comes, ignores what arrives late, and waits until it is idle",
      () =>
        Effect.gen(function* () {
          const { promote, tab } = yield* makeShowing()
          const release = yield* Deferred.make<void>()
          const asked = yield* Deferred.make<void>()
          yield* Effect.promise(() =>
            tab.route(`**/${idOf(2)}/**/picture.svg*`, async (route) => {
              Effect.runSync(Deferred.succeed(asked, undefined))
              await Effect.runPromise(Deferred.await(release))
              await route.continue().catch(() => {})
            })
          )
          yield* promote(2)
          yield* Deferred.await(asked)
          yield* promote(3)
          yield* shows(tab, 3)
          yield* Deferred.succeed(release, undefined)
          yield* evaluate(tab, "isIdle = false")
          yield* promote(4)
          yield* waitFor(tab, `exhibit.state.next === "${idOf(4)}"`)
          yield* evaluate(tab, "isIdle = true")
          yield* shows(tab, 4)
          expect((yield* drawn(tab)).map(([, number]) => number)).toEqual([1, 3, 4])
        })
    )

    it.scoped("reports what it cannot show while it shows the rest, for any URL and table name", () =>
      Effect.gen(function* () {
        const { acks, promote, tab } = yield* makeShowing()
        const name = "50 % of #1 & größer.json"
        yield* promote(2, { [name]: "{}", "What%3F.json": '{ "asked": true }' })
        yield* shows(tab, 2)
        const read = `(async () => {
          const { version } = exhibit.state
          version.problem("no\\u0007 sound")
          const file = await fetch(version.url("exhibits", ${JSON.stringify(name)}))
          const { asked } = await version.table("exhibits", "What?")
          const failures = []
          for (const attempt of [() => version.table("exhibits", "Gone"), async () => version.url("b", "c")]) {
            await attempt().catch(({ message }) => failures.push(message))
          }
          return [file.status, asked, ...failures]
        })()`
        expect(yield* evaluate(tab, read)).toEqual([
          200,
          true,
          'there is no table "Gone" in "exhibits"',
          'there is no source "b"'
        ])
        yield* eventually(Effect.sync(() => acks.at(-1)?.problem === "no\u0007 sound"))
        yield* promote(3)
        yield* eventually(Effect.sync(() => acks.at(-1)?.versionId === idOf(3)))
        expect(acks.at(-1)?.problem).toBeUndefined()
      })
    )

    it.scoped("has a stream of its own while it is visible, if it is not secure", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const { clientsBecome, url } = yield* start()
        yield* promote(1)
        const address = `${url.replace("127.0.0.1", otherMachine)}?screen=screen`
        const tabs = yield* Effect.forEach([1, 2], (id) => openTab(`${address}-${id}`))
        yield* Effect.forEach(tabs, (tab) => waitFor(tab, `!isSecureContext && ${isLive}`))
        yield* clientsBecome(2)
        const [first] = tabs as [Page]
        // A headless browser hides no tab.
        const hide = (isHidden: boolean) =>
          evaluate(
            first,
            `{ Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
               document.dispatchEvent(new Event("visibilitychange")) }`
          )
        yield* hide(true)
        yield* clientsBecome(1)
        yield* waitFor(first, "exhibit.state.connection === 'polling'")
        yield* promote(2)
        yield* Effect.forEach(tabs, (tab) => shows(tab, 2))
        yield* hide(false)
        yield* clientsBecome(2)
        yield* waitFor(first, isLive)
      })
    )

    it.scoped(
      "reports why its acks are rejected, also where no plugin accepts them, or something else answers",
      () =>
        Effect.gen(function* () {
          const { promote, start } = yield* makeStage
          const token = "0123456789abcdef"
          const { transportPort, url } = yield* start({ token })
          yield* promote(1)
          const isRefused = Effect.fnUntraced(function* (answer: string, options: object) {
            const tab = yield* openStage(url, options)
            yield* waitFor(tab, "exhibit.state.problem")
            expect(yield* evaluate(tab, "exhibit.state.problem")).toMatch(
              new RegExp(`^The controller does not hear of screen screen-1: http://.*/command: ${answer}`)
            )
          })
          yield* isRefused("HTTP 401 .*token", {})
          yield* isRefused("HTTP 404$", { controller: `http://127.0.0.1:${transportPort}/elsewhere`, token })
          // A proxy with a login, for example.
          const login = {
            body: "<p>Who are you?",
            contentType: "text/html",
            headers: { "Access-Control-Allow-Origin": "*" }
          }
          yield* waitFor(
            yield* openRouted("**/command", login, url),
            `/^The controller does not hear of screen .*command: SyntaxError: /.test(exhibit.state.problem)`
          )
        })
    )

    it.scoped("keeps a version in the browser though a request for its files fails at first", () =>
      Effect.gen(function* () {
        const { promote, tab } = yield* makeShowing()
        yield* eventually(Effect.map(evaluate(tab, keptVersion), (versionId) => versionId === idOf(1)))
        yield* promote(2)
        yield* shows(tab, 2)
        const pictures = "**/picture.svg*"
        const failures = countRequests(tab, "requestfailed")
        yield* Effect.promise(() => tab.route(pictures, (route) => route.abort()))
        yield* eventually(Effect.sync(() => failures() > 1))
        expect(yield* evaluate(tab, keptVersion)).toBe(idOf(1))
        yield* Effect.promise(() => tab.unroute(pictures))
        yield* eventually(Effect.map(evaluate(tab, keptVersion), (versionId) => versionId === idOf(2)))
      })
    )

    it.scoped("keeps files that the page uses after the browser has kept the version", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const servers = yield* start()
        yield* promote(1, { "first.txt": "1", "second.txt": "2" })
        const tab = yield* openStage(servers.url)
        const keeps = (name: string) =>
          eventually(Effect.map(evaluate(tab, keptPaths), (paths) => String(paths).includes(name)))
        yield* keeps("exhibits/picture.svg")
        for (const name of ["first.txt", "second.txt"]) {
          yield* evaluate(tab, `exhibit.state.version.url("exhibits", "${name}")`)
          yield* keeps(`exhibits/${name}`)
        }
      })
    )

    it.scoped("starts without a controller, with the version that was shown last", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const servers = yield* start()
        // The page itself comes from elsewhere, as that of an app does.
        const page = yield* Effect.flatMap(makeStage, ({ start }) => start())
        yield* promote(1)
        const tab = yield* openStage(page.url, {
          content: servers.url,
          controller: `http://127.0.0.1:${servers.transportPort}`
        })
        yield* shows(tab, 1)
        yield* promote(2)
        yield* shows(tab, 2)
        yield* eventually(Effect.map(evaluate(tab, keptVersion), (versionId) => versionId === idOf(2)))

        yield* servers.stop
        yield* Effect.promise(() => tab.reload())
        yield* shows(tab, 2)
        expect(yield* evaluate(tab, "[exhibit.state.connection, exhibit.state.isCached]")).toEqual([
          "offline",
          true
        ])

        yield* start({ port: servers.transportPort }, servers.port)
        yield* waitFor(tab, `${isLive} && !exhibit.state.isCached`)
        yield* promote(3)
        yield* shows(tab, 3)
        expect(yield* drawn(tab)).toEqual([2, 3].map((number) => [idOf(number), number, number]))
      })
    )

    it.scoped.each([
      ["React", "jsx", mountReact],
      ["Vue", "vue", mountVue],
      ["Svelte", "svelte", mountSvelte]
    ] as const)("is rendered by %s as the documentation shows", ([, language, mount]) =>
      Effect.gen(function* () {
        const [sample] = samplesOf("docs/page.md").filter((sample) => sample.language === language)
        const script = yield* Effect.promise(() => bundle(mount(sample?.text ?? "")))
        const { promote, start } = yield* makeStageWith(
          `<!doctype html><main></main><script type="module">${script}</script>`
        )
        const { announce, clientsBecome, url } = yield* start()
        const records = (...titles: ReadonlyArray<string>) => ({
          "Objects.json": JSON.stringify(titles.map((title, index) => ({ id: `rec${index}`, title })))
        })
        const draws = (...titles: ReadonlyArray<string>) =>
          waitFor(
            tab,
            `[...document.querySelectorAll("main li")].map((item) => item.textContent).join() === "${titles}"`
          )
        yield* promote(1, records("Bell", "Globe"))
        const tab = yield* openTab(url)
        yield* draws("Bell", "Globe")
        yield* clientsBecome(1)
        yield* promote(2, records("Lens", "Bell"))
        yield* announce
        yield* draws("Lens", "Bell")
      })
    )

    it.scoped("shows pictures in the size for its window, as the documentation shows", () =>
      Effect.gen(function* () {
        const [sample] = samplesOf("docs/page.md").filter(({ text }) => text.includes("version.picture"))
        const script = yield* Effect.promise(() => bundle(sample?.text ?? ""))
        const { promote, start } = yield* makeStageWith(
          `<!doctype html><script type="module">${script}</script>`
        )
        const { url } = yield* start()
        const svg = (width: number) =>
          `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${width / 2}"/>`
        const size = (type: string, width: number) => ({
          localPath: `ä, ${width}.svg`,
          width,
          height: width / 2,
          type
        })
        const sizes = ["image/of-the-future", "image/svg+xml"].flatMap((type) => [
          size(type, 640),
          size(type, 1920)
        ])
        const photos = [{ localPath: "whole.svg", sizes }, { localPath: "drawing.svg" }]
        yield* promote(1, {
          "Objects.json": JSON.stringify([{ id: "rec1", Photo: photos }]),
          ...Object.fromEntries([640, 1920].map((width) => [`ä, ${width}.svg`, svg(width)])),
          "drawing.svg": svg(50)
        })
        const shownAt = Effect.fnUntraced(function* (width: number) {
          const tab = yield* openTab("about:blank")
          yield* Effect.promise(() => tab.setViewportSize({ width, height: 600 }))
          yield* Effect.promise(() => tab.goto(url))
          yield* waitFor(tab, "document.images.length === 2")
          return yield* evaluate(
            tab,
            "[...document.images].map(({ currentSrc }) => decodeURIComponent(new URL(currentSrc).pathname.split('/').at(-1)))"
          )
        })
        expect(yield* shownAt(600)).toEqual(["ä, 640.svg", "drawing.svg"])
        expect(yield* shownAt(1920)).toEqual(["ä, 1920.svg", "drawing.svg"])
      })
    )

    it.scoped("does nothing after it was closed, except to report that", () =>
      Effect.gen(function* () {
        const { acks, promote, servers, tab } = yield* makeShowing()
        yield* waitFor(tab, isLive)
        yield* eventually(Effect.sync(() => acks.length === 1))
        yield* evaluate(tab, "exhibit.close()")
        yield* servers.clientsBecome(0)
        yield* eventually(Effect.sync(() => acks.length === 2))
        yield* promote(2)
        const other = yield* openStage(servers.url, { consumerId: "screen-2" })
        yield* shows(other, 2)
        expect(yield* drawn(tab)).toHaveLength(1)
        expect(
          acks.filter(({ consumerId }) => consumerId === "screen-1").map(({ closing }) => closing)
        ).toEqual([undefined, true])
      })
    )
  })
})

// One after the other: a tab that is stopped may stop others, and one of these tests counts the requests of all.
describe.skipIf(isMissing("chromium"))("a page", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped(
      "requests the manifest with its ETag, and renews the lease once a minute, whatever the clock does",
      () =>
        Effect.gen(function* () {
          const statuses: Array<number> = []
          const listener = (message: unknown) => {
            const { request, response } = Object(message)
            if (request.url === "/manifest.json") statuses.push(response.statusCode)
          }
          yield* Effect.acquireRelease(
            Effect.sync(() => diagnostics.subscribe("http.server.response.finish", listener)),
            () => Effect.sync(() => diagnostics.unsubscribe("http.server.response.finish", listener))
          )
          const { acks, promote, tab } = yield* makeShowing()
          yield* eventually(Effect.sync(() => statuses.length > 2))
          expect(new Set(statuses)).toEqual(new Set([200, 304]))
          expect(statuses.indexOf(200)).toBe(statuses.lastIndexOf(200))
          yield* eventually(Effect.sync(() => acks.length === 1))
          yield* evaluate(tab, "{ window.now = Date.now; window.jump = 0; Date.now = () => now() + jump }")
          for (const jump of [60_000, 3_600_000, -86_400_000]) {
            const before = acks.length
            yield* evaluate(tab, `jump = ${jump}`)
            yield* eventually(Effect.sync(() => acks.length === before + 1))
          }
          yield* promote(2)
          yield* shows(tab, 2)
        })
    )

    it.scoped("continues after a sleep and after a loss of the network", () =>
      Effect.gen(function* () {
        const { promote, servers, start, tab } = yield* makeShowing()
        const session = yield* sessionOf(tab)
        yield* waitFor(tab, isLive)
        yield* Effect.promise(() => session.send("Debugger.enable"))
        yield* Effect.promise(() => session.send("Debugger.pause"))
        yield* promote(2)
        yield* servers.stop
        const again = yield* start({ port: servers.transportPort }, servers.port)
        yield* Effect.promise(() => session.send("Debugger.resume"))
        yield* shows(tab, 2)
        yield* again.clientsBecome(1)
        yield* waitFor(tab, isLive)

        const cut = (offline: boolean) =>
          Effect.promise(() =>
            session.send("Network.emulateNetworkConditions", {
              offline,
              latency: 0,
              downloadThroughput: -1,
              uploadThroughput: -1
            })
          )
        yield* cut(true)
        yield* waitFor(tab, "exhibit.state.connection === 'offline'")
        yield* promote(3)
        yield* cut(false)
        yield* shows(tab, 3)
        yield* waitFor(tab, isLive)
      })
    )

    it.scoped("polls while one of seven tabs has the stream, until that tab is frozen or closed", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const { announce, clientsBecome, url } = yield* start()
        yield* promote(1)
        const first = yield* openStage(url, { pollEvery: never })
        yield* waitFor(first, isLive)
        const others = yield* Effect.replicateEffect(openStage(url), 6, { concurrency: 3 })
        yield* Effect.forEach(others, (tab) => waitFor(tab, "exhibit.state.connection === 'polling'"))
        yield* promote(2)
        yield* announce
        yield* Effect.forEach([first, ...others], (tab) => shows(tab, 2))
        // A headless browser freezes no tab: the test dispatches the event.
        yield* evaluate(first, "document.dispatchEvent(new Event('freeze'))")
        yield* waitFor(first, "exhibit.state.connection === 'polling'")
        const next = yield* liveOf(others)
        yield* clientsBecome(1)
        yield* evaluate(first, "document.dispatchEvent(new Event('resume'))")
        yield* Effect.promise(() => next.close())
        yield* liveOf([first, ...others.filter((tab) => tab !== next)])
        yield* clientsBecome(1)
      })
    )

    it.scoped("is not live while the tab that has the stream is blocked, and shows new versions", () =>
      Effect.gen(function* () {
        const { promote, start } = yield* makeStage
        const { url } = yield* start()
        yield* promote(1)
        const first = yield* openStage(url)
        yield* waitFor(first, isLive)
        const other = yield* openStage(url)
        const blocking = new Promise<Dialog>((resolve) => first.once("dialog", resolve))
        yield* evaluate(first, "setTimeout(alert)")
        const dialog = yield* Effect.promise(() => blocking)
        yield* promote(2)
        yield* shows(other, 2)
        yield* waitFor(other, "exhibit.state.connection === 'polling'")
        yield* Effect.promise(() => dialog.accept())
        yield* shows(first, 2)
        yield* waitFor(first, isLive)
      })
    )
  })
})

describe.skipIf(isMissing("firefox"))("a page in Firefox", () => {
  layer(NodeContext.layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("shows versions as they are promoted, and acknowledges them", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { acks, promote, start } = yield* makeStage
        const { announce, clientsBecome, url } = yield* start()
        yield* promote(1)
        const profile = yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-firefox-" })
        const options = encodeURIComponent(JSON.stringify({ pollEvery: never }))
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn(pathOf("firefox"), ["--headless", "--profile", profile, `${url}#${options}`], {
              env: { ...process.env, HOME: profile },
              stdio: "ignore"
            })
          ),
          (firefox) =>
            Effect.promise(async () => {
              const ended = once(firefox, "exit")
              firefox.kill("SIGKILL")
              await ended
            })
        )
        const acknowledged = (number: number) =>
          eventually(Effect.sync(() => acks.at(-1)?.versionId === idOf(number)))
        yield* acknowledged(1)
        yield* clientsBecome(1)
        for (const number of [2, 1]) {
          yield* promote(number)
          yield* announce
          yield* acknowledged(number)
        }
        expect(acks.filter(({ problem }) => problem !== undefined)).toEqual([])
      })
    )
  })
})
