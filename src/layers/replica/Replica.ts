/**
 * The content of another controller.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { addLoggerHere } from "../../internal/loggers.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import type { CommandAlreadyRegistered, CommandBus } from "../../services/CommandBus.ts"
import { Content } from "../../services/Content.ts"
import type { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { VersionStore } from "../../services/VersionStore.ts"
import { makeReplica } from "./makeReplica.ts"
import { decodeLayer, type ReplicaLayerConfig } from "./ReplicaOptions.ts"

export type { ReplicaLayerConfig }

/**
 * The versions of another controller, under the same ids, in a store of versions on disk. Commands, events, status and state
 * are those of `Content.layer`.
 */
export const layer = (
  config: ReplicaLayerConfig
): Layer.Layer<
  Content,
  InvalidOptions | CommandAlreadyRegistered,
  | VersionStore
  | EventBus
  | CommandBus
  | ControllerState
  | FileSystem.FileSystem
  | Path.Path
  | HttpClient.HttpClient
> => Layer.scoped(Content, make(config))

/** The same without a layer. */
export const make = (config: ReplicaLayerConfig) =>
  Effect.flatMap(decodeLayer(config), (options) => makeReplica(options, addLoggerHere))
