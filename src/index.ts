/**
 * Vitrine: the plugins and sources of a configuration, and the services and layers for your own programs.
 */
import type { ConfigurationFile } from "./layers/controller/loadConfiguration.ts"

// For configurations.

export type { ContentServerConfig } from "./layers/contentServer/ContentServer.ts"
export { contentServer } from "./layers/contentServer/ContentServer.ts"
export type { ConfigurationFile } from "./layers/controller/loadConfiguration.ts"
export type { DashboardConfig } from "./layers/dashboard/Dashboard.ts"
export { dashboard } from "./layers/dashboard/Dashboard.ts"
export type { ImageConfig as Image } from "./layers/documents/DocumentConfig.ts"
export type { RecordsStep as Step } from "./layers/documents/DocumentOptions.ts"
export type { TableExpectation } from "./layers/documents/expect/ExpectOptions.ts"
export type { MediaConfig as Media } from "./layers/documents/media/MediaOptions.ts"
export type { ContentConfig } from "./layers/fetching/ContentOptions.ts"
export { content } from "./layers/fetching/plugin.ts"
export { httpTransport } from "./layers/httpTransport/HttpTransport.ts"
export type { HttpTransportConfig } from "./layers/httpTransport/HttpTransportOptions.ts"
export { replica } from "./layers/replica/Replica.ts"
export type { ReplicaConfig } from "./layers/replica/ReplicaOptions.ts"
export type { DirectusCollection, DirectusSourceConfig } from "./layers/sources/directus/DirectusOptions.ts"
export { directusSource } from "./layers/sources/directus/directusSource.ts"
export type { FolderSourceConfig } from "./layers/sources/folder/folderSource.ts"
export { folderSource } from "./layers/sources/folder/folderSource.ts"
export type { Get, SourceConfig, SourceContext } from "./layers/sources/function/source.ts"
export { source } from "./layers/sources/function/source.ts"
export type { JsonDocument, JsonSourceConfig } from "./layers/sources/json/JsonSourceOptions.ts"
export { jsonSource } from "./layers/sources/json/jsonSource.ts"
export type { SanityQuery, SanitySourceConfig } from "./layers/sources/sanity/SanityOptions.ts"
export { sanitySource } from "./layers/sources/sanity/sanitySource.ts"
export type { StrapiSourceConfig, StrapiType } from "./layers/sources/strapi/StrapiOptions.ts"
export { strapiSource } from "./layers/sources/strapi/strapiSource.ts"
export {
  type TableSourceConfig,
  tableSource
} from "./layers/sources/tables/airtableSource.ts"
// The declarations of a program that exports a source or a plugin name these types.
export type { ContentSourceDefinition, FetchedSource, FetchTarget } from "./services/ContentSource.ts"
export type { Plugin as PluginDefinition } from "./services/Plugin.ts"
export type { OpeningHours } from "./services/StatusSnapshot.ts"

// The layers that provide the services of a program.

export * as ContentServer from "./layers/contentServer/ContentServer.ts"
export * as IpcClientSocket from "./layers/control/IpcClientSocket.ts"
export * as IpcServer from "./layers/control/IpcServer.ts"
export * as Controller from "./layers/controller/Controller.ts"
export * as ControllerServices from "./layers/controller/ControllerServices.ts"
export * as ControllerStateMemory from "./layers/controller/ControllerStateMemory.ts"
export * as Plugin from "./layers/controller/Plugin.ts"
export * as Dashboard from "./layers/dashboard/Dashboard.ts"
export * as DocumentSource from "./layers/documents/DocumentSource.ts"
export * as Content from "./layers/fetching/Content.ts"
/** The HTTP client of the command line. */
export * as HttpClientNode from "./layers/httpClient/HttpClientNode.ts"
export * as HttpTransport from "./layers/httpTransport/HttpTransport.ts"
export * as CommandBusMemory from "./layers/memory/CommandBusMemory.ts"
export * as EventBusMemory from "./layers/memory/EventBusMemory.ts"
export * as ReplayBacklogMemory from "./layers/memory/ReplayBacklogMemory.ts"
export * as RequestPacingMemory from "./layers/memory/RequestPacingMemory.ts"
export * as Replica from "./layers/replica/Replica.ts"
export * as AirtableClient from "./layers/sources/tables/AirtableClient.ts"
export * as TableSource from "./layers/sources/tables/TableSource.ts"
export * as VersionStoreDisk from "./layers/versions/VersionStoreDisk.ts"
/** A fake for tests. */
export * as TableSourceClientMemory from "./testing/TableSourceClientMemory.ts"

// The services, each with its types, schemas and errors.

export * as FileList from "./files/FileList.ts"
export { encodeJson } from "./internal/jsonText.ts"
export type { PlacedIssue } from "./internal/Options.ts"
export { InvalidOptions } from "./internal/Options.ts"
export { ErrorChain, type SerializedError } from "./internal/SerializedError.ts"
export { BindError } from "./layers/http/Listen.ts"
export * as CommandBus from "./layers/memory/definedCommands.ts"
export * as EventBus from "./layers/memory/definedEvents.ts"
export * as ContentCheck from "./services/ContentCheck.ts"
export * as ContentDiff from "./services/ContentDiff.ts"
export * as ContentEvents from "./services/ContentEvents.ts"
export * as ContentSample from "./services/ContentSample.ts"
export * as ContentSource from "./services/ContentSource.ts"
export * as ControllerState from "./services/ControllerState.ts"
export * as IpcClient from "./services/IpcClient.ts"
export * as Problem from "./services/Problem.ts"
export * as ReplayBacklog from "./services/ReplayBacklog.ts"
export * as RequestPacing from "./services/RequestPacing.ts"
export * as ScreenPictures from "./services/ScreenPictures.ts"
export * as Slices from "./services/Slices.ts"
export { SourceError } from "./services/SourceError.ts"
export * as TableSourceClient from "./services/TableSourceClient.ts"
export * as VersionStore from "./services/VersionStore.ts"
export * as Violation from "./services/Violation.ts"

/**
 * The configuration of a controller; the default export of `vitrine.config.ts`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defineConfig = (configuration: ConfigurationFile): ConfigurationFile => configuration
