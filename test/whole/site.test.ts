/**
 * A page that travels with the content, in a real browser: both change together, and what has not changed is not loaded again.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { chromium, type Page } from "playwright-core"
import sharp from "sharp"
import { Browser, openTab } from "../support/browser.ts"
import { type Files, writeFile } from "../support/contentServer.ts"
import { freePort } from "../support/freePort.ts"
import { isMissing, pathOf } from "../support/programs.ts"
import { makeReader } from "../support/reader.ts"
import { evaluate, sessionOf, waitFor } from "../support/stage.ts"
import { browserProfile } from "../support/tabs.ts"
import { makeViteProject } from "../support/vite.ts"
import { runVitrine } from "../support/vitrineProcess.ts"
import { eventually } from "../support/waiting.ts"

/** A build as tools make it: the names of its parts are others in the next one. It shows how it is called, the table and all pictures. */
const buildOf = (number: number): Files => ({
  "index.html": `<!doctype html>
<title>Build ${number}</title>
<p></p>
<script>Math.random = () => 0</script>
<script type="module" src="/assets/main-${number}.js"></script>
`,
  [`assets/main-${number}.js`]: `import { connect } from "/vitrine/client.js"
window.more = async () => (await import("./more-${number}.js")).more
window.exhibit = connect({
  consumerId: "screen",
  load: async (version) => {
    const [{ number, pictures = "" }] = await version.table("exhibits", "Objects")
    const names = pictures.split(" ").filter((name) => name)
    return { number, pictures: await version.preload(names.map((name) => version.url("exhibits", name))) }
  },
  show: ({ number, pictures }) => {
    document.querySelector("p").replaceChildren(\`build ${number}, number \${number}\`, ...pictures)
    window.drawn?.(document.querySelector("p").textContent)
  },
  onNewPage: (reload) => { window.reload = reload }
})
`,
  [`assets/more-${number}.js`]: `export const more = "more of build ${number}"\n`
})

const sites = {
  "a folder": { site: '"dist"', sources: "" },
  "a source": {
    site: '{ source: "page" }',
    sources: ', folderSource({ id: "page", directory: "dist", documents: false })'
  }
}

/** A running controller of a table and a page; the content says which pictures there are. */
const makeExhibit = Effect.fnUntraced(function* (
  { site, sources }: (typeof sites)[keyof typeof sites],
  pictures: Files = {}
) {
  const port = yield* freePort
  const objects = (number: number) =>
    `id,number,pictures\nrec1,${number},${Object.keys(pictures).join(" ")}\n`
  const folder = yield* makeViteProject({
    "vitrine.config.mjs": `import { content, contentServer, defineConfig, folderSource, httpTransport } from "vitrine"
export default defineConfig({
  plugins: [
    content({ sources: [folderSource({ id: "exhibits", directory: "content" })${sources}] }),
    httpTransport({ port: 0 }),
    contentServer({ port: ${port}, site: ${site} })
  ]
})
`,
    "content/Objects.csv": objects(1)
  })
  yield* Effect.forEach(Object.entries(pictures), ([name, bytes]) =>
    writeFile(`${folder}/content/${name}`, bytes)
  )
  const writeBuild = (number: number, name: string) =>
    Effect.forEach(Object.entries(buildOf(number)), ([path, text]) =>
      writeFile(`${folder}/${name}/${path}`, text)
    )
  yield* writeBuild(1, "dist")
  const { logged } = yield* runVitrine(["start"], { cwd: folder })
  yield* logged(/New version/)
  const url = `http://127.0.0.1:${port}`
  const edit = (number: number) =>
    Effect.sync(() => writeFileSync(`${folder}/content/Objects.csv`, objects(number)))
  return {
    url,
    edit,
    /** Both at once. */
    change: Effect.fnUntraced(function* (build: number, number: number) {
      yield* writeBuild(build, "next")
      rmSync(`${folder}/dist`, { recursive: true })
      renameSync(`${folder}/next`, `${folder}/dist`)
      yield* edit(number)
    }),
    versions: Effect.sync(() => readdirSync(`${folder}/downloads/versions`))
  }
})

const shows = (tab: Page, build: number, number: number) =>
  waitFor(tab, `document.querySelector("p")?.textContent === "build ${build}, number ${number}"`)

/** A browser that keeps what it has loaded on a disk, as that of a kiosk does. */
const openWithCache = (url: string) =>
  Effect.gen(function* () {
    const profile = yield* browserProfile
    const context = yield* Effect.acquireRelease(
      Effect.promise(() =>
        chromium.launchPersistentContext(profile, {
          executablePath: pathOf("chromium"),
          args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        })
      ),
      (context) => Effect.promise(() => context.close())
    )
    context.setDefaultTimeout(0)
    const tab = yield* Effect.promise(() => context.newPage())
    const loaded = yield* countBytes(tab)
    yield* Effect.promise(() => tab.goto(url))
    return { loaded, tab }
  })

/** What has come over the wire since the last call, without the polls of the manifest: bytes by the paths of addresses. */
const countBytes = Effect.fnUntraced(function* (tab: Page) {
  const session = yield* sessionOf(tab)
  const urls = new Map<string, string>()
  let bytes: Record<string, number> = {}
  session.on("Network.requestWillBeSent", ({ request, requestId }) => urls.set(requestId, request.url))
  session.on("Network.loadingFinished", ({ encodedDataLength, requestId }) => {
    const { pathname, port } = new URL(urls.get(requestId) ?? "data:,")
    if (port !== "" && encodedDataLength > 0 && !/manifest|command|endpoint/.test(pathname)) {
      bytes[pathname] = (bytes[pathname] ?? 0) + encodedDataLength
    }
  })
  yield* Effect.promise(() => session.send("Network.enable"))
  return Effect.sync(() => {
    const before = bytes
    bytes = {}
    return before
  })
})

