/**
 * The state and the view of the controller in this process.
 */
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ControllerState, type Identity, type Mode } from "../../services/ControllerState.ts"
import * as PluginStates from "../memory/PluginStates.ts"
import { judge } from "../screens/judge.ts"
import { viewOf } from "../status/view.ts"

/**
 * The state of a controller that starts now in this mode, without plugins. The id of its node is by default the short
 * name of the host.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (mode: Mode, identity?: Identity): Effect.Effect<typeof ControllerState.Service> =>
  PluginStates.make(viewOf(judge), mode, identity)

/**
 * The state of a controller in the given mode. The id of its node is by default the short name of the host.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (mode: Mode, identity?: Identity): Layer.Layer<ControllerState> =>
  Layer.effect(ControllerState, make(mode, identity))
