/**
 * Content of any provider: it fetches one version at a time and reports it, by events, in the state and the log.
 *
 * Where versions come from belongs to the provider, where they are kept to the store of versions.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import type { Fetches } from "../../internal/schedules.ts"
import { singleFlight } from "../../internal/singleFlight.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import { Content, type FetchError } from "../../services/Content.ts"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import type { FetchOutcome } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import type { ContentState, Screen } from "../../services/Slices.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { compareAnnounced } from "../comparing/compareAnnounced.ts"
import { registerCommands } from "./contentCommands.ts"
import { type ContentSlice, makeSlice, withSources } from "./contentState.ts"
import { makeFetchReport } from "./fetchReport.ts"
import { beginCounts, countVersions } from "./metrics.ts"
import type { MakeProvider, Provider } from "./Provider.ts"
import { activeText, reading } from "./pluginReading.ts"
import { makeReport, type Report } from "./report.ts"
import { type ActiveVersion, makeActiveVersion } from "./reportActiveVersion.ts"
import { makeScreens } from "./screens.ts"
import { makeSweeping } from "./sweeping.ts"
import { keepFetching } from "./ticks.ts"
import { makeUndo } from "./undo.ts"

export interface Settings {
  /** What its commands and events begin with, and the name of its slice of the state. */
  readonly name: string
  /** Whether it registers its commands. */
  readonly commands: boolean
  readonly schedule: Fetches
}

export const makeContent = Effect.fnUntraced(function* <E, R>(
  { commands, name, schedule }: Settings,
  makeProvider: MakeProvider<E, R>
) {
  const { addMomentary, addReading, mode } = yield* ControllerState
  const scope = yield* Effect.scope
  const slice = yield* makeSlice(name)
  const report = yield* makeReport(name, slice)
  const provider = yield* makeProvider(report)
  yield* slice.update(withSources(provider.sourceIds))
  const screens = yield* makeScreens
  yield* addReading(name, reading(name))
  yield* addMomentary(name, yield* makeMomentary(slice, provider, screens))
  yield* beginCounts

  const activeVersion = yield* makeActiveVersion(mode === "task" ? report : yield* comparing(report), slice)
  const { sweep, sweepIfDue } = yield* makeSweeping(activeVersion, screens)
  const { repeats, reported } = yield* makeFetchReport({ activeVersion, mode, report, slice })
  const once = yield* singleFlight<FetchOutcome, FetchError>(scope)
  const onceReported = (fetch: Provider["fetch"]) => once(Effect.ensuring(reported(fetch), sweep))

  const withRoom = yield* evictIfFull
  const fetch = onceReported(withRoom(provider.fetch))
  const fetchNew = provider.fetchNew === undefined ? fetch : onceReported(withRoom(provider.fetchNew))

  if (commands) {
    const onceChecked = yield* singleFlight<ContentCheck, FetchError>(scope)
    const check = provider.check === undefined ? {} : { check: onceChecked(provider.check) }
    const sample = provider.sample === undefined ? {} : { sample: provider.sample }
    yield* registerCommands(
      name,
      { fetch, ...check, ...sample, acknowledged: Effect.asVoid(screens) },
      yield* makeUndo(activeVersion)
    )
  }
  if (mode === "task") {
    return Content.of({ fetch, start: Effect.void })
  }

  const { announce, announceAgain } = yield* makeAnnouncing(activeVersion)
  /** A poll that fails is a failed fetch, unless the one before failed alike. */
  const pollFailed = (error: FetchError) =>
    Effect.if(repeats(error), {
      onTrue: () => Effect.fail(error),
      onFalse: () => onceReported(Effect.fail(error))
    })
  const fetching = keepFetching(
    {
      fetch,
      fetchNew,
      poll: provider.poll,
      pollFailed,
      sweepIfDue,
      changes: provider.changes ?? Stream.empty
    },
    schedule,
    slice
  )
  const start = announce.pipe(
    Effect.zipRight(Effect.forkIn(announceAgain, scope)),
    Effect.zipRight(Effect.forkIn(withoutParentSpan(fetching), scope)),
    Effect.asVoid
  )
  return Content.of({ fetch, start })
})

