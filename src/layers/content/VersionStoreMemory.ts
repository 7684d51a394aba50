/**
 * A store of versions for tests: what is known of them is in memory, their files are in a temporary folder that is removed
 * with the scope. Nothing is durable, nothing is locked, and the leases are not bounded.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import { isPlainFileName } from "../../internal/FileName.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import {
  InvalidConsumerId,
  type Lease,
  type Manifest,
  type ManifestReading,
  type VersionId,
  VersionNotFound,
  type VersionOverview,
  type VersionSource,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import { decodeVersionStoreMemory, type VersionStoreMemoryConfig } from "./ContentOptions.ts"
import * as Damage from "./Damage.ts"
import { mapDiskError } from "./diskError.ts"
import { makeList, summaryOf, type WrittenList, writeList } from "./fileLists.ts"
import { latestOf, makeHolding, noneActive } from "./hold.ts"
import { silentAfterMs } from "./LeaseFile.ts"
import { manifestOf, otherContent, wholeList } from "./publish.ts"
import * as Readers from "./Readers.ts"
import { expired } from "./retention.ts"
import { makeStageCopy } from "./stageCopy.ts"
import { makeStage, type StagingStore } from "./staging.ts"
import { makeVerify } from "./verify.ts"
import { nextVersionId } from "./versionId.ts"

interface Version extends WrittenList {
  readonly manifest: Manifest
}

export const layer = (
  config: VersionStoreMemoryConfig = {}
): Layer.Layer<VersionStore, InvalidOptions | VersionStoreError, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(VersionStore, make(config))

/** The same without a layer. */
export const make = Effect.fnUntraced(function* (config: VersionStoreMemoryConfig = {}) {
  const { ackLease, keepVersions } = yield* decodeVersionStoreMemory(config)
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path>())
  const root = yield* fs
    .makeTempDirectoryScoped({ prefix: "vitrine-" })
    .pipe(mapDiskError("make", "a temporary folder"))
  /** The oldest first. */
  let versions: ReadonlyArray<Version> = []
  let active = Option.none<Manifest>()
  const leases = new Map<string, Lease & { readonly silentAt: number }>()
  const damage = Damage.make()
  const readers = Readers.make()
  const inTurn = (yield* Effect.makeSemaphore(1)).withPermits(1)

  const versionOf = (versionId: string | undefined) =>
    versions.find(({ manifest }) => manifest.versionId === versionId)
  const folderOf = ({ versionPath }: Manifest) => path.join(root, versionPath)
  const remove = (folder: string) =>
    fs.remove(folder, { recursive: true, force: true }).pipe(mapDiskError("remove", folder))

  const manifest = Effect.sync(
    (): ManifestReading =>
      Option.match(active, {
        onNone: () => ({ status: "missing" }),
        onSome: (manifest) => ({ status: "ok", manifest })
      })
  )

  const found = (versionId: string): Effect.Effect<Version, VersionNotFound> =>
    Effect.suspend(() => {
      const version = versionOf(versionId)
      return version === undefined ? new VersionNotFound({ versionId }) : Effect.succeed(version)
    })

  const wholeVersion = Effect.fnUntraced(function* (versionId: string) {
    const version = yield* found(versionId)
    yield* wholeList(folderOf(version.manifest), Option.some(version), damage.of(version.manifest.versionId))
    return version.manifest
  })

  const { hold, resume, writeLatest } = makeHolding({
    place: root,
    active: Effect.sync(() => active),
    wholeVersion,
    write: (manifest) =>
      Effect.sync(() => {
        active = Option.some(manifest)
      })
  })

  /** Puts a folder in the place of its version, and makes that the latest one. */
  const place = Effect.fnUntraced(function* (folder: string, list: WrittenList) {
    const manifest = manifestOf(list)
    const target = folderOf(manifest)
    return yield* Effect.gen(function* () {
      yield* writeList(folder, list)
      yield* fs.remove(target, { recursive: true, force: true })
      yield* fs.makeDirectory(path.dirname(target), { recursive: true })
      yield* fs.rename(folder, target)
      versions = Array.sortWith(
        [
          ...versions.filter(({ manifest: { versionId } }) => versionId !== manifest.versionId),
          { ...list, manifest }
        ],
        ({ manifest }) => manifest.versionId,
        Order.string
      )
    }).pipe(mapDiskError("write to", root), Effect.zipRight(writeLatest(manifest)), Effect.uninterruptible)
  })

  const publish = Effect.fnUntraced(function* (folder: string, sources: ReadonlyArray<VersionSource>) {
    const now = yield* Clock.currentTimeMillis
    const versionId = nextVersionId(
      now,
      versions.map(({ manifest }) => manifest.versionId)
    )
    const generatedAt = new Date(now).toISOString()
    return yield* place(folder, yield* makeList(folder, { versionId, generatedAt, sources }))
  })

  const publishCopy = (folder: string, list: WrittenList) => {
    const before = versionOf(list.list.versionId)
    return before === undefined || before.text === list.text
      ? place(folder, list)
      : otherContent(folderOf(before.manifest))
  }

  const staging: StagingStore = {
    latest: Effect.sync(() =>
      Option.flatMap(active, (manifest) =>
        Option.map(Option.fromNullable(versionOf(latestOf(manifest))), (version) => ({
          manifest,
          folder: folderOf(version.manifest),
          list: Option.some(version.list)
        }))
      )
    ),
    versions: Effect.sync(() =>
      versions.map(({ list, manifest }) => ({ folder: folderOf(manifest), list })).reverse()
    ),
    makeFolder: fs.makeTempDirectory({ directory: root }).pipe(mapDiskError("write to", root)),
    removeFolder: (folder) => Effect.ignore(remove(folder)),
    publish,
    takeSpare: Effect.succeedNone,
    publishCopy,
    damage,
    inTurn
  }
  const stage = yield* makeStage(staging)
  const stageCopy = yield* makeStageCopy(staging)

  const keep = (versionId: string, still = false) =>
    Effect.flatMap(found(versionId), ({ manifest }) => readers.keep(manifest.versionId, still))

  const verify = yield* makeVerify({
    find: (given) => {
      const version = versionOf(given ?? Option.getOrUndefined(active)?.versionId)
      return version === undefined
        ? given === undefined
          ? noneActive("verify the version of", root)
          : new VersionNotFound({ versionId: given })
        : Effect.succeed({
            versionId: version.manifest.versionId,
            folder: folderOf(version.manifest),
            list: Option.some(version),
            listSha256: Option.none()
          })
    },
    keep,
    damage
  })

  const overview = Effect.zipWith(
    Clock.currentTimeMillis,
    readers.kept,
    (now, kept): ReadonlyArray<VersionOverview> => {
      const fresh = [...leases.values()]
        .filter(({ until }) => until >= now)
        .map(({ problem, problemSince, silentAt, ...lease }) =>
          silentAt < now
            ? { ...lease, isSilent: true }
            : {
                ...lease,
                ...(problem === undefined || problemSince === undefined ? {} : { problem, problemSince })
              }
        )
      return versions.map(({ manifest: { versionId } }) => ({
        versionId,
        active: Option.exists(active, (manifest) => manifest.versionId === versionId),
        isWaiting: Option.exists(active, ({ held }) => held?.waiting === versionId),
        leases: fresh.filter((lease) => lease.versionId === versionId),
        isRead: kept.includes(versionId)
      }))
    }
  )

  const sweepDownTo = (keepVersions: number, read: Readers.Readers["kept"]) =>
    Effect.flatMap(Effect.all([overview, read]), ([overviews, read]) => {
      const removed = new Set<VersionId>(
        expired(overviews, keepVersions, read).map(({ versionId }) => versionId)
      )
      const [gone, kept] = Array.partition(versions, ({ manifest }) => !removed.has(manifest.versionId))
      versions = kept
      return Effect.as(
        Effect.forEach(gone, ({ manifest }) => remove(folderOf(manifest)), { discard: true }),
        [...removed]
      )
    })

  const acknowledge = Effect.fnUntraced(function* (
    consumerId: string,
    versionId: string,
    problem?: string,
    renewMs?: number
  ) {
    const version = versionOf(versionId)
    if (!isPlainFileName(consumerId)) {
      return yield* new InvalidConsumerId({ consumerId })
    }
    if (version === undefined) {
      return yield* new VersionNotFound({ versionId })
    }
    const now = yield* Clock.currentTimeMillis
    const before = leases.get(consumerId)
    const isSame = before !== undefined && before.silentAt >= now && before.problem === problem
    leases.set(consumerId, {
      consumerId,
      versionId: version.manifest.versionId,
      until: now + Duration.toMillis(ackLease),
      heardAt: now,
      isSilent: false,
      silentAt: now + silentAfterMs(renewMs),
      ...(problem === undefined ? {} : { problem, problemSince: isSame ? (before.problemSince ?? now) : now })
    })
  })

  return VersionStore.of({
    directory: root,
    manifest,
    stage,
    stageCopy,
    activate: (versionId) =>
      Effect.flatMap(wholeVersion(versionId), writeLatest).pipe(inTurn, Effect.provide(platform)),
    hold: (request) => hold(request).pipe(inTurn, Effect.provide(platform)),
    resume: resume.pipe(inTurn, Effect.provide(platform)),
    summarize: (versionId) => Effect.map(found(versionId), ({ list }) => Option.some(summaryOf(list))),
    acknowledge,
    keep,
    verify: (versionId) => Effect.provide(verify(versionId), platform),
    versions: overview,
    sweep: sweepDownTo(keepVersions, readers.kept),
    makeRoom: sweepDownTo(0, Effect.succeed([]))
  })
})
