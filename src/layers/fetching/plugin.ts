/**
 * The content plugin, and the parts that it shares with the replica plugin: the downloads folder, the versions, and the
 * commands that need only those.
 */
import { resolve } from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { withPrivate } from "../../files/privateFiles.ts"
import { type InvalidOptions, issuesOf } from "../../internal/Options.ts"
import { BaseFolder } from "../../services/ContentSource.ts"
import type * as Plugin from "../../services/Plugin.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import * as RequestPacingMemory from "../memory/RequestPacingMemory.ts"
import * as VersionStoreDisk from "../versions/VersionStoreDisk.ts"
import * as ActiveVersion from "./ActiveVersion.ts"
import * as Content from "./Content.ts"
import * as ContentOptions from "./ContentOptions.ts"
import { registerOnDisk } from "./registerCommands.ts"

/**
 * Fetches content from its sources into immutable versions on disk, and announces the active version.
 *
 * @since 0.1.0
 * @category constructors
 */
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
  effect.pipe(Effect.provide(RequestPacingMemory.layerShared), Effect.provideService(BaseFolder, cwd))

type VersionsOptions = Pick<
  ContentOptions.ContentOptions,
  "ackLease" | "downloadPath" | "keepVersions" | "name"
> &
  Partial<Pick<ContentOptions.ContentOptions, "release">>

export interface MakeVersions<Options, E, E2> {
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

/** Makes a plugin that keeps versions in its downloads folder. */
export const versionsPlugin = <Options extends VersionsOptions, E, E2>(
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
        const directory = resolve(context.cwd, decoded.downloadPath)
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
        return { directory: resolve(cwd, decoded.downloadPath), sources: yield* sources(decoded, cwd) }
      })
  }
}

const openVersions = ({ ackLease, keepVersions, release = "at once" }: VersionsOptions, directory: string) =>
  VersionStoreDisk.open({ ackLease, directory, keepVersions, release })

const contentName = Either.match({
  onLeft: () => "content",
  onRight: ({ name }: Pick<VersionsOptions, "name">) => name
})

/** Announces nothing: there are no subscribers yet at this point of the start. */
const versionsOnDisk = (options: Either.Either<VersionsOptions, InvalidOptions>): Plugin.Plugin => ({
  name: contentName(options),
  issues: issuesOf(options),
  setup: ({ cwd }) =>
    Effect.gen(function* () {
      const decoded = yield* options
      const directory = resolve(cwd, decoded.downloadPath)
      const commands = Effect.provideServiceEffect(
        registerOnDisk(decoded.name),
        ActiveVersion.ActiveVersion,
        ActiveVersion.silent
      )
      yield* Effect.provideServiceEffect(commands, VersionStore, openVersions(decoded, directory))
      return Effect.void
    })
})
