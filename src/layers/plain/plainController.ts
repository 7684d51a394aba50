/**
 * All that a plain controller meets, one without Effect in it: what Vitrine asks of it, what it is given, and the errors that it
 * can ask for with `instanceof`.
 *
 * The types are structural, so that a controller may give more, and no package is needed to fit them. None names Effect.
 */
import type { AddressInfo } from "node:net"
import type { ResultAsync } from "neverthrow"
import * as Options from "../../internal/Options.ts"
import * as Plugin from "../../services/Plugin.ts"
import type { GlobalState, Mode, StatusSnapshot } from "../../services/StatusSnapshot.ts"
import * as Listen from "../http/Listen.ts"
import * as Context from "./CheckContext.ts"

/** What `setup` of a plugin is given. */
export interface PlainContext {
  readonly eventBus: PlainEventBus
  readonly logger: PlainLogger

  /** Aborted when the controller stops: whatever was set up shuts down. */
  readonly abortSignal: AbortSignal

  /** The folder that the controller works in. Not read by Vitrine. */
  readonly cwd?: string
  readonly mode: Mode

  /** Sent as JSON by `GET /status`. */
  getStatusSnapshot(): StatusSnapshot<string | Date>

  /** Sent as JSON by `GET /state`, where that is exposed. */
  getGlobalState(): GlobalState<string | Date>

  /** Calls the handler with each change of the global state; returns what ends that. Not called by Vitrine. */
  onGlobalStatePatch?(handler: (patches: ReadonlyArray<unknown>, version?: number) => void): unknown
  dispatchCommand(command: { readonly type: string }): PlainResult

  /**
   * Changes the plugin's own slice of the global state. The producer changes a slice that is an object in place and
   * returns it, so that it may be a draft; of `undefined` it returns a new one.
   */
  updateState(producer: (slice: unknown) => unknown): unknown
}

/** What `fetch` of a source is given. */
export interface PlainFetchContext {
  readonly logger: PlainLogger

  /** Aborted when the fetch is no longer wanted: requests are broken off. */
  readonly abortSignal: AbortSignal
}

/** The events of a plain controller; `emit` calls the handlers before it returns. */
export interface PlainEventBus {
  /** From now on the handler is called with every event, within `emit`. */
  onAny(handler: PlainEventHandler): unknown
  offAny(handler: PlainEventHandler): unknown
  emit(name: string, payload: unknown): unknown
}

/** Called with each event. It must not throw. */
export type PlainEventHandler = (name: string, payload: unknown) => void

/** Where messages for people go, by their severity. `verbose` is the least. */
export interface PlainLogger {
  error(message: string): unknown
  warn(message: string): unknown
  info(message: string): unknown
  debug(message: string): unknown
  verbose(message: string): unknown
}

/** A `ResultAsync` of `neverthrow`, whichever copy of it. */
export interface PlainResult {
  then(onResult: (result: PlainSettled) => void, onRejected: (reason: unknown) => void): unknown
}

/** A `Result` of `neverthrow`. */
export interface PlainSettled {
  match<A>(onOk: (value: unknown) => A, onErr: (error: unknown) => A): A
}

/** The HTTP transport as a plugin of a plain controller. */
export interface HttpTransportPlugin {
  readonly name: "http-transport"

  /**
   * Opens the port, in persistent mode. It never throws: mistakes in the context and in the options, in task mode too,
   * and a port that cannot be bound are an `err` that names the reason and has it as its cause.
   *
   * Events that are emitted once it has returned are forwarded or remembered; its result need not be there yet.
   */
  readonly setup: (context: PlainContext) => ResultAsync<HttpTransportInstance, Error>
}

/** A part of Vitrine that runs in a plain controller. */
export interface Instance {
  /**
   * Shuts it down, within two seconds. A second time, or after the abort signal has done it, nothing more happens, and
   * the result is the same. The reason is for the log.
   */
  readonly disconnect: (reason?: unknown) => ResultAsync<void, Error>
}

/** An HTTP transport that was set up. */
export interface HttpTransportInstance extends Instance {
  /** Where it listens; `null` in task mode. */
  readonly address: AddressInfo | null
}

/** The tables of a hosted base as a source of a plain controller. */
export interface TableSource {
  /** The `id` of the options; empty where that is none. */
  readonly id: string

  /**
   * Reads every table again, and gives a document for each. Attachments stay as they come, with links that are
   * valid for two hours: there is no folder to save them to.
   *
   * It throws `InvalidOptions`, which names every mistake in the options, or `InvalidContext`, which names those in the
   * context; nothing else is thrown.
   */
  readonly fetch: (context: PlainFetchContext) => ReadonlyArray<TableDocument>
}

/** One table, which is being read. */
export interface TableDocument {
  /** The name of the table, escaped where it is no file name: what the content plugin saves the table as. */
  readonly id: string

  /**
   * Resolves to what would be saved: an array of `{ id, …fields }`, or the object of a key/value table, keys sorted.
   *
   * Tables are read one after the other. One that fails fails those behind it, with the same error, and nothing more
   * is requested; an abort fails all that are left with the signal's reason. It need not be waited for.
   */
  readonly data: Promise<unknown>
}

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
