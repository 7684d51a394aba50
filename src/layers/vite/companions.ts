/**
 * Runs processes beside a dev server: the controller of the project, its types, and a listener for rejected content.
 */
import { type SpawnOptions, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { type Logger, loadEnv, type ResolvedConfig, type ViteDevServer } from "vite"
import { configurationNames } from "../../internal/configurationNames.ts"
import { packageFile } from "../../internal/packageFile.ts"
import { rejectedEvent } from "./hotClient.ts"

/** Calls the listener at each change with the content that the controller rejects, until the returned function is called. */
export type FollowRejections = (folder: string, listener: (text: string) => void) => Promise<() => void>

/** The wanted companions, and the address of the content server. */
interface Wanted {
  readonly content: string
  readonly start: boolean
  readonly types: boolean
}

export const makeCompanions = ({ content, start, types }: Wanted, followRejections: FollowRejections) => {
  const running = new Set<Running>()
  let hasController = false

  /** Starts the companions when the server listens. */
  const startBeside = ({ config, httpServer, watcher, ws }: ViteDevServer): void => {
    const { envDir, logger, mode, root } = config
    const folders = [...new Set([resolve(root), process.cwd()])]
    const file = configurationIn(folders)
    // Vite restarts when these files are edited.
    const env = loadEnv(mode, envDir, "")
    const showRejected = makeRejected(ws)

    const run = (command: ReadonlyArray<string>, cwd: string) => {
      const child = runCommand(command, { cwd, env }, logger)
      running.add(child)
      return child
    }

    // After a restart, the new dev server listens when the old server and its companions are closed.
    httpServer?.once("listening", async () => {
      const isRunning = start && (await answers(content))
      const isToStart = start && !isRunning
      if (!httpServer.listening) {
        return
      }
      if (isRunning) {
        logger.info(`[vitrine] Shows the content of the controller at ${content}, which runs already.`)
      }
      if (!file) {
        if (isToStart || types) {
          logger.info(
            `[vitrine] Runs nothing: there is no ${configurationNames[0]} in ${folders.join(" or ")}.`
          )
        }
        return
      }
      const folder = dirname(file)
      if (hasOverlay(config)) {
        const following = followRejections(folder, showRejected)
        running.add({ end: async () => (await following)() })
      }
      if (types) {
        run(["types", "--watch"], folder)
      }
      if (isToStart) {
        hasController = true
        const command = ["start", "--dev-server"]
        let controller = Promise.resolve(run(command, folder))
        watcher.add(file).on("change", (changed) => {
          if (resolve(changed) === file) {
            controller = controller.then(async (before) => {
              await before.end()
              return httpServer.listening ? run(command, folder) : before
            })
          }
        })
      }
    })
  }

  return {
    start: startBeside,
    /** Whether the controller is started here: it answers soon, or has printed why it ends. */
    hasController: () => hasController,
    /** Waits until all have ended. */
    end: async () => {
      await Promise.all([...running].map(({ end }) => end()))
      running.clear()
      hasController = false
    }
  }
}

const configurationIn = (folders: ReadonlyArray<string>): string | undefined =>
  folders
    .flatMap((folder) => configurationNames.map((name) => join(folder, name)))
    .find((name) => existsSync(name))

/** Whether a content server answers, or another server with a copy of its folder. Any other program may use the port. */
const answers = (content: string): Promise<boolean> =>
  fetch(`${content}/manifest.json`, { signal: AbortSignal.timeout(2000) })
    .then(
      async (response) =>
        /vitrine-/i.test(response.headers.get("access-control-expose-headers") ?? "") ||
        /^\s*\{.*"versionId":/s.test(await response.text())
    )
    .catch(() => false)

/** Sends rejected content to pages at each change, and to each page that asks. */
const makeRejected = (ws: ViteDevServer["ws"]) => {
  let rejected = ""
  ws.on(rejectedEvent, (_, client) => client.send(rejectedEvent, rejected))
  return (text: string): void => {
    rejected = text
    ws.send(rejectedEvent, text)
  }
}

const hasOverlay = ({ server: { hmr = true } }: ResolvedConfig): boolean =>
  typeof hmr === "boolean" ? hmr : hmr.overlay !== false

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
    const bin = packageFile("dist/bin.cjs")
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
