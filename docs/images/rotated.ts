/**
 * Makes the picture of a turned page in docs/operate.md, from the page of `vitrine init`:
 *
 *     npm run build && npx jiti docs/images/rotated.ts
 *
 * It needs Chromium. CHROMIUM names another executable.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import sharp from "sharp"

const repository = fileURLToPath(new URL("../..", import.meta.url))
const bin = join(repository, "dist/bin.cjs")
const folder = mkdtempSync(join(tmpdir(), "vitrine-rotated-"))
execFileSync(process.execPath, [bin, "init", folder, "--page"])
symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"))
const file = join(folder, "vitrine.config.ts")
const configuration = readFileSync(file, "utf8").replaceAll(/port: \d+/g, "port: 0")
writeFileSync(file, configuration.replace('from "vitrine"', `from "${repository}/dist/index.js"`))

const controller = spawn(process.execPath, [bin, "start"], {
  cwd: folder,
  stdio: ["ignore", "ignore", "pipe"]
})
const address = new Promise<string>((resolve, reject) => {
  let log = ""
  controller.stderr.on("data", (chunk) => {
    log += chunk
    const [, url] = /Content server on (\S+):[\s\S]*New version/.exec(log) ?? []
    if (url !== undefined) resolve(url)
  })
  controller.once("close", () => reject(new Error(log)))
})
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"]
})
try {
  const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } })
  await page.goto(`${await address}/?rotate=90`)
  await page.waitForFunction("document.images.length === 4")
  await page.waitForTimeout(1500)
  const drawn = await sharp(await page.screenshot())
    .resize(640)
    .toBuffer()
  const hung = await sharp(drawn).rotate(270).toBuffer()
  const image = (bytes: Buffer, text: string) =>
    `<figure><img src="data:image/png;base64,${bytes.toString("base64")}"><figcaption>${text}</figcaption></figure>`
  const both = await browser.newPage()
  await both.setContent(`<style>
    body { margin: 0; padding: 24px; display: inline-flex; gap: 48px; align-items: end; background: #fff; font: 17px sans-serif }
    figure { margin: 0 } img { display: block; border: 10px solid #333; border-radius: 4px } figcaption { margin-top: 12px; color: #222 }
  </style>${image(drawn, "rotate = 90: what the browser draws")}${image(hung, "the screen as it hangs")}`)
  const png = await sharp(await both.locator("body").screenshot())
    .png({ palette: true, colours: 96 })
    .toBuffer()
  writeFileSync(join(repository, "docs/images/rotated.png"), png)
} finally {
  await browser.close()
  if (controller.kill()) await once(controller, "close")
  rmSync(folder, { recursive: true })
}
