/**
 * A part of a controller, and plugins that are made from layers.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { needsEffect3 } from "../../internal/Options.ts"
import type { Plugin, PluginEnvironment } from "../../services/Plugin.ts"

export * from "../../services/Plugin.ts"

/**
 * A plugin that provides its layer, and does nothing when all plugins are set up.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromLayer = <A>(name: string, layer: Layer.Layer<A, unknown, PluginEnvironment>): Plugin => ({
  name,
  issues: Layer.isLayer(layer) ? [] : [{ path: "", message: needsEffect3("a Layer") }],
  setup: () => Effect.as(Layer.build(layer), Effect.void)
})
