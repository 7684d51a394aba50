import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { InvalidOptions } from "../../internal/Options.ts"
import { countText, secondsText } from "../../internal/readable.ts"
import { messageOf, serializeError } from "../../internal/SerializedError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import type { CommandAlreadyRegistered, CommandBus } from "../../services/CommandBus.ts"
import { Content, type FetchError } from "../../services/Content.ts"
import type { ContentState, FetchOutcome } from "../../services/ContentEvents.ts"
import type { ContentSource, SourceEnvironment } from "../../services/ContentSource.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import { type Manifest, VersionStore } from "../../services/VersionStore.ts"
import { type ContentConfig, decodeFetching } from "./ContentOptions.ts"
import * as ContentOverview from "./ContentOverview.ts"
import { registerCommands } from "./contentCommands.ts"
import { type NextFetch, statusRows } from "./contentStatus.ts"
import { makeFetchSources } from "./fetchSources.ts"
import { keepFetching } from "./keepFetching.ts"
import { countFetch, setVersions } from "./metrics.ts"
import { makePublish, type Report, timestamp } from "./report.ts"
import { singleFlight } from "./singleFlight.ts"

export { Content }

type FetchingConfig = Pick<ContentConfig, "commands" | "fetchEvery" | "name" | "sources">

/**
 * The content of these sources, in any store of versions. It registers the commands `content.fetch`, `content.ack` and
 * `content.manifest.read`, the status section and the slice of the state, with the `name` of the options in the place of
 * `content`.
 */
export const layer = (
  config: FetchingConfig
): Layer.Layer<
  Content,
  InvalidOptions | CommandAlreadyRegistered,
  VersionStore | EventBus | CommandBus | ControllerState | SourceEnvironment
> => Layer.scoped(Content, make(config))

/** The same without a layer. */
export const make = Effect.fnUntraced(function* (config: FetchingConfig) {
  const { sources, ...settings } = yield* decodeFetching(config)
  return yield* fromSources(settings, yield* Effect.all(sources.map(({ make }) => make)))
})

/** As `make`, of decoded options and sources that are made. */
export const fromSources = Effect.fnUntraced(function* (
  { commands = true, fetchEvery, name = "content" }: Partial<Omit<FetchingConfig, "sources">>,
  sources: ReadonlyArray<ContentSource>
) {
  const store = yield* VersionStore
  const publish = yield* makePublish(name)
  const state = yield* ControllerState
  const scope = yield* Effect.scope
  const overview = yield* Ref.make(ContentOverview.empty(sources.map(({ id }) => id)))
  const content = yield* Ref.make<ContentState>({})
  const nextFetch = yield* Ref.make(Option.none<NextFetch>())

  const updateState = (change: ContentState) =>
    Effect.flatMap(
      Ref.updateAndGet(content, (before) => ({ ...before, ...change })),
      (content) => state.updateSlice(name, () => content)
    )
  yield* updateState({})

  const report: Report = (event) =>
    Effect.zipRight(
      Ref.update(overview, (before) => ContentOverview.advance(before, event)),
      publish(event)
    )

  const announce = ({ generatedAt, versionId, versionPath }: Manifest) =>
    report({ name: "content:version:promoted", payload: { versionId, versionPath, generatedAt } })

  const fetchSources = yield* makeFetchSources(sources, report)

  const sweep = store.sweep.pipe(
    Effect.flatMap((removed) =>
      removed.length === 0 ? Effect.void : Effect.logDebug(`Removed old versions: ${removed.join(", ")}`)
    ),
    Effect.zipRight(store.versions),
    Effect.flatMap((versions) => setVersions(versions.length)),
    Effect.catchAll((error) => Effect.logWarning(error.message))
  )

  const fetchOnce = Effect.gen(function* () {
    yield* report({ name: "content:fetch:start", payload: { timestamp: yield* timestamp } })
    const [duration, { changed, manifest, records }] = yield* Effect.timed(fetchSources)
    const outcome: FetchOutcome = {
      timestamp: yield* timestamp,
      changed,
      versionId: manifest.versionId,
      records,
      durationMs: Math.round(Duration.toMillis(duration))
    }
    yield* reportDone(outcome)
    if (changed) {
      yield* announce(manifest)
    }
    yield* report({ name: "content:fetch:done", payload: outcome })
    yield* Effect.annotateCurrentSpan({ changed, versionId: outcome.versionId, records })
    return outcome
  }).pipe(
    countFetch,
    Effect.tapError((error) => reportFailed(error)),
    Effect.ensuring(sweep),
    Effect.withSpan("Content.fetch")
  )

  const logDone = (
    { changed, durationMs, records, versionId }: FetchOutcome,
    last: ContentOverview.LastFetch
  ) =>
    (changed
      ? Effect.logInfo(
          `New version ${versionId}: ${countText(records, "record")}, fetched in ${secondsText(durationMs)}`
        )
      : last._tag === "Failed"
        ? Effect.logInfo(`Fetching works again; nothing has changed since version ${versionId}`)
        : Effect.logDebug(`Nothing has changed since version ${versionId}`)
    ).pipe(Effect.annotateLogs({ version: versionId, durationMs, records }))

  const reportDone = Effect.fnUntraced(function* (outcome: FetchOutcome) {
    yield* logDone(outcome, (yield* Ref.get(overview)).lastFetch)
    yield* updateState({ versionId: outcome.versionId, lastFetch: outcome })
  })

  /** Whoever runs a task is told by its result; a failure that repeats at every fetch is said once. */
  const reportFailed = Effect.fnUntraced(function* (error: FetchError) {
    const failure = { timestamp: yield* timestamp, error: serializeError(error) }
    const message = messageOf(error)
    const { lastFetch } = yield* Ref.get(overview)
    const isKnown = lastFetch._tag === "Failed" && lastFetch.message === failure.error.message
    yield* isKnown || state.mode === "task"
      ? Effect.logDebug(message)
      : Effect.logWarning(`Fetch failed, content stays as it is. ${message}`)
    yield* updateState({ lastFetch: failure })
    yield* report({ name: "content:fetch:error", payload: failure })
  })

  const fetch = yield* singleFlight(fetchOnce, scope)

  if (commands) {
    yield* registerCommands(name, fetch)
  }
  yield* state.addSection({
    name,
    order: 10,
    title: name === "content" ? "Content" : `Content: ${name}`,
    rows: Effect.map(
      Effect.all([Ref.get(overview), store.versions, Ref.get(nextFetch)]),
      ([overview, versions, nextFetch]) => statusRows(overview, versions, nextFetch)
    )
  })

  const announceActive = Effect.gen(function* () {
    const reading = yield* store.manifest
    if (reading.status === "ok") {
      const { versionId } = reading.manifest
      yield* Effect.logInfo(`Active version ${versionId}`).pipe(Effect.annotateLogs("version", versionId))
      yield* updateState({ versionId })
      yield* announce(reading.manifest)
    } else if (reading.status === "invalid") {
      yield* Effect.logWarning(`${reading.message}. The next fetch makes a new one.`)
    }
  })

  const start = announceActive.pipe(
    Effect.catchAll((error) => Effect.logWarning(error.message)),
    Effect.zipRight(
      Effect.forkIn(withoutParentSpan(keepFetching(fetch, Option.fromNullable(fetchEvery), nextFetch)), scope)
    ),
    Effect.asVoid
  )
  return Content.of({ fetch, start: state.mode === "task" ? Effect.void : start })
})
