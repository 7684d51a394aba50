/**
 * Makes the pictures of the README, from the demo exhibit and the real command line:
 *
 *     npm run build && npx jiti docs/images/make.ts
 *
 * It needs Chromium, `script` of util-linux, and `pngquant`. CHROMIUM names another executable.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Browser, chromium } from "playwright-core"

const repository = fileURLToPath(new URL("../..", import.meta.url))
const image = (name: string) => join(repository, "docs/images", name)
const bin = join(repository, "dist/bin.cjs")

const made = mkdtempSync(join(tmpdir(), "vitrine-pictures-"))
for (const name of ["exhibit/vitrine.config.ts", "exhibit/page", "exhibit/tables", "table-server"]) {
  cpSync(join(repository, "scratchpad", name), join(made, name), { recursive: true })
}
symlinkSync(join(repository, "node_modules"), join(made, "node_modules"))
const folder = join(made, "exhibit")

/** What the controller logs until it matches. */
const logged = (child: ChildProcess, pattern: RegExp) =>
  new Promise<string>((resolve, reject) => {
    let text = ""
    child.stderr?.on("data", (chunk) => {
      text += chunk
      const [, group] = pattern.exec(text) ?? []
      if (group !== undefined) resolve(group)
    })
    child.once("close", () => reject(new Error(text)))
  })

/** What a command shows on a terminal. */
const terminal = (...args: ReadonlyArray<string>) => {
  const command = [process.execPath, bin, ...args].map((part) => `'${part}'`).join(" ")
  const shown = execFileSync("script", ["-qec", command, "/dev/null"], { cwd: folder, encoding: "utf8" })
  return `$ vitrine ${args.join(" ")}\n${shown.replaceAll("\r\n", "\n")}`
}

const colours: Readonly<Record<string, string>> = {
  1: "font-weight: bold",
  2: "opacity: 0.6",
  31: "color: #ff7b72",
  32: "color: #7ee787",
  33: "color: #e3b341",
  36: "color: #79c0ff"
}

/** Text for a terminal as HTML: its colours, and none of its other escape sequences. */
const html = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replace(/\x1b\[(\d+)m/g, (_, code) => (code in colours ? `<span style="${colours[code]}">` : "</span>"))
    .replace(/\x1b\[[\d;?]*[A-Za-z]/g, "")

const photograph = async (browser: Browser, address: string) => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 675 } })
  await page.goto(address)
  await page.waitForSelector('html[data-connection="live"]')
  await page.waitForFunction("[...document.images].every(({ complete }) => complete)")
  // So that a fetch without news has been, too.
  await page.waitForTimeout(3000)
  await page.screenshot({ path: image("exhibit.png") })

  const style =
    "background: #0d1117; color: #e6edf3; font: 13px/1.45 monospace; padding: 16px 20px; margin: 0; max-width: 800px; overflow: hidden; text-overflow: ellipsis"
  const text = html(terminal("status")).trimEnd()
  const sharp = await browser.newPage({ viewport: { width: 1200, height: 675 } })
  await sharp.setContent(`<body style="margin: 0; display: inline-block"><pre style="${style}">${text}</pre>`)
  await sharp.locator("pre").screenshot({ path: image("terminal.png") })
}

const controller = spawn(process.execPath, [bin, "start"], {
  cwd: folder,
  env: { ...process.env, TRANSPORT_PORT: "0", PAGE_PORT: "0", DASHBOARD_PORT: "0", TABLES_PORT: "8739" },
  stdio: ["ignore", "ignore", "pipe"]
})
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"]
})
try {
  await photograph(browser, await logged(controller, /Content server on (\S+):[\s\S]*New version/))
  const files = [image("exhibit.png"), image("terminal.png")]
  execFileSync("pngquant", ["--force", "--strip", "--ext", ".png", "128", ...files])
} finally {
  await browser.close()
  if (controller.kill()) await once(controller, "close")
  rmSync(made, { recursive: true })
}
