/**
 * What Vitrine gives a plain controller, as types without Effect in them.
 */
import type { AddressInfo } from "node:net"
import type { ResultAsync } from "neverthrow"
import type { PlainContext, PlainFetchContext } from "./PlainContext.ts"

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

export interface HttpTransportInstance extends Instance {
  /** Where it listens; `null` in task mode. */
  readonly address: AddressInfo | null
}

export interface TableSource {
  /** The `id` of the options; empty where that is none. */
  readonly id: string

  /**
   * Begins to read every table anew, and gives a document for each. Attachments stay as they come, with links that are
   * valid for two hours: there is no folder to save them to.
   *
   * It throws `InvalidOptions`, which names every mistake in the options, or `InvalidContext`, which names those in the
   * context; nothing else is thrown.
   */
  readonly fetch: (context: PlainFetchContext) => ReadonlyArray<TableDocument>
}

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
