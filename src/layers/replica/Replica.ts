/**
 * Content from another controller, as a layer and as a plugin.
 */

import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { addLoggerHere } from "../../internal/loggers.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import { poll } from "../../internal/Schedules.ts"
import type { CommandAlreadyRegistered, CommandBus } from "../../services/CommandBus.ts"
import { Content } from "../../services/Content.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { Plugin, PluginContext } from "../../services/Plugin.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { makeContent } from "../fetching/makeContent.ts"
import { versionsPlugin } from "../fetching/plugin.ts"
import * as SendReports from "../fleet/SendReports.ts"
import { followHub } from "./followHub.ts"
import {
  decode,
  decodeLayer,
  type FollowingOptions,
  type ReplicaConfig,
  type ReplicaLayerConfig
} from "./ReplicaOptions.ts"

export type { ReplicaLayerConfig }

/**
 * The services that a replica needs.
 *
 * @since 0.1.0
 * @category models
 */
export type Environment =
  | VersionStore
  | EventBus
  | CommandBus
  | ControllerState
  | FileSystem.FileSystem
  | Path.Path
  | HttpClient.HttpClient

/**
 * Copies the versions of another controller, under the same ids, into a store of versions on disk. Commands, events,
 * status and state are the same as for `Content.layer`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  config: ReplicaLayerConfig
): Layer.Layer<Content, InvalidOptions | CommandAlreadyRegistered, Environment> =>
  Layer.scoped(Content, make(config))

/**
 * As `layer`, with options from the environment: `{ from: Config.string("HUB"), … }`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<ReplicaLayerConfig>
): Layer.Layer<Content, ConfigError | InvalidOptions | CommandAlreadyRegistered, Environment> =>
  Layer.scoped(Content, Effect.flatMap(Config.unwrap(config), make))

/**
 * As `layer`, without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: ReplicaLayerConfig
): Effect.Effect<
  typeof Content.Service,
  InvalidOptions | CommandAlreadyRegistered,
  Environment | Scope.Scope
> => Effect.flatMap(decodeLayer(config), (options) => fromOptions(options, addLoggerHere))

/** As `make`, with decoded options. `addLogger` belongs to the controller; the hub gets the last warnings. @internal */
export const fromOptions = Effect.fnUntraced(function* (
  options: FollowingOptions,
  addLogger: PluginContext["addLogger"]
) {
  const { commands, failingFor, maxAge, name, pollEvery, report } = options
  const { mode } = yield* ControllerState
  const { directory } = yield* VersionStore
  const sending =
    report === undefined || mode === "task"
      ? undefined
      : yield* SendReports.make({ ...report, content: name, directory, addLogger })
  const { fetch, start } = yield* makeContent(
    { commands, name, rules: { failingFor, maxAge }, schedule: poll(pollEvery) },
    followHub(options, sending?.state)
  )
  return Content.of({ fetch, start: sending === undefined ? start : Effect.zipRight(start, sending.start) })
})

/**
 * Copies the versions of another controller, from its `contentServer` or from any other server of its downloads folder.
 * Replaces `content`, with the same commands, events and files.
 *
 * @since 0.1.0
 * @category constructors
 */
export const replica = (config: ReplicaConfig): Plugin =>
  versionsPlugin(config, {
    decode: decode,
    make: (options, { addLogger }) => fromOptions(options, addLogger),
    sources: () => Effect.succeed([])
  })
