/**
 * Passes requests for content from the dev server to a controller.
 */
import type { ProxyOptions } from "vite"

/** The paths that the content server answers instead of Vite. */
export const contentPaths = "^/(manifest\\.json|endpoint\\.json|versions/|vitrine/)"

/** The page asks every five seconds: a problem is logged once until it ends. */
export const proxyTo = (target: string, warn: (text: string) => unknown): ProxyOptions => ({
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

/** Whether a content server answers, or another server with a copy of its folder. Any other program may use the port. */
export const answers = (content: string): Promise<boolean> =>
  fetch(`${content}/manifest.json`, { signal: AbortSignal.timeout(2000) })
    .then(
      async (response) =>
        /vitrine-/i.test(response.headers.get("access-control-expose-headers") ?? "") ||
        /^\s*\{.*"versionId":/s.test(await response.text())
    )
    .catch(() => false)
