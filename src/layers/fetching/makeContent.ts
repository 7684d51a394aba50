/**
 * Content of any origin: it fetches one version at a time and reports it, by events, in the state, the status and the log.
 *
 * Where versions come from belongs to the origin, where they are kept to the store of versions.
 */
import { isDeepStrictEqual } from "node:util"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { countText, secondsText } from "../../internal/readable.ts"
import { messageOf, serializeError } from "../../internal/SerializedError.ts"
import type { Fetches } from "../../internal/schedules.ts"
import { singleFlight } from "../../internal/singleFlight.ts"
import { kindOf, makeFailures, makeWarnWhile } from "../../internal/warnOnce.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import { Content, type FetchError } from "../../services/Content.ts"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import type { ContentState, FetchOutcome } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { latestOf } from "../versions/hold.ts"
import { makeActiveVersion } from "./activeVersion.ts"
import * as ContentOverview from "./ContentOverview.ts"
import { registerCommands } from "./contentCommands.ts"
import * as contentState from "./contentState.ts"
import { type NextFetch, statusRows } from "./contentStatus.ts"
import { holdText } from "./holdText.ts"
import { keepFetching } from "./keepFetching.ts"
import { beginCounts, countFetch, setVersions } from "./metrics.ts"
import type { Fetched, MakeOrigin } from "./Origin.ts"
import { makePublish, type Report, timestamp } from "./report.ts"
import { makeSweeping } from "./sweeping.ts"
import { makeUndo } from "./undo.ts"
import { violationsOf } from "./violationsOf.ts"
import { withRoom } from "./withRoom.ts"

export interface Settings {
  /** What its commands and events begin with, and the name of its status section and slice of the state. */
  readonly name: string
  /** Whether it registers its commands. */
  readonly commands: boolean
  readonly schedule: Fetches
}

