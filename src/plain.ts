/**
 * Vitrine for plain controllers, those without Effect in them: its transport as a plugin, its tables as a source.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import { idOf } from "./internal/Options.ts"
import * as HttpTransport from "./layers/httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "./layers/httpTransport/HttpTransportConfig.ts"
import * as ReplayBacklogMemory from "./layers/memory/ReplayBacklogMemory.ts"
import { checkFetchContext } from "./layers/plain/checkContext.ts"
import { setUp } from "./layers/plain/instance.ts"
import type { HttpTransportPlugin, TableSource } from "./layers/plain/PlainController.ts"
import { makeTableDocuments } from "./layers/plain/tableDocuments.ts"
import type { PlainSourceConfig } from "./layers/sources/airtable/AirtableConfig.ts"
import { decodePlain } from "./layers/sources/airtable/AirtableOptions.ts"
import { makeTableClient } from "./layers/sources/airtable/tableClient.ts"
import { ReplayBacklog } from "./services/ReplayBacklog.ts"

export { formatSseEvent } from "./layers/http/SseFrame.ts"
export type { HttpTransportConfig } from "./layers/httpTransport/HttpTransportConfig.ts"
export {
  BindError,
  type HttpTransportInstance,
  type HttpTransportPlugin,
  type Instance,
  InvalidContext,
  InvalidOptions,
  type PlacedIssue,
  type PlainContext,
  type PlainEventBus,
  type PlainEventHandler,
  type PlainFetchContext,
  type PlainLogger,
  type PlainResult,
  type PlainSettled,
  PluginSetupFailed,
  type TableDocument,
  type TableSource
} from "./layers/plain/PlainController.ts"
export type { PlainSourceConfig as TableSourceConfig } from "./layers/sources/airtable/AirtableConfig.ts"
export type { GlobalState, Mode, StatusSnapshot } from "./services/StatusSnapshot.ts"

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

/** A source of content for plain controllers: the tables of a hosted base. */
export const tableSource = (options: PlainSourceConfig): TableSource => {
  const documents = Either.map(decodePlain(options), (decoded) =>
    makeTableDocuments(decoded, makeTableClient(decoded))
  )
  return {
    id: idOf(options),
    fetch: (context) => Either.getOrThrowWith(Either.ap(documents, checkFetchContext(context)), identity)
  }
}
