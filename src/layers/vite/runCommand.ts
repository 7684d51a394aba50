/**
 * Commands of `vitrine` that run beside a dev server.
 */
import { type SpawnOptions, spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Logger } from "vite"

/** Something that runs until it is ended. */
export interface Running {
  /** Waits until it has ended. */
  readonly end: () => Promise<void>
}

/** Ends a process as Ctrl-C does when its parent is gone, however that ended. */
const endWithParent = `data:text/javascript,process.once("disconnect",()=>process.kill(process.pid,"SIGTERM"))`

/** Runs a command of `vitrine` until it is to end, or this process ends; what it says goes to the log of Vite. */
export const runCommand = (
  command: ReadonlyArray<string>,
  { cwd, env }: Pick<SpawnOptions, "cwd" | "env">,
  { error, info }: Logger
): Running => {
  let isEnding = false
  let disconnect = () => {}
  const run = async () => {
    const bin = join(createRequire(import.meta.url).resolve("vitrine/package.json"), "../dist/bin.js")
    const child = spawn(process.execPath, ["--import", endWithParent, bin, ...command], {
      cwd,
      env,
      // Ctrl-C in the terminal is for the dev server alone.
      detached: true,
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"]
    })
    disconnect = () => child.connected && child.disconnect()
    for (const input of [child.stdout, child.stderr]) {
      if (input) {
        createInterface({ input }).on("line", (line) => info(`[vitrine] ${line}`))
      }
    }
    const [status, signal] = await once(child, "exit")
    return `has ended (${signal ?? `status ${status}`})`
  }
  const ended = run()
    .catch(({ message }) => `could not be started: ${message}`)
    .then((outcome) => {
      if (!isEnding) {
        error(`[vitrine] vitrine ${command[0]} ${outcome}.`)
      }
    })
  return {
    end: () => {
      isEnding = true
      disconnect()
      return ended
    }
  }
}