const sumOf = (bytes: Readonly<Record<string, number>>) =>
  Object.values(bytes).reduce((sum, each) => sum + each, 0)

/** The version is kept in the browser's storage, for which nothing may be loaded again either. */
const isKept = (tab: Page, number: number) =>
  waitFor(
    tab,
    `(async () => {
      for (const name of await caches.keys()) {
        const cache = await caches.open(name)
        const table = await cache.match("https://vitrine.invalid/exhibits/Objects.json")
        if (await cache.match("https://vitrine.invalid/") && (await table?.json())?.[0].number === "${number}") return true
      }
      return false
    })()`
  )

describe.skipIf(isMissing("chromium"))("a page that travels with the content", () => {
  layer(Layer.merge(Browser.layer, NodeContext.layer), { excludeTestServices: true, timeout: 120_000 })(
    (it) => {
      it.scoped(
        "changes together with the content, and finds the files of its own build as long as it is open",
        () =>
          Effect.gen(function* () {
            const { change, edit, url, versions } = yield* makeExhibit(sites["a source"])
            const tab = yield* openTab("about:blank")
            const drawn: Array<string> = []
            yield* Effect.promise(() => tab.exposeFunction("drawn", (text: string) => drawn.push(text)))
            yield* Effect.promise(() => tab.goto(url))
            yield* shows(tab, 1, 1)
            const [first] = yield* versions

            yield* change(2, 2)
            yield* waitFor(tab, "window.reload && window.exhibit.state.next")
            const both = yield* versions
            expect(both).toEqual([first, yield* evaluate(tab, "window.exhibit.state.next")])
            yield* shows(tab, 1, 1)

            yield* edit(3)
            yield* waitFor(tab, `window.exhibit.state.next > "${both[1]}"`)
            expect(yield* evaluate(tab, "window.more()")).toBe("more of build 1")

            yield* evaluate(tab, "void window.reload()")
            yield* shows(tab, 2, 3)
            expect(drawn).toEqual(["build 1, number 1", "build 2, number 3"])
            yield* edit(4)
            yield* shows(tab, 2, 4)
            expect(yield* evaluate(tab, "window.more()")).toBe("more of build 2")
          })
      )

      it.scoped.each(Object.entries(sites))(
        "loads no picture of 61 MB again after a changed cell or a new build, where it is %s",
        ([, site]) =>
          Effect.gen(function* () {
            const picture = (shade: number) =>
              Effect.promise(() =>
                sharp({
                  create: { width: 1280, height: 800, channels: 3, background: { r: shade, g: 0, b: 0 } }
                })
                  .png({ compressionLevel: 0 })
                  .toBuffer()
              )
            const pictures = yield* Effect.forEach(
              Array.from({ length: 20 }, (_, index) => index),
              picture
            )
            const files = Object.fromEntries(pictures.map((bytes, index) => [`picture-${index}.png`, bytes]))
            const { change, edit, url } = yield* makeExhibit(site, files)
            const { loaded, tab } = yield* openWithCache(url)
            yield* shows(tab, 1, 1)
            yield* isKept(tab, 1)
            const whole = sumOf(yield* loaded)
            expect(whole).toBeGreaterThan(61_000_000)
            expect(whole).toBeLessThan(63_000_000)

            yield* edit(2)
            yield* shows(tab, 1, 2)
            yield* isKept(tab, 2)
            const cell = yield* loaded
            expect(sumOf(cell)).toBeLessThan(6000)

            yield* change(2, 3)
            yield* waitFor(tab, "window.reload")
            yield* evaluate(tab, "void window.reload()")
            yield* shows(tab, 2, 3)
            yield* isKept(tab, 3)
            const build = yield* loaded
            expect(sumOf(build)).toBeLessThan(12_000)
          })
      )
    }
  )
})

layer(NodeContext.layer, { excludeTestServices: true, timeout: 120_000 })("a new project of Vite", (it) => {
  it.scoped("starts without a build with one line of advice, and serves the page once it is built", () =>
    Effect.gen(function* () {
      const reader = yield* makeReader
      expect(yield* reader.run("npx vitrine init --vite")).toMatchObject({ status: 0 })
      yield* reader.useFreePorts("vitrine.config.ts")
      const configuration = readFileSync(`${reader.folder}/vitrine.config.ts`, "utf8")
      const port = /contentServer\(\{ port: (\d+),/.exec(configuration)?.[1]
      const { logged, ended, signal } = yield* runVitrine(["start"], { cwd: reader.folder })
      yield* logged(/New version/)
      const ask = Effect.promise(async () => {
        const response = await fetch(`http://127.0.0.1:${port}/`)
        return { status: response.status, text: await response.text() }
      })
      expect(yield* ask).toMatchObject({ status: 404, text: expect.stringContaining("Is the page built?") })
      yield* writeFile(`${reader.folder}/dist/index.html`, "<h1>Built</h1>")
      yield* eventually(Effect.map(ask, ({ status }) => status === 200))
      expect((yield* ask).text).toBe("<h1>Built</h1>")
      yield* signal("SIGINT")
      const { status, stderr } = yield* ended
      expect(status).toBe(0)
      const said = stderr
        .trimEnd()
        .split("\n")
        .map((line) => line.replace(/^\S+ +/, ""))
      expect(said.filter((line) => !line.startsWith("info "))).toEqual([])
      expect(said.filter((line) => /no |not |missing|fail|error|cannot/i.test(line))).toEqual([
        `info   The page in ${reader.folder}/dist is not built yet. Build it, for example with "npm run build"; the screens then show it.`
      ])
    })
  )
})
