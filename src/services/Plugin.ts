/**
 * A part of a controller: plugins are set up in the order of the configuration, then made ready in that order, and
 * shut down in reverse order (docs/wire.md, section 1; the scope of the setup is the plugin's lifetime).
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import type * as Effect from "effect/Effect"
import type * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { PlacedIssue } from "../internal/Options.ts"
import { ErrorChain, messageOf } from "../internal/SerializedError.ts"
import type { CommandBus } from "./CommandBus.ts"
import type { ContentSource } from "./ContentSource.ts"
import type { ControllerState } from "./ControllerState.ts"
import type { EventBus } from "./EventBus.ts"
import type { ReplayBacklog } from "./ReplayBacklog.ts"

/**
 * A part of a controller: an entry of `plugins` in a configuration.
 *
 * @since 0.1.0
 * @category models
 */
export interface Plugin {
  /** Unique in a controller. */
  readonly name: string

  /** The mistakes in its options. It is only set up if there are none. */
  readonly issues: ReadonlyArray<PlacedIssue>

  /**
   * Acquires what the plugin needs; a failure fails the start. Returns an effect that runs when every plugin is set
   * up; a failure of this effect is logged, and the controller goes on.
   */
  readonly setup: (context: PluginContext) => Effect.Effect<Ready, unknown, PluginEnvironment | Scope.Scope>

  /**
   * A plugin that executes the commands that need only the plugin's folder. If no controller runs, it is set up in
   * the place of all plugins.
   */
  readonly onDisk?: Plugin

  /** What is known of the plugin's content without setting it up. For plugins that keep content. */
  readonly content?: (
    context: Pick<PluginContext, "cwd">
  ) => Effect.Effect<KeptContent, unknown, Platform | Scope.Scope>
}

/**
 * The content that a plugin keeps in a folder.
 *
 * @since 0.1.0
 * @category models
 */
export interface KeptContent {
  /** The folder of its versions (absolute path). */
  readonly directory: string
  /** Its sources, if they are known, with their schemas of documents. */
  readonly sources: ReadonlyArray<Pick<ContentSource, "hasDocuments" | "id" | "schema">>
}

/**
 * Runs when every plugin is set up.
 *
 * @since 0.1.0
 * @category models
 */
export type Ready = Effect.Effect<void, unknown>

/**
 * The argument of the `setup` of a plugin.
 *
 * @since 0.1.0
 * @category models
 */
export interface PluginContext {
  /** The folder that relative paths in options start from: the configuration file's. */
  readonly cwd: string

  /**
   * Adds a logger, until the scope ends, for everything that the controller logs, plugins that were set up before
   * included.
   */
  readonly addLogger: (logger: Logger.Logger<unknown, void>) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * The services that all plugins of a controller share.
 *
 * @since 0.1.0
 * @category models
 */
export type ControllerServices = EventBus | CommandBus | ReplayBacklog | ControllerState

/**
 * The services that the user of the controller provides.
 *
 * @since 0.1.0
 * @category models
 */
export type Platform = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient

/**
 * The services that the controller provides to every plugin.
 *
 * @since 0.1.0
 * @category models
 */
export type PluginEnvironment = ControllerServices | Platform

/**
 * A plugin could not be set up; `cause` is the error of its `setup`.
 *
 * @since 0.1.0
 * @category errors
 */
export class PluginSetupFailed extends Schema.TaggedError<PluginSetupFailed>()("vitrine/PluginSetupFailed", {
  plugin: Schema.String,
  cause: ErrorChain
}) {
  override get message() {
    return `The plugin "${this.plugin}" could not be set up. ${messageOf(this.cause)}`
  }
}
