/**
 * Makes pictures of the dashboard, in five states and at four sizes, to be looked at:
 *
 *     npx jiti docs/images/dashboard.ts FOLDER
 *
 * Without a folder it makes those of the documentation. It needs Chromium, and `pngquant` for the latter. CHROMIUM names another executable.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { type Browser, chromium, type Page } from "playwright-core"
import * as dashboard from "../../test/support/dashboard.ts"
import { states } from "../../test/support/dashboardStates.ts"

const sizes = [
  { name: "desktop", width: 1920, height: 1080 },
  { name: "laptop", width: 1280, height: 800 },
  { name: "tablet", width: 768, height: 1024 },
  { name: "phone", width: 390, height: 844 }
]

/** Opens the state in the browser while `use` looks at it. `leave` ends the dashboard. */
const withState = (
  name: keyof typeof states,
  use: (url: string, leave: Effect.Effect<void>) => Promise<unknown>
) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(states[name], scope)
    const port = yield* Effect.provide(dashboard.port, context)
    const leave = Scope.close(scope, Exit.void)
    yield* Effect.promise(() => use(`http://127.0.0.1:${port}`, leave))
    yield* leave
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)), Effect.runPromise)

const open = async (
  browser: Browser,
  url: string,
  size: { readonly width: number; readonly height: number },
  scheme: "dark" | "light"
) => {
  const page = await browser.newPage({
    viewport: size,
    colorScheme: scheme,
    reducedMotion: "reduce",
    timezoneId: "Europe/London",
    locale: "en-GB"
  })
  await page.goto(url)
  await page.waitForSelector("body[data-tone]")
  await page.evaluate("document.fonts.ready")
  return page
}

const take = (page: Page, folder: string, name: string, fullPage: boolean) =>
  page.screenshot({ path: join(folder, `${name}.png`), fullPage })

/** All states, all sizes, in both colour schemes; of the whole page. */
const takeAll = async (browser: Browser, folder: string) => {
  mkdirSync(folder, { recursive: true })
  for (const name of ["well", "problems", "held", "hub", "lost"] as const) {
    await withState(name === "lost" ? "problems" : name, async (url, leave) => {
      const pages = await Promise.all(
        sizes.map(async (size) => ({ size, page: await open(browser, url, size, "light") }))
      )
      if (name === "lost") {
        await Effect.runPromise(leave)
        await Promise.all(pages.map(({ page }) => page.waitForSelector("body.away")))
      }
      for (const { page, size } of pages) {
        await take(page, folder, `${name}-${size.name}`, true)
        await page.emulateMedia({ colorScheme: "dark" })
        await take(page, folder, `${name}-${size.name}-dark`, true)
        await page.close()
      }
    })
  }
}

const documented = fileURLToPath(new URL(".", import.meta.url))

const takeDocumented = async (browser: Browser) => {
  // As high as what they are there for: they are part of the package.
  const wanted = [
    ["dashboard", "problems", { width: 1280, height: 700 }],
    ["dashboard-hub", "hub", { width: 1920, height: 950 }]
  ] as const
  for (const [file, state, size] of wanted) {
    await withState(state, async (url) =>
      take(await open(browser, url, size, "light"), documented, file, false)
    )
  }
  const files = wanted.map(([file]) => join(documented, `${file}.png`))
  execFileSync("pngquant", ["--force", "--strip", "--speed", "1", "--nofs", "--ext", ".png", "24", ...files])
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"]
})
const [folder] = process.argv.slice(2)
try {
  await (folder === undefined ? takeDocumented(browser) : takeAll(browser, folder))
} finally {
  await browser.close()
}