export const makeContent = Effect.fnUntraced(function* <E, R>(
  { commands, name, schedule }: Settings,
  makeOrigin: MakeOrigin<E, R>
) {
  const store = yield* VersionStore
  const publish = yield* makePublish(name)
  // Nobody checks the types of a configuration before it runs.
  const { emptied = Stream.empty } = yield* EventBus
  const state = yield* ControllerState
  const scope = yield* Effect.scope
  const overview = yield* Ref.make(ContentOverview.empty)
  const content = yield* Ref.make<ContentState>({ sources: {} })
  const nextFetch = yield* Ref.make(Option.none<NextFetch>())
  const isLooking = yield* Ref.make(false)

  const updateState = (change: (before: ContentState) => ContentState) =>
    Effect.flatMap(Ref.updateAndGet(content, change), (content) => state.updateSlice(name, () => content))

  const report: Report = (event) =>
    Ref.updateAndGet(overview, (before) => ContentOverview.advance(before, event)).pipe(
      Effect.tap((after) =>
        contentState.isShown(event)
          ? updateState((before) => contentState.advance(before, event, after))
          : Effect.void
      ),
      Effect.zipRight(publish(event))
    )

  const origin = yield* makeOrigin(report)
  yield* Ref.update(overview, ContentOverview.withSources(origin.sourceIds))
  yield* updateState((before) => ({
    ...before,
    sources: Object.fromEntries(origin.sourceIds.map((id) => [id, {}]))
  }))

  /** The state does not change for a look at whether there is something to fetch. */
  const setNextFetch = (next: Option.Option<NextFetch>) =>
    Effect.zipRight(
      Ref.set(nextFetch, next),
      origin.look === undefined
        ? updateState((before) => contentState.withNextFetch(before, next))
        : Effect.void
    )

  yield* beginCounts

  const activeVersion = yield* makeActiveVersion(report, updateState)

  const readVersions = store.versions.pipe(
    Effect.tap((versions) => setVersions(versions.length)),
    Effect.flatMap((versions) =>
      Effect.unlessEffect(
        updateState((before) => ({ ...before, versions })),
        Effect.map(Ref.get(content), (before) => isDeepStrictEqual(before.versions, versions))
      )
    )
  )
  const unread = makeWarnWhile((message) => message)
  const showVersions = Effect.matchEffect(readVersions, {
    onFailure: ({ message }) => unread.fails(message),
    onSuccess: () => unread.works
  })

  const { sweep, sweepIfDue } = yield* makeSweeping(activeVersion, readVersions)

  const reportFetch = (fetch: Effect.Effect<Fetched, FetchError>) =>
    Effect.gen(function* () {
      yield* report({ name: "content:fetch:start", payload: { timestamp: yield* timestamp } })
      const [duration, fetched] = yield* Effect.timed(fetch)
      const { manifest, records } = fetched
      const changed = fetched.changed && manifest.held === undefined
      const { held, versionId } = yield* activeVersion.report(manifest, changed ? "promoted" : "unchanged")
      const outcome: FetchOutcome = {
        timestamp: yield* timestamp,
        changed,
        versionId,
        ...(held === undefined ? {} : { held }),
        records,
        durationMs: Math.round(Duration.toMillis(duration))
      }
      yield* logDone(outcome, fetched)
      yield* Ref.update(
        overview,
        ContentOverview.withSources(manifest.sources.map(({ sourceId }) => sourceId))
      )
      yield* report({ name: "content:fetch:done", payload: outcome })
      yield* Effect.annotateCurrentSpan({ changed, versionId: outcome.versionId, records })
      return outcome
    }).pipe(
      countFetch,
      Effect.tapError((error) => reportFailed(error)),
      Effect.ensuring(sweep),
      Effect.withSpan("Content.fetch")
    )

  const logDone = Effect.fnUntraced(function* (
    { durationMs, records }: FetchOutcome,
    { changed, manifest }: Fetched
  ) {
    const count = yield* failures.end
    const failed = count === 0 ? "" : ` after ${countText(count, "failure")}`
    const version = latestOf(manifest)
    const waits = manifest.held === undefined ? "" : ` waits, because version ${manifest.versionId} is held`
    yield* (
      changed
        ? Effect.logInfo(
            `New version ${version}${waits}: ${countText(records, "record")}, fetched in ${secondsText(durationMs)}${failed}`
          )
        : count > 0
          ? Effect.logInfo(`Fetching works again${failed}; nothing has changed since version ${version}`)
          : Effect.logDebug(`Nothing has changed since version ${version}`)
    ).pipe(Effect.annotateLogs({ version, durationMs, records }))
  })

  /** Whether the last fetch failed in the same way. */
  const isKnown = (error: FetchError) =>
    Effect.map(
      Ref.get(overview),
      ({ lastFetch }) => lastFetch._tag === "Failed" && lastFetch.message === serializeError(error).message
    )

  const failures = yield* makeFailures
  const isFirst = (error: FetchError) => failures.add(`${originOf(error)} ${kindOf(error)}`)

  /** Whoever runs a task is told by its result; of failures that repeat, each kind is said once until one succeeds. */
  const reportFailed = Effect.fnUntraced(function* (error: FetchError) {
    const failure = { timestamp: yield* timestamp, error: serializeError(error) }
    const message = messageOf(error)
    const text = `${violationsOf(error) === undefined ? "Fetch failed" : "Version rejected"}, content stays as it is. ${message}`
    yield* (yield* isFirst(error)) && state.mode !== "task" ? Effect.logWarning(text) : Effect.logDebug(text)
    yield* report({ name: "content:fetch:error", payload: failure })
  })

  const once = yield* singleFlight<FetchOutcome, FetchError>(scope)
  const fetch = once(reportFetch(withRoom(store)(origin.fetch)))
  const fetchNew = origin.fetchNew === undefined ? fetch : once(reportFetch(withRoom(store)(origin.fetchNew)))

  const makeCheck = (check: Effect.Effect<ContentCheck, FetchError>) =>
    Effect.map(singleFlight<ContentCheck, FetchError>(scope), (once) => once(check))

  /** A look that fails is a failed fetch, unless the one before failed alike: that was reported. */
  const lookFailed = (error: FetchError) =>
    Effect.if(isKnown(error), {
      onTrue: () => Effect.zipRight(isFirst(error), Effect.fail(error)),
      onFalse: () => once(reportFetch(Effect.fail(error)))
    })

  const shown = <A, E>(look: Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Ref.set(isLooking, true),
      () => look,
      () => Ref.set(isLooking, false)
    )

  const tick =
    origin.look === undefined
      ? fetch
      : Effect.matchEffect(shown(origin.look), {
          onFailure: (error) => Effect.zipRight(sweepIfDue, lookFailed(error)),
          onSuccess: (news) =>
            Effect.flatMap(Ref.get(overview), ({ lastFetch }) =>
              news === "new" ? fetchNew : news === "same" && lastFetch._tag !== "Done" ? fetch : sweepIfDue
            )
        })

  if (commands) {
    const check = origin.check === undefined ? {} : { check: yield* makeCheck(origin.check) }
    yield* registerCommands(
      name,
      { fetch, ...check, showVersions },
      yield* makeUndo(activeVersion, showVersions)
    )
  }
  // A clock that was set forward, or a machine that slept, may be past it before the fetch begins.
  const planned = Effect.zipWith(Ref.get(nextFetch), Clock.currentTimeMillis, (next, now) =>
    Option.map(next, ({ at, isRetry }) => ({ at: Math.max(at, now), isRetry }))
  )
  yield* state.addSection({
    name,
    order: 10,
    title: name === "content" ? "Content" : `Content: ${name}`,
    rows: Effect.map(
      Effect.all({
        overview: Ref.get(overview),
        isLooking: Ref.get(isLooking),
        held: Effect.map(Ref.get(content), ({ held }) => held),
        versions: store.versions,
        nextFetch: planned,
        originRows: origin.rows ?? Effect.succeed([]),
        rowsOfSources: origin.sourceRows ?? Effect.succeed({})
      }),
      statusRows
    ),
    data: Effect.map(
      Effect.all({
        overview: Ref.get(overview),
        nextFetch: planned,
        dataOfSources: origin.sourceData ?? Effect.succeed({}),
        ofOrigin: origin.data ?? Effect.succeed({})
      }),
      ({ ofOrigin, ...now }) => ({ ...ofOrigin, ...contentState.momentary(now) })
    )
  })

  const announceActive = Effect.gen(function* () {
    const reading = yield* store.manifest
    if (reading.status === "ok") {
      const { held, versionId } = yield* activeVersion.report(reading.manifest, "ready")
      yield* Effect.logInfo(
        `Active version ${versionId}${held === undefined ? "" : `, held ${holdText(versionId, held)}`}`
      ).pipe(Effect.annotateLogs("version", versionId))
    } else if (reading.status === "invalid") {
      yield* Effect.logWarning(`${reading.message}. The next fetch makes a new one.`)
    }
    yield* readVersions
  })

  const announceAgain = Stream.runForEach(emptied, () =>
    store.manifest.pipe(
      Effect.flatMap((reading) =>
        reading.status === "ok" ? activeVersion.report(reading.manifest, "ready") : Effect.void
      ),
      Effect.catchAll((error) => Effect.logWarning(error.message))
    )
  )

  const start = announceActive.pipe(
    Effect.catchAll((error) => Effect.logWarning(error.message)),
    Effect.zipRight(Effect.forkIn(announceAgain, scope)),
    Effect.zipRight(Effect.forkIn(withoutParentSpan(keepFetching(tick, schedule, setNextFetch)), scope)),
    Effect.asVoid
  )
  return Content.of({ fetch, start: state.mode === "task" ? Effect.void : start })
})

/** Whose failure it is, whether it may pass by itself, and whether what came was refused. */
const originOf = (error: FetchError): string => {
  switch (error._tag) {
    case "vitrine/SourceFailed":
      return `${error.sourceId} ${error.isTransient === true} ${error.violations !== undefined}`
    case "vitrine/CopyFailed":
      return `${error.from} ${error.isTransient}`
    default:
      return ""
  }
}
