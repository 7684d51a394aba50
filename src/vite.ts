/**
 * `vitrine/vite`: a plugin for Vite. Its dev server has the content of a controller, so that a page is the same there as in operation.
 *
 * A production build has nothing of it.
 */
import type { Plugin } from "vite"
import { makePlugin, type VitrineOptions } from "./layers/vite/plugin.ts"

export type { VitrineOptions } from "./layers/vite/plugin.ts"

/** The plugin: `plugins: [vitrine()]` in `vite.config.ts`. */
export const vitrine = (options: VitrineOptions = {}): Plugin =>
  makePlugin(options, async (folder, listener) => {
    // The code of the command line, which needs no Effect in the project.
    const { followRejections } = await import("./bundle.ts")
    return followRejections(folder, listener)
  })

export default vitrine
