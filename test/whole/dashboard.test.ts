/**
 * The dashboard of a controller that runs: its page in a browser, its metrics as Prometheus reads them.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { Page, Route } from "playwright-core"
import * as ScreenPicturesMemory from "../../src/layers/memory/ScreenPicturesMemory.ts"
import type { AckAnswer } from "../../src/services/AskedScreen.ts"
import { ControllerState } from "../../src/services/ControllerState.ts"
import { ScreenPictures } from "../../src/services/ScreenPictures.ts"
import { Browser, openTab } from "../support/browser.ts"
import { layer as dashboardLayer, port as dashboardPort, setContent } from "../support/dashboard.ts"
import { states } from "../support/dashboardStates.ts"
import { read } from "../support/documents.ts"
import { freePort } from "../support/freePort.ts"
import { pluginsOf } from "../support/plugins.ts"
import { isMissing, pathOf } from "../support/programs.ts"
import { makeProject, objectsCsv } from "../support/project.ts"

const dashboardUrl = /Dashboard on (http:\S+): /

const project = Effect.gen(function* () {
  const { read, serveTables, write, ...rest } = yield* makeProject
  const config = yield* read("vitrine.config.ts")
  yield* write(
    "vitrine.config.ts",
    config
      .replace("content, defineConfig", "content, dashboard, defineConfig")
      .replace(
        "plugins: [",
        "node: { label: 'Hall <3>' }, plugins: [dashboard({ port: Number(env.DASHBOARD ?? 0) }),"
      )
  )
  const TABLES = yield* serveTables()
  const start = (env: Readonly<Record<string, string>> = {}) =>
    Effect.gen(function* () {
      const controller = yield* rest.run(["start"], { TABLES, ...env })
      const url = yield* controller.logged(dashboardUrl)
      return { ...controller, url, versionId: yield* controller.logged(/[Vv]ersion (\d\S+?):?\s/) }
    })
  return { ...rest, write, start }
}).pipe(Effect.provide(NodeContext.layer))

/** The address of a server that has ended. */
const unreachable = Effect.map(freePort, (port) => `http://127.0.0.1:${port}`)

const see = (page: Page, selector: string, text: string) =>
  Effect.promise(() => page.locator(selector, { hasText: text }).first().waitFor())

/** Clicks the button, and confirms, under that name. */
const act = (page: Page, label: string, name?: string) =>
  Effect.promise(async () => {
    await page.locator("main button:visible", { hasText: label }).first().click()
    if (name !== undefined) {
      await page.getByLabel("Your name").fill(name)
    }
    await page.click("#confirm")
    await page.locator("#dialog").waitFor({ state: "hidden" })
  })

/** One browser for the tests that do not set its clock. */
const inBrowser = Layer.merge(Browser.layer, NodeContext.layer)

