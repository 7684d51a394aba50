/**
 * `vitrine/vite`: a plugin for Vite. Its dev server has the content of a controller, so that a page is the same there as in operation.
 *
 * A production build has nothing of it.
 */
import { type SpawnOptions, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { type Logger, loadEnv, type Plugin, type ProxyOptions, type ResolvedConfig } from "vite"
import { configurationNames } from "./internal/configurationNames.ts"

/** The options of the plugin. */
export interface VitrineOptions {
  /** Address of the content server. Default `http://127.0.0.1:8730`. */
  readonly content?: string

  /**
   * Whether `vitrine start` runs beside the dev server, where nothing answers at `content` and a `vitrine.config` file is in the root
   * of Vite or in the current folder; anew when that file is edited. Default `true`.
   */
  readonly start?: boolean

  /** Whether `vitrine types --watch` runs beside the dev server, where there is such a file. Default `true`. */
  readonly types?: boolean
}

/** What the content server answers, and Vite does not. */
const contentPaths = "^/(manifest\\.json|endpoint\\.json|versions/|vitrine/)"

/** A page asks by it what is rejected, and is told by it at each change. */
const rejectedEvent = "vitrine:rejected"

const clients = ["vitrine/client", "vitrine/client/preview"]
/** The modules around them: no file has such a name. */
const prefix = "\0hot:"

const require = createRequire(import.meta.url)

/** The plugin: `plugins: [vitrine()]` in `vite.config.ts`. */
export const vitrine = ({
  content = "http://127.0.0.1:8730",
  start = true,
  types = true
}: VitrineOptions = {}): Plugin => {
  const children = new Set<Child>()
  /** Vite's logger, once the configuration is resolved. */
  let warn = console.warn
  /** Whether the controller is started here: it answers soon, or has said why it ends. */
  let isStarted = false
  return {
    name: "vitrine",
    apply: "serve",
    enforce: "pre",
    config: ({ root = "." }) => ({
      optimizeDeps: { exclude: ["vitrine"] },
      server: {
        proxy: { [contentPaths]: proxyTo(content, (text) => isStarted || warn(text)) },
        // Where the controller of the project writes: files without number.
        watch: { ignored: [`${resolve(root).replaceAll("\\", "/")}/{downloads,.vitrine}/**`] }
      }
    }),
    configResolved: ({ logger }) => {
      warn = logger.warn
    },
    resolveId: (name) => (clients.includes(name) ? `${prefix}${name}` : undefined),
    load: (id) => (id.startsWith(prefix) ? hotClient(require.resolve(id.slice(prefix.length))) : undefined),
    configureServer: ({ config, httpServer, watcher, ws }) => {
      const { envDir, logger, mode, root } = config
      const folders = [...new Set([resolve(root), process.cwd()])]
      const file = folders
        .flatMap((folder) => configurationNames.map((name) => join(folder, name)))
        .find((name) => existsSync(name))
      // Vite starts anew when they are edited.
      const env = loadEnv(mode, envDir, "")
      const begin = (command: ReadonlyArray<string>, cwd: string) => {
        const child = run(command, { cwd, env }, logger)
        children.add(child)
        return child
      }
      let rejected = ""
      ws.on(rejectedEvent, (_, client) => client.send(rejectedEvent, rejected))
      // A dev server that starts anew listens when the one before it is closed, with its children.
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
          children.add(
            followRejections(folder, (text) => {
              rejected = text
              ws.send(rejectedEvent, text)
            })
          )
        }
        if (types) {
          begin(["types", "--watch"], folder)
        }
        if (isToStart) {
          isStarted = true
          let controller = Promise.resolve(begin(["start", "--dev-server"], folder))
          watcher.add(file).on("change", (changed) => {
            if (resolve(changed) === file) {
              controller = controller.then(async (before) => {
                await before.end()
                return httpServer.listening ? begin(["start", "--dev-server"], folder) : before
              })
            }
          })
        }
      })
    },
    closeBundle: async () => {
      await Promise.all([...children].map(({ end }) => end()))
      children.clear()
      isStarted = false
    }
  }
}

export default vitrine

