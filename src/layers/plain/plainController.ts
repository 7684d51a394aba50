/**
 * The interface to a plain controller, which does not use Effect: the members that it must give, the values that it gets, and the
 * errors that it can test with `instanceof`.
 *
 * The types are structural, so that a controller may give more members and needs no package for them. No type refers to Effect.
 */
import type { AddressInfo } from "node:net"
import type { ResultAsync } from "neverthrow"
import * as Options from "../../internal/Options.ts"
import * as Plugin from "../../services/Plugin.ts"
import type { GlobalState, Mode, StatusSnapshot } from "../../services/StatusSnapshot.ts"
import * as Listen from "../http/Listen.ts"
import * as Context from "./CheckContext.ts"

/**
 * The argument of a plugin's `setup`.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainContext {
  readonly eventBus: PlainEventBus
  readonly logger: PlainLogger

  /** Aborted when the controller stops. The plugin then shuts down. */
  readonly abortSignal: AbortSignal

  /** The folder that the controller works in. Not read by Vitrine. */
  readonly cwd?: string
  readonly mode: Mode

  /** Sent as JSON by `GET /status`. */
  getStatusSnapshot(): StatusSnapshot<string | Date>

  /** Sent as JSON by `GET /state`, if `exposeState` is set. */
  getGlobalState(): GlobalState<string | Date>

  /** Calls the handler with each change of the global state; returns a function that ends the subscription. Not called by Vitrine. */
  onGlobalStatePatch?(handler: (patches: ReadonlyArray<unknown>, version?: number) => void): unknown
  dispatchCommand(command: { readonly type: string }): PlainResult

  /**
   * Changes the plugin's own slice of the global state. The producer changes a slice in place and returns it, so that the slice may
   * be a draft; for `undefined` it returns a new slice.
   */
  updateState(producer: (slice: unknown) => unknown): unknown
}

/**
 * The argument of a source's `fetch`.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainFetchContext {
  readonly logger: PlainLogger

  /** Aborted when the fetch is no longer wanted: requests are aborted, too. */
  readonly abortSignal: AbortSignal
}

/**
 * The events of a plain controller; `emit` calls the handlers before it returns.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainEventBus {
  /** Adds a handler for every event from now on, called within `emit`. */
  onAny(handler: PlainEventHandler): unknown
  offAny(handler: PlainEventHandler): unknown
  emit(name: string, payload: unknown): unknown
}

/**
 * Called with each event. It must not throw.
 *
 * @since 0.1.0
 * @category models
 */
export type PlainEventHandler = (name: string, payload: unknown) => void

/**
 * Gets messages for people, by severity. `verbose` is the lowest.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainLogger {
  error(message: string): unknown
  warn(message: string): unknown
  info(message: string): unknown
  debug(message: string): unknown
  verbose(message: string): unknown
}

/**
 * A `ResultAsync` of any copy of `neverthrow`.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainResult {
  then(onResult: (result: PlainSettled) => void, onRejected: (reason: unknown) => void): unknown
}

/**
 * A `Result` of `neverthrow`.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainSettled {
  match<A>(onOk: (value: unknown) => A, onErr: (error: unknown) => A): A
}

/**
 * The HTTP transport as a plugin of a plain controller.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpTransportPlugin {
  readonly name: "http-transport"

  /**
   * Opens the port, in persistent mode. Never throws: mistakes in the context and in the options, in task mode too, and a port that
   * cannot be bound are an `err` with the reason as its message and cause.
   *
   * Forwards or remembers events from its return on, even before its result is settled.
   */
  readonly setup: (context: PlainContext) => ResultAsync<HttpTransportInstance, Error>
}

/**
 * A part of Vitrine that runs in a plain controller.
 *
 * @since 0.1.0
 * @category models
 */
export interface Instance {
  /**
   * Shuts the part down within two seconds. A second call, or a call after the abort signal, does nothing and has the same result.
   * The reason is for the log.
   */
  readonly disconnect: (reason?: unknown) => ResultAsync<void, Error>
}

/**
 * An HTTP transport that was set up.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpTransportInstance extends Instance {
  /** The address of the port; `null` in task mode. */
  readonly address: AddressInfo | null
}

/**
 * The tables of a hosted base as a source of a plain controller.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableSource {
  /** The `id` of the options; empty if the options have no valid `id`. */
  readonly id: string

  /**
   * Reads every table again, and returns a document for each table. Attachments are not saved, because there is no folder: they keep
   * their links, which are valid for two hours.
   *
   * Throws `InvalidOptions` with every mistake in the options, or `InvalidContext` with every mistake in the context, and nothing
   * else.
   */
  readonly fetch: (context: PlainFetchContext) => ReadonlyArray<TableDocument>
}

/**
 * A table that is being read.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableDocument {
  /** The name of the table, escaped if it is not a valid file name. The content plugin saves the table under this name. */
  readonly id: string

  /**
   * Resolves to the document: an array of `{ id, …fields }`, or the object of a key/value table, with sorted keys.
   *
   * Tables are read one after the other. If a table fails, later tables fail with the same error, and nothing more is requested. An
   * abort fails all remaining tables with the signal's reason. You need not await it.
   */
  readonly data: Promise<unknown>
}

/** A class for `instanceof`. Only Vitrine makes instances. */
export type ErrorClass<E extends Error> = abstract new (...args: never) => E

/**
 * A mistake: its place, as in `sources[0].id`, and the expected value.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlacedIssue {
  readonly path: string
  readonly message: string
}

/**
 * The port could not be bound.
 *
 * @since 0.1.0
 * @category models
 */
export interface BindError extends Error {
  readonly host: string
  readonly port: number
  /** The system's code, for example `EADDRINUSE`. */
  readonly code: string
}
/**
 * For `instanceof`: the port could not be opened.
 *
 * @since 0.1.0
 * @category schemas
 */
export const BindError: ErrorClass<BindError> = Listen.BindError

/**
 * The context is not valid: lists every mistake with its place, as in `context.eventBus.onAny`.
 *
 * @since 0.1.0
 * @category models
 */
export interface InvalidContext extends Error {
  /** The function that got the context. */
  readonly method: "setup" | "fetch"
  readonly issues: ReadonlyArray<PlacedIssue>
}
/**
 * For `instanceof`: the context of the controller is not as expected.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InvalidContext: ErrorClass<InvalidContext> = Context.InvalidContext

/**
 * The options are not valid: lists every mistake.
 *
 * @since 0.1.0
 * @category models
 */
export interface InvalidOptions extends Error {
  /** The subject of the mistakes, as in "the options of the HTTP transport". */
  readonly subject: string
  readonly issues: ReadonlyArray<PlacedIssue>
}
/**
 * For `instanceof`: every mistake in some options.
 *
 * @since 0.1.0
 * @category schemas
 */
export const InvalidOptions: ErrorClass<InvalidOptions> = Options.InvalidOptions

/**
 * The setup of a plugin has failed. `cause` is a `BindError` or another thrown value.
 *
 * @since 0.1.0
 * @category models
 */
export interface PluginSetupFailed extends Error {
  readonly plugin: string
}
/**
 * For `instanceof`: a plugin could not be set up.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PluginSetupFailed: ErrorClass<PluginSetupFailed> = Plugin.PluginSetupFailed