describe.skipIf(isMissing("chromium"))("the page of the dashboard", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("shows changes, holds, resumes and goes back, and reconnects after a crash", () =>
      Effect.gen(function* () {
        const { run, start, write } = yield* project
        const controller = yield* start()
        const page = yield* openTab(controller.url)
        const requested: Array<string> = []
        page.on("request", (request) => requested.push(request.url()))
        yield* see(page, "#word", "OK")
        yield* see(page, "#contents", `Version ${controller.versionId}`)
        yield* see(page, "#log", `New version ${controller.versionId}`)
        expect(yield* Effect.promise(() => page.title())).toBe("OK · Hall <3> · Vitrine")
        yield* see(page, "header", "Hall <3>")

        yield* act(page, "Hold", "Anna")
        yield* see(page, "#word", "HELD")
        yield* write("tables/Objects.csv", `${objectsCsv}A-3,Chronometer\n`)
        yield* see(page, "#versions", "waits")
        yield* see(page, "#versions li:first-child", "3 records")
        yield* act(page, "Release")
        yield* see(page, "#versions li:first-child", "active")
        yield* see(page, "#word", "HELD")
        yield* act(page, "Resume")
        yield* see(page, "#word", "OK")
        yield* act(page, "Show this")
        yield* see(page, "#word", "HELD")
        yield* see(page, "#contents", `Version ${controller.versionId}`)
        // There is a button for it.
        yield* see(page, "#problems", " waits")
        expect(yield* Effect.promise(() => page.locator("#problems").innerText())).not.toContain("vitrine")
        const { stdout } = yield* Effect.flatMap(run(["status"]), ({ ended }) => ended)
        expect(stdout).toMatch(
          /^HELD\n {2}! New versions of "content" have been held back since .* by Anna at the dashboard; version \S+ waits\. Resume to show them \("vitrine resume"\) \(\d times since the start\)\n/
        )

        yield* Effect.promise(() => page.evaluate("window.unreloaded = true"))
        yield* controller.signal("SIGKILL")
        yield* see(page, "#word", "NO CONNECTION")
        yield* start({ DASHBOARD: new URL(controller.url).port })
        yield* see(page, "#word", "HELD")
        expect(yield* Effect.promise((): Promise<unknown> => page.evaluate("window.unreloaded"))).toBe(true)
        expect(
          requested.filter((url) => !url.startsWith(controller.url) && !url.startsWith("data:"))
        ).toEqual([])
      })
    )

    it.scoped("shows in a sentence what a screen cannot show, and asks a screen to show its name", () =>
      Effect.gen(function* () {
        const { start, write } = yield* project
        const { logged, url, versionId } = yield* start()
        const transport = yield* logged(/HTTP transport on (http:\S+): /)
        const page = yield* openTab(url)
        const acknowledge = (lease: object) =>
          write("downloads/acks/kiosk.json", JSON.stringify({ versionId, ...lease }))
        yield* see(page, "#problems", "The controller works. No screen has reported yet.")
        yield* acknowledge({})
        yield* see(page, "#problems", "Everything works, on 1 screen.")
        yield* see(page, "#versions", "active, on 1 screen")
        yield* acknowledge({ problem: "no film" })
        yield* see(page, "#word", "WARNING")
        yield* see(page, "#problems", "Screen kiosk has had a problem since ")
        yield* see(page, "#tiles .tile", "no film")
        yield* act(page, "Mute", "Anna")
        yield* see(page, "#word", "OK")
        yield* see(page, "#problems", "by Anna at the dashboard")
        yield* act(page, "Unmute")
        yield* see(page, "#word", "WARNING")
        yield* acknowledge({ problem: "no film", renewMs: 1 })
        yield* see(page, "#word", "OK")
        yield* see(page, "#problems", "no longer watched: silent")
        yield* see(page, "#tiles .tile", "silent")
        const parts = yield* Effect.promise(() => page.locator("#tiles, #versions").allInnerTexts())
        expect(parts).toHaveLength(2)
        expect(parts.join()).not.toMatch(/no film|on [1-9]\d* screen/)
        yield* acknowledge({})
        yield* see(page, "#problems", "Everything works, on 1 screen.")
        yield* acknowledge({ renewMs: 1 })
        yield* see(page, "#problems", "The controller works. No screen has reported since ")

        const ack = (done: ReadonlyArray<string>) =>
          Effect.promise(async () => {
            const response = await fetch(`${transport}/command`, {
              method: "POST",
              body: JSON.stringify({ type: "content.ack", consumerId: "left", versionId, done })
            })
            const { result }: { readonly result: AckAnswer | null } = JSON.parse(await response.text())
            return result
          })
        expect(yield* ack([])).toBeNull()
        yield* see(page, ".tile", "left")
        yield* Effect.promise(() => page.getByRole("button", { name: "left", exact: true }).press("Enter"))
        yield* act(page, "Show name", "Anna")
        yield* see(page, "#log", "Screen left is asked to identify by Anna at the dashboard")
        const asked = yield* ack([])
        expect(asked).toMatchObject({ actions: ["identify"] })
        expect(yield* ack(asked?.ids ?? [])).toBeNull()
        yield* see(page, "#log", "Screen left shows its name now")

        yield* write("tables/Objects.csv", "inventory,title\n")
        yield* see(page, "#problems", "If that is meant, accept it")
        expect(yield* Effect.promise(() => page.locator("#problems").innerText())).not.toContain("vitrine")
        yield* act(page, "Accept", "Anna")
        yield* see(page, "#log", "Accepted by Anna at the dashboard")
        yield* see(page, "#word", "OK")
      })
    )
  })

  it.scopedLive("reports when no data arrives, even if the connection is still open", () =>
    Effect.gen(function* () {
      const { clock } = yield* Browser
      yield* Effect.promise(() => clock.install())
      const { start } = yield* project
      const controller = yield* start()
      const page = yield* openTab(controller.url)
      yield* see(page, "#word", "OK")
      expect(yield* canHold(page)).toBe(true)
      yield* controller.signal("SIGSTOP")
      yield* Effect.promise(() => clock.fastForward("00:30"))
      yield* see(page, "#word", "NO CONNECTION")
      yield* see(page, "#lost", "when the word was OK. Reconnecting …")
      expect(yield* canHold(page)).toBe(false)
      yield* controller.signal("SIGCONT")
      yield* see(page, "#word", "OK")
    }).pipe(Effect.provide(Browser.layer))
  )
})

