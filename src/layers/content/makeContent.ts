/**
 * Content of any origin: it fetches one version at a time and reports it, by events, in the state, the status and the log.
 *
 * Where versions come from belongs to the origin, where they are kept to the store of versions.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { countText, secondsText } from "../../internal/readable.ts"
import { messageOf, serializeError } from "../../internal/SerializedError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import { Content, type FetchError } from "../../services/Content.ts"
import type { ContentState, FetchOutcome } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { type Manifest, VersionStore } from "../../services/VersionStore.ts"
import * as ContentOverview from "./ContentOverview.ts"
import { registerCommands } from "./contentCommands.ts"
import { type NextFetch, statusRows } from "./contentStatus.ts"
import { keepFetching, type Pauses } from "./keepFetching.ts"
import { countFetch, setVersions } from "./metrics.ts"
import type { Fetched, MakeOrigin } from "./Origin.ts"
import { makePublish, type Report, timestamp } from "./report.ts"
import { singleFlight } from "./singleFlight.ts"
import { withRoom } from "./withRoom.ts"

export interface Settings {
  /** What its commands and events begin with, and the name of its status section and slice of the state. */
  readonly name: string
  /** Whether it registers its commands. */
  readonly commands: boolean
  readonly pauses: Pauses
}

export const makeContent = Effect.fnUntraced(function* <E, R>(
  { commands, name, pauses }: Settings,
  makeOrigin: MakeOrigin<E, R>
) {
  const store = yield* VersionStore
  const publish = yield* makePublish(name)
  const state = yield* ControllerState
  const scope = yield* Effect.scope
  const overview = yield* Ref.make(ContentOverview.empty)
  const content = yield* Ref.make<ContentState>({})
  const nextFetch = yield* Ref.make(Option.none<NextFetch>())

  const updateState = (change: ContentState) =>
    Effect.flatMap(
      Ref.updateAndGet(content, (before) => ({ ...before, ...change })),
      (content) => state.updateSlice(name, () => content)
    )

  const report: Report = (event) =>
    Effect.zipRight(
      Ref.update(overview, (before) => ContentOverview.advance(before, event)),
      publish(event)
    )

  const origin = yield* makeOrigin(report)
  yield* Ref.update(overview, ContentOverview.withSources(origin.sourceIds))
  yield* updateState({})

  const announce = ({ generatedAt, versionId, versionPath }: Manifest) =>
    report({ name: "content:version:promoted", payload: { versionId, versionPath, generatedAt } })

  const sweep = store.sweep.pipe(
    Effect.flatMap((removed) =>
      removed.length === 0 ? Effect.void : Effect.logDebug(`Removed old versions: ${removed.join(", ")}`)
    ),
    Effect.zipRight(store.versions),
    Effect.flatMap((versions) => setVersions(versions.length)),
    Effect.catchAll((error) => Effect.logWarning(error.message))
  )

  const reportFetch = (fetch: Effect.Effect<Fetched, FetchError>) =>
    Effect.gen(function* () {
      yield* report({ name: "content:fetch:start", payload: { timestamp: yield* timestamp } })
      const [duration, { changed, manifest, records }] = yield* Effect.timed(fetch)
      const outcome: FetchOutcome = {
        timestamp: yield* timestamp,
        changed,
        versionId: manifest.versionId,
        records,
        durationMs: Math.round(Duration.toMillis(duration))
      }
      yield* reportDone(outcome)
      yield* Ref.update(
        overview,
        ContentOverview.withSources(manifest.sources.map(({ sourceId }) => sourceId))
      )
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

  /** Whether the last fetch failed in the same way. */
  const isKnown = (error: FetchError) =>
    Effect.map(
      Ref.get(overview),
      ({ lastFetch }) => lastFetch._tag === "Failed" && lastFetch.message === serializeError(error).message
    )

  /** Whoever runs a task is told by its result; a failure that repeats at every fetch is said once. */
  const reportFailed = Effect.fnUntraced(function* (error: FetchError) {
    const failure = { timestamp: yield* timestamp, error: serializeError(error) }
    const message = messageOf(error)
    yield* (yield* isKnown(error)) || state.mode === "task"
      ? Effect.logDebug(message)
      : Effect.logWarning(`Fetch failed, content stays as it is. ${message}`)
    yield* updateState({ lastFetch: failure })
    yield* report({ name: "content:fetch:error", payload: failure })
  })

  const once = yield* singleFlight<FetchOutcome, FetchError>(scope)
  const fetch = once(reportFetch(withRoom(store)(origin.fetch)))

  /** A look that fails is a failed fetch, unless the one before failed alike: that was reported. */
  const lookFailed = (error: FetchError) =>
    Effect.if(isKnown(error), {
      onTrue: () => Effect.fail(error),
      onFalse: () => once(reportFetch(Effect.fail(error)))
    })

  const tick =
    origin.look === undefined
      ? fetch
      : Effect.matchEffect(origin.look, {
          onFailure: lookFailed,
          onSuccess: (news) =>
            Effect.flatMap(Ref.get(overview), ({ lastFetch }) =>
              news === "new" || (news === "same" && lastFetch._tag === "Failed") ? fetch : Effect.void
            )
        })

  if (commands) {
    yield* registerCommands(name, fetch)
  }
  yield* state.addSection({
    name,
    order: 10,
    title: name === "content" ? "Content" : `Content: ${name}`,
    rows: Effect.map(
      Effect.all([Ref.get(overview), store.versions, Ref.get(nextFetch), origin.rows ?? Effect.succeed([])]),
      ([overview, versions, nextFetch, originRows]) => statusRows(overview, versions, nextFetch, originRows)
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
    Effect.zipRight(Effect.forkIn(withoutParentSpan(keepFetching(tick, pauses, nextFetch)), scope)),
    Effect.asVoid
  )
  return Content.of({ fetch, start: state.mode === "task" ? Effect.void : start })
})
