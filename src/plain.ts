/**
 * Vitrine for plain controllers, which do not use Effect: its transport as a plugin, its tables as a source.
 *
 * Only re-exports: the build makes a file of each module, and bundlers include only the modules that are used.
 */
export { formatSseEvent } from "./layers/http/SseFrame.ts"
export type { HttpTransportConfig } from "./layers/httpTransport/HttpTransportConfig.ts"
export { httpTransport } from "./layers/plain/httpTransport.ts"
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
} from "./layers/plain/plainController.ts"
export { tableSource } from "./layers/plain/tableSource.ts"
export type { PlainSourceConfig as TableSourceConfig } from "./layers/sources/tables/TableConfig.ts"
export type { GlobalState, Mode, StatusSnapshot } from "./services/StatusSnapshot.ts"