describe.skipIf(isMissing("chromium"))("a page of the dashboard that gets nothing for 5 seconds", () => {
  it.scopedLive("says that the controller is reached, and what may be wrong", () =>
    Effect.gen(function* () {
      const { clock } = yield* Browser
      yield* Effect.promise(() => clock.install())
      const context = yield* Layer.build(dashboardLayer())
      const { addMomentary } = pluginsOf(Context.get(context, ControllerState))
      yield* addMomentary("slow", Effect.never)
      const port = yield* Effect.provide(dashboardPort, context)
      const page = yield* openTab("about:blank")
      const opened = page.waitForResponse(/events$/)
      yield* Effect.promise(() => page.goto(`http://127.0.0.1:${port}`))
      yield* Effect.promise(() => opened)
      yield* Effect.promise(() => clock.fastForward("00:07"))
      yield* see(page, "#lost", "has sent nothing for 5 s")
    }).pipe(Effect.provide(Browser.layer))
  )
})

/** Whether its button takes clicks. */
const canHold = (page: Page) =>
  Effect.promise(() =>
    page
      .getByRole("button", { name: "Hold", includeHidden: true })
      .evaluate((button) => !button.matches("[inert] *"))
  )

const resize = (page: Page, width: number, height: number) =>
  Effect.promise(() => page.setViewportSize({ width, height }))

/** Serves a dashboard in that state, and returns its address. */
const serveState = (name: keyof typeof states) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(states[name])
    return `http://127.0.0.1:${yield* Effect.provide(dashboardPort, context)}`
  })

/** Opens the page of a dashboard in that state, in a window of that size. */
const openState = (name: keyof typeof states, width: number, height: number) =>
  Effect.gen(function* () {
    const url = yield* serveState(name)
    const page = yield* openTab("about:blank")
    yield* resize(page, width, height)
    yield* Effect.promise(() => page.goto(url))
    yield* see(page, ".tile", "")
    yield* Effect.promise(() => page.evaluate("document.fonts.ready"))
    return page
  })

const phone = [390, 844] as const
const desktop = [1280, 800] as const

/** In pixels, and how far down its last tile ends. */
const sizeOf = (page: Page) =>
  Effect.promise(() =>
    page.evaluate<{ height: number; width: number; tiles: number }>(`({
      height: document.documentElement.scrollHeight,
      width: document.documentElement.scrollWidth,
      tiles: document.querySelector(".tile:last-child").getBoundingClientRect().bottom
    })`)
  )

