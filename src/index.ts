/**
 * Vitrine: the plugins and sources of a configuration, and the services and layers for your own programs.
 */
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { type InvalidOptions, issuesOf } from "./internal/Options.ts"
import { withPrivate } from "./internal/privateFiles.ts"
import * as ContentServer from "./layers/contentServer/ContentServer.ts"
import * as ContentServerOptions from "./layers/contentServer/ContentServerOptions.ts"
import type { ConfigurationFile } from "./layers/controller/loadConfiguration.ts"
import * as Dashboard from "./layers/dashboard/Dashboard.ts"
import * as DashboardOptions from "./layers/dashboard/DashboardOptions.ts"
import * as ActiveVersion from "./layers/fetching/ActiveVersion.ts"
import * as Content from "./layers/fetching/Content.ts"
import * as ContentOptions from "./layers/fetching/ContentOptions.ts"
import { registerOnDisk } from "./layers/fetching/contentCommands.ts"
import * as HttpTransport from "./layers/httpTransport/HttpTransport.ts"
import * as HttpTransportOptions from "./layers/httpTransport/HttpTransportOptions.ts"
import * as RequestPacingMemory from "./layers/memory/RequestPacingMemory.ts"
import * as Replica from "./layers/replica/Replica.ts"
import * as ReplicaOptions from "./layers/replica/ReplicaOptions.ts"
import * as VersionStoreDisk from "./layers/versions/VersionStoreDisk.ts"
import { BaseFolder } from "./services/ContentSource.ts"
import * as Plugin from "./services/Plugin.ts"
import { VersionStore } from "./services/VersionStore.ts"

// What stands in a configuration.

export type { ContentServerConfig } from "./layers/contentServer/ContentServerOptions.ts"
export type { ConfigurationFile } from "./layers/controller/loadConfiguration.ts"
export type { DashboardConfig } from "./layers/dashboard/DashboardOptions.ts"
export type { RecordsStep as Step } from "./layers/documents/DocumentOptions.ts"
export type { TableExpectation } from "./layers/documents/expect/ExpectOptions.ts"
export type { ImageConfig as Image } from "./layers/documents/images/ImageConfig.ts"
export type { MediaConfig as Media } from "./layers/documents/media/MediaOptions.ts"
export type { ContentConfig } from "./layers/fetching/ContentOptions.ts"
export type { HttpTransportConfig } from "./layers/httpTransport/HttpTransportOptions.ts"
export type { ReplicaConfig } from "./layers/replica/ReplicaOptions.ts"
export type { DirectusCollection, DirectusSourceConfig } from "./layers/sources/directus/DirectusOptions.ts"
export { directusSource } from "./layers/sources/directus/DirectusSource.ts"
export type { FolderSourceConfig } from "./layers/sources/folder/FolderOptions.ts"
export { folderSource } from "./layers/sources/folder/FolderSource.ts"
export type { Get, SourceContext } from "./layers/sources/function/FunctionContext.ts"
export type { SourceConfig } from "./layers/sources/function/FunctionSource.ts"
export { source } from "./layers/sources/function/FunctionSource.ts"
export { jsonSource } from "./layers/sources/json/JsonSource.ts"
export type { JsonDocument, JsonSourceConfig } from "./layers/sources/json/JsonSourceOptions.ts"
export type { SanityQuery, SanitySourceConfig } from "./layers/sources/sanity/SanityOptions.ts"
export { sanitySource } from "./layers/sources/sanity/SanitySource.ts"
export type { StrapiSourceConfig, StrapiType } from "./layers/sources/strapi/StrapiOptions.ts"
export { strapiSource } from "./layers/sources/strapi/StrapiSource.ts"
export {
  type AirtableSourceConfig as TableSourceConfig,
  tableSource
} from "./layers/sources/tables/AirtableSource.ts"
// The declarations of a program that exports a source or a plugin name these types.
export type { ContentSourceDefinition } from "./services/ContentSource.ts"
export type { Plugin as PluginDefinition } from "./services/Plugin.ts"
export type { OpeningHours } from "./services/StatusSnapshot.ts"

// What provides the services of a program, one implementation each.

