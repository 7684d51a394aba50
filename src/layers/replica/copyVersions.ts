/**
 * Following the newest version of another controller.
 *
 * The first address is the hub: where that goes back to an older version, it is followed. Others may lag behind: of those
 * only newer versions are taken.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { upstreamPause } from "../../internal/schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import type { CopyFailed, FetchError } from "../../services/Content.ts"
import type { FileList } from "../../services/FileList.ts"
import { type Manifest, type VersionId, VersionStore } from "../../services/VersionStore.ts"
import type { Fetched, MakeOrigin, News } from "../fetching/Origin.ts"
import { readList } from "../versions/fileLists.ts"
import { latestOf } from "../versions/hold.ts"
import { makeCopyVersion } from "./copyVersion.ts"
import { type HubVersion, isLatestOf, isOf } from "./HubManifest.ts"
import * as Hubs from "./Hubs.ts"
import * as Parts from "./Parts.ts"
import type { Address } from "./ReplicaOptions.ts"

export interface Settings {
  readonly addresses: Array.NonEmptyReadonlyArray<Address>
  readonly maxTimeout: number
}

type Platform = FileSystem.FileSystem | Path.Path

/** How often one fetch begins again because the hub has moved on. */
const maxRestarts = 5

export const copyVersions = ({
  addresses,
  maxTimeout
}: Settings): MakeOrigin<never, VersionStore | HttpClient.HttpClient | Platform> =>
  Effect.fnUntraced(function* (report) {
    const path = yield* Path.Path
    const store = yield* VersionStore
    const platform = yield* withoutParentSpan(Effect.context<Platform>())
    const hubs = yield* Hubs.make(addresses, maxTimeout)
    const parts = yield* Parts.make(path.join(store.directory, ".partial"))
    const copyVersion = yield* makeCopyVersion(parts, report)

    const noVersion = makeWarnWhile(
      (places) =>
        `No version yet at ${places} (404 for manifest.json). If the hub has one, the address in "from" is not that of a downloads folder.`
    )

    /** The version that could not be copied last, for a reason that does not pass by itself. */
    let refused:
      | {
          readonly version: HubVersion
          readonly error: FetchError
          readonly failures: number
          readonly until: number
        }
      | undefined

    const folderOf = (versionId: VersionId) => path.join(store.directory, "versions", versionId)

    const listOf = (versionId: VersionId) =>
      Effect.provide(readList(folderOf(versionId), versionId), platform)

    /** Whether files of the latest version are missing or not what they were, as far as that is known. */
    const isDamaged = ({ sources }: FileList) =>
      Effect.map(store.stage, ({ previous }) =>
        sources.some(({ sourceId }) =>
          Option.isNone(Option.flatMap(previous(sourceId), ({ fingerprint }) => fingerprint))
        )
      ).pipe(Effect.scoped)

    const unchanged = (manifest: Manifest) =>
      Effect.map(
        listOf(latestOf(manifest)),
        (found): Fetched => ({
          changed: false,
          manifest,
          records: Option.match(found, { onNone: () => 0, onSome: ({ list }) => recordsOf(list) })
        })
      )

    const readManifest = Effect.map(store.manifest, (reading) =>
      reading.status === "ok" ? reading.manifest : undefined
    )

    const activate = (list: FileList) =>
      Effect.map(
        store.activate(list.versionId),
        (manifest): Fetched => ({ changed: true, manifest, records: recordsOf(list) })
      )

    /** Makes the version that is offered the latest one. */
    const take = Effect.fnUntraced(function* (offer: Hubs.Offer) {
      const { hub, version } = offer
      const { versionId } = version.manifest
      const before = yield* readManifest
      if (before !== undefined && lagsBehind(offer, before)) {
        return yield* unchanged(before)
      }
      const isLatest = before !== undefined && isLatestOf(before, version)
      const found = yield* listOf(versionId)
      if (Option.exists(found, ({ sha256 }) => sha256 !== version.filesSha256)) {
        return yield* hub.failed(
          `version ${versionId} is on this disk with other files, and versions never change. If the hub is right, remove ${folderOf(versionId)}`,
          { isTransient: false }
        )
      }
      const list = Option.map(found, ({ list }) => list)
      if (isLatest) {
        if (Option.isSome(list) && !(yield* isDamaged(list.value))) {
          return yield* unchanged(before)
        }
        yield* Effect.logWarning(
          `Files of version ${versionId} are missing or damaged: they are copied again.`
        )
        return { ...(yield* copyVersion(hub, version)), changed: false }
      }
      const copy = copyVersion(hub, version)
      const taken = yield* Option.match(list, {
        onNone: () => copy,
        // One that is not whole is copied again.
        onSome: (list) => Effect.orElse(activate(list), () => copy)
      })
      if (before !== undefined && versionId < latestOf(before)) {
        yield* Effect.logInfo(`The hub went back from version ${latestOf(before)} to ${versionId}`)
      }
      return taken
    })

    /** As `take`, of what the hub has by now where a file has gone that was to be copied. */
    const follow = (
      place: Hubs.Place,
      offer: Hubs.Offer,
      restarts = maxRestarts
    ): Effect.Effect<Fetched, FetchError> =>
      Effect.catchTag(take(offer), "vitrine/FileGone", ({ error }) =>
        Effect.flatMap(
          place.ask,
          Option.match({
            onNone: () => error,
            onSome: (next) =>
              restarts === 0 || isOf(next.version.manifest, offer.version)
                ? error
                : follow(place, next, restarts - 1)
          })
        )
      )

    const fetchFrom = ([place, ...others]: Array.NonEmptyReadonlyArray<Hubs.Place>): Effect.Effect<
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
      return place.ask.pipe(
        Effect.flatMap(
          Effect.mapError(() =>
            place.hub.failed("it has no version yet (404 for manifest.json)", { isTransient: true })
          )
        ),
        Effect.matchEffect({
          onFailure: (error) => otherwise(error, () => true),
          onSuccess: (offer) =>
            Effect.flatMap(monotonicMillis, (startedAt) =>
              Effect.tapError(follow(place, offer), (error) => refuse(offer.version, error, startedAt))
            ).pipe(
              // What it has is not here: that nothing is new elsewhere is no success.
              Effect.catchTag("vitrine/CopyFailed", (error) => otherwise(error, ({ changed }) => changed))
            )
        })
      )
    }

    /** It is left alone for as long as the try took, at least: it may have been a long one, and others copy as well. */
    const refuse = (version: HubVersion, error: FetchError, startedAt: number) =>
      Effect.map(monotonicMillis, (now) => {
        if ("isTransient" in error && error.isTransient === true) {
          refused = undefined
          return
        }
        const before = refused !== undefined && isOf(refused.version.manifest, version) ? refused.failures : 0
        const failures = before + 1
        const until = now + Math.max(Duration.toMillis(upstreamPause(failures)), now - startedAt)
        refused = { version, error, failures, until }
      })

    const fetch = Effect.tap(fetchFrom(hubs.places), () =>
      Effect.sync(() => {
        refused = undefined
      })
    )

    const firstOffer = Effect.tap(
      hubs.firstOffer,
      Option.match({
        onNone: () => noVersion.fails(addresses.map(({ url }) => url).join(", ")),
        onSome: () => noVersion.works
      })
    )

    // The manifest is read each time: somebody may have removed it.
    const look = Effect.flatMap(
      Effect.all([firstOffer, readManifest, monotonicMillis]),
      ([found, known, now]): Effect.Effect<News, FetchError> =>
        Option.match(found, {
          onNone: () => Effect.succeed("nothing"),
          onSome: (offer) =>
            refused !== undefined && isOf(refused.version.manifest, offer.version) && now < refused.until
              ? Effect.fail(refused.error)
              : Effect.succeed(
                  known !== undefined && (isLatestOf(known, offer.version) || lagsBehind(offer, known))
                    ? "same"
                    : "new"
                )
        })
    )

    return {
      sourceIds: [],
      fetch,
      look,
      rows: Effect.sync(() => [
        { type: "list", label: "Copied from", items: hubs.places.map(({ hub }) => hub.row()) }
      ]),
      data: Effect.sync(() => ({ copiedFrom: hubs.places.map(({ hub }) => hub.data()) }))
    }
  })

const lagsBehind = ({ isFirst, version }: Hubs.Offer, manifest: Manifest): boolean =>
  !isFirst && version.manifest.versionId < latestOf(manifest)

const recordsOf = ({ sources }: FileList): number =>
  sources.reduce((sum, { records = 0 }) => sum + records, 0)
