/**
 * The newest version of another controller, as what the content plugin fetches.
 *
 * The first address is the hub: where that goes back to an older version, it is followed.
 */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { makeLastFailure } from "../../internal/lastFailure.ts"
import { upstreamPause } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { CopyFailed, FetchError } from "../../services/Content.ts"
import type { Reports } from "../../services/Slices.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import type { Fetched, PollResult, Provider } from "../fetching/Provider.ts"
import type { Report } from "../fetching/report.ts"
import { MovedOn } from "./Hub.ts"
import { type HubVersion, isLatestOf, isOf } from "./HubManifest.ts"
import type { FollowingOptions } from "./ReplicaOptions.ts"
import { lagsBehind, makeTakeVersion } from "./takeVersion.ts"
import * as Upstreams from "./Upstreams.ts"

/** How often one fetch begins again because the hub has moved on. */
const maxRestarts = 5

type Addresses = Array.NonEmptyReadonlyArray<Upstreams.Upstream>

export const followUpstreams = (
  { from, maxTimeout, pollEvery }: Pick<FollowingOptions, "from" | "maxTimeout" | "pollEvery">,
  reports?: Effect.Effect<Reports>
) =>
  Effect.fnUntraced(function* (report: Report) {
    const store = yield* VersionStore
    const { firstOffer, upstreams } = yield* Upstreams.make(from, maxTimeout)
    const take = yield* makeTakeVersion(report, pollEvery)
    const refused = makeRefused()
    const noVersion = makeWarnWhile(
      (addresses) =>
        `No version yet at ${addresses} (404 for manifest.json). If the hub has one, the address in "from" is not that of a downloads folder.`
    )

    /** Fails if the hub names another version by now. A hub that cannot be asked withdraws nothing. */
    const isWanted = ({ ask, hub }: Upstreams.Upstream, { version }: Upstreams.Offer) =>
      Effect.gen(function* () {
        const next = Option.flatten(yield* Effect.option(ask))
        if (Option.exists(next, ({ version: { manifest } }) => !isOf(manifest, version))) {
          return yield* new MovedOn({
            error: hub.failed(
              `its version ${version.manifest.versionId} was replaced while it was copied, ${maxRestarts} times in a row`,
              { isTransient: true }
            )
          })
        }
      })

    /** As `take`, of the version that the hub has by now, if it has moved on meanwhile. */
    const follow = (
      upstream: Upstreams.Upstream,
      offer: Upstreams.Offer,
      restarts = maxRestarts
    ): Effect.Effect<Fetched, FetchError> =>
      Effect.catchTag(
        refused.copying(offer.version, take(offer, isWanted(upstream, offer))),
        "vitrine/MovedOn",
        ({ error }) =>
          Effect.flatMap(upstream.ask, (next) =>
            restarts === 0 || Option.isNone(next) || isOf(next.value.version.manifest, offer.version)
              ? error
              : follow(upstream, next.value, restarts - 1)
          )
      )

    const fetchFrom = ([upstream, ...others]: Addresses): Effect.Effect<Fetched, FetchError> => {
      const fromOthers = (error: CopyFailed) =>
        Array.isNonEmptyReadonlyArray(others)
          ? Effect.catchTag(fetchFrom(others), "vitrine/CopyFailed", () => error)
          : error
      const offered = Effect.flatMap(
        upstream.ask,
        Effect.mapError(() =>
          upstream.hub.failed("it has no version yet (404 for manifest.json)", { isTransient: true })
        )
      )
      return Effect.matchEffect(offered, {
        onFailure: fromOthers,
        onSuccess: (offer) =>
          follow(upstream, offer).pipe(
            // What it has is not here: that nothing is new elsewhere is no success.
            Effect.catchTag("vitrine/CopyFailed", (error) =>
              Effect.filterOrFail(
                fromOthers(error),
                ({ changed }) => changed,
                () => error
              )
            )
          )
      })
    }

    const poll = Effect.gen(function* (): Effect.fn.Return<PollResult, FetchError> {
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
      poll,
      hub: Effect.all({
        copiedFrom: Effect.forEach(upstreams, ({ state }) => state),
        ...(reports === undefined ? {} : { reports })
      })
    } satisfies Provider
  })

/** A version that could not be copied. */
interface Refused {
  readonly version: HubVersion
  readonly error: FetchError
  readonly took: Duration.Duration
}

/** What could not be copied last, for a reason that does not pass by itself, is left alone for a while. */
const makeRefused = () => {
  /** For as long as the try took, at least: it may have been a long one, and others copy as well. */
  const last = makeLastFailure<Refused>((inRow, { took }) => Duration.max(upstreamPause(inRow), took))

  const failed = Effect.fnUntraced(function* (refused: Refused) {
    const { error, version } = refused
    const isTransient = "isTransient" in error && error.isTransient === true
    const before = yield* last.get
    if (isTransient || !Option.exists(before, ({ error }) => isOf(error.version.manifest, version))) {
      yield* last.worked
    }
    yield* isTransient ? Effect.void : last.failed(refused)
  })

  return {
    /** Copies the version, and remembers where that fails. */
    copying: Effect.fnUntraced(function* (
      version: HubVersion,
      copy: Effect.Effect<Fetched, FetchError | MovedOn>
    ) {
      const [took, copied] = yield* Effect.timed(Effect.either(copy))
      if (Either.isLeft(copied) && copied.left._tag !== "vitrine/MovedOn") {
        yield* failed({ version, error: copied.left, took })
      }
      return yield* copied
    }),
    forget: last.worked,
    /** Fails as the copy of this version did, while it is left alone. */
    check: (version: HubVersion) =>
      Effect.flatMap(last.resting, (refused) =>
        Option.isSome(refused) && isOf(refused.value.error.version.manifest, version)
          ? Effect.fail(refused.value.error.error)
          : Effect.void
      )
  }
}
