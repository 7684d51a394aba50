/**
 * Fetches content of any provider, one version at a time, and reports by events, in the state and in the log.
 *
 * The provider makes the versions: from sources that are fetched, or from the versions of another controller. The
 * store of versions keeps them.
 */

import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { singleFlight, withoutParentSpan } from "../../internal/background.ts"
import type { Fetches } from "../../internal/Schedules.ts"
import { ByHand } from "../../services/ByHand.ts"
import { Content, type FetchError } from "../../services/Content.ts"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import type { FetchOutcome } from "../../services/ContentEvents.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import type { VersionStore } from "../../services/VersionStore.ts"
import { WaitObserver } from "../../services/WaitObserver.ts"
import { compareAnnounced } from "../comparing/makeComparing.ts"
import { makeScreens } from "../leases/Consumers.ts"
import * as ActiveVersion from "./ActiveVersion.ts"
import { acceptWarning } from "./acceptWarning.ts"
import type { ContentRules } from "./ContentOptions.ts"
import { beginCounts, makeMomentary, makeReport, makeSlice, withSources } from "./contentState.ts"
import { makeDiskSpace } from "./diskSpace.ts"
import { makeFetchReport } from "./fetchReport.ts"
import type { MakeProvider, Provider, Report } from "./Provider.ts"
import { pluginReport } from "./pluginReport.ts"
import { registerCommands } from "./registerCommands.ts"
import { keepFetching } from "./ticks.ts"
import { endHolds } from "./Undo.ts"

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
  const { mode } = yield* ControllerState
  const scope = yield* Effect.scope
  const slice = yield* makeSlice(name)
  const report = yield* makeReport(name, slice)
  const provider = yield* makeProvider(report)
  yield* slice.update(withSources(provider.sourceIds))
  const screens = yield* makeScreens
  yield* beginCounts
  const reportVersions = mode === "task" ? report : yield* comparing(report)
  const activeVersion = yield* ActiveVersion.make(reportVersions, slice)
  yield* slice.show({
    live: yield* makeMomentary(slice, provider, screens.all),
    report: pluginReport(name, rules, provider.accept)
  })

  return yield* Effect.gen(function* () {
    const { afterFetch, sweepIfDue, withRoom } = yield* makeDiskSpace(screens.all, slice)
    const { repeats, reported } = yield* makeFetchReport(report, slice)
    const { after, once } = yield* singleFlight<FetchOutcome, FetchError>(scope)
    /** A wait that a server asked for is progress. */
    const observed = Effect.provideService(WaitObserver, { waiting: () => slice.note((before) => before) })
    const allReported = (fetch: Provider["fetch"]) => Effect.ensuring(reported(observed(fetch)), afterFetch)
    const fetchAll = allReported(withRoom(provider.fetch))
    const byHand = Effect.provideService(ByHand, true)
    const fetch = once(byHand(fetchAll))

    if (commands) {
      const checks = yield* singleFlight<ContentCheck, FetchError>(scope)
      yield* registerCommands(name, {
        fetch,
        accept: acceptWarning(slice, provider.accept),
        check: provider.check && checks.once(byHand(provider.check)),
        sample: provider.sample,
        acknowledged: screens.acknowledged,
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
    const { isRetried = Effect.succeed(false), poll } = provider
    const steps = {
      fetch: fetchAgain,
      fetchNew,
      poll: poll && observed(poll),
      pollFailed,
      isRetried,
      sweepIfDue,
      changes
    }
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
