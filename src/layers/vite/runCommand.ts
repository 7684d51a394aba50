/**
 * Runs commands of `vitrine` beside a dev server.
 */
import { type SpawnOptions, spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Logger } from "vite"

/** A process that runs until it is ended. */
export interface Running {
  /** Ends the process, and waits until it has ended. */
  readonly end: () => Promise<void>
}

/** Ends a process as with Ctrl-C when its parent has ended for any reason. */
const endWithParent = `data:text/javascript,process.once("disconnect",()=>process.kill(process.pid,"SIGTERM"))`

/** Runs a command of `vitrine` until it is ended, or this process ends. Its output goes to the log of Vite. */
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
      // Ctrl-C in the terminal must reach only the dev server.
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
