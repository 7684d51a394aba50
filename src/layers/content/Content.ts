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
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { CommandBus } from "../../services/CommandBus.ts"
import { type ContentSource, SourceFailed } from "../../services/ContentSource.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { describeError } from "../../services/ErrorDescription.ts"
import { EventBus } from "../../services/EventBus.ts"
import {
  type Manifest,
  type StagedVersion,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import type { ContentOptions } from "./ContentOptions.ts"
import { type FetchOutcome, type LastFetch, statusRows } from "./contentStatus.ts"
import { singleFlight } from "./singleFlight.ts"

type FetchError = SourceFailed | VersionStoreError

/**
 * Registers the commands `content.fetch`, `content.ack` and `content.manifest.read`, the status section and
 * the slice of the state. The Effect returned announces the active version and starts fetching.
 */
export const make = Effect.fn("Content.make")(function* (
  { fetchEvery }: Pick<ContentOptions, "fetchEvery">,
  sources: ReadonlyArray<ContentSource>
) {
  const store = yield* VersionStore
  const { publish } = yield* EventBus
  const commands = yield* CommandBus
  const state = yield* ControllerState
  const scope = yield* Effect.scope
  const lastFetch = yield* Ref.make<LastFetch>({ _tag: "None" })

  const announce = ({ generatedAt, versionId, versionPath }: Manifest) =>
    publish("content:version:promoted", { versionId, versionPath, generatedAt })

  const fetchSource = Effect.fnUntraced(
    function* (source: ContentSource, staged: StagedVersion) {
      const sourceId = source.id
      yield* publish("content:source:start", { sourceId })
      const directory = yield* staged.sourceDirectory(sourceId)
      const previous = yield* staged.previousDirectory(sourceId)
      const progress = (progress: object) => publish("content:source:progress", { sourceId, ...progress })
      const [duration, { fingerprint, ...counts }] = yield* Effect.timed(
        source
          .fetch({ directory, previous, progress })
          .pipe(Effect.catchAllDefect((cause) => new SourceFailed({ sourceId, cause })))
      )
      yield* publish("content:source:done", {
        sourceId,
        ...counts,
        durationMs: Math.round(Duration.toMillis(duration))
      })
      return { sourceId, fingerprint, records: counts.records }
    },
    (effect, { id }) =>
      Effect.tapError(effect, (error) =>
        publish("content:source:error", { sourceId: id, error: describeError(error) })
      )
  )

  const fetchAll = Effect.gen(function* () {
    const staged = yield* store.stage
    const fetched = yield* Effect.forEach(sources, (source) => fetchSource(source, staged), {
      concurrency: "unbounded"
    })
    const promotion = yield* staged.promote(
      fetched.map(({ fingerprint, sourceId }) => ({ sourceId, fingerprint }))
    )
    return { ...promotion, records: fetched.reduce((sum, { records }) => sum + records, 0) }
  }).pipe(Effect.scoped)

  const sweep = store.sweep.pipe(
    Effect.flatMap((removed) =>
      removed.length === 0 ? Effect.void : Effect.logDebug(`Removed old versions: ${removed.join(", ")}`)
    ),
    Effect.catchAll((error) => Effect.logWarning(error.message))
  )

  const fetchOnce = Effect.gen(function* () {
    yield* publish("content:fetch:start", { timestamp: yield* timestamp })
    const [duration, { changed, manifest, records }] = yield* Effect.timed(fetchAll)
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
    yield* publish("content:fetch:done", outcome)
    return outcome
  }).pipe(
    Effect.tapError((error) => reportFailed(error)),
    Effect.ensuring(sweep),
    Effect.withSpan("Content.fetch")
  )

  const reportDone = Effect.fnUntraced(function* (outcome: FetchOutcome) {
    const before = yield* Ref.getAndSet(lastFetch, { _tag: "Done", outcome })
    const seconds = (outcome.durationMs / 1000).toFixed(1)
    if (outcome.changed) {
      yield* Effect.logInfo(
        `New version ${outcome.versionId}: ${outcome.records} records, fetched in ${seconds} s`
      )
    } else if (before._tag === "Failed") {
      yield* Effect.logInfo(`Fetching works again; nothing has changed since version ${outcome.versionId}`)
    } else {
      yield* Effect.logDebug(`Nothing has changed since version ${outcome.versionId}`)
    }
    yield* state.updateSlice("content", () => ({ versionId: outcome.versionId, lastFetch: outcome }))
  })

  /** Whoever runs a task is told by its result; a failure that repeats at every fetch is said once. */
  const reportFailed = Effect.fnUntraced(function* (error: FetchError) {
    const failure = { timestamp: yield* timestamp, error: describeError(error) }
    const { message } = failure.error
    const before = yield* Ref.getAndSet(lastFetch, { _tag: "Failed", timestamp: failure.timestamp, message })
    const isKnown = before._tag === "Failed" && before.message === message
    yield* isKnown || state.mode === "task"
      ? Effect.logDebug(message)
      : Effect.logWarning(`Fetch failed, content stays as it is. ${message}`)
    yield* state.updateSlice("content", (slice) => ({ ...Object(slice), lastFetch: failure }))
    yield* publish("content:fetch:error", failure)
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
    fields: Schema.Struct({ consumerId: Schema.String, versionId: Schema.String }),
    run: ({ consumerId, versionId }) => store.acknowledge(consumerId, versionId)
  })
  yield* state.addSection({
    name: "content",
    order: 10,
    title: "Content",
    rows: Effect.zipWith(store.versions, Ref.get(lastFetch), (versions, last) =>
      statusRows(sources, versions, last)
    )
  })

  const announceActive = Effect.gen(function* () {
    const reading = yield* store.manifest
    if (reading.status === "ok") {
      yield* Effect.logInfo(`Active version ${reading.manifest.versionId}`)
      yield* state.updateSlice("content", () => ({ versionId: reading.manifest.versionId }))
      yield* announce(reading.manifest)
    } else if (reading.status === "invalid") {
      yield* Effect.logWarning(`${reading.message}. The next fetch makes a new one.`)
    }
  })

  /** What it fails with was reported; a bug must not end the fetching either. */
  const fetchQuietly = Effect.catchAllCause(Effect.asVoid(fetch), (cause) =>
    Cause.isDie(cause) ? Effect.logError("A fetch ended unexpectedly", cause) : Effect.void
  )
  const keepFetching =
    fetchEvery === undefined
      ? fetchQuietly
      : Effect.asVoid(Effect.repeat(fetchQuietly, Schedule.spaced(fetchEvery)))

  return state.mode === "task"
    ? Effect.void
    : announceActive.pipe(
        Effect.catchAll((error) => Effect.logWarning(error.message)),
        Effect.zipRight(Effect.forkIn(keepFetching, scope))
      )
})

const timestamp = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())
