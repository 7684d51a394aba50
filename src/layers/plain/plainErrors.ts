/**
 * The errors that a plain controller can ask for with `instanceof`, declared without Effect.
 */
import * as Options from "../../internal/Options.ts"
import * as Plugin from "../../services/Plugin.ts"
import * as Listen from "../http/listen.ts"
import * as Context from "./checkContext.ts"

/** A class to compare with. Only Vitrine makes instances. */
export type ErrorClass<E extends Error> = abstract new (...args: never) => E

/** A mistake: where it is, as in `sources[0].id`, and what would be right. */
export interface PlacedIssue {
  readonly path: string
  readonly message: string
}

/** The port could not be bound. */
export interface BindError extends Error {
  readonly host: string
  readonly port: number
  /** The system's code, `EADDRINUSE` for example. */
  readonly code: string
}
export const BindError: ErrorClass<BindError> = Listen.BindError

/** The context does not fit: every mistake in it, each with its place, as in `context.eventBus.onAny`. */
export interface InvalidContext extends Error {
  /** What it was given to. */
  readonly method: "setup" | "fetch"
  readonly issues: ReadonlyArray<PlacedIssue>
}
export const InvalidContext: ErrorClass<InvalidContext> = Context.InvalidContext

/** The options do not fit: every mistake in them. */
export interface InvalidOptions extends Error {
  /** What has the mistakes, as in "the options of the HTTP transport". */
  readonly subject: string
  readonly issues: ReadonlyArray<PlacedIssue>
}
export const InvalidOptions: ErrorClass<InvalidOptions> = Options.InvalidOptions

/** The setup of a plugin has failed: `cause` is a `BindError`, or what else was thrown. */
export interface PluginSetupFailed extends Error {
  readonly plugin: string
}
export const PluginSetupFailed: ErrorClass<PluginSetupFailed> = Plugin.PluginSetupFailed
