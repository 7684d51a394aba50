/**
 * The content plugin's core over the newest version of another controller.
 *
 * The first address is the hub: where that goes back to an older version, it is followed.
 */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeLastFailure } from "../../internal/lastFailure.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { poll, upstreamPause } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { Content, type CopyFailed, type FetchError } from "../../services/Content.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { PluginContext } from "../../services/Plugin.ts"
import type { Reports } from "../../services/Slices.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { makeContent } from "../fetching/makeContent.ts"
import type { Fetched, PollResult } from "../fetching/Provider.ts"
import type { Report } from "../fetching/report.ts"
import * as SendReports from "../fleet/sendReports.ts"
import { type HubVersion, isLatestOf, isOf } from "./HubManifest.ts"
import type { FollowingOptions } from "./ReplicaOptions.ts"
import { lagsBehind, makeTakeVersion } from "./takeVersion.ts"
import * as Upstreams from "./Upstreams.ts"

/** `addLogger` is that of the controller: the hub is sent the last warnings. */
export const makeReplica = Effect.fnUntraced(function* (
  options: FollowingOptions,
  addLogger: PluginContext["addLogger"]
) {
  const { commands, name, pollEvery, report } = options
  const { mode } = yield* ControllerState
  const { directory } = yield* VersionStore
  const sending =
    report === undefined || mode === "task"
      ? undefined
      : yield* SendReports.make({ ...report, content: name, directory, addLogger })
  const { fetch, start } = yield* makeContent(
    { commands, name, schedule: poll(pollEvery) },
    followUpstreams(options, sending?.state)
  )
  return Content.of({ fetch, start: sending === undefined ? start : Effect.zipRight(start, sending.start) })
})

/** How often one fetch begins again because the hub has moved on. */
const maxRestarts = 5

const followUpstreams = ({ from, maxTimeout }: FollowingOptions, reports?: Effect.Effect<Reports>) =>
  Effect.fnUntraced(function* (report: Report) {
    const store = yield* VersionStore
    const { firstOffer, upstreams } = yield* Upstreams.make(from, maxTimeout)
    const take = yield* makeTakeVersion(report)
    const refused = makeRefused()
    const noVersion = makeWarnWhile(
      (addresses) =>
        `No version yet at ${addresses} (404 for manifest.json). If the hub has one, the address in "from" is not that of a downloads folder.`
    )

    /** As `take`, of what the hub has by now where a file has gone that was to be copied. */
    const follow = (
      upstream: Upstreams.Upstream,
      offer: Upstreams.Offer,
      restarts = maxRestarts
    ): Effect.Effect<Fetched, FetchError> =>
      Effect.catchTag(take(offer), "vitrine/FileGone", ({ error }) =>
        Effect.flatMap(
          upstream.ask,
          Option.match({
            onNone: () => error,
            onSome: (next) =>
              restarts === 0 || isOf(next.version.manifest, offer.version)
                ? error
                : follow(upstream, next, restarts - 1)
          })
        )
      )

    const fetchFrom = ([upstream, ...others]: Array.NonEmptyReadonlyArray<Upstreams.Upstream>): Effect.Effect<
      Fetched,
      FetchError
    > => {
      const otherwise = (error: CopyFailed, counts: (fetched: Fetched) => boolean) =>
        Array.isNonEmptyReadonlyArray(others)
          ? fetchFrom(others).pipe(
              Effect.filterOrFail(counts, () => error),
              Effect.catchTag("vitrine/CopyFailed", () => error)
            )
          : error
      return upstream.ask.pipe(
        Effect.flatMap(
          Effect.mapError(() =>
            upstream.hub.failed("it has no version yet (404 for manifest.json)", { isTransient: true })
          )
        ),
        Effect.matchEffect({
          onFailure: (error) => otherwise(error, () => true),
          onSuccess: (offer) =>
            follow(upstream, offer).pipe(
              refused.remember(offer.version),
              // What it has is not here: that nothing is new elsewhere is no success.
              Effect.catchTag("vitrine/CopyFailed", (error) => otherwise(error, ({ changed }) => changed))
            )
        })
      )
    }

    const pollOnce = Effect.gen(function* (): Effect.fn.Return<PollResult, FetchError> {
      const found = yield* firstOffer
      if (Option.isNone(found)) {
        yield* noVersion.fails(from.map(({ url }) => url).join(", "))
        return "nothing"
      }
      yield* noVersion.works
      yield* refused.check(found.value.version)
      // It is read each time: somebody may have removed it.
      const reading = yield* store.manifest
      return reading.status === "ok" &&
        (isLatestOf(reading.manifest, found.value.version) || lagsBehind(found.value, reading.manifest))
        ? "same"
        : "new"
    })

    return {
      sourceIds: [],
      fetch: Effect.zipLeft(fetchFrom(upstreams), refused.forget),
      poll: pollOnce,
      copiedFrom: Effect.forEach(upstreams, ({ hub }) => hub.state),
      ...(reports === undefined ? {} : { reports })
    }
  })

/** The version that could not be copied last, for a reason that does not pass by itself: it is left alone for a while. */
const makeRefused = () => {
  /** For as long as the try took, at least: it may have been a long one, and others copy as well. */
  const lastFailure = makeLastFailure<{
    readonly version: HubVersion
    readonly error: FetchError
    readonly took: number
  }>((inRow, { took }) => Duration.max(upstreamPause(inRow), took))

  const add = Effect.fnUntraced(function* (version: HubVersion, error: FetchError, took: number) {
    const isTransient = "isTransient" in error && error.isTransient === true
    const before = yield* lastFailure.get
    if (isTransient || !Option.exists(before, ({ error }) => isOf(error.version.manifest, version))) {
      yield* lastFailure.worked
    }
    yield* isTransient ? Effect.void : lastFailure.failed({ version, error, took })
  })

  return {
    remember:
      (version: HubVersion) =>
      <A>(copy: Effect.Effect<A, FetchError>): Effect.Effect<A, FetchError> =>
        Effect.flatMap(monotonicMillis, (startedAt) =>
          Effect.tapError(copy, (error) =>
            Effect.flatMap(monotonicMillis, (now) => add(version, error, now - startedAt))
          )
        ),
    forget: lastFailure.worked,
    /** Fails as the copy of this version did, while it is left alone. */
    check: (version: HubVersion) =>
      Effect.flatMap(lastFailure.resting, (refused) =>
        Option.isSome(refused) && isOf(refused.value.error.version.manifest, version)
          ? Effect.fail(refused.value.error.error)
          : Effect.void
      )
  }
}
