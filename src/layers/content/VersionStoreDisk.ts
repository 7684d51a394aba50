/**
 * Versions in a folder of this machine.
 */
import { randomUUID } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { isPlainFileName } from "../../internal/FileName.ts"
import { makePath } from "../../internal/makePath.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { errorCode, isDiskFull } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import {
  DownloadsInUse,
  InvalidConsumerId,
  type Lease,
  Manifest,
  type ManifestReading,
  type StagedVersion,
  VersionId,
  VersionNotFound,
  VersionSource,
  VersionStore,
  VersionStoreError
} from "../../services/VersionStore.ts"
import { type FolderLocked, type FolderLockFailed, lockFolder } from "../folderLock/FolderLock.ts"
import {
  decodeVersionStoreDisk,
  type VersionStoreDiskConfig,
  type VersionStoreDiskOptions
} from "./ContentOptions.ts"
import { mapDiskError, orWhereMissing } from "./diskError.ts"
import { replaceFile, syncDirectory, syncTree } from "./durable.ts"
import * as Leases from "./leases.ts"
import { expired } from "./retention.ts"
import { nextVersionId } from "./versionId.ts"
import { hasSizes, readRecord, recordName, type VersionRecord, writeRecord } from "./versionRecord.ts"

/** The versions in a folder, which is this controller's alone as long as the layer lives. */
export const layer = (
  config: VersionStoreDiskConfig
): Layer.Layer<
  VersionStore,
  InvalidOptions | VersionStoreError | DownloadsInUse,
  FileSystem.FileSystem | Path.Path
> => Layer.scoped(VersionStore, Effect.flatMap(decodeVersionStoreDisk(config), make))

