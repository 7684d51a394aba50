/**
 * Versions in a folder of this machine.
 */
import { randomUUID } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isPlainFileName } from "../../internal/FileName.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import {
  type DownloadsInUse,
  InvalidConsumerId,
  type Lease,
  type Manifest,
  type VersionId,
  VersionNotFound,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import { makeClaim } from "./claim.ts"
import * as Damage from "./Damage.ts"
import * as DownloadsFolder from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import { readList, summaryOf } from "./fileLists.ts"
import { latestOf, noneActive } from "./hold.ts"
import * as Leases from "./leases.ts"
import * as ManifestFile from "./ManifestFile.ts"
import { makePublishing } from "./publish.ts"
import * as Readers from "./Readers.ts"
import { makeReserve } from "./reserve.ts"
import { discard, expired, restore } from "./retention.ts"
import { makeStageCopy } from "./stageCopy.ts"
import { makeStage, type StagingStore } from "./staging.ts"
import * as Trash from "./Trash.ts"
import {
  decode,
  type VersionStoreDiskConfig,
  type VersionStoreDiskOptions
} from "./VersionStoreDiskOptions.ts"
import { makeVerify } from "./verify.ts"

export type { VersionStoreDiskConfig }

/** The versions in a folder, which is this controller's alone as long as the layer lives. */
export const layer = (
  config: VersionStoreDiskConfig
): Layer.Layer<
  VersionStore,
  InvalidOptions | VersionStoreError | DownloadsInUse,
  FileSystem.FileSystem | Path.Path
> => Layer.scoped(VersionStore, make(config))

/** The same without a layer. */
export const make = (config: VersionStoreDiskConfig) => Effect.flatMap(decode(config), open)

