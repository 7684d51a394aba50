/**
 * Which versions stay on disk: versions that are new, active or waiting, that a consumer shows (`Leases.ts`), or that
 * somebody reads.
 */
import * as Array from "effect/Array"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Ref from "effect/Ref"
import { DownloadsFolder } from "../../files/DownloadsFolder.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import type { Lease, Manifest, VersionId, VersionOverview } from "../../services/VersionStore.ts"
import { Leases } from "../leases/Leases.ts"
import { ManifestFile } from "./ManifestFile.ts"
import { VersionFolders } from "./VersionFolders.ts"

/** Versions that somebody reads, in memory only. There is one entry for each version read in the last two minutes. */
export class Readers extends Context.Tag("vitrine/Readers")<
  Readers,
  {
    /** Notes that a version is read. */
    readonly keep: (versionId: VersionId) => Effect.Effect<void>
    /** The versions that are read: those that have been read for longest first, and among equals the newest first. */
    readonly kept: Effect.Effect<ReadonlyArray<VersionId>>
  }
>() {}

/** How long a version counts as read after it was read, in milliseconds. */
const readMs = Duration.toMillis("2 minutes")

/** Monotonic times, in milliseconds. */
interface OngoingRead {
  readonly begin: number
  readonly end: number
}

type OngoingReads = ReadonlyMap<VersionId, OngoingRead>

const currentAt = (now: number, reads: OngoingReads): OngoingReads =>
  new Map([...reads].filter(([, { end }]) => end > now))

/** The version that has been read for longest, and among equals the newest. */
const byLength = Order.reverse(
  Order.mapInput(
    Order.tuple(Order.number, Order.string),
    ([versionId, { begin, end }]: readonly [VersionId, OngoingRead]) => [end - begin, versionId] as const
  )
)

export const readersLayer = Layer.effect(
  Readers,
  Effect.map(Ref.make<OngoingReads>(new Map()), (reads) =>
    Readers.of({
      keep: (versionId) =>
        Effect.flatMap(monotonicMillis, (now) =>
          Ref.update(reads, (before) => {
            const current = currentAt(now, before)
            const begin = current.get(versionId)?.begin ?? now
            return new Map([...current, [versionId, { begin, end: now + readMs }]])
          })
        ),
      kept: Effect.flatMap(monotonicMillis, (now) =>
        Ref.updateAndGet(reads, (before) => currentAt(now, before))
      ).pipe(Effect.map((current) => Array.sort(current, byLength).map(([versionId]) => versionId)))
    })
  )
)

/** Keeps a version from being swept while it is read. */
export const keep = Effect.fnUntraced(function* (versionId: string) {
  const { find, unswept } = yield* VersionFolders
  const readers = yield* Readers
  yield* unswept(Effect.flatMap(find(versionId), (versionId) => readers.keep(versionId)))
})

/** All versions on disk, oldest first. */
export const versions = Effect.gen(function* () {
  const leases = yield* (yield* Leases).fresh
  return yield* overview(leases, yield* (yield* ManifestFile).active)
})

const overview = Effect.fnUntraced(function* (leases: ReadonlyArray<Lease>, active: Option.Option<Manifest>) {
  const read = yield* (yield* Readers).kept
  const versionIds = yield* (yield* VersionFolders).versionIds
  return versionIds.map(
    (versionId): VersionOverview => ({
      versionId,
      active: Option.exists(active, (manifest) => manifest.versionId === versionId),
      isWaiting: Option.exists(active, ({ held }) => held?.waiting === versionId),
      leases: leases.filter((lease) => lease.versionId === versionId),
      isRead: read.includes(versionId)
    })
  )
})

/**
 * Removes all versions except those that are active, waiting, shown or new, and some of those that are read. A lost manifest is
 * restored first; if it cannot be restored, the newest version stays.
 */
export const sweep = Effect.fnUntraced(function* (keepVersions: number, areReadersKept: boolean) {
  const folder = yield* DownloadsFolder
  const { discard, unswept } = yield* VersionFolders
  const manifestFile = yield* ManifestFile
  if (!(yield* folder.wasClaimed)) {
    return []
  }
  yield* manifestFile.inTurn(manifestFile.restore)
  const removed = yield* Effect.gen(function* () {
    const leases = yield* (yield* Leases).sweep
    const active = yield* manifestFile.active
    const read = areReadersKept ? yield* (yield* Readers).kept : []
    const kept = Option.isSome(active) ? keepVersions : Math.max(1, keepVersions)
    const unneeded = expired(yield* overview(leases, active), kept, read)
    return yield* Effect.filter(
      unneeded.map(({ versionId }) => versionId),
      discard
    )
  }).pipe(unswept)
  yield* folder.emptyTrash
  yield* manifestFile.keepRoom
  return removed
})

/** How many versions are kept only because they are read. Without this limit, readers could keep all versions. */
const maxRead = 4

/**
 * The versions that can go. It keeps the newest `keepVersions`, the active version and those just before it
 * (`keepVersions` in all), the waiting version, versions that a consumer shows, and the first few of `read`. `versions`
 * is sorted, oldest first.
 *
 * The active version is not the newest while it is held, or if the clock was ahead once; versions before it are kept to
 * go back to.
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
