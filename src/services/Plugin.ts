/**
 * A part of a controller: set up in the order of the configuration, then made ready in that order, shut down
 * in reverse (docs/wire.md, section 1; the scope of the setup is the plugin's lifetime).
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import type * as Effect from "effect/Effect"
import type * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { PlacedIssue } from "../internal/parseIssues.ts"
import { ErrorChain, messageOf } from "../internal/SerializedError.ts"
import type { CommandBus } from "./CommandBus.ts"
import type { ContentSource } from "./ContentSource.ts"
import type { ControllerState } from "./ControllerState.ts"
import type { EventBus } from "./EventBus.ts"
import type { ReplayBacklog } from "./ReplayBacklog.ts"

/** A part of a controller: what `plugins` of a configuration lists. */
export interface Plugin {
  /** Unique in a controller. */
  readonly name: string

  /** What is wrong with its options; it is only set up when that is nothing. */
  readonly issues: ReadonlyArray<PlacedIssue>

  /**
   * Acquires what the plugin needs; a failure fails the start. Returns what is to be done when every plugin
   * is set up; a failure of that is logged and contained.
   */
  readonly setup: (context: PluginContext) => Effect.Effect<Ready, unknown, PluginEnvironment | Scope.Scope>

  /**
   * What executes those commands of the plugin that need its folder and nothing else: where no controller runs, it is
   * set up for them in the place of all plugins.
   */
  readonly onDisk?: Plugin

  /** What is known of the content that it keeps, where it is one that keeps content, without setting it up. */
  readonly content?: (
    context: Pick<PluginContext, "cwd">
  ) => Effect.Effect<KeptContent, unknown, Platform | Scope.Scope>
}

/** The content that a plugin keeps in a folder. */
export interface KeptContent {
  /** The folder of its versions (absolute path). */
  readonly directory: string
  /** Its sources, as far as they are known, with what they know of their documents. */
  readonly sources: ReadonlyArray<Pick<ContentSource, "id" | "schema">>
}

/** What is done when every plugin is set up. */
export type Ready = Effect.Effect<void, unknown>

/** What the `setup` of a plugin is given. */
export interface PluginContext {
  /** The folder that relative paths in options start from: the configuration file's. */
  readonly cwd: string

  /** Adds a logger for all that the controller logs, also by plugins that are set up before, until the scope ends. */
  readonly addLogger: (logger: Logger.Logger<unknown, void>) => Effect.Effect<void, never, Scope.Scope>
}

/** What all plugins of a controller share. */
export type ControllerServices = EventBus | CommandBus | ReplayBacklog | ControllerState

/** What the controller itself takes from its user. */
export type Platform = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient

/** What the controller provides to every plugin. */
export type PluginEnvironment = ControllerServices | Platform

/** A plugin could not be set up: `cause` is what its `setup` failed with. */
export class PluginSetupFailed extends Schema.TaggedError<PluginSetupFailed>()("vitrine/PluginSetupFailed", {
  plugin: Schema.String,
  cause: ErrorChain
}) {
  override get message() {
    return `The plugin "${this.plugin}" could not be set up. ${messageOf(this.cause)}`
  }
}