export * as ContentServer from "./layers/contentServer/ContentServer.ts"
export * as IpcClientSocket from "./layers/control/IpcClientSocket.ts"
export * as IpcServer from "./layers/control/IpcServer.ts"
export * as Controller from "./layers/controller/Controller.ts"
export * as ControllerServices from "./layers/controller/ControllerServices.ts"
export * as Dashboard from "./layers/dashboard/Dashboard.ts"
export * as DocumentSource from "./layers/documents/DocumentSource.ts"
export * as Content from "./layers/fetching/Content.ts"
/** The HTTP client of the command line. */
export * as HttpClientNode from "./layers/httpClient/HttpClientNode.ts"
export * as HttpTransport from "./layers/httpTransport/HttpTransport.ts"
export * as CommandBusMemory from "./layers/memory/CommandBusMemory.ts"
export * as ControllerStateMemory from "./layers/memory/ControllerStateMemory.ts"
export * as EventBusMemory from "./layers/memory/EventBusMemory.ts"
export * as ReplayBacklogMemory from "./layers/memory/ReplayBacklogMemory.ts"
export * as RequestPacingMemory from "./layers/memory/RequestPacingMemory.ts"
export * as Replica from "./layers/replica/Replica.ts"
export * as AirtableClient from "./layers/sources/tables/AirtableClient.ts"
export * as TableSource from "./layers/sources/tables/TableSource.ts"
export * as VersionStoreDisk from "./layers/versions/VersionStoreDisk.ts"
export * as Plugin from "./services/Plugin.ts"
/** A fake for tests. */
export * as TableSourceClientMemory from "./testing/TableSourceClientMemory.ts"

// The services, each with its types, schemas and errors.

export { encodeJson } from "./internal/JsonText.ts"
export { InvalidOptions } from "./internal/Options.ts"
export type { PlacedIssue } from "./internal/ParseIssues.ts"
export { ErrorChain, type SerializedError } from "./internal/SerializedError.ts"
export { BindError } from "./layers/http/listen.ts"
export * as CommandBus from "./services/CommandBus.ts"
export * as ContentCheck from "./services/ContentCheck.ts"
export * as ContentDiff from "./services/ContentDiff.ts"
export * as ContentEvents from "./services/ContentEvents.ts"
export * as ContentSample from "./services/ContentSample.ts"
export * as ContentSource from "./services/ContentSource.ts"
export * as ControllerState from "./services/ControllerState.ts"
export * as EventBus from "./services/EventBus.ts"
export * as FileList from "./services/FileList.ts"
export * as IpcClient from "./services/IpcClient.ts"
export * as Problem from "./services/Problem.ts"
export * as ReplayBacklog from "./services/ReplayBacklog.ts"
export * as RequestPacing from "./services/RequestPacing.ts"
export * as Slices from "./services/Slices.ts"
export { SourceError } from "./services/SourceError.ts"
export * as TableSourceClient from "./services/TableSourceClient.ts"
export * as VersionStore from "./services/VersionStore.ts"
export * as Violation from "./services/Violation.ts"

/** The configuration of a controller; the default export of `vitrine.config.ts`. */
export const defineConfig = (configuration: ConfigurationFile): ConfigurationFile => configuration

/** Fetches content from its sources into immutable versions on disk and announces the active one. */
export const content = (config: ContentOptions.ContentConfig): Plugin.Plugin =>
  versionsPlugin(config, {
    decode: ContentOptions.decode,
    make: (options, { cwd }) => withSourceServices(Content.fromOptions(options), cwd),
    sources: ({ sources }, cwd) =>
      withSourceServices(
        Effect.forEach(sources, ({ make }) => make),
        cwd
      )
  })

const withSourceServices = <A, E, R>(effect: Effect.Effect<A, E, R>, cwd: string) =>
  Effect.flatMap(Layer.build(RequestPacingMemory.layer), (pacing) =>
    effect.pipe(Effect.provide(pacing), Effect.provideService(BaseFolder, cwd))
  )

/**
 * Copies the versions of another controller, from its `contentServer` or any other server of its downloads folder. It stands in
 * the place of `content`, with the same commands, events and files.
 */
export const replica = (config: ReplicaOptions.ReplicaConfig): Plugin.Plugin =>
  versionsPlugin(config, {
    decode: ReplicaOptions.decode,
    make: (options, { addLogger }) => Replica.fromOptions(options, addLogger),
    sources: () => Effect.succeed([])
  })

type VersionsOptions = Pick<
  ContentOptions.ContentOptions,
  "ackLease" | "downloadPath" | "keepVersions" | "name"
> &
  Partial<Pick<ContentOptions.ContentOptions, "release">>

