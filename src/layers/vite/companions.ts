/**
 * Runs processes beside a dev server: the controller of the project, its types, and a listener for rejected content.
 */
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { loadEnv, type ResolvedConfig, type ViteDevServer } from "vite"
import { configurationNames } from "../../internal/configurationNames.ts"
import { answers } from "./contentProxy.ts"
import { rejectedEvent } from "./hotClient.ts"
import { type Running, runCommand } from "./runCommand.ts"

/** Calls the listener at each change with the content that the controller rejects, until the returned function is called. */
export type FollowRejections = (folder: string, listener: (text: string) => void) => Promise<() => void>

export interface Companions {
  /** Starts the companions when the server listens. */
  readonly start: (server: ViteDevServer) => void
  /** Whether the controller is started here: it answers soon, or has printed why it ends. */
  readonly hasController: () => boolean
  /** Waits until all have ended. */
  readonly end: () => Promise<void>
}

/** The wanted companions, and the address of the content server. */
interface Wanted {
  readonly content: string
  readonly start: boolean
  readonly types: boolean
}

export const makeCompanions = (
  { content, start, types }: Wanted,
  followRejections: FollowRejections
): Companions => {
  const running = new Set<Running>()
  let hasController = false

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
    hasController: () => hasController,
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
