import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Page } from "playwright-core"
import { Browser, openTab } from "../support/browser.ts"
import { transportUrl } from "../support/project.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

const exhibit = fileURLToPath(new URL("../../scratchpad/exhibit", import.meta.url))

/** Waits until the page's root element has the data attribute. */
const waitForData = (page: Page, name: "version" | "connection", value: string) =>
  Effect.promise(() => page.waitForSelector(`html[data-${name}="${value}"]`))

const waitForTitle = (page: Page, inventory: string, title: string) =>
  Effect.promise(() =>
    page.waitForSelector(`[data-object="${inventory}"] [data-field="title"]:text-is("${title}")`)
  )

const titles = (page: Page) =>
  Effect.promise(() => page.locator("[data-object] [data-field=title]").allTextContents())

describe("the demo exhibit in a browser", () => {
  it.scopedLive("shows the content, shows a change without a reload, and recovers from a crash", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-" })
      const objectsFile = `${folder}/tables/Objects.csv`
      const edit = (from: string, to: string) =>
        Effect.flatMap(fs.readFileString(objectsFile), (csv) =>
          fs.writeFileString(objectsFile, csv.replace(from, to))
        )
      yield* fs.copy(`${exhibit}/tables`, `${folder}/tables`)

      const tables = yield* runVitrine(["tables", "--port", "0", "tables"], { cwd: folder })
      const start = (
        ports: { readonly TRANSPORT_PORT: string; readonly PAGE_PORT: string },
        tablesUrl: string
      ) =>
        runVitrine(["start", "--config", `${exhibit}/vitrine.config.ts`], {
          cwd: folder,
          env: { ...ports, TABLES_URL: tablesUrl, DOWNLOADS: `${folder}/downloads` }
        })
      const tablesUrl = yield* tables.logged(/ at (http:\S+): /)
      const before = yield* start({ TRANSPORT_PORT: "0", PAGE_PORT: "0" }, tablesUrl)
      const transport = yield* before.logged(transportUrl)
      const kiosk = yield* before.logged(/kiosk page is at (\S+)/)

      const page = yield* openTab(kiosk)
      yield* waitForData(page, "version", yield* before.logged(/New version (\S+):/))
      yield* waitForData(page, "connection", "live")
      const [inventory = "", title = ""] = firstObject(yield* fs.readFileString(objectsFile))
      yield* waitForTitle(page, inventory, title)
      expect(yield* titles(page)).toHaveLength(21)

      yield* Effect.promise(() => page.evaluate("window.unreloaded = true"))
      yield* edit(title, "A changed cell")
      yield* waitForTitle(page, inventory, "A changed cell")
      const second = yield* before.logged(/New version [\s\S]*New version (\S+):/)
      yield* waitForData(page, "version", second)
      expect(yield* Effect.promise(() => page.evaluate("window.unreloaded"))).toBe(true)
      yield* Effect.repeat(leases(folder), { until: (ids) => ids.includes(second) })

      yield* before.signal("SIGKILL")
      yield* before.ended
      yield* waitForData(page, "connection", "offline")
      expect(yield* titles(page)).toContain("A changed cell")
      yield* edit("A changed cell", "A cell changed meanwhile")

      yield* start({ TRANSPORT_PORT: new URL(transport).port, PAGE_PORT: new URL(kiosk).port }, tablesUrl)
      yield* waitForTitle(page, inventory, "A cell changed meanwhile")
      yield* waitForData(page, "connection", "live")
      expect(yield* Effect.promise(() => page.evaluate("window.unreloaded"))).toBe(true)
    }).pipe(Effect.provide(Layer.merge(NodeContext.layer, Browser.layer)))
  )
})

/** The inventory number and the title in the first row: neither is quoted. */
const firstObject = (csv: string): ReadonlyArray<string> => {
  const [header = "", row = ""] = csv.split("\n")
  const cells = row.split(",")
  return ["inventory", "title"].map((name) => cells[header.split(",").indexOf(name)] ?? "")
}

/** The versions that consumers say they show. */
const leases = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const files = yield* fs.readDirectory(`${folder}/downloads/acks`)
    const texts = yield* Effect.forEach(files, (file) =>
      Effect.orElseSucceed(fs.readFileString(`${folder}/downloads/acks/${file}`), () => "{}")
    )
    return texts.map((text): unknown => JSON.parse(text).versionId)
  })
