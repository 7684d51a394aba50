/**
 * The content plugin's work: fetch all sources into a staged version, promote it, tell everybody
 * (specification, sections 1, 2.7 and 6; decisions, parts A and C).
 *
 * How versions lie on disk belongs to the `VersionStore`, what a source saves to the source.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { type CommandAlreadyRegistered, CommandBus } from "../../services/CommandBus.ts"
import { Content, type FetchError } from "../../services/Content.ts"
import type { ContentEvent, ContentState, FetchOutcome } from "../../services/ContentEvents.ts"
import {
  type ContentSource,
  type SourceEnvironment,
  SourceFailed,
  type SourceProgress
} from "../../services/ContentSource.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { describeError, messageOf } from "../../services/ErrorDescription.ts"
import { EventBus } from "../../services/EventBus.ts"
import type { InvalidOptions } from "../../services/Options.ts"
import { type Manifest, type StagedVersion, VersionStore } from "../../services/VersionStore.ts"
import { apartFromSpan } from "../apartFromSpan.ts"
import { isDiskFull } from "../fileError.ts"
import { countText, secondsText } from "../readable.ts"
import { type ContentConfig, type ContentOptions, decodeFetching } from "./ContentOptions.ts"
import * as ContentOverview from "./ContentOverview.ts"
import { type NextFetch, statusRows } from "./contentStatus.ts"
import { pauseAfter } from "./fetchPause.ts"
import { countFetch, setRecords, setVersions } from "./metrics.ts"
import { singleFlight } from "./singleFlight.ts"

export { Content }

/**
 * The content of these sources, in any store of versions. It registers the commands `content.fetch`, `content.ack` and
 * `content.manifest.read`, the status section and the slice of the state.
 */
export const layer = (
  config: Pick<ContentConfig, "fetchEvery" | "sources">
): Layer.Layer<
  Content,
  InvalidOptions | CommandAlreadyRegistered,
  VersionStore | EventBus | CommandBus | ControllerState | SourceEnvironment
> =>
  Layer.scoped(
    Content,
    Effect.gen(function* () {
      const { sources, ...settings } = yield* decodeFetching(config)
      return yield* make(settings, yield* Effect.all(sources.map(({ make }) => make)))
    })
  )

