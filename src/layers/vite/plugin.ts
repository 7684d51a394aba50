/**
 * The plugin for Vite: changes the configuration and the modules of a dev server.
 */
import { createRequire } from "node:module"
import { resolve, sep } from "node:path"
import type { Plugin, ProxyOptions } from "vite"
import { type FollowRejections, makeCompanions } from "./companions.ts"
import { hotClient } from "./hotClient.ts"

/**
 * The options of the plugin.
 *
 * @since 0.1.0
 * @category models
 */
export interface VitrineOptions {
  /** Address of the content server. Default `http://127.0.0.1:8730`. */
  readonly content?: string | undefined

  /**
   * Whether `vitrine start` runs beside the dev server, if no content server answers at `content` and a `vitrine.config` file is in the
   * root of Vite or in the current folder. Restarts when that file is edited. Default `true`.
   */
  readonly start?: boolean | undefined

  /** Whether `vitrine types --watch` runs beside the dev server, if there is such a file. Default `true`. */
  readonly types?: boolean | undefined
}

const clients = ["vitrine/client", "vitrine/client/preview"]

/** The prefix of the modules that wrap them: no file has such a name. */
const prefix = "\0hot:"

const require = createRequire(import.meta.url)

export const makePlugin = (
  { content = "http://127.0.0.1:8730", start = true, types = true }: VitrineOptions,
  followRejections: FollowRejections
): Plugin => {
  const companions = makeCompanions({ content, start, types }, followRejections)
  /** Vite's logger, once the configuration is resolved. */
  let warn = console.warn
  return {
    name: "vitrine",
    apply: "serve",
    enforce: "pre",
    config: ({ root = "." }) => ({
      optimizeDeps: { exclude: ["vitrine"] },
      server: {
        proxy: { [contentPaths]: proxyTo(content, (text) => companions.hasController() || warn(text)) },
        watch: { ignored: [isIn(["downloads", ".vitrine"].map((name) => resolve(root, name)))] }
      }
    }),
    configResolved: ({ logger }) => {
      warn = logger.warn
    },
    resolveId: (name) => (clients.includes(name) ? `${prefix}${name}` : undefined),
    load: (id) => (id.startsWith(prefix) ? hotClient(require.resolve(id.slice(prefix.length))) : undefined),
    configureServer: companions.start,
    closeBundle: companions.end
  }
}

/**
 * Whether a path is in one of the folders, in which the controller of the project writes very many files. A pattern would not match
 * a folder with brackets in its name.
 */
const isIn = (folders: ReadonlyArray<string>) => (path: string) =>
  folders.some((folder) => `${resolve(path)}${sep}`.startsWith(`${folder}${sep}`))

/** The paths that the content server answers instead of Vite. */
const contentPaths = "^/(manifest\\.json|endpoint\\.json|versions/|vitrine/)"

/** The page asks every five seconds: a problem is logged once until it ends. */
const proxyTo = (target: string, warn: (text: string) => unknown): ProxyOptions => ({
  target,
  changeOrigin: true,
  configure: (proxy) => {
    let isAway = false
    proxy.on("proxyRes", () => {
      isAway = false
    })
    // Replaces the listener that Vite adds next, which logs each failure with its stack and answers 500.
    setImmediate(() => {
      proxy.removeAllListeners("error")
      proxy.on("error", (_error, _request, response) => {
        if (!isAway) {
          warn(
            `[vitrine] Nothing answers at ${target}: pages wait for it. Set another address with the option content of the plugin.`
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
