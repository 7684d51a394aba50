/**
 * `vitrine/vite`: a plugin for Vite. The dev server serves the content of a controller, so that a page works as in operation.
 *
 * A production build contains nothing of the plugin.
 */
import type { Plugin } from "vite"
import { makePlugin, type VitrineOptions } from "./layers/vite/plugin.ts"

export type { VitrineOptions } from "./layers/vite/plugin.ts"

/**
 * The plugin: `plugins: [vitrine()]` in `vite.config.ts`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const vitrine = (options: VitrineOptions = {}): Plugin =>
  makePlugin(options, async (folder, listener) => {
    // The bundle of the command line needs no Effect in the project.
    const { followRejections } = await import("./bundle.ts")
    return followRejections(folder, listener)
  })

export default vitrine
