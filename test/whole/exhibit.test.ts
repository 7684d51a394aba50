import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Page, Request } from "playwright-core"
import { inBrowser, openTab } from "../support/browser.ts"
import { isMissing } from "../support/programs.ts"
import { transportUrl } from "../support/project.ts"
import * as TableServer from "../support/tableServer.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

const inProject = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** A copy of the exhibit in a temporary folder, its tables on a table server, and what the demo makes of them. */
const makeExhibit = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const demos = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-" }))
  const folder = `${demos}/exhibit`
  const downloads = `${folder}/downloads`
  yield* fs.makeDirectory(folder)
  for (const name of ["exhibit/vitrine.config.ts", "exhibit/page", "exhibit/tables", "table-server"]) {
    yield* fs.copy(inProject(`scratchpad/${name}`), `${demos}/${name}`)
  }
  // What is large on the screen stays there, however slow the machine is.
  yield* edit(`${folder}/tables/Settings.csv`, "slideSeconds,16", "slideSeconds,600")
  yield* fs.symlink(inProject("node_modules"), `${demos}/node_modules`)
  const { url } = yield* TableServer.start(`${folder}/tables`)

  /** Starts the controller, with the kiosk page in it. */
  const start = (ports = { TRANSPORT_PORT: "0", PAGE_PORT: "0", DASHBOARD_PORT: "0" }) =>
    Effect.gen(function* () {
      const controller = yield* runVitrine(["start"], {
        cwd: folder,
        env: { ...ports, TABLES_URL: url }
      })
      const transport = yield* controller.logged(transportUrl)
      const kiosk = yield* controller.logged(/Content server on (\S+):/)
      return { ...controller, transport, kiosk }
    })
  return { folder, downloads, start }
})

/** Waits until the page's root element has the data attribute. */
const waitForData = (page: Page, name: "version" | "connection", value: string) =>
  Effect.promise(() => page.waitForSelector(`html[data-${name}="${value}"]`))

const waitForTitle = (page: Page, inventory: string, title: string) =>
  Effect.promise(() =>
    page.waitForSelector(`[data-object="${inventory}"] [data-field="title"]:text-is("${title}")`)
  )

const titles = (page: Page) =>
  Effect.promise(() => page.locator("[data-object] [data-field=title]").allTextContents())

const pick = (page: Page, inventory: string) =>
  Effect.promise(() => page.click(`[data-object="${inventory}"] button`))

/** The picture of the object, if that is the large one, as an expression for the page. */
const pictureOf = (inventory: string) =>
  `document.querySelector('.leaf.current[data-featured="${inventory}"] .plate img')`

const waitForPicture = (page: Page, inventory: string, width: number) =>
  Effect.promise(() => page.waitForFunction(`${pictureOf(inventory)}?.naturalWidth === ${width}`))

const evaluate = (page: Page, expression: string) =>
  Effect.promise((): Promise<unknown> => page.evaluate(expression))

