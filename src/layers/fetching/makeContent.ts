/**
 * Fetches content of any provider, one version at a time, and reports by events, in the state and in the log.
 *
 * The provider makes the versions: from sources that are fetched, or from the versions of another controller. The
 * store of versions keeps them.
 */

import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { singleFlight, withoutParentSpan } from "../../internal/background.ts"
import type { ContentCounts } from "../../internal/contentCounts.ts"
import type { Fetches } from "../../internal/Schedules.ts"
import { Content, type FetchError } from "../../services/Content.ts"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import type { FetchOutcome } from "../../services/ContentEvents.ts"
import type { ContentSample, NoSuchSource } from "../../services/ContentSample.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { ContentState, SourceState } from "../../services/Slices.ts"
import type { Promotion, VersionStore } from "../../services/VersionStore.ts"
import { compareAnnounced } from "../comparing/makeComparing.ts"
import { makeScreens } from "../leases/Consumers.ts"
import * as ActiveVersion from "./ActiveVersion.ts"
import type { ContentRules } from "./ContentOptions.ts"
import {
  beginCounts,
  makeMomentary,
  makeReport,
  makeSlice,
  type Report,
  withSources
} from "./contentState.ts"
import { makeDiskSpace } from "./diskSpace.ts"
import { makeFetchReport } from "./fetchReport.ts"
import { reading } from "./pluginReading.ts"
import { registerCommands } from "./registerCommands.ts"
import { keepFetching } from "./ticks.ts"
import { endHolds } from "./Undo.ts"

/** Makes versions. Does not own when versions are made, nor how this is reported: the content does. */
export interface Provider {
  /** The ids of the sources that are known before the first fetch. */
  readonly sourceIds: ReadonlyArray<string>

  /** Makes the newest content the latest version, if it differs. Reports the steps source by source. */
  readonly fetch: Effect.Effect<Fetched, FetchError>

  /**
   * A cheap check before each fetch, so that only new content is fetched. Publishes no events and writes nothing.
   * Without `poll`, each tick fetches.
   */
  readonly poll?: Effect.Effect<PollResult, FetchError>

  /** Emits when there may be something new before the next tick. */
  readonly changes?: Stream.Stream<void>

  /** Finds out what `fetch` would change. Reports and promotes nothing. */
  readonly check?: Effect.Effect<ContentCheck, FetchError>

  /** Finds out what one source would save. Reports and promotes nothing. */
  readonly sample?: (sourceId: string) => Effect.Effect<ContentSample, FetchError | NoSuchSource>

  /** As `fetch`, only for the changes that polls found. Without it, `fetch` runs instead. */
  readonly fetchNew?: Effect.Effect<Fetched, FetchError>

  /** The fields of the state about a hub. */
  readonly hub?: Effect.Effect<Pick<ContentState, "copiedFrom" | "reports">>

  /** The data that sources report in the state, by their ids. */
  readonly sourceData?: Effect.Effect<Readonly<Record<string, NonNullable<SourceState["data"]>>>>
}

/** `same`: no change since the last fetch. `nothing`: there is nothing to fetch. */
export type PollResult = "new" | "same" | "nothing"

/** The outcome of a fetch, with counts of the version. */
export interface Fetched extends Promotion, ContentCounts {}

export type MakeProvider<E = never, R = never> = (report: Report) => Effect.Effect<Provider, E, R>

export interface Settings {
  /** The prefix of the commands and events, and the name of the slice of the state. */
  readonly name: string
  /** Whether the commands are registered. */
  readonly commands: boolean
  readonly schedule: Fetches
  readonly rules: ContentRules
}

export const makeContent = Effect.fnUntraced(function* <E, R>(
  { commands, name, rules, schedule }: Settings,
  makeProvider: MakeProvider<E, R>
) {
  const { addMomentary, addReading, mode } = yield* ControllerState
  const scope = yield* Effect.scope
  const slice = yield* makeSlice(name)
  const report = yield* makeReport(name, slice)
  const provider = yield* makeProvider(report)
  yield* slice.update(withSources(provider.sourceIds))
  const screens = yield* makeScreens
  yield* addReading(name, reading(name, rules))
  yield* addMomentary(name, yield* makeMomentary(slice, provider, screens))
  yield* beginCounts
  const reportVersions = mode === "task" ? report : yield* comparing(report)
  const activeVersion = yield* ActiveVersion.make(reportVersions, slice)

  return yield* Effect.gen(function* () {
    const { afterFetch, sweepIfDue, withRoom } = yield* makeDiskSpace(screens, slice)
    const { repeats, reported } = yield* makeFetchReport(report, slice)
    const { after, once } = yield* singleFlight<FetchOutcome, FetchError>(scope)
    const allReported = (fetch: Provider["fetch"]) => Effect.ensuring(reported(fetch), afterFetch)
    const fetchAll = allReported(withRoom(provider.fetch))
    const fetch = once(fetchAll)

    if (commands) {
      const checks = yield* singleFlight<ContentCheck, FetchError>(scope)
      yield* registerCommands(name, {
        fetch,
        check: provider.check && checks.once(provider.check),
        sample: provider.sample,
        acknowledged: Effect.asVoid(screens),
        report
      })
    }
    if (mode === "task") {
      return Content.of({ fetch, start: Effect.void })
    }

    /** Reports a failed poll as a failed fetch, unless the previous one failed in the same way. */
    const pollFailed = (error: FetchError) =>
      Effect.if(repeats(error), {
        onTrue: () => Effect.fail(error),
        onFalse: () => once(allReported(Effect.fail(error)))
      })
    const changes = provider.changes ?? Stream.empty
    // A fetch that runs may have read its sources before they changed.
    const fetchAgain = after(fetchAll)
    const fetchNew =
      provider.fetchNew === undefined ? fetchAgain : after(allReported(withRoom(provider.fetchNew)))
    const steps = { fetch: fetchAgain, fetchNew, poll: provider.poll, pollFailed, sweepIfDue, changes }
    const inBackground = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.forkIn(withoutParentSpan(effect), scope)
    const services = yield* withoutParentSpan(
      Effect.context<ActiveVersion.ActiveVersion | EventBus | VersionStore>()
    )
    const start = Effect.gen(function* () {
      yield* ActiveVersion.announce
      yield* inBackground(ActiveVersion.announceAgain)
      yield* inBackground(endHolds)
      yield* inBackground(keepFetching(steps, schedule, slice))
    })
    return Content.of({ fetch, start: Effect.provide(start, services) })
  }).pipe(Effect.provideService(ActiveVersion.ActiveVersion, activeVersion))
})

/** A report that also compares each announced version. */
const comparing = (report: Report) =>
  Effect.map(
    compareAnnounced((payload) => report({ name: "content:version:compared", payload })),
    (announced): Report =>
      (event) =>
        event.name === "content:version:promoted"
          ? Effect.zipRight(report(event), announced(event.payload.versionId))
          : report(event)
  )