/** The same without a layer, of decoded options. */
export const make = Effect.fnUntraced(function* (settings: VersionStoreDiskOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path>())

  const root = path.resolve(settings.directory)
  const manifestFile = path.join(root, "manifest.json")
  const versionsFolder = path.join(root, "versions")
  const acksFolder = path.join(root, "acks")
  const stagingFolder = path.join(root, ".staging")
  const namesIn = (folder: string) =>
    fs.readDirectory(folder).pipe(orWhereMissing<ReadonlyArray<string>>([]), mapDiskError("read", folder))
  const folderOf = (versionId: VersionId) => path.join(versionsFolder, versionId)

  const makeFolders = Effect.gen(function* () {
    yield* makePath(root).pipe(mapDiskError("make", root))
    yield* Effect.forEach([versionsFolder, acksFolder, stagingFolder], makeFolder)
    yield* syncDirectory(root).pipe(mapDiskError("write to", root))
  }).pipe(Effect.provide(platform))

  /** Folders that nobody needs any more. One that another program has open is tried again at the next sweep. */
  const trash = new Set<string>()
  const removeTrash = Effect.suspend(() =>
    Effect.forEach(
      [...trash],
      (folder) =>
        removeTree(folder).pipe(
          Effect.tap(() => trash.delete(folder)),
          Effect.catchAll(warnTriedAgain)
        ),
      { discard: true }
    )
  ).pipe(Effect.provide(platform))

  const scope = yield* Effect.scope
  const claiming = yield* Effect.makeSemaphore(1)
  /** Takes the lock of the folder anew where its socket is gone; there as soon as it was taken once. */
  let keepLocked = Option.none<Effect.Effect<void, FolderLocked | FolderLockFailed>>()

  /** Makes the folder, and makes it this controller's alone; the first time, removes what a crash has left in it. */
  const claim = Effect.gen(function* () {
    yield* makeFolders
    if (Option.isSome(keepLocked)) {
      return yield* keepLocked.value
    }
    const real = yield* fs.realPath(root).pipe(mapDiskError("read", root))
    keepLocked = Option.some(yield* Scope.extend(lockFolder(real, stagingFolder), scope))
    for (const name of yield* Effect.orElseSucceed(namesIn(stagingFolder), () => [])) {
      trash.add(path.join(stagingFolder, name))
    }
    yield* removeTrash
  }).pipe(
    Effect.catchTags({
      FolderLocked: ({ owner, path }) => new DownloadsInUse({ path, owner }),
      FolderLockFailed: (cause) =>
        new VersionStoreError({ action: "lock", path: cause.path, detail: cause.detail, cause })
    }),
    claiming.withPermits(1)
  )

  /** Nothing is written where the folder is not this controller's. */
  const claimed = Effect.catchTag(
    claim,
    "DownloadsInUse",
    ({ message }) => new VersionStoreError({ action: "write to", path: root, detail: message })
  )

  yield* makePath(root).pipe(mapDiskError("make", root))
  yield* Effect.catchTag(claim, "VersionStoreError", ({ message }) =>
    Effect.logWarning(
      `${message} The content that is there can be shown; nothing can be fetched until that is mended.`
    )
  )

  const manifest: Effect.Effect<ManifestReading, VersionStoreError> = Effect.gen(function* () {
    const text = yield* readIfThere(manifestFile)
    if (Option.isNone(text)) {
      return { status: "missing" as const }
    }
    const invalid = (problem: string) => ({
      status: "invalid" as const,
      message: `manifest.json ${problem}`
    })
    const decoded = Schema.decodeEither(ManifestJson)(text.value)
    if (Either.isLeft(decoded)) {
      return invalid(`is no manifest: ${issueText(placedIssues(decoded.left))}`)
    }
    const { sources, versionId, versionPath } = decoded.right
    if (!(yield* exists(versionId))) {
      return invalid(`names a version that is not on disk: ${versionId}`)
    }
    const isRight =
      versionPath === pathOf(versionId) && sources.every(({ path, sourceId }) => path === sourceId)
    if (!isRight || !(yield* isWhole(versionId, sources))) {
      return invalid(`names folders that are not those of version ${versionId}`)
    }
    return { status: "ok" as const, manifest: decoded.right }
  }).pipe(Effect.provide(platform))

  const active = Effect.map(manifest, (reading) =>
    reading.status === "ok" ? Option.some(reading.manifest) : Option.none()
  )

  /** The active version, where it was made of just these, and whether none of their tables is missing or cut. */
  const activeOf = Effect.fnUntraced(function* (sources: ReadonlyArray<VersionSource>) {
    const current = yield* active
    if (Option.isNone(current)) {
      return Option.none()
    }
    const folder = folderOf(current.value.versionId)
    const record = Option.filter(yield* readRecord(folder), (record) => isSame(record.sources, sources))
    return yield* Effect.transposeMapOption(record, (record) =>
      Effect.map(hasSizes(folder, record), (isWhole) => ({ manifest: current.value, isWhole }))
    )
  })

  const exists = (versionId: VersionId) =>
    fs.exists(folderOf(versionId)).pipe(mapDiskError("read", versionsFolder))

  /** Whether the folders of all sources are there. */
  const isWhole = (versionId: VersionId, sources: ReadonlyArray<{ readonly sourceId: string }>) =>
    Effect.every(sources, ({ sourceId }) => fs.exists(path.join(folderOf(versionId), sourceId))).pipe(
      mapDiskError("read", folderOf(versionId))
    )

  const versionIds = namesIn(versionsFolder).pipe(Effect.map((names) => names.filter(isVersionId).sort()))

  const promoting = yield* Effect.makeSemaphore(1)
  /** A version on which a lease is just being taken is not swept. */
  const leasing = yield* Effect.makeSemaphore(1)

  const leases = yield* Leases.make({
    folder: acksFolder,
    duration: settings.ackLease,
    scratch: stagingFolder
  })

  /** Somebody may have removed the folders since the start. */
  const makeStagingFolder = Effect.suspend(() => {
    const folder = path.join(stagingFolder, randomUUID())
    return claimed.pipe(
      Effect.zipRight(fs.makeDirectory(folder).pipe(mapDiskError("write to", stagingFolder))),
      Effect.as(folder)
    )
  })

  const stage = Effect.acquireRelease(makeStagingFolder, (folder) =>
    Effect.suspend(() => {
      trash.add(folder)
      return removeTrash
    })
  ).pipe(
    Effect.map(
      (folder): StagedVersion => ({
        sourceDirectory: (sourceId) => {
          const directory = path.join(folder, sourceId)
          return fs.makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
        },
        previousDirectory: (sourceId) =>
          Effect.map(active, (current) =>
            Option.flatMap(current, ({ sources, versionId }) =>
              sources.some((source) => source.sourceId === sourceId)
                ? Option.some(path.join(folderOf(versionId), sourceId))
                : Option.none()
            )
          ),
        promote: (sources, { complete = Effect.void, isActiveDamaged = false } = {}) =>
          Effect.gen(function* () {
            const same = yield* activeOf(sources)
            if (Option.isSome(same) && same.value.isWhole && !isActiveDamaged) {
              return { changed: false, manifest: same.value.manifest }
            }
            if (Option.isSome(same)) {
              yield* Effect.logWarning(
                `Files of version ${same.value.manifest.versionId} are missing or cut: a new one replaces it.`
              )
            }
            yield* complete
            return { changed: true, manifest: yield* publish(folder, sources) }
          }).pipe(promoting.withPermits(1), Effect.provide(platform))
      })
    )
  )

  /** Makes the staged folder durable, a version, and the one that the manifest names, in this order. */
  const publish = Effect.fnUntraced(function* (folder: string, sources: ReadonlyArray<VersionSource>) {
    const now = yield* Clock.currentTimeMillis
    const versionId = nextVersionId(now, [...(yield* versionIds), ...(yield* named)])
    const record = { generatedAt: new Date(now).toISOString(), sources }
    const manifest = manifestOf(versionId, record)
    const durable = Option.map(yield* active, ({ versionId }) => folderOf(versionId))
    yield* writeRecord(folder, record).pipe(
      Effect.zipRight(syncTree(folder, durable)),
      mapDiskError("write to", stagingFolder)
    )
    yield* Effect.gen(function* () {
      yield* fs.rename(folder, folderOf(versionId)).pipe(mapDiskError("write to", versionsFolder))
      yield* syncDirectory(versionsFolder).pipe(
        mapDiskError("write to", versionsFolder),
        Effect.zipRight(writeManifest(manifest)),
        Effect.onError(() => Effect.ignore(fs.rename(folderOf(versionId), folder)))
      )
    }).pipe(Effect.uninterruptible)
    return manifest
  })

  const writeManifest = (manifest: Manifest) =>
    Effect.zipRight(
      keepNewer,
      replaceFile(manifestFile, JSON.stringify(manifest, null, 2), stagingFolder).pipe(
        mapDiskError("write", manifestFile)
      )
    )

  /** A manifest of a later schema is kept beside: whoever wrote it may come back. */
  const keepNewer = Effect.gen(function* () {
    const text = yield* readIfThere(manifestFile)
    const newer = Option.flatMap(text, Schema.decodeOption(NewerManifestJson))
    if (Option.isSome(text) && Option.isSome(newer)) {
      const copy = path.join(root, `manifest.schema-${newer.value.schemaVersion}.json`)
      yield* replaceFile(copy, text.value, stagingFolder).pipe(mapDiskError("write", copy))
      yield* Effect.logWarning(`${manifestFile} is one of a later version of Vitrine. It is kept as ${copy}`)
    }
  })

  /** What the manifest names, be it there or not: readers may have seen it, and nothing older may follow. */
  const named = readIfThere(manifestFile).pipe(
    Effect.map(Option.flatMap(Schema.decodeOption(ManifestJson))),
    Effect.map(Option.match({ onNone: () => [], onSome: ({ versionId }) => [versionId] }))
  )

  /** Where the manifest does not tell which version is active, the newest one that is whole is. */
  const restore = Effect.gen(function* () {
    const reading = yield* manifest
    if (reading.status === "ok") {
      return
    }
    for (const versionId of (yield* versionIds).reverse()) {
      const record = yield* readRecord(folderOf(versionId))
      if (Option.isSome(record) && (yield* isWhole(versionId, record.value.sources))) {
        yield* writeManifest(manifestOf(versionId, record.value))
        const problem = reading.status === "invalid" ? reading.message : `${manifestFile} is missing`
        return yield* Effect.logWarning(
          `${problem}. The newest version on disk is active again: ${versionId}`
        )
      }
    }
  })

  const acknowledge = Effect.fn("VersionStore.acknowledge")(function* (
    consumerId: string,
    versionId: string,
    problem?: string
  ) {
    if (!isPlainFileName(consumerId)) {
      return yield* new InvalidConsumerId({ consumerId })
    }
    yield* Effect.gen(function* () {
      if (!isVersionId(versionId) || !(yield* exists(versionId))) {
        return yield* new VersionNotFound({ versionId })
      }
      yield* claimed
      yield* leases.take({ consumerId, versionId, ...(problem === undefined ? {} : { problem }) })
    }).pipe(leasing.withPermits(1))
  }, Effect.provide(platform))

  const overview = Effect.fnUntraced(function* (held: ReadonlyArray<Lease>) {
    const current = yield* active
    return (yield* versionIds).map((versionId) => ({
      versionId,
      active: Option.exists(current, (manifest) => manifest.versionId === versionId),
      leases: held.filter((lease) => lease.versionId === versionId)
    }))
  })
  const versions = Effect.flatMap(leases.fresh, overview)

  /** Removes all versions but those that are shown and the newest ones. */
  const sweepDownTo = Effect.fnUntraced(function* (keepVersions: number) {
    if (Option.isNone(keepLocked)) {
      return []
    }
    const removed = yield* leasing.withPermits(1)(
      Effect.flatMap(Effect.flatMap(leases.sweep, overview), (versions) =>
        Effect.filter(expired(versions, keepVersions), ({ versionId }) =>
          discard(versionId).pipe(
            Effect.as(true),
            Effect.catchAll((error) => Effect.as(warnTriedAgain(error), false))
          )
        )
      )
    )
    yield* removeTrash
    yield* restore.pipe(warned)
    return removed.map(({ versionId }) => versionId)
  }, Effect.provide(platform))

  /**
   * Out of the versions in one step, so that no half of it is ever seen there. Where it cannot be moved, on a full disk
   * or out of the image of a container, it is removed in place: first what says that it is whole.
   */
  const discard = Effect.fnUntraced(function* (versionId: VersionId) {
    const folder = folderOf(versionId)
    const discarded = path.join(stagingFolder, randomUUID())
    yield* fs.rename(folder, discarded).pipe(
      Effect.tap(() => trash.add(discarded)),
      Effect.catchIf(
        (error) => errorCode(error) === "EXDEV" || isDiskFull(error),
        () =>
          Effect.zipRight(
            fs.remove(path.join(folder, recordName), { force: true }),
            fs.remove(folder, { recursive: true, force: true })
          )
      ),
      mapDiskError("remove", folder)
    )
  })

  if (Option.isSome(keepLocked)) {
    yield* restore.pipe(warned)
  }
  return VersionStore.of({
    manifest,
    stage,
    acknowledge,
    versions,
    sweep: sweepDownTo(settings.keepVersions),
    makeRoom: sweepDownTo(0)
  })
})