const drawing = (width: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="100"><circle r="50"/></svg>`

const bell = "VM-1931-04"
const waxCylinder = "VM-2011-03"

describe.skipIf(isMissing("chromium")).concurrent("the demo exhibit in a browser", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("shows the content and its changes without a reload, and recovers from a crash", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { downloads, folder, start } = yield* makeExhibit
        const before = yield* start()

        const page = yield* openTab(before.kiosk)
        yield* waitForData(page, "version", yield* before.logged(/New version (\S+):/))
        yield* waitForData(page, "connection", "live")
        const objects = `${folder}/tables/Objects.csv`
        const [inventory = "", title = ""] = firstObject(yield* fs.readFileString(objects))
        yield* waitForTitle(page, inventory, title)
        expect(yield* titles(page)).toHaveLength(21)

        yield* evaluate(page, "window.unreloaded = true")
        yield* edit(objects, title, "A changed cell")
        yield* waitForTitle(page, inventory, "A changed cell")
        const second = yield* before.logged(/New version [\s\S]*New version (\S+):/)
        yield* waitForData(page, "version", second)
        expect(yield* evaluate(page, "window.unreloaded")).toBe(true)
        yield* Effect.repeat(leases(downloads), { until: (ids) => ids.includes(second) })

        yield* before.signal("SIGKILL")
        yield* before.ended
        yield* waitForData(page, "connection", "offline")
        expect(yield* titles(page)).toContain("A changed cell")
        yield* edit(objects, "A changed cell", "A cell changed meanwhile")

        yield* start({
          TRANSPORT_PORT: new URL(before.transport).port,
          PAGE_PORT: new URL(before.kiosk).port,
          DASHBOARD_PORT: "0"
        })
        yield* waitForTitle(page, inventory, "A cell changed meanwhile")
        yield* waitForData(page, "connection", "live")
        expect(yield* evaluate(page, "window.unreloaded")).toBe(true)
      })
    )

    it.scoped("can be previewed before a version is released, which changes nothing for others", () =>
      Effect.gen(function* () {
        const { downloads, folder, start } = yield* makeExhibit
        const controller = yield* start()
        const vitrine = (...args: ReadonlyArray<string>) =>
          Effect.flatMap(runVitrine(args, { cwd: folder }), ({ ended }) => ended)
        const first = yield* controller.logged(/New version (\S+):/)
        const page = yield* openTab(`${controller.kiosk}?screen=public`)
        yield* waitForData(page, "version", first)
        yield* vitrine("hold")
        yield* edit(`${folder}/tables/Objects.csv`, "The Penrice Fog Bell", "A changed cell")
        const second = yield* controller.logged(/New version (\S+) waits/)
        const manifest = yield* readManifest(downloads)

        const requests: Array<Request> = []
        const preview = yield* openTab("about:blank")
        preview.on("request", (request) => requests.push(request))
        const look = (version: string) =>
          Effect.promise(() => preview.goto(`${controller.kiosk}?screen=desk&version=${version}`))
        const says = (text: string) =>
          Effect.promise(() =>
            preview.waitForSelector(`[data-vitrine=preview] [role=status]:text-is("Preview · ${text}")`)
          )
        yield* look("20990101T000000Z")
        yield* says("There is no version 20990101T000000Z")
        yield* look(first)
        yield* says(`Version ${first} is what everybody sees`)
        yield* look("waiting")
        yield* says(`Version ${second} waits to be released`)
        yield* waitForTitle(preview, bell, "A changed cell")
        yield* waitForData(preview, "connection", "polling")

        expect(yield* titles(page)).not.toContain("A changed cell")
        expect(yield* evaluate(page, "document.querySelector('[data-vitrine=preview]')")).toBeNull()
        expect(yield* readManifest(downloads)).toBe(manifest)
        expect(requests.length).toBeGreaterThan(10)
        const others = requests.filter(
          (request) => request.method() !== "GET" || !request.url().startsWith(controller.kiosk)
        )
        expect(others.map((request) => request.url()).filter((url) => !/^(data|blob):/.test(url))).toEqual([])
        expect(yield* leases(downloads)).toEqual([first])

        expect((yield* vitrine("release")).stdout).toContain(`Version ${second} is active now`)
        yield* waitForTitle(page, bell, "A changed cell")
        yield* says(`Version ${second} is what everybody sees`)
        expect((yield* vitrine("status")).stdout).not.toContain("desk")
        expect((yield* vitrine("accept", "any", "exhibit")).stderr).toContain("There is nothing to accept")
      })
    )

    it.scoped("shows the pictures of the content, and a picture that has changed", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { folder, start } = yield* makeExhibit
        const page = yield* openTab((yield* start()).kiosk)
        yield* waitForPicture(page, bell, 880)
        expect(yield* evaluate(page, `${pictureOf(bell)}.alt`)).toContain("bronze bell")

        yield* fs.writeFileString(`${folder}/tables/pictures/fog-bell.svg`, drawing(123))
        yield* waitForPicture(page, bell, 123)
        const name = "50 % of #1 & größer.svg"
        yield* fs.writeFileString(`${folder}/tables/pictures/${name}`, drawing(77))
        yield* edit(`${folder}/tables/Objects.csv`, "pictures/fog-bell.svg", `pictures/${name}`)
        yield* waitForPicture(page, bell, 77)

        yield* pick(page, waxCylinder)
        yield* Effect.promise(() => page.waitForSelector(`.leaf.current[data-featured="${waxCylinder}"]`))
        expect(yield* evaluate(page, pictureOf(waxCylinder))).toBeNull()
      })
    )

    it.scoped("has its own typefaces and large touch targets, and scrolls long texts", () =>
      Effect.gen(function* () {
        const { folder, start } = yield* makeExhibit
        const page = yield* openTab((yield* start()).kiosk)
        yield* waitForPicture(page, bell, 880)
        const families =
          "[...document.fonts].filter((face) => face.status === 'loaded').map((face) => face.family)"
        yield* Effect.promise(() =>
          page.waitForFunction(`new Set(${families}.map((family) => family.replaceAll('"', ''))).size === 2`)
        )
        const heights = yield* evaluate(
          page,
          "Array.from(document.querySelectorAll('.index button'), (button) => button.offsetHeight)"
        )
        expect(Math.min(...Schema.decodeUnknownSync(Schema.Array(Schema.Number))(heights))).toBe(64)

        const caption = "document.querySelector('.leaf.current .caption')"
        const isWhole = (...classes: ReadonlyArray<string>) =>
          evaluate(page, `[...${caption}.classList].join() === "${["caption", ...classes].join()}"`)
        expect(yield* isWhole()).toBe(true)
        const settings = `${folder}/tables/Settings.csv`
        yield* edit(settings, "language,en", "language,de-AT")
        yield* Effect.promise(() => page.waitForSelector("html[lang='de-AT']"))
        const objects = `${folder}/tables/Objects.csv`
        const word = "Nebelglockenhersteller".repeat(4)
        yield* edit(objects, "The Penrice Fog Bell", word)
        yield* waitForTitle(page, bell, word)
        expect(yield* isWhole("breaks")).toBe(true)
        yield* edit(objects, "Rung by hand", "Rung by hand, and again, ".repeat(100))
        yield* Effect.promise(() => page.waitForFunction(`${caption}.classList.contains("scrolls")`))
        yield* evaluate(page, `${caption}.scrollTo(0, 1e6)`)
        expect(
          yield* evaluate(
            page,
            `${caption}.querySelector(".foot").getBoundingClientRect().bottom <= ${caption}.getBoundingClientRect().bottom`
          )
        ).toBe(true)
        expect(yield* evaluate(page, `${caption}.scrollWidth - ${caption}.clientWidth`)).toBe(0)
      })
    )

    it.scoped(
      "shows on a phone what is selected far below, and cuts no text without a hint that it continues",
      () =>
        Effect.gen(function* () {
          const { start } = yield* makeExhibit
          const { kiosk } = yield* start()
          const page = yield* openTab(kiosk)
          yield* Effect.promise(() => page.setViewportSize({ width: 320, height: 568 }))
          yield* waitForPicture(page, bell, 880)

          const bottomOf = (selector: string) =>
            Effect.map(
              evaluate(page, `document.querySelector("${selector}").getBoundingClientRect().bottom`),
              Number
            )
          const button = yield* bottomOf(".index li:last-child button")
          expect(yield* bottomOf(".index li:last-child")).toBeCloseTo(button)
          expect(yield* bottomOf(".index")).toBeGreaterThanOrEqual(button)
          yield* evaluate(
            page,
            "document.querySelector('.connection').textContent = 'polling, newer version incomplete'"
          )
          expect(
            yield* evaluate(
              page,
              "Array.from(document.querySelectorAll('.status span'), (part) => part.getClientRects().length)"
            )
          ).toEqual([1, 1])

          yield* pick(page, waxCylinder)
          yield* Effect.promise(() =>
            page.waitForFunction(
              "document.querySelector('.leaf.current .plate').getBoundingClientRect().top === 0"
            )
          )

          const isCut = "document.querySelector('.index').classList.contains('scrolls')"
          expect(yield* evaluate(page, isCut)).toBe(false)
          yield* Effect.promise(() => page.setViewportSize({ width: 1920, height: 1080 }))
          yield* Effect.promise(() => page.waitForFunction(isCut))
        })
    )
  })
})

/** Puts one text in the place of another, wherever it stands in the file, without a moment of half a file. */
const edit = (file: string, from: string, to: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(`${file}.new`, (yield* fs.readFileString(file)).replaceAll(from, to))
    yield* fs.rename(`${file}.new`, file)
  })

/** The inventory number and the title in the first row: neither is quoted. */
const firstObject = (csv: string): ReadonlyArray<string> => {
  const [header = "", row = ""] = csv.split("\n")
  const cells = row.split(",")
  return ["inventory", "title"].map((name) => cells[header.split(",").indexOf(name)] ?? "")
}

/** The versions that consumers say they show. */
const leases = (downloads: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const files = yield* fs.readDirectory(`${downloads}/acks`)
    const texts = yield* Effect.forEach(files, (file) =>
      Effect.orElseSucceed(fs.readFileString(`${downloads}/acks/${file}`), () => "{}")
    )
    return texts.map((text): unknown => JSON.parse(text).versionId)
  })

const readManifest = (downloads: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(`${downloads}/manifest.json`))