interface MakeVersions<Options, E, E2> {
  readonly decode: (config: unknown) => Either.Either<Options, InvalidOptions>
  readonly make: (
    options: Options,
    context: Plugin.PluginContext
  ) => Effect.Effect<Content.Content["Type"], E, VersionStore | Plugin.PluginEnvironment | Scope.Scope>
  readonly sources: (
    options: Options,
    cwd: string
  ) => Effect.Effect<Plugin.KeptContent["sources"], E2, Plugin.Platform | Scope.Scope>
}

/** A plugin that makes versions in its downloads folder. */
const versionsPlugin = <Options extends VersionsOptions, E, E2>(
  config: unknown,
  { decode, make, sources }: MakeVersions<Options, E, E2>
): Plugin.Plugin => {
  const options = decode(config)
  return {
    name: contentName(options),
    issues: issuesOf(options),
    setup: (context) =>
      Effect.gen(function* () {
        const decoded = yield* options
        const directory = yield* directoryOf(decoded, context.cwd)
        const { start } = yield* Effect.provideServiceEffect(
          withPrivate(directory)(make(decoded, context)),
          VersionStore,
          openVersions(decoded, directory)
        )
        return start
      }),
    onDisk: versionsOnDisk(Either.orElse(options, () => ContentOptions.decodeOnDisk(config))),
    content: ({ cwd }) =>
      Effect.gen(function* () {
        const decoded = yield* options
        return { directory: yield* directoryOf(decoded, cwd), sources: yield* sources(decoded, cwd) }
      })
  }
}

const directoryOf = ({ downloadPath }: VersionsOptions, cwd: string) =>
  Effect.map(Path.Path, (path) => path.resolve(cwd, downloadPath))

const openVersions = ({ ackLease, keepVersions, release = "at once" }: VersionsOptions, directory: string) =>
  VersionStoreDisk.open({ ackLease, directory, keepVersions, release })

const contentName = Either.match({
  onLeft: () => "content",
  onRight: ({ name }: Pick<VersionsOptions, "name">) => name
})

/** There are no subscribers yet when it is set up. */
const versionsOnDisk = (options: Either.Either<VersionsOptions, InvalidOptions>): Plugin.Plugin => ({
  name: contentName(options),
  issues: issuesOf(options),
  setup: ({ cwd }) =>
    Effect.gen(function* () {
      const decoded = yield* options
      const directory = yield* directoryOf(decoded, cwd)
      const commands = Effect.provideServiceEffect(
        registerOnDisk(decoded.name),
        ActiveVersion.ActiveVersion,
        ActiveVersion.silent
      )
      yield* Effect.provideServiceEffect(commands, VersionStore, openVersions(decoded, directory))
      return Effect.void
    })
})

/** Serves the downloads folder over HTTP, and a page beside it. */
export const contentServer = (config: ContentServerOptions.ContentServerConfig = {}): Plugin.Plugin => {
  const options = ContentServerOptions.decode(config)
  return {
    name: Either.match(options, { onLeft: () => "content-server", onRight: ContentServerOptions.nameOf }),
    issues: issuesOf(options),
    setup: ({ cwd }) =>
      Effect.gen(function* () {
        const { downloadPath, site, ...serving } = yield* options
        const path = yield* Path.Path
        const server = ContentServer.layer({
          ...serving,
          downloadPath: path.resolve(cwd, downloadPath),
          ...(site === undefined ? {} : { site: Predicate.isString(site) ? path.resolve(cwd, site) : site })
        })
        const started = Effect.provideService(Layer.build(server), BaseFolder, cwd)
        return yield* Effect.as(started, Effect.void)
      })
  }
}

/** Exposes the command bus and the event bus over loopback HTTP and Server-Sent Events. */
export const httpTransport = (config: HttpTransportOptions.HttpTransportConfig = {}): Plugin.Plugin => ({
  ...Plugin.fromLayer(config.name ?? HttpTransportOptions.defaultName, HttpTransport.layer(config)),
  issues: issuesOf(HttpTransportOptions.decode(config))
})

/** Shows what the controller reports on a page, and for monitoring. */
export const dashboard = (config: DashboardOptions.DashboardConfig = {}): Plugin.Plugin => ({
  name: "dashboard",
  issues: issuesOf(DashboardOptions.decode(config)),
  setup: ({ addLogger }) => Effect.as(Dashboard.make(config, addLogger), Effect.void)
})
