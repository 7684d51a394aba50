/**
 * A venue on one machine: a hub and three players, each a controller in a process of its own.
 *
 *     npm run venue
 *
 * `npx vitrine fleet --watch` with the options below shows at the hub what the players do, and so does the dashboard,
 * http://127.0.0.1:8720.
 *
 * Change a cell in `scratchpad/exhibit/tables/Objects.csv`: three pages show it. Stop the hub by
 * `npx vitrine stop --config scratchpad/venue/hub/vitrine.config.ts --run-dir scratchpad/venue/.vitrine/hub`: they go on.
 *
 * `FREE_PORTS=1` picks free ports for pages and event streams, `VENUE` names another folder for what the controllers write,
 * `TABLES_PORT` another port of the tables, and `TABLES_URL` another API.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const { FREE_PORTS, VENUE, ...env } = process.env
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const folder = VENUE ?? here(".")
const port = (number: number) => (FREE_PORTS === undefined ? String(number) : "0")

const controllers: Array<ChildProcess> = []

/** Starts a controller, and returns the address of its content server when the server listens. */
const start = (name: string, config: string, settings: Readonly<Record<string, string>>) => {
  const runDir = join(folder, ".vitrine", name)
  mkdirSync(runDir, { recursive: true, mode: 0o700 })
  const controller = spawn(
    process.execPath,
    [here("../../dist/bin.cjs"), "start", "--config", here(config), "--run-dir", runDir],
    {
      env: { ...env, ...settings, DOWNLOADS: join(folder, "downloads", name) },
      stdio: ["ignore", "ignore", "pipe"]
    }
  )
  controllers.push(controller)
  return new Promise<string>((resolve, reject) => {
    createInterface(controller.stderr).on("line", (line) => {
      console.log(`${name}: ${line}`)
      const [, url] = /Content server on (\S+):/.exec(line) ?? []
      if (url !== undefined) {
        resolve(url)
      }
    })
    controller.once("exit", () => reject(new Error(`${name} has ended`)))
  })
}

const stopAll = () => {
  for (const controller of controllers) {
    controller.kill()
  }
}
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, stopAll)
}

try {
  const hub = await start("hub", "hub/vitrine.config.ts", {
    PAGE_PORT: port(8730),
    DASHBOARD_PORT: port(8720)
  })
  const pages = await Promise.all(
    [1, 2, 3].map((number) =>
      start(`player-${number}`, "player/vitrine.config.ts", {
        HUB_URL: hub,
        PLAYER: `player-${number}`,
        PAGE_PORT: port(8730 + number),
        TRANSPORT_PORT: port(8710 + number)
      })
    )
  )
  console.log(`The pages are at ${pages.join(", ")}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
  stopAll()
}
