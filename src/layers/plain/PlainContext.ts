/**
 * What Vitrine asks of a plain controller, one without Effect in it (decisions, part E).
 *
 * The types are structural: a controller may give more, and no package is needed to fit them.
 */
import type { GlobalState, Mode, StatusSnapshot } from "../../services/StatusSnapshot.ts"

/** What `setup` of a plugin is given. */
export interface PlainContext {
  readonly eventBus: PlainEventBus
  readonly logger: PlainLogger

  /** Aborted when the controller stops: whatever was set up shuts down. */
  readonly abortSignal: AbortSignal
  readonly mode: Mode

  /** Given away as it is by `GET /status`. */
  getStatusSnapshot(): StatusSnapshot

  /** Given away as it is by `GET /state`, where that is exposed. */
  getGlobalState(): GlobalState
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

export interface PlainEventBus {
  /** From now on the handler is called with every event, within `emit`. */
  onAny(handler: PlainEventHandler): unknown
  offAny(handler: PlainEventHandler): unknown
  emit(name: string, payload: unknown): unknown
}

export type PlainEventHandler = (name: string, payload: unknown) => void

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
