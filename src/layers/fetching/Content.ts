/**
 * Content from sources, as a layer.
 */
import { join } from "node:path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { InvalidOptions } from "../../internal/Options.ts"
import * as Schedules from "../../internal/Schedules.ts"
import type { CommandAlreadyRegistered, CommandBus } from "../../services/CommandBus.ts"
import { Content } from "../../services/Content.ts"
import {
  type ContentSource,
  type ContentSourceDefinition,
  type SourceEnvironment,
  SourceFolder
} from "../../services/ContentSource.ts"
import type { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import { SourceError } from "../../services/SourceError.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { type ContentConfig, decodeFetching, defaultFailingFor, defaultSettle } from "./ContentOptions.ts"
import { fetchSources } from "./fetchSources.ts"
import { makeContent } from "./makeContent.ts"

export { CopyFailed, type FetchError } from "../../services/Content.ts"
export type { BuiltInCommands } from "../../services/contentCommands.ts"
export { Content }

/**
 * The options of `content` with their defaults, without those of the store. `R` are services that the sources need.
 *
 * @since 0.1.0
 * @category models
 */
export interface FetchingConfig<R = never> extends Pick<ContentConfig, "commands" | "independent" | "name"> {
  readonly fetchEvery?: Duration.DurationInput | undefined
  readonly settle?: Duration.DurationInput | undefined
  readonly failingFor?: Duration.DurationInput | undefined
  readonly maxAge?: Duration.DurationInput | undefined
  readonly sources: ReadonlyArray<ContentSourceDefinition<R>>
}

/**
 * The services that content and its sources need.
 *
 * @since 0.1.0
 * @category models
 */
export type Environment<R = never> =
  | VersionStore
  | EventBus
  | CommandBus
  | ControllerState
  | SourceEnvironment
  | R

/**
 * Fetches the content of these sources into any store of versions. Registers the commands, the status section and the
 * slice of the state, with the `name` of the options instead of `content`: `content.fetch`, `content.ack`,
 * `content.manifest.read`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <R = never>(
  config: FetchingConfig<R>
): Layer.Layer<Content, InvalidOptions | SourceError | CommandAlreadyRegistered, Environment<R>> =>
  Layer.scoped(Content, make(config))

/**
 * As `layer`, without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <R = never>(
  config: FetchingConfig<R>
): Effect.Effect<
  typeof Content.Service,
  InvalidOptions | SourceError | CommandAlreadyRegistered,
  Environment<R> | Scope.Scope
> => Effect.flatMap(decodeFetching(config), (options) => fromOptions({ ...options, sources: config.sources }))

/** As `make`, with decoded options. @internal */
export const fromOptions = <R = never>(options: FetchingConfig<R>) =>
  Effect.gen(function* () {
    const { directory } = yield* VersionStore
    const sources = yield* Effect.provideService(
      Effect.forEach(options.sources, makeSource),
      SourceFolder,
      Option.some(join(directory, ".sources"))
    )
    return yield* fromSources(options, sources)
  })

const makeSource = <R>({ id, make }: ContentSourceDefinition<R>) =>
  Effect.mapError(make, (cause) =>
    cause instanceof InvalidOptions ? cause : new SourceError({ source: id, cause })
  )

/**
 * As `make`, with sources that exist already.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromSources = (
  {
    commands = true,
    failingFor = defaultFailingFor,
    fetchEvery,
    independent,
    maxAge,
    name = "content",
    settle = defaultSettle
  }: Partial<Omit<FetchingConfig, "sources">>,
  sources: ReadonlyArray<ContentSource>
) => {
  const schedule = Schedules.fetch(Option.fromNullable(fetchEvery))
  return makeContent(
    { commands, name, rules: { failingFor, maxAge }, schedule },
    fetchSources(sources, Duration.decode(settle), independent)
  )
}