/** Reports, and compares each version that is announced. */
const comparing = (report: Report) =>
  Effect.map(
    compareAnnounced((payload) => report({ name: "content:version:compared", payload })),
    (announced): Report =>
      (event) =>
        event.name === "content:version:promoted"
          ? Effect.zipRight(report(event), announced(event.payload.versionId))
          : report(event)
  )

/** The fields of the slice that never rest. */
const makeMomentary = (
  slice: ContentSlice,
  { copiedFrom, reports, sourceData }: Provider,
  screens: Effect.Effect<ReadonlyArray<Screen>>
) =>
  Effect.map(VersionStore, (store) => {
    const unread = makeWarnWhile((message) => message)
    const versions = store.versions.pipe(
      Effect.tap(unread.works),
      Effect.map((versions) => ({ versions })),
      Effect.catchAll(({ message }) => Effect.as(unread.fails(message), {}))
    )
    return Effect.gen(function* () {
      const { nextFetch, sources, ...state } = yield* slice.get
      const now = new Date(yield* Clock.currentTimeMillis).toISOString()
      const data = sourceData === undefined ? {} : yield* sourceData
      return {
        ...state,
        // A clock that was set forward, or a machine that slept, may be past it before the fetch begins.
        ...(nextFetch === undefined ? {} : { nextFetch: { ...nextFetch, at: later(nextFetch.at, now) } }),
        sources: Record.map(sources, (source, id) => ({
          ...source,
          ...(Object.hasOwn(data, id) ? { data: data[id] } : {})
        })),
        ...(yield* versions),
        screens: yield* screens,
        ...(copiedFrom === undefined ? {} : { copiedFrom: yield* copiedFrom }),
        ...(reports === undefined ? {} : { reports: yield* reports })
      } satisfies ContentState
    })
  })

const later = (one: string, other: string): string => (one > other ? one : other)

/** Where the disk is full, versions that no screen shows make room for one more try. */
const evictIfFull = Effect.map(
  VersionStore,
  (store) =>
    <A>(fetch: Effect.Effect<A, FetchError>): Effect.Effect<A, FetchError> =>
      Effect.catchIf(fetch, isDiskFull, (error) =>
        store.evict.pipe(
          Effect.orElseSucceed(() => []),
          Effect.tap((removed) =>
            removed.length === 0
              ? Effect.fail(error)
              : Effect.logWarning(
                  `The disk is full: removed versions that no screen shows (${removed.join(", ")}), to try once more. ${error.message}`
                )
          ),
          Effect.zipRight(fetch)
        )
      )
)

/** Announces the version that is active when everybody listens, and whenever the bus was emptied. */
const makeAnnouncing = Effect.fnUntraced(function* (activeVersion: ActiveVersion) {
  const store = yield* VersionStore
  // The types of a configuration are not checked before it runs.
  const { emptied = Stream.empty } = yield* EventBus

  const announce = Effect.gen(function* () {
    const reading = yield* store.manifest
    if (reading.status === "ok") {
      const { held, versionId } = yield* activeVersion.report(reading.manifest, "ready")
      yield* Effect.logInfo(`Active version ${activeText(versionId, held)}`).pipe(
        Effect.annotateLogs("version", versionId)
      )
    } else if (reading.status === "invalid") {
      yield* Effect.logWarning(`${reading.message}. The next fetch makes a new one.`)
    }
    yield* countVersions(store)
  }).pipe(Effect.catchAll((error) => Effect.logWarning(error.message)))

  const announceAgain = Stream.runForEach(emptied, () =>
    store.manifest.pipe(
      Effect.flatMap((reading) =>
        reading.status === "ok" ? activeVersion.report(reading.manifest, "ready") : Effect.void
      ),
      Effect.catchAll((error) => Effect.logWarning(error.message))
    )
  )
  return { announce, announceAgain }
})