/** In one step: an element that the page has replaced meanwhile has no line breaks any more. */
const textsOf = (page: Page, selector: string) =>
  Effect.promise(() =>
    page.evaluate<Array<string>>(
      `Array.from(document.querySelectorAll(${JSON.stringify(selector)}), (element) => element.innerText)`
    )
  )

describe.skipIf(isMissing("chromium"))("a page of the dashboard", () => {
  layer(inBrowser, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped("confirms with Enter in each field of a dialog, which closes with Cancel or Escape", () =>
      Effect.gen(function* () {
        const page = yield* openState("problems", ...desktop)
        const sent: Array<unknown> = []
        page.on("request", (request) => {
          if (request.method() === "POST") sent.push(request.postDataJSON().type)
        })
        const open = (label: string) =>
          Effect.promise(() => page.locator("main button:visible", { hasText: label }).first().click())
        const closed = Effect.promise(() => page.locator("#dialog").waitFor({ state: "hidden" }))

        yield* open("Hold")
        // The end of the hold and a name: no token is asked for if the dashboard has none.
        expect(yield* Effect.promise(() => page.locator("#dialog input:visible").count())).toBe(2)
        yield* Effect.promise(() => page.getByLabel("Your name").press("Enter"))
        yield* see(page, "#problem", "content.hold")
        yield* Effect.promise(() => page.getByRole("button", { name: "Cancel" }).click())
        yield* closed
        yield* open("Mute")
        yield* Effect.promise(() => page.getByLabel("Why").press("Enter"))
        yield* see(page, "#problem", "problem.mute")
        yield* Effect.promise(() => page.keyboard.press("Escape"))
        yield* closed
        expect(sent).toEqual(["content.hold", "problem.mute"])
      })
    )

    it.scoped.each([
      ["fails", { error: { message: "Too late" } }],
      ["succeeds", { result: null }]
    ])("sends an action once, and an answer that %s is not for the next dialog", ([, answer]) =>
      Effect.gen(function* () {
        const page = yield* openState("problems", ...desktop)
        const routes: Array<Route> = []
        yield* Effect.promise(async () => {
          await page.route("**/command", (route) => void routes.push(route))
          const open = (label: string) =>
            page.locator("main button:visible", { hasText: label }).first().click()
          await open("Hold")
          await page.getByLabel("Your name").press("Enter")
          await page.click("#confirm")
          await page.keyboard.press("Escape")
          await open("Mute")
          const answered = page.waitForResponse("**/command")
          await routes[0]?.fulfill({ json: answer })
          await (await answered).finished()
          await page.evaluate("fetch('status').then((response) => response.text())")
        })
        expect(routes).toHaveLength(1)
        expect(yield* Effect.promise(() => page.locator("#dialog").innerText())).not.toContain("Too late")
        expect(yield* Effect.promise(() => page.locator("#dialog").isVisible())).toBe(true)
      })
    )

    it.scoped.each(["well", "problems", "held"] as const)(
      "is at most two screens long on a phone, and not wider, in the state %s",
      (name) =>
        Effect.gen(function* () {
          const page = yield* openState(name, ...phone)
          const { height, width } = yield* sizeOf(page)
          expect(height).toBeLessThanOrEqual(2 * phone[1])
          expect(width).toBe(phone[0])
        })
    )

    it.scoped("has two columns of one height, and is not wider than a phone, while it connects", () =>
      Effect.gen(function* () {
        const url = yield* serveState("well")
        const page = yield* openTab("about:blank")
        yield* Effect.promise(() => page.route("**/events", () => {}))
        yield* resize(page, ...desktop)
        yield* Effect.promise(() => page.goto(url))
        const top = (id: string) =>
          Effect.promise(() =>
            page.evaluate<number>(`document.getElementById("${id}").getBoundingClientRect().top`)
          )
        expect(yield* top("changed")).toBe(yield* top("logging"))
        yield* resize(page, ...phone)
        expect(yield* Effect.promise(() => page.evaluate("document.documentElement.scrollWidth"))).toBe(
          phone[0]
        )
      })
    )

    it.scoped("is reached by the keyboard in the order of the page, with a visible focus", () =>
      Effect.gen(function* () {
        const page = yield* openState("problems", ...desktop)
        const seen: Array<unknown> = []
        for (let count = 0; count < 9; count++) {
          yield* Effect.promise(() => page.keyboard.press("Tab"))
          const focused = yield* Effect.promise(() =>
            page.evaluate<readonly [string, string]>(
              "[document.activeElement.textContent, getComputedStyle(document.activeElement).outlineStyle]"
            )
          )
          seen.push(focused)
        }
        const mutes = ["Mute", "Mute", "Mute", "Mute"]
        const tiles = ["Right wall", "Touch table", "kiosk-entrance-0042", "Left wall"]
        expect(seen).toEqual([...mutes, ...tiles, "Hold"].map((name) => [name, "solid"]))
      })
    )

    it.scoped(
      "of a hub shows forty-one players on one desktop screen, the worst first, and fits on a phone",
      () =>
        Effect.gen(function* () {
          const page = yield* openState("hub", 1920, 1080)
          expect((yield* sizeOf(page)).tiles).toBeLessThanOrEqual(1080)
          const tiles = yield* textsOf(page, ".tile")
          expect(tiles).toHaveLength(41)
          expect(
            tiles.slice(0, 4).map((text) => text.replaceAll("\u00a0", " ").split(/\n+/).slice(0, 2))
          ).toEqual([
            [
              expect.stringMatching(/^Small Mammals 1 version of .*\d\d:\d\d/),
              "silent for 14 min, 4 screens"
            ],
            [expect.stringMatching(/^Planetarium foyer/), "never seen for 3 d 4 h"],
            [expect.stringMatching(/^Whale Hall 2/), "problem for 9 min, 2 screens"],
            [expect.stringMatching(/^Whale Hall 3/), "problem for 50 min, 2 screens"]
          ])
          expect(tiles.at(-1)).toMatch(/\nup to date, \d\sscreens?$/)

          yield* resize(page, ...phone)
          expect((yield* sizeOf(page)).width).toBe(phone[0])
          const clipped = yield* Effect.promise(() =>
            page.evaluate(`[...document.querySelectorAll("main *")]
            .filter((element) => element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
            .map((element) => element.outerHTML)`)
          )
          expect(clipped).toEqual([])
        })
    )

    it.scoped("takes a picture of a screen, or says why there is none, and shows the picture again", () =>
      Effect.gen(function* () {
        const token = "0123456789abcdef"
        const context = yield* Layer.build(
          Layer.provideMerge(dashboardLayer({ token }), ScreenPicturesMemory.layer)
        )
        const port = yield* Effect.provide(dashboardPort, context)
        const pictures = Context.get(context, ScreenPictures)
        const at = new Date().toISOString()
        const screens = ["left", "right", "camera"].map((id) => ({
          id,
          versionId: "20261121T093000Z",
          shownSince: at,
          heardAt: at,
          until: new Date(Date.now() + 3_600_000).toISOString()
        }))
        yield* Effect.provide(setContent({ sources: {}, screens }), context)
        const page = yield* openTab(`http://127.0.0.1:${port}`)
        const jpeg = yield* Effect.promise(() => page.screenshot({ type: "jpeg" }))
        const watch = (screen: string, answer: Either.Either<Uint8Array, string>) =>
          Effect.flatMap(Effect.flatten(pictures.wanted(screen)), (wanted) => pictures.answer(wanted, answer))
        const press = (name: string, at = page) =>
          Effect.promise(() => at.locator("button:visible", { hasText: name }).first().click())
        const dialogs = Effect.promise(() => page.locator("dialog:visible").count())
        const width = (selector: string) =>
          Effect.promise(() =>
            page.evaluate(`(async (image) => { await image.decode(); return image.naturalWidth })(
              document.querySelector(${JSON.stringify(selector)})
            )`)
          )

        yield* press("right")
        yield* press("Picture")
        yield* Effect.promise(() => page.getByLabel("Token").fill(token))
        yield* Effect.promise(() => page.click("#confirm"))
        yield* see(page, "#problem", "Pictures of screens are off: set")
        yield* press("Cancel")
        yield* pictures.open(["camera"])
        yield* press("Picture")
        yield* watch("right", Either.left("the tab has crashed"))
        yield* see(page, "#problem", "There is no picture of screen right: the tab has crashed")
        yield* press("Cancel")
        yield* press("right")
        yield* press("left")
        yield* press("Picture")
        yield* watch("left", Either.right(jpeg))
        yield* see(page, ".tile figcaption", "left")
        expect(yield* dialogs).toBe(0)
        expect(yield* width(".tile img")).toBe(1920)
        expect(yield* violationsOf(page, "#tiles")).toEqual([])
        yield* Effect.promise(() => page.locator(".tile img").click())
        expect(yield* width("#large")).toBe(1920)
        expect(yield* violationsOf(page, "#picture")).toEqual([])
        yield* press("Close")
        expect(yield* dialogs).toBe(0)

        yield* Effect.promise(() => page.reload())
        yield* see(page, ".tile figcaption", "left")
        expect(yield* width(".tile img")).toBe(1920)
        const other = yield* openTab(`http://127.0.0.1:${port}`)
        yield* see(other, ".tile", "left")
        expect(yield* Effect.promise(() => other.locator("figure:visible").count())).toBe(0)
        yield* press("camera", other)
        yield* press("Picture", other)
        yield* Effect.promise(() => other.getByLabel("Token").fill(token))
        yield* Effect.promise(() => other.click("#confirm"))
        yield* see(other, "#problem", "Pictures of screen camera are forbidden")
        yield* see(other, ".tile figcaption", "left")
      })
    )

    it.scoped("links to a preview of the waiting version", () =>
      Effect.gen(function* () {
        const page = yield* openState("held", ...desktop)
        const link = page.getByRole("link", { name: "Look" })
        expect(yield* Effect.promise(() => link.getAttribute("href"))).toBe(
          "http://127.0.0.1:8730/?version=waiting"
        )
        // The address that the machine had at the start.
        const href = yield* Effect.promise(() =>
          page.evaluate(
            `import("/content.js").then(({ addressOf }) => addressOf("http://192.0.2.9:8730/", true).href)`
          )
        )
        expect(href).toBe("http://127.0.0.1:8730/?version=waiting")
      })
    )

    it.scoped("says that the end of a hold has released the active version", () =>
      Effect.gen(function* () {
        const page = yield* openState("well", ...desktop)
        const words = yield* Effect.promise(() => page.locator("main").innerText())
        expect(words).toMatch(/, the hold until .* has ended/)
      })
    )

    it.scoped("has its own typeface, and unfolds long lists by the keyboard", () =>
      Effect.gen(function* () {
        const page = yield* openState("well", ...desktop)
        const faces = yield* Effect.promise(() =>
          page.evaluate(
            `[...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family)`
          )
        )
        expect(new Set([faces].flat())).toEqual(new Set(["Newsreader", "Instrument Sans"]))
        const visible = () => Effect.promise(() => page.locator("#versions .rows > li:visible").count())
        expect(yield* visible()).toBe(5)
        yield* Effect.promise(() => page.getByRole("button", { name: "Show all 7" }).press("Enter"))
        expect(yield* visible()).toBe(7)
        yield* see(page, "#versions", 'Objects: "Umbrella Ticket" added')
      })
    )
  })
})

