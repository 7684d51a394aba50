/**
 * Versions in a folder of this machine.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isPlainFileName } from "../../internal/FileName.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import {
  type AckDetails,
  type DownloadsInUse,
  InvalidConsumerId,
  type VersionId,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import * as DownloadsFolder from "./DownloadsFolder.ts"
import { summaryOf } from "./fileLists.ts"
import * as Leases from "./leases.ts"
import * as ManifestFile from "./ManifestFile.ts"
import { makePublishing } from "./publish.ts"
import { makeRestore } from "./restore.ts"
import { makeRetention } from "./retention.ts"
import { makeStageCopy } from "./stageCopy.ts"
import { makeStage } from "./staging.ts"
import {
  decode,
  type VersionStoreDiskConfig,
  type VersionStoreDiskOptions
} from "./VersionStoreDiskOptions.ts"
import { makeDamage, makeVerify } from "./verify.ts"

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
export const make = (config: VersionStoreDiskConfig) =>
  Effect.flatMap(decode(config), (options) => withoutParentSpan(open(options)))

const open = Effect.fnUntraced(function* ({
  ackLease,
  directory,
  keepVersions,
  release
}: VersionStoreDiskOptions) {
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const folder = yield* DownloadsFolder.make(directory)
  const manifestFile = yield* ManifestFile.make(folder)
  const leases = yield* Leases.make(folder, ackLease)
  const damage = makeDamage()

  /** A version on which a lease is just being taken, or that is just being made the active one, is not swept. */
  const unswept = (yield* Effect.makeSemaphore(1)).withPermits(1)

  /** Of versions whose list could be read: a list of 30,000 files takes a tenth of a second each time. */
  const summaries = yield* Cache.makeWith({
    capacity: 256,
    lookup: (versionId: VersionId) =>
      Effect.map(
        folder.listOf(versionId),
        Option.map(({ list }) => summaryOf(list))
      ),
    timeToLive: (exit) => (Exit.isSuccess(exit) && Option.isSome(exit.value) ? Number.POSITIVE_INFINITY : 0)
  })
  const forget = (versionId: VersionId) =>
    Effect.zipRight(
      Effect.sync(() => damage.forget(versionId)),
      summaries.invalidate(versionId)
    )

  const restore = makeRestore(folder, manifestFile)
  const isHeld = Effect.map(
    manifestFile.content,
    Option.exists(({ held }) => held !== undefined)
  )
  /** What is held may have been removed: no other version is to be shown for that. */
  const active = Effect.zipRight(
    Effect.provide(Effect.whenEffect(restore, isHeld), platform),
    manifestFile.active
  )
  const publishing = yield* makePublishing(folder, { ...manifestFile, active }, damage, release, unswept)
  const retention = makeRetention(folder, manifestFile, leases, unswept, forget, restore)
  const verify = yield* makeVerify(folder, manifestFile, damage, retention.keep)

  /** Of what changes the manifest, and nothing else: also where the disk is full. */
  const change = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>) =>
    manifestFile.reserve
      .lend(Effect.zipRight(folder.claimed, effect))
      .pipe(manifestFile.inTurn, Effect.provide(platform))

  const acknowledge = Effect.fn("VersionStore.acknowledge")(function* (
    consumerId: string,
    versionId: string,
    details: AckDetails = {}
  ) {
    if (!isPlainFileName(consumerId)) {
      return yield* new InvalidConsumerId({ consumerId })
    }
    yield* Effect.gen(function* () {
      const shown = yield* folder.find(versionId)
      yield* leases.take(consumerId, { ...details, versionId: shown })
    }).pipe(unswept)
  })

  yield* folder.makeRoot
  yield* Effect.catchTag(folder.claim, "vitrine/VersionStoreError", ({ message }) =>
    Effect.logWarning(
      `${message} The content that is there can be shown; nothing can be fetched until that is mended.`
    )
  )
  if (folder.wasClaimed()) {
    yield* manifestFile.reserve.keep
    yield* restore
  }

  return VersionStore.of({
    directory: folder.root,
    manifest: Effect.provide(manifestFile.read, platform),
    stage: yield* makeStage(folder, manifestFile, publishing, damage),
    stageCopy: yield* makeStageCopy(folder, manifestFile, publishing, damage),
    activate: (versionId) => change(publishing.activate(versionId)),
    hold: (request) => change(publishing.hold(request)),
    release: (request) => change(publishing.release(request)),
    resume: (request) => change(publishing.resume(request)),
    summarize: (versionId) =>
      Effect.provide(
        Effect.flatMap(folder.find(versionId), (versionId) => summaries.get(versionId)),
        platform
      ),
    acknowledge: (...lease) => Effect.provide(acknowledge(...lease), platform),
    consumers: leases.consumers,
    keep: (versionId, still) => Effect.provide(retention.keep(versionId, still), platform),
    verify: (versionId) => Effect.provide(verify(versionId), platform),
    versions: Effect.provide(retention.versions, platform),
    sweep: Effect.provide(retention.sweep(keepVersions, true), platform),
    evict: Effect.provide(retention.sweep(0, false), platform)
  })
})