/** The page asks every five seconds: a problem is logged once until it ends. */
const proxyTo = (target: string, warn: (text: string) => unknown): ProxyOptions => ({
  target,
  changeOrigin: true,
  configure: (proxy) => {
    let isAway = false
    proxy.on("proxyRes", () => {
      isAway = false
    })
    // In the place of the listener that Vite adds next, which logs each failure with its stack, and answers 500.
    setImmediate(() => {
      proxy.removeAllListeners("error")
      proxy.on("error", (_error, _request, response) => {
        if (!isAway) {
          warn(
            `[vitrine] Nothing answers at ${target}: pages wait for it. Another address is the option content of the plugin.`
          )
        }
        isAway = true
        if ("writeHead" in response && !response.headersSent) {
          response.writeHead(503).end()
        } else {
          response.destroy()
        }
      })
    })
  }
})

/**
 * The client for modules that are evaluated anew when they are edited. Vite disposes only of the module that accepts an
 * update; the connections of all others would stay. So a module that connects closes what it has opened before its last edit: it is
 * in the stack, with modules of the project that have called it, each with the time of its edit.
 */
const hotClient = (file: string) => `
import { connect as open } from ${JSON.stringify(file)}

const opened = new Set()

const callers = () => {
  const [, ...modules] = new Error().stack.match(/https?:\\S+?(?=:\\d+:\\d+)/g)
  const end = modules.findIndex((module) => /[?&]v=/.test(module))
  return modules.slice(1, end < 0 ? undefined : end).join(" ")
}

export const connect = (options) => {
  const edited = callers()
  const place = edited.replace(/[?&]t=\\d+/g, "")
  for (const before of opened) {
    if (before.place === place && before.edited !== edited) {
      before.exhibit.close()
      opened.delete(before)
    }
  }
  const exhibit = open(options)
  opened.add({ edited, place, exhibit })
  return exhibit
}

const hot = import.meta.hot
if (hot && globalThis.document) {
  const own = "vite-error-overlay.vitrine"
  const show = (message) => {
    const Overlay = customElements.get("vite-error-overlay")
    document.querySelector(own)?.close()
    if (message && Overlay) {
      const overlay = new Overlay({ plugin: "vitrine", message, stack: "" })
      overlay.className = "vitrine"
      document.body.append(overlay)
    }
  }
  hot.on(${JSON.stringify(rejectedEvent)}, show)
  // Vite takes away every overlay with an update, and loads the page again for one that is there before the first.
  let before
  hot.on("vite:beforeUpdate", () => {
    before = document.querySelector(own)
    before?.remove()
  })
  hot.on("vite:afterUpdate", () => before && document.body.append(before))
  hot.send(${JSON.stringify(rejectedEvent)})
}
`

const hasOverlay = ({ server: { hmr = true } }: ResolvedConfig): boolean =>
  typeof hmr === "boolean" ? hmr : hmr.overlay !== false

/** Follows what the controller of the folder rejects, with the code of the command line, which needs no Effect in the project. */
const followRejections = (folder: string, listener: (text: string) => void): Child => {
  const following = import("./bundle.ts").then((bundle) => bundle.followRejections(folder, listener))
  return { end: async () => (await following)() }
}

const answers = (content: string): Promise<boolean> =>
  fetch(`${content}/manifest.json`, { method: "HEAD", signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false
  )

interface Child {
  /** Waits until it has ended. */
  readonly end: () => Promise<void>
}

/** Ends a process as Ctrl-C does when its parent is gone, however that ended. */
const endWithParent = `data:text/javascript,process.once("disconnect",()=>process.kill(process.pid,"SIGTERM"))`

/** Runs a command of `vitrine` until it is to end, or this process ends; what it says goes to the log of Vite. */
const run = (
  command: ReadonlyArray<string>,
  { cwd, env }: Pick<SpawnOptions, "cwd" | "env">,
  { error, info }: Logger
): Child => {
  const bin = join(require.resolve("vitrine/package.json"), "../dist/bin.js")
  const child = spawn(process.execPath, ["--import", endWithParent, bin, ...command], {
    cwd,
    env,
    // Ctrl-C in the terminal is for the dev server alone.
    detached: true,
    windowsHide: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"]
  })
  for (const input of [child.stdout, child.stderr]) {
    if (input) {
      createInterface({ input }).on("line", (line) => info(`[vitrine] ${line}`))
    }
  }
  let isEnding = false
  const ended = once(child, "exit").then(([status, signal]) => {
    if (!isEnding) {
      error(`[vitrine] vitrine ${command[0]} has ended (${signal ?? `status ${status}`}).`)
    }
  })
  return {
    end: () => {
      isEnding = true
      if (child.connected) {
        child.disconnect()
      }
      return ended
    }
  }
}