describe.skipIf(isMissing("promtool"))("the metrics of the dashboard", () => {
  it.scopedLive("are accepted by Prometheus, with the problems for which it raises alerts", () =>
    Effect.gen(function* () {
      const { run } = yield* project
      const controller = yield* run(["start"], { TABLES: yield* unreachable })
      const url = yield* controller.logged(dashboardUrl)
      yield* controller.logged(/(Fetch failed)/)
      const metrics = yield* Effect.promise(async () => (await fetch(`${url}/metrics`)).text())
      expect(checkMetrics(metrics)).toMatchObject({ status: 0, stderr: "" })
      expect(metrics).toContain('\nvitrine_problem{code="content:none",subject="content"} 2\n')
      expect(metrics).toContain("\nvitrine_content_last_success_timestamp_seconds 0\n")
    })
  )
})

describe.skipIf(isMissing("promtool"))("the rules for Prometheus", () => {
  it.scopedLive("are valid, and raise alerts when they should, and only then", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* project
      for (const file of ["prometheus.yml", "vitrine.rules.yml"]) {
        yield* write(file, read(`deploy/prometheus/${file}`))
      }
      yield* write("alerts.json", JSON.stringify(alertTests))
      const promtool = (...args: ReadonlyArray<string>) =>
        spawnSync(pathOf("promtool"), args, { cwd: folder, encoding: "utf8" })
      expect(promtool("check", "config", "prometheus.yml")).toMatchObject({ status: 0, stderr: "" })
      expect(promtool("test", "rules", "alerts.json")).toMatchObject({ status: 0, stderr: "" })
    })
  )
})

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** The findings of axe-core in a part of the page. */
const violationsOf = (page: Page, selector: string) =>
  Effect.promise(async () => {
    await page.evaluate(axe)
    return page.evaluate<ReadonlyArray<string>>(
      `axe.run("${selector}").then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html)))`
    )
  })

