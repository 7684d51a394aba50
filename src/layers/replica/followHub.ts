/**
 * The provider of a replica: fetches the newest version of another controller.
 */

import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { makeLastFailure, upstreamPause } from "../../internal/Schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { FetchError } from "../../services/Content.ts"
import type * as Slices from "../../services/Slices.ts"
import { type Manifest, type VersionId, VersionStore } from "../../services/VersionStore.ts"
import type { Fetched, PollResult, Provider, Report } from "../fetching/Provider.ts"
import * as Hub from "./Hub.ts"
import { type HubVersion, isLatestOf, isOf } from "./Hub.ts"
import type { FollowingOptions } from "./ReplicaOptions.ts"
import { makeTakeVersion } from "./takeVersion.ts"

/** How often one fetch starts again because the hub has a newer version. */
const maxRestarts = 5

export const followHub = (
  { from, maxTimeout, pollEvery }: Pick<FollowingOptions, "from" | "maxTimeout" | "pollEvery">,
  reports?: Effect.Effect<Slices.Reports>
) =>
  Effect.fnUntraced(function* (report: Report) {
    const store = yield* VersionStore
    const hub = yield* Hub.make(from, maxTimeout)
    const { ask, upstream } = yield* makeAsk(hub)
    const take = yield* makeTakeVersion(hub, report, pollEvery)
    const following: Following = { ask, hub, refused: makeRefused(), take }
    const follow = makeFollow(following)
    const prepare = makePrepare(following)
    const noVersion = makeWarnWhile(
      (url: string) =>
        `No version yet at ${url} (404 for manifest.json). If the hub has one, the address in "from" does not lead to a downloads folder.`
    )

    const fetch = Effect.flatMap(
      ask,
      Option.match({
        onNone: () => hub.failed("it has no version yet (404 for manifest.json)", { isTransient: true }),
        onSome: (version) => follow(version)
      })
    )

    const poll = Effect.gen(function* (): Effect.fn.Return<PollResult, FetchError> {
      const found = yield* ask
      if (Option.isNone(found)) {
        yield* noVersion.fails(hub.url)
        return { reason: "it has no version yet (404 for manifest.json)" }
      }
      yield* noVersion.works
      yield* following.refused.check(found.value.manifest.versionId)
      // Read each time: somebody may have removed the version.
      const current = yield* store.manifest
      if (current.status !== "ok" || !isLatestOf(current.manifest, found.value)) {
        return "new"
      }
      yield* prepare(found.value)
      return "same"
    })

    return {
      sourceIds: [],
      fetch,
      poll,
      hub: Effect.all({ copiedFrom: Ref.get(upstream), reports: reports ?? Effect.succeed(undefined) })
    } satisfies Provider
  })

interface Following {
  readonly ask: Hub.Hub["ask"]
  readonly hub: Hub.Hub
  readonly refused: ReturnType<typeof makeRefused>
  readonly take: Effect.Effect.Success<ReturnType<typeof makeTakeVersion>>
}

/** Asks the hub, and keeps its last answer for the state. */
const makeAsk = Effect.fnUntraced(function* (hub: Hub.Hub) {
  const upstream = yield* Ref.make<Slices.Upstream>({ url: hub.url })

  const noteAnswer = (answer: Pick<Slices.Upstream, "problem" | "versionId">) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Ref.set(upstream, { url: hub.url, askedAt: new Date(now).toISOString(), ...answer })
    )

  const ask = Effect.tapBoth(hub.ask, {
    onFailure: ({ detail }) => noteAnswer({ problem: detail }),
    onSuccess: Option.match({
      onNone: () => noteAnswer({}),
      onSome: ({ manifest: { versionId } }) => noteAnswer({ versionId })
    })
  })

  return { ask, upstream }
})

/** Fails if the manifest of the hub is another one by now. A hub that does not answer withdraws nothing. */
const failIf = ({ ask, hub }: Following, isOther: (manifest: Manifest) => boolean, detail: string) =>
  Effect.flatMap(Effect.option(ask), (next) =>
    Option.exists(Option.flatten(next), ({ manifest }) => isOther(manifest))
      ? new Hub.MovedOn({ error: hub.failed(detail, { isTransient: true }) })
      : Effect.void
  )