const warned = Effect.catchAll((error: VersionStoreError) => Effect.logWarning(error.message))

const warnTriedAgain = (error: VersionStoreError) =>
  Effect.logWarning(`${error.message} It is tried again after the next fetch.`)

const pathOf = (versionId: VersionId) => `versions/${versionId}`

const manifestOf = (
  versionId: VersionId,
  { generatedAt, sources }: Omit<VersionRecord, "sizes">
): Manifest => ({
  schemaVersion: 1,
  versionId,
  versionPath: pathOf(versionId),
  generatedAt,
  sources: sources.map(({ sourceId }) => ({ sourceId, path: sourceId }))
})

const ManifestJson = Schema.parseJson(Manifest)

const NewerManifestJson = Schema.parseJson(
  Schema.Struct({ schemaVersion: Schema.Int.pipe(Schema.greaterThan(1)) })
)

const isVersionId = Schema.is(VersionId)
const isSame = Schema.equivalence(Schema.Array(VersionSource))

const readIfThere = (file: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(file)),
    Effect.asSome,
    orWhereMissing(Option.none<string>()),
    mapDiskError("read", file)
  )

/** Not recursively: on a disk that is read-only, that would say that the folder above is missing. */
const makeFolder = (folder: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => Effect.unlessEffect(fs.makeDirectory(folder), fs.exists(folder))),
    mapDiskError("make", folder)
  )

const removeTree = (folder: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.remove(folder, { recursive: true, force: true })),
    mapDiskError("remove", folder)
  )