const checkMetrics = (text: string) =>
  spawnSync(pathOf("promtool"), ["check", "metrics"], { input: text, encoding: "utf8" })

/** Values of a series from minute to minute, and the severities of the alerts; promtool's clock begins in 1970. */
const raised = (
  alertname: string,
  series: string,
  values: string,
  expected: Readonly<Record<string, ReadonlyArray<"error" | "warning">>>,
  exp_annotations: object
) => ({
  interval: "1m",
  input_series: [{ series, values }],
  alert_rule_test: Object.entries(expected).map(([eval_time, severities]) => ({
    eval_time,
    alertname,
    exp_alerts: severities.map((severity) => ({
      exp_labels: { ...labelsOf(series), severity },
      exp_annotations
    }))
  }))
})

const labelsOf = (series: string) =>
  Object.fromEntries(
    [...series.matchAll(/(\w+)="(.*?)"/g)].map(([, label = "", value = ""]) => [label, value])
  )

const closed = 'vitrine_problem{instance="hall-3:8720",code="screen:closed",subject="left-wall"}'
const failing = 'vitrine_problem{instance="hall-3:8720",code="content:failing"}'

const description = "The sentence is on the dashboard and in vitrine status on the machine."

const alertTests = {
  rule_files: ["vitrine.rules.yml"],
  tests: [
    raised(
      "ExhibitDown",
      'up{job="vitrine",instance="hall-3:8720"}',
      "1 0x9",
      { "4m": [], "7m": ["error"] },
      { summary: "hall-3:8720 does not respond" }
    ),
    raised(
      "ExhibitProblem",
      closed,
      "_x2 2x5 0x5 2x3 stale",
      { "3m": [], "6m": ["warning", "error"], "10m": [], "17m": ["warning", "error"], "19m": [] },
      { summary: "hall-3:8720: screen:closed of left-wall", description }
    ),
    raised(
      "ExhibitProblem",
      failing,
      "1x4 2x4 1x4",
      { "1m": [], "3m": ["warning"], "8m": ["warning", "error"], "11m": ["warning"] },
      { summary: "hall-3:8720: content:failing", description }
    )
  ]
}