const open = Effect.fnUntraced(function* ({ ackLease, directory, keepVersions }: VersionStoreDiskOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path>())
  const folder = yield* DownloadsFolder.make(directory)
  const manifestFile = yield* ManifestFile.make(folder)
  const trash = yield* Trash.make
  const reserve = yield* makeReserve(folder.reserve)
  const { claim, claimed, wasClaimed } = yield* makeClaim(folder, trash)

  yield* folder.makeRoot
  yield* Effect.catchTag(claim, "vitrine/VersionStoreError", ({ message }) =>
    Effect.logWarning(
      `${message} The content that is there can be shown; nothing can be fetched until that is mended.`
    )
  )

  /** A version on which a lease is just being taken, or that is just being made the active one, is not swept. */
  const leasing = yield* Effect.makeSemaphore(1)
  const leases = yield* Leases.make({ folder: folder.acks, duration: ackLease, scratch: folder.staging })

  const acknowledge = Effect.fn("VersionStore.acknowledge")(function* (
    consumerId: string,
    versionId: string,
    problem?: string,
    renewMs?: number
  ) {
    if (!isPlainFileName(consumerId)) {
      return yield* new InvalidConsumerId({ consumerId })
    }
    yield* Effect.gen(function* () {
      const shown = yield* found(versionId)
      yield* claimed
      yield* leases.take(consumerId, { versionId: shown, problem, renewMs })
    }).pipe(leasing.withPermits(1))
  }, Effect.provide(platform))

  const readers = Readers.make()
  const damage = Damage.make()

  const found = Effect.fnUntraced(function* (versionId: string) {
    return DownloadsFolder.isVersionId(versionId) && (yield* folder.hasVersion(versionId))
      ? versionId
      : yield* new VersionNotFound({ versionId })
  })

  const keep = (versionId: string, still = false) =>
    Effect.flatMap(found(versionId), (versionId) => readers.keep(versionId, still)).pipe(
      leasing.withPermits(1)
    )

  const overview = Effect.fnUntraced(function* (held: ReadonlyArray<Lease>, active: Option.Option<Manifest>) {
    const kept = yield* readers.kept
    return (yield* folder.versionIds).map((versionId) => ({
      versionId,
      active: Option.exists(active, (manifest) => manifest.versionId === versionId),
      isWaiting: Option.exists(active, ({ held }) => held?.waiting === versionId),
      leases: held.filter((lease) => lease.versionId === versionId),
      isRead: kept.includes(versionId)
    }))
  }, Effect.provide(platform))

  const listIn = (versionId: VersionId, version = folder.ofVersion(versionId)) =>
    Effect.map(
      readList(version, versionId),
      Option.map(({ list }) => list)
    )

  /** Of versions whose list could be read: a list of 30,000 files takes a tenth of a second each time. */
  const summaries = yield* Cache.makeWith({
    capacity: 256,
    lookup: (versionId: VersionId) => Effect.map(listIn(versionId), Option.map(summaryOf)),
    timeToLive: (exit) => (Exit.isSuccess(exit) && Option.isSome(exit.value) ? Number.POSITIVE_INFINITY : 0)
  })

  const latest = Effect.flatMap(
    manifestFile.active,
    Effect.transposeMapOption((manifest) =>
      Effect.map(listIn(latestOf(manifest)), (list) => ({
        manifest,
        folder: folder.ofVersion(latestOf(manifest)),
        list
      }))
    )
  )

  /** Removes all versions but those that are shown, the newest ones, and some of those that are `read`. */
  const sweepDownTo = Effect.fnUntraced(function* (keepVersions: number, read: Readers.Readers["kept"]) {
    if (!wasClaimed()) {
      return []
    }
    const { active, removed } = yield* Effect.gen(function* () {
      const held = yield* leases.sweep
      const active = yield* manifestFile.active
      const removed = yield* Effect.forEach(
        expired(yield* overview(held, active), keepVersions, yield* read),
        ({ versionId }) =>
          discard(folder, trash, versionId).pipe(
            Effect.tap(() => damage.forget(versionId)),
            Effect.tap(() => summaries.invalidate(versionId)),
            Effect.as([versionId]),
            Effect.catchAll((error) => Effect.as(trash.warn(error), []))
          )
      )
      return { active, removed: removed.flat() }
    }).pipe(leasing.withPermits(1))
    yield* trash.empty
    yield* reserve.keep
    if (Option.isNone(active)) {
      yield* inTurn(restored)
    }
    return removed
  }, Effect.provide(platform))

  const unrestored = makeWarnWhile((message) => message)
  const restored = restore(folder, manifestFile).pipe(
    Effect.matchEffect({
      onFailure: ({ message }) => unrestored.fails(message),
      onSuccess: () => unrestored.works
    }),
    Effect.provide(platform)
  )
  const isHeld = Effect.map(
    manifestFile.content,
    Option.exists(({ held }) => held !== undefined)
  )
  /** What is held may have been removed: no other version is to be shown for that. */
  const active = Effect.zipRight(Effect.whenEffect(restored, isHeld), manifestFile.active)
  const publishing = yield* makePublishing(
    folder,
    { ...manifestFile, active },
    damage,
    leasing.withPermits(1)
  )
  const inTurn = (yield* Effect.makeSemaphore(1)).withPermits(1)
  /** Of what changes the manifest, and nothing else: also where the disk is full. */
  const changing = <A, E>(change: Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>) =>
    reserve.lend(Effect.zipRight(claimed, change)).pipe(inTurn, Effect.provide(platform))

  const staging: StagingStore = {
    latest,
    versions: Effect.gen(function* () {
      const listed = yield* Effect.forEach((yield* folder.versionIds).reverse(), (versionId) =>
        Effect.map(
          listIn(versionId),
          Option.map((list) => ({ folder: folder.ofVersion(versionId), list }))
        )
      )
      return Array.getSomes(listed)
    }),
    makeFolder: Effect.suspend(() => {
      const staged = path.join(folder.staging, randomUUID())
      return claimed.pipe(
        Effect.zipRight(fs.makeDirectory(staged).pipe(mapDiskError("write to", folder.staging))),
        Effect.as(staged)
      )
    }),
    removeFolder: (staged) =>
      Effect.suspend(() => {
        trash.add(staged)
        return trash.empty
      }),
    publish: publishing.publish,
    publishCopy: publishing.publishCopy,
    damage,
    inTurn
  }
  const stage = yield* makeStage(staging)
  const stageCopy = yield* makeStageCopy(staging)

  const verify = yield* makeVerify({
    find: Effect.fnUntraced(function* (given: string | undefined) {
      const active = yield* manifestFile.active
      const versionId =
        given !== undefined
          ? yield* found(given)
          : Option.isSome(active)
            ? active.value.versionId
            : yield* noneActive("verify the version of", folder.manifest)
      const version = folder.ofVersion(versionId)
      const isActive = Option.filter(active, (manifest) => manifest.versionId === versionId)
      return {
        versionId,
        folder: version,
        list: yield* readList(version, versionId),
        listSha256: Option.flatMapNullable(isActive, ({ filesSha256 }) => filesSha256)
      }
    }),
    keep,
    damage
  })

  if (wasClaimed()) {
    yield* reserve.keep
    yield* restored
  }
  return VersionStore.of({
    directory: folder.root,
    manifest: Effect.provide(manifestFile.read, platform),
    stage,
    stageCopy,
    activate: (versionId) => changing(publishing.activate(versionId)),
    hold: (request) => changing(publishing.hold(request)),
    resume: changing(publishing.resume),
    summarize: (versionId) =>
      Effect.provide(
        Effect.flatMap(found(versionId), (versionId) => summaries.get(versionId)),
        platform
      ),
    acknowledge,
    keep: (versionId, still) => Effect.provide(keep(versionId, still), platform),
    verify: (versionId) => Effect.provide(verify(versionId), platform),
    versions: Effect.flatMap(Effect.all([leases.fresh, manifestFile.active]), (known) =>
      overview(...known)
    ).pipe(Effect.provide(platform)),
    sweep: sweepDownTo(keepVersions, readers.kept),
    makeRoom: sweepDownTo(0, Effect.succeed([]))
  })
})