/** The same without a layer, of decoded options and sources that are made. */
export const make = Effect.fnUntraced(function* (
  { fetchEvery }: Pick<ContentOptions, "fetchEvery">,
  sources: ReadonlyArray<ContentSource>
) {
  const store = yield* VersionStore
  const { publish } = yield* EventBus
  const commands = yield* CommandBus
  const state = yield* ControllerState
  const scope = yield* Effect.scope
  const overview = yield* Ref.make(ContentOverview.empty(sources.map(({ id }) => id)))
  const content = yield* Ref.make<ContentState>({})
  const nextFetch = yield* Ref.make(Option.none<NextFetch>())

  const updateState = (change: ContentState) =>
    Effect.flatMap(
      Ref.updateAndGet(content, (before) => ({ ...before, ...change })),
      (content) => state.updateSlice("content", () => content)
    )
  yield* updateState({})

  const tell = (event: ContentEvent) =>
    Effect.zipRight(
      Ref.update(overview, (before) => ContentOverview.advance(before, event)),
      publish(event.name, event.payload)
    )

  const announce = ({ generatedAt, versionId, versionPath }: Manifest) =>
    tell({ name: "content:version:promoted", payload: { versionId, versionPath, generatedAt } })

  const tellError =
    (sourceId: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.tapError(effect, (error) =>
        Effect.flatMap(timestamp, (timestamp) =>
          tell({
            name: "content:source:error",
            payload: { timestamp, sourceId, error: describeError(error) }
          })
        )
      )

  const fetchSource = Effect.fn("Content.fetchSource")(
    function* (source: ContentSource, staged: StagedVersion) {
      const sourceId = source.id
      yield* Effect.annotateCurrentSpan("source", sourceId)
      yield* tell({ name: "content:source:start", payload: { timestamp: yield* timestamp, sourceId } })
      const directory = yield* staged.sourceDirectory(sourceId)
      const previous = yield* staged.previousDirectory(sourceId)
      const progress = (progress: SourceProgress) =>
        tell({ name: "content:source:progress", payload: { sourceId, ...progress } })
      const [duration, { complete, fingerprint, isPreviousDamaged, ...counts }] = yield* Effect.timed(
        source
          .fetch({ directory, previous, progress })
          .pipe(Effect.catchAllDefect((cause) => new SourceFailed({ sourceId, cause })))
      )
      yield* tell({
        name: "content:source:done",
        payload: {
          timestamp: yield* timestamp,
          sourceId,
          ...counts,
          durationMs: Math.round(Duration.toMillis(duration))
        }
      })
      const { attachments, ...sizes } = counts
      yield* Effect.annotateCurrentSpan({ ...sizes, attachments: attachments?.total ?? 0 })
      yield* setRecords(sourceId, counts.records)
      return {
        version: { sourceId, fingerprint },
        records: counts.records,
        complete: (complete ?? Effect.void).pipe(tellError(sourceId)),
        isPreviousDamaged: isPreviousDamaged ?? false
      }
    },
    (effect, { id }) => tellError(id)(effect)
  )

  const promote = Effect.fn("Content.promote")(function* (
    staged: StagedVersion,
    fetched: ReadonlyArray<Effect.Effect.Success<ReturnType<typeof fetchSource>>>
  ) {
    const promotion = yield* staged.promote(
      fetched.map(({ version }) => version),
      {
        complete: Effect.forEach(fetched, ({ complete }) => complete),
        isActiveDamaged: fetched.some(({ isPreviousDamaged }) => isPreviousDamaged)
      }
    )
    const { changed, manifest } = promotion
    yield* Effect.annotateCurrentSpan({ changed, versionId: manifest.versionId })
    return promotion
  })

  const fetchAll = Effect.gen(function* () {
    const staged = yield* store.stage
    const fetched = yield* Effect.forEach(sources, (source) => fetchSource(source, staged), {
      concurrency: "unbounded"
    })
    const promotion = yield* promote(staged, fetched)
    return { ...promotion, records: fetched.reduce((sum, { records }) => sum + records, 0) }
  }).pipe(Effect.scoped)

  /** Where the disk is full, versions that nobody shows make room for one more try. */
  const fetchAllInRoom = Effect.catchIf(fetchAll, isDiskFull, (error) =>
    store.makeRoom.pipe(
      Effect.orElseSucceed(() => []),
      Effect.tap((removed) =>
        removed.length === 0
          ? Effect.fail(error)
          : Effect.logWarning(
              `The disk is full: removed versions that nobody shows (${removed.join(", ")}), to try once more. ${error.message}`
            )
      ),
      Effect.zipRight(fetchAll)
    )
  )

  const sweep = store.sweep.pipe(
    Effect.flatMap((removed) =>
      removed.length === 0 ? Effect.void : Effect.logDebug(`Removed old versions: ${removed.join(", ")}`)
    ),
    Effect.zipRight(store.versions),
    Effect.flatMap((versions) => setVersions(versions.length)),
    Effect.catchAll((error) => Effect.logWarning(error.message))
  )

  const fetchOnce = Effect.gen(function* () {
    yield* tell({ name: "content:fetch:start", payload: { timestamp: yield* timestamp } })
    const [duration, { changed, manifest, records }] = yield* Effect.timed(fetchAllInRoom)
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
    yield* tell({ name: "content:fetch:done", payload: outcome })
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
    const failure = { timestamp: yield* timestamp, error: describeError(error) }
    const message = messageOf(error)
    const { lastFetch } = yield* Ref.get(overview)
    const isKnown = lastFetch._tag === "Failed" && lastFetch.message === failure.error.message
    yield* isKnown || state.mode === "task"
      ? Effect.logDebug(message)
      : Effect.logWarning(`Fetch failed, content stays as it is. ${message}`)
    yield* updateState({ lastFetch: failure })
    yield* tell({ name: "content:fetch:error", payload: failure })
  })

  const fetch = yield* singleFlight(fetchOnce, scope)

  yield* commands.register({ type: "content.fetch", fields: Schema.Struct({}), run: () => fetch })
  yield* commands.register({
    type: "content.manifest.read",
    fields: Schema.Struct({}),
    run: () => store.manifest
  })
  yield* commands.register({
    type: "content.ack",
    fields: Schema.Struct({
      consumerId: Schema.String,
      versionId: Schema.String,
      problem: Schema.optionalWith(Schema.String, { exact: true })
    }),
    run: ({ consumerId, problem, versionId }) => store.acknowledge(consumerId, versionId, problem)
  })
  yield* state.addSection({
    name: "content",
    order: 10,
    title: "Content",
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

  /** Gives whether to try again soon. What it fails with was reported; a bug must not end the fetching either. */
  const fetchQuietly = fetch.pipe(
    Effect.as(false),
    Effect.catchAll((error) => Effect.succeed(error._tag === "SourceFailed" && error.isTransient === true)),
    Effect.catchAllCause((cause) =>
      Effect.as(
        Cause.isDie(cause) ? Effect.logError("A fetch ended unexpectedly", cause) : Effect.void,
        false
      )
    )
  )
  const keepFetching = Effect.gen(function* () {
    let failures = 0
    while (true) {
      failures = (yield* fetchQuietly) ? failures + 1 : 0
      const pause = pauseAfter(failures, Option.fromNullable(fetchEvery))
      if (Option.isNone(pause)) {
        return
      }
      const at = (yield* Clock.currentTimeMillis) + Duration.toMillis(pause.value)
      yield* Ref.set(nextFetch, Option.some({ at, isRetry: failures > 0 }))
      yield* Effect.sleep(pause.value)
      yield* Ref.set(nextFetch, Option.none())
    }
  })

  const start = announceActive.pipe(
    Effect.catchAll((error) => Effect.logWarning(error.message)),
    Effect.zipRight(Effect.forkIn(apartFromSpan(keepFetching), scope)),
    Effect.asVoid
  )
  return Content.of({ fetch, start: state.mode === "task" ? Effect.void : start })
})

const timestamp = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())