/** Takes the version. If the hub names a newer version meanwhile, takes that version. */
const makeFollow = (following: Following) => {
  const { ask, refused, take } = following

  const isWanted = (version: HubVersion) =>
    failIf(
      following,
      (manifest) => !isOf(manifest, version),
      `its version ${version.manifest.versionId} was replaced while it was copied, ${maxRestarts} times in a row`
    )

  const follow = (version: HubVersion, restarts = maxRestarts): Effect.Effect<Fetched, FetchError> =>
    Effect.catchTag(
      refused.copying(version.manifest.versionId, take.latest(version, isWanted(version))),
      "vitrine/MovedOn",
      ({ error }) =>
        Effect.flatMap(ask, (next) =>
          restarts === 0 || Option.isNone(next) || isOf(next.value.manifest, version)
            ? error
            : follow(next.value, restarts - 1)
        )
    )

  return follow
}

/** Copies the version that waits at the hub for the end of a hold, so that it is on disk when the hub activates it. */
const makePrepare = (following: Following) => {
  const { refused, take } = following
  const notPrepared = makeWarnWhile(
    (reason) =>
      `The version that waits at the hub for the end of its hold could not be copied in advance: ${reason}`
  )

  const stillWaits = (version: HubVersion) =>
    failIf(
      following,
      (manifest) => !isOf(manifest, version) || manifest.held?.waiting !== version.manifest.held?.waiting,
      `version ${version.manifest.held?.waiting} no longer waits`
    )

  return (version: HubVersion) => {
    const { until, waiting } = version.manifest.held ?? {}
    return until === undefined || waiting === undefined
      ? Effect.void
      : refused.check(waiting).pipe(
          Effect.zipRight(refused.copying(waiting, take.ahead(waiting, stillWaits(version)))),
          Effect.zipRight(notPrepared.works),
          Effect.catchTag("vitrine/MovedOn", () => Effect.void),
          Effect.catchAll(({ message }) => notPrepared.fails(message))
        )
  }
}

/** A version that could not be copied. */
interface Refused {
  readonly versionId: VersionId
  readonly error: FetchError
  readonly took: Duration.Duration
}

/** Remembers the version that failed last for a permanent reason, so that it is not tried again for a while. */
const makeRefused = () => {
  /** The pause is at least as long as the failed try, which may have been long: other machines copy as well. */
  const last = makeLastFailure<Refused>((inRow, { took }) => Duration.max(upstreamPause(inRow), took))

  const isLast = (versionId: VersionId) =>
    Effect.map(
      last.get,
      Option.exists(({ error }) => error.versionId === versionId)
    )

  const failed = Effect.fnUntraced(function* (refused: Refused) {
    const { error, versionId } = refused
    if (error.isTransient || !(yield* isLast(versionId))) {
      yield* last.worked
    }
    yield* error.isTransient ? Effect.void : last.failed(refused)
  })

  return {
    /** Copies the version, and remembers a failure until the version is copied. */
    copying: Effect.fnUntraced(function* <A>(
      versionId: VersionId,
      copy: Effect.Effect<A, FetchError | Hub.MovedOn>
    ) {
      const [took, copied] = yield* Effect.timed(Effect.either(copy))
      if (Either.isRight(copied)) {
        yield* Effect.whenEffect(last.worked, isLast(versionId))
      } else if (copied.left._tag !== "vitrine/MovedOn") {
        yield* failed({ versionId, error: copied.left, took })
      }
      return yield* copied
    }),
    /** Fails with the earlier error during the pause after that copy of this version. */
    check: (versionId: VersionId) =>
      Effect.flatMap(last.paused, (refused) =>
        Option.isSome(refused) && refused.value.error.versionId === versionId
          ? Effect.fail(refused.value.error.error)
          : Effect.void
      )
  }
}
