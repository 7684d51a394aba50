/**
 * Vitrine for plain controllers, those without Effect in them: its transport as a plugin, its tables as a source.
 */
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type { ResultAsync } from "neverthrow"
import { type AirtableSourceConfig, decode as decodeSource } from "./layers/airtable/AirtableOptions.ts"
import { makeTableClient } from "./layers/airtable/tableClient.ts"
import * as HttpTransport from "./layers/httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "./layers/httpTransport/HttpTransportOptions.ts"
import * as ReplayBacklogMemory from "./layers/memory/ReplayBacklogMemory.ts"
import { checkFetchContext } from "./layers/plain/checkContext.ts"
import { type Instance, setUp } from "./layers/plain/instance.ts"
import type { PlainContext, PlainFetchContext } from "./layers/plain/PlainContext.ts"
import { makeTableDocuments, type TableDocument } from "./layers/plain/tableDocuments.ts"
import { idOf } from "./layers/tableSource/TableSourceOptions.ts"
import { ReplayBacklog } from "./services/ReplayBacklog.ts"

export { InvalidOptions } from "./internal/Options.ts"
export { formatSseEvent } from "./layers/httpTransport/SseFrame.ts"
export { InvalidContext } from "./layers/plain/checkContext.ts"
export type {
  PlainContext,
  PlainEventBus,
  PlainEventHandler,
  PlainFetchContext,
  PlainLogger,
  PlainResult,
  PlainSettled
} from "./layers/plain/PlainContext.ts"
export { BindError } from "./layers/server/BindError.ts"
export type { AirtableSourceConfig as TableSourceConfig, HttpTransportConfig, TableDocument }

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

export interface HttpTransportInstance extends Instance {
  /** Where it listens; `null` in task mode. */
  readonly address: AddressInfo | null
}

/** Exposes the commands and the events of a plain controller over loopback HTTP and Server-Sent Events. */
export const httpTransport = (options: HttpTransportConfig = {}): HttpTransportPlugin => {
  const name = "http-transport"
  // No layer: to build one takes a turn, in which the controller may emit something.
  const acquire = HttpTransport.make(options).pipe(
    Effect.provideServiceEffect(ReplayBacklog, ReplayBacklogMemory.make),
    Effect.map(({ address }) => ({ address: Option.getOrNull(address) }))
  )
  return { name, setup: (context) => setUp(name, context, acquire) }
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

/** A source of content for plain controllers: the tables of a hosted base. */
export const tableSource = (options: AirtableSourceConfig): TableSource => {
  const documents = Either.map(decodeSource(options), (decoded) =>
    makeTableDocuments(decoded, makeTableClient(decoded))
  )
  return {
    id: idOf(options),
    fetch: (context) => Either.getOrThrowWith(Either.ap(documents, checkFetchContext(context)), identity)
  }
}
