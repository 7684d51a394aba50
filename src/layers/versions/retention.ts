/**
 * Which versions are kept on disk, and who keeps them: they are new, active or waiting, a consumer shows them (`leases.ts`), or
 * somebody reads them.
 */
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import type { Lease, Manifest, VersionId, VersionOverview } from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import type { Leases } from "./leases.ts"
import type { ManifestFile } from "./ManifestFile.ts"

/**
 * `unswept` keeps versions from being swept while an effect runs; `forget` is run with each version that was removed, and
 * `restore` where the manifest names none.
 */
export const makeRetention = <R>(
  folder: DownloadsFolder,
  manifestFile: ManifestFile,
  leases: Leases,
  unswept: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
  forget: (versionId: VersionId) => Effect.Effect<void>,
  restore: Effect.Effect<void, never, R>
) => {
  const readers = makeReaders()

  const overview = Effect.fnUntraced(function* (
    leases: ReadonlyArray<Lease>,
    active: Option.Option<Manifest>
  ) {
    const read = yield* readers.kept
    return (yield* folder.versionIds).map((versionId) => ({
      versionId,
      active: Option.exists(active, (manifest) => manifest.versionId === versionId),
      isWaiting: Option.exists(active, ({ held }) => held?.waiting === versionId),
      leases: leases.filter((lease) => lease.versionId === versionId),
      isRead: read.includes(versionId)
    }))
  })

  const discard = (versionId: VersionId) =>
    folder.discard(versionId).pipe(
      Effect.zipRight(forget(versionId)),
      Effect.as([versionId]),
      Effect.catchAll((error) => Effect.as(folder.trash.warn(error), []))
    )

  return {
    /** `still` as for `VersionStore.keep`. */
    keep: (versionId: string, still = false) =>
      unswept(Effect.flatMap(folder.find(versionId), (versionId) => readers.keep(versionId, still))),

    versions: Effect.flatMap(Effect.all([leases.fresh, manifestFile.active]), (known) => overview(...known)),

    /** Removes all versions but those that are shown, the newest ones, and some of those that are `read`. */
    sweep: Effect.fnUntraced(function* (keepVersions: number, areReadersKept: boolean) {
      if (!folder.wasClaimed()) {
        return []
      }
      const { active, removed } = yield* Effect.gen(function* () {
        const held = yield* leases.sweep
        const active = yield* manifestFile.active
        const read = areReadersKept ? yield* readers.kept : []
        const unneeded = expired(yield* overview(held, active), keepVersions, read)
        return { active, removed: yield* Effect.forEach(unneeded, ({ versionId }) => discard(versionId)) }
      }).pipe(unswept)
      yield* folder.trash.empty
      yield* manifestFile.reserve.keep
      if (Option.isNone(active)) {
        yield* manifestFile.inTurn(restore)
      }
      return removed.flat()
    })
  }
}

/** How many versions are kept for nothing but that they are read: anybody may read all that there are. */
const maxRead = 4

/**
 * The versions that need not be kept: neither among the newest `keepVersions`, nor active or among as many before it, nor
 * waiting, nor shown by a consumer, nor among the first of the others that are `read`. `versions` has the oldest first.
 *
 * The active one is not the newest while it is held, or where the clock was ahead once: there is still something to go
 * back to then.
 */
export const expired = (
  versions: ReadonlyArray<VersionOverview>,
  keepVersions: number,
  read: ReadonlyArray<VersionId>
): ReadonlyArray<VersionOverview> => {
  const upToActive = versions.slice(0, versions.findIndex(({ active }) => active) + 1)
  const recent = new Set([
    ...Array.takeRight(versions, keepVersions),
    ...Array.takeRight(upToActive, keepVersions)
  ])
  const unneeded = versions.filter(
    (version) => !recent.has(version) && !version.active && !version.isWaiting && version.leases.length === 0
  )
  const kept = read.filter((id) => unneeded.some(({ versionId }) => versionId === id)).slice(0, maxRead)
  return unneeded.filter(({ versionId }) => !kept.includes(versionId))
}

/** How long a version counts as read, in milliseconds. */
const readMs = Duration.toMillis("2 minutes")

interface Reading {
  readonly versionId: VersionId
  readonly still: boolean
  /** By the monotonic clock, in milliseconds. */
  readonly end: number
}

const byRank = Order.reverse(
  Order.struct({ still: Order.boolean, versionId: Order.string }) satisfies Order.Order<Reading>
)

/** Versions that somebody reads, in memory only. There is one entry for each version that was on disk in that time. */
const makeReaders = () => {
  const readings = new Map<VersionId, Reading>()

  const current = Effect.map(monotonicMillis, (monotonic) => {
    for (const { end, versionId } of readings.values()) {
      if (end <= monotonic) readings.delete(versionId)
    }
    return monotonic
  })

  return {
    /** `still` says that it has been read for a while; that stays so until it is not read any more. */
    keep: (versionId: VersionId, still: boolean) =>
      Effect.map(current, (monotonic) => {
        readings.set(versionId, {
          versionId,
          still: still || readings.get(versionId)?.still === true,
          end: monotonic + readMs
        })
      }),
    /** The versions that are read: first those that still are, of these and of the others the newest first. */
    kept: Effect.map(current, () => [...readings.values()].sort(byRank).map(({ versionId }) => versionId))
  }
}
