/**
 * The services that the plugins of a controller share (EventBus, CommandBus, ReplayBacklog) are Effect Layers: in memory,
 * or from the configuration. A source provides its own TableSourceClient.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ErrorChain, messageOf } from "../../internal/SerializedError.ts"
import { ControllerState, type Identity, type Mode } from "../../services/ControllerState.ts"
import type { ControllerServices, PluginEnvironment } from "../../services/Plugin.ts"
import * as CommandBusMemory from "../memory/CommandBusMemory.ts"
import * as EventBusMemory from "../memory/EventBusMemory.ts"
import * as ReplayBacklogMemory from "../memory/ReplayBacklogMemory.ts"
import * as ScreenPicturesMemory from "../memory/ScreenPicturesMemory.ts"
import * as ControllerStateMemory from "./ControllerStateMemory.ts"

/**
 * A layer with at least one of the services. It may use the services in memory from its environment, for example to
 * wrap them.
 *
 * @since 0.1.0
 * @category models
 */
export type CustomServices = Providing<ControllerServices>

/**
 * A layer with at least one of the services. It may provide others too, and needs `R` from its environment.
 *
 * @since 0.1.0
 * @category models
 */
export type Providing<Service, R = PluginEnvironment> = Service extends ControllerServices
  ? Layer.Layer<Service, unknown, R>
  : never

/**
 * The `services` of a configuration could not be built.
 *
 * @since 0.1.0
 * @category errors
 */
export class ControllerServicesFailed extends Schema.TaggedError<ControllerServicesFailed>()(
  "vitrine/ControllerServicesFailed",
  { cause: ErrorChain }
) {
  override get message() {
    return `The "services" could not be provided. ${messageOf(this.cause)}`
  }
}

/**
 * All services for a controller of the given mode: those of `custom`, and the others in memory. `identity` is for the
 * state in memory. By default, the id of its node is the short name of the host.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <R = never>(
  mode: Mode,
  custom?: Providing<ControllerServices, R>,
  identity?: Identity
): Layer.Layer<ControllerServices, ControllerServicesFailed, Exclude<R, ControllerServices>> => {
  const provided: Layer.Layer<never, unknown, R> = custom ?? Layer.empty
  return provided.pipe(
    Layer.catchAllCause((cause) => Layer.fail(new ControllerServicesFailed({ cause: Cause.squash(cause) }))),
    Layer.provideMerge(inMemory(mode, identity)),
    Layer.tap((services) => checkMode(Context.get(services, ControllerState), mode))
  )
}

const inMemory = (mode: Mode, identity: Identity | undefined): Layer.Layer<ControllerServices> =>
  Layer.mergeAll(
    EventBusMemory.layer,
    CommandBusMemory.layer,
    ReplayBacklogMemory.layer,
    ControllerStateMemory.layer(mode, identity),
    ScreenPicturesMemory.layer
  )

/** Plugins decide by the mode whether to open ports and to continue after the task. */
const checkMode = (state: Context.Tag.Service<ControllerState>, mode: Mode) =>
  state.mode === mode
    ? Effect.void
    : new ControllerServicesFailed({
        cause: new Error(`The mode of the ControllerState is "${state.mode}", and must be "${mode}".`)
      })
