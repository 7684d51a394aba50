/**
 * The downloads folder: its paths, its lock, the versions in it with their lists of files, the removal of folders, and
 * its errors.
 */

import { randomUUID } from "node:crypto"
import { join, resolve } from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { makePath, syncDirectory } from "../../files/durable.ts"
import { decodeFileList, type FileList, fileListName, type WrittenList } from "../../files/FileList.ts"
import { explain, isDiskFull, isPassing, retryHeldOpen } from "../../files/systemError.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import {
  DownloadsInUse,
  SavesNothing,
  VersionId,
  VersionNotFound,
  VersionStore,
  VersionStoreError,
  type VersionSummary
} from "../../services/VersionStore.ts"
import { lockFolder } from "../folderLock/folderLock.ts"

export class DownloadsFolder extends Context.Tag("vitrine/DownloadsFolder")<
  DownloadsFolder,
  {
    readonly root: string
    readonly versions: string
    readonly acks: string
    readonly staging: string
    readonly manifest: string
    readonly reserve: string
    readonly ofVersion: (versionId: VersionId) => string

    /**
     * Makes missing folders, and takes the lock again if it is lost. Run before each write. Takes no lock if nothing is
     * saved.
     */
    readonly claimed: Effect.Effect<void, VersionStoreError>

    /** Whether the lock was held at any time. */
    readonly wasClaimed: Effect.Effect<boolean>

    /** Makes an empty folder. It is removed when the scope ends, unless it was moved away. */
    readonly staged: Effect.Effect<string, VersionStoreError, Scope.Scope>

    /** The versions on disk, oldest first. */
    readonly versionIds: Effect.Effect<ReadonlyArray<VersionId>, VersionStoreError>

    readonly hasVersion: (versionId: VersionId) => Effect.Effect<boolean, VersionStoreError>

    /** The id, if this version is on disk. */
    readonly find: (versionId: string) => Effect.Effect<VersionId, VersionStoreError | VersionNotFound>

    /** The list of a version; `None` if it is missing or cannot be read. */
    readonly listOf: (versionId: VersionId) => Effect.Effect<Option.Option<WrittenList>>

    /** Summarizes a version, as `VersionStore.summarize` does. Summaries of readable lists are kept in memory. */
    readonly summarize: (
      versionId: string
    ) => Effect.Effect<Option.Option<VersionSummary>, VersionStoreError | VersionNotFound>

    /** Whether the version has the folders of all sources. */
    readonly hasSources: (
      versionId: VersionId,
      sources: ReadonlyArray<{ readonly sourceId: string }>
    ) => Effect.Effect<boolean, VersionStoreError>

    /** The files that were found missing or damaged, by their paths in the folder of the version. */
    readonly damageOf: (versionId: VersionId) => Effect.Effect<ReadonlySet<string>>

    /** Replaces the damaged files that were noted before. */
    readonly noteDamage: (versionId: VersionId, files: Iterable<string>) => Effect.Effect<void>

    /** Runs an effect during which no version is removed. */
    readonly unswept: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

    /**
     * Moves a version out in one step, so that nobody sees half a version; the next `emptyTrash` removes it. If it
     * cannot be moved (a full disk, a layer of a container image), it is removed in place, its list of files first,
     * because a version without a list counts as incomplete. Gives whether the version is gone; otherwise logs a
     * warning.
     */
    readonly discard: (versionId: VersionId) => Effect.Effect<boolean>

    /** Removes discarded folders. A folder that another program keeps open is tried again the next time. */
    readonly emptyTrash: Effect.Effect<void>
  }
>() {}

const isVersionId = Schema.is(VersionId)

/**
 * Makes the folder, and locks it until the scope ends. Fails if another controller has the lock; a folder that cannot
 * be written is a warning.
 */
export const layer = (directory: string) => Layer.scoped(DownloadsFolder, make(directory))

const make = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const scope = yield* Effect.scope
  const claiming = yield* Effect.makeSemaphore(1)
  const sweeping = yield* Effect.makeSemaphore(1)
  const savesNothing = yield* SavesNothing
  const damage = yield* Ref.make(HashMap.empty<VersionId, ReadonlySet<string>>())
  const trash = yield* Ref.make(HashSet.empty<string>())
  const warnOnce = makeWarnOnce((message) => `${message} It is tried again after the next fetch.`)

  const root = resolve(directory)
  const versions = join(root, "versions")
  const acks = join(root, "acks")
  const staging = join(root, ".staging")
  const reserve = join(root, ".reserve")
  const temporary = Effect.sync(() => join(staging, randomUUID()))
  const ofVersion = (versionId: VersionId) => join(versions, versionId)

  const namesIn = (folder: string) =>
    fs.readDirectory(folder).pipe(orWhereMissing<ReadonlyArray<string>>([]), mapDiskError("read", folder))

  const hasVersion = (versionId: VersionId) =>
    fs.exists(ofVersion(versionId)).pipe(mapDiskError("read", versions))

  const find = Effect.fnUntraced(function* (versionId: string) {
    return isVersionId(versionId) && (yield* hasVersion(versionId))
      ? versionId
      : yield* new VersionNotFound({ versionId })
  })

  const listOf = (versionId: VersionId) => Effect.provide(readList(ofVersion(versionId), versionId), platform)

  /** Reading a list of 30,000 files takes a tenth of a second. */
  const summaries = yield* Cache.make({
    capacity: 256,
    lookup: (versionId: VersionId) =>
      Effect.map(
        listOf(versionId),
        Option.map(({ list }) => summaryOf(list))
      ),
    timeToLive: Number.POSITIVE_INFINITY
  })

  /**
   * Keeps only what could be read: an entry with a lifetime of 0 would stay if the clock was set back. Goes on if its first
   * caller is interrupted: others wait for it.
   */
  const summarize = (versionId: VersionId) =>
    Effect.onExit(summaries.get(versionId), (exit) =>
      Effect.unless(summaries.invalidate(versionId), () => Exit.isSuccess(exit) && Option.isSome(exit.value))
    ).pipe(Effect.uninterruptible, Effect.disconnect)

  const emptyTrash = Effect.flatMap(Ref.get(trash), (folders) =>
    Effect.forEach(
      folders,
      (folder) =>
        retryHeldOpen(fs.remove(folder, { recursive: true, force: true })).pipe(
          mapDiskError("remove", folder),
          Effect.zipRight(Ref.update(trash, HashSet.remove(folder))),
          Effect.catchAll(({ message }) => warnOnce(message))
        ),
      { concurrency: "unbounded", discard: true }
    )
  )

  const throwAway = (folders: Iterable<string>) =>
    Effect.zipRight(Ref.update(trash, HashSet.union(folders)), emptyTrash)

  /** Not recursive: on a read-only disk, the error would say that the parent folder is missing. */
  const makeFolder = (folder: string) =>
    Effect.unlessEffect(fs.makeDirectory(folder), fs.exists(folder)).pipe(mapDiskError("make", folder))

  const makeRoot = makePath(root).pipe(mapDiskError("make", root), Effect.provide(platform))

  /** Before each write: somebody may have removed the folders since the start. */
  const makeFolders = Effect.gen(function* () {
    yield* makeRoot
    yield* Effect.forEach([acks, staging, reserve], refuseLink)
    yield* Effect.forEach([versions, acks, staging], makeFolder)
    yield* syncDirectory(root).pipe(mapDiskError("write to", root))
  })

  /** Whether the lock is still held; `None` until it is taken for the first time. */
  const lock = yield* Ref.make(Option.none<Effect.Effect<boolean>>())

  /** The first claim also removes what a crash left in the staging folder. */
  const claim = Effect.gen(function* () {
    yield* makeFolders
    const before = yield* Ref.get(lock)
    if (savesNothing || (Option.isSome(before) && (yield* before.value))) {
      return
    }
    const real = yield* fs.realPath(root).pipe(mapDiskError("read", root))
    yield* Scope.extend(lockFolder(real, staging), scope).pipe(
      Effect.flatMap((isHeld) => Ref.set(lock, Option.some(isHeld))),
      // If this were interrupted, nobody would know of the lock, and it would keep this controller out of its own
      // folder.
      Effect.uninterruptible
    )
    if (Option.isNone(before)) {
      const remains = yield* Effect.orElseSucceed(namesIn(staging), () => [])
      yield* throwAway(remains.map((name) => join(staging, name)))
    }
  }).pipe(
    Effect.catchTags({
      "vitrine/FolderLocked": ({ owner, path, pid }) =>
        new DownloadsInUse({ path, owner, isOwn: pid === process.pid }),
      "vitrine/FolderLockFailed": (cause) =>
        new VersionStoreError({ action: "lock", path: cause.path, detail: cause.detail, cause })
    }),
    claiming.withPermits(1),
    Effect.provide(platform)
  )

  const claimed = Effect.catchTag(
    claim,
    "vitrine/DownloadsInUse",
    ({ message }) => new VersionStoreError({ action: "write to", path: root, detail: message })
  )

  const makeStaged = Effect.gen(function* () {
    yield* claimed
    const staged = yield* temporary
    yield* fs.makeDirectory(staged).pipe(mapDiskError("write to", staging))
    return staged
  })

  const removeInPlace = Effect.fnUntraced(function* (version: string) {
    yield* fs.remove(join(version, fileListName), { force: true })
    yield* fs.remove(version, { recursive: true, force: true })
  })

  const discard = Effect.fnUntraced(
    function* (versionId: VersionId) {
      const version = ofVersion(versionId)
      const discarded = yield* temporary
      yield* retryHeldOpen(fs.rename(version, discarded)).pipe(
        Effect.zipRight(Ref.update(trash, HashSet.add(discarded))),
        Effect.catchIf(
          (error) => errorCode(error) === "EXDEV" || isDiskFull(error),
          () => retryHeldOpen(removeInPlace(version))
        ),
        mapDiskError("remove", version)
      )
      yield* Ref.update(damage, HashMap.remove(versionId))
      yield* summaries.invalidate(versionId)
      return true
    },
    Effect.catchAll(({ message }) => Effect.as(warnOnce(message), false))
  )

  yield* makeRoot
  yield* Effect.catchTag(claim, "vitrine/VersionStoreError", ({ message }) =>
    Effect.logWarning(`${message} Existing content is shown; nothing can be fetched until this is fixed.`)
  )
  return DownloadsFolder.of({
    root,
    versions,
    acks,
    staging,
    manifest: join(root, "manifest.json"),
    reserve,
    ofVersion,
    claimed,
    wasClaimed: Effect.map(Ref.get(lock), Option.isSome),
    staged: Effect.acquireRelease(makeStaged, (staged) => throwAway([staged])),
    versionIds: Effect.map(namesIn(versions), (names) => names.filter(isVersionId).sort()),
    hasVersion,
    find,
    listOf,
    summarize: (versionId) => Effect.flatMap(find(versionId), summarize),
    hasSources: (versionId, sources) =>
      Effect.every(sources, ({ sourceId }) => fs.exists(join(ofVersion(versionId), sourceId))).pipe(
        mapDiskError("read", ofVersion(versionId))
      ),
    damageOf: (versionId) =>
      Effect.map(Ref.get(damage), (damage) =>
        Option.getOrElse(HashMap.get(damage, versionId), () => new Set<string>())
      ),
    noteDamage: (versionId, files) =>
      Ref.update(damage, HashMap.set<VersionId, ReadonlySet<string>>(versionId, new Set(files))),
    unswept: sweeping.withPermits(1),
    discard,
    emptyTrash
  })
})

/** The list of a version that is in a folder, where there is one. */
const readList = Effect.fnUntraced(function* (folder: string, versionId: VersionId) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(join(folder, fileListName)).pipe(
    Effect.flatMap(decodeFileList),
    Effect.filterOrFail(({ list }) => list.versionId === versionId),
    Effect.option
  )
})

/** The path of a version in the downloads folder, as in the manifest. */
export const pathOf = (versionId: VersionId) => `versions/${versionId}`

/** The list of a version in the store, where there is one. */
export const listOf = (versionId: VersionId) =>
  Effect.flatMap(VersionStore, ({ directory }) => readList(join(directory, pathOf(versionId)), versionId))

/** A summary of the list, for people. */
const summaryOf = ({ generatedAt, sources }: FileList): VersionSummary => ({
  generatedAt,
  sources: sources.map(({ files, fingerprint, keys, ...source }) => ({
    ...source,
    files: Object.keys(files).length,
    bytes: Object.values(files).reduce((sum, { size }) => sum + size, 0)
  }))
})

/** Turns a disk error into an error that says which action failed on which path, and why. */
export const mapDiskError =
  (action: string, file: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError | Error, R>): Effect.Effect<A, VersionStoreError, R> =>
    Effect.mapError(
      effect,
      (cause) =>
        new VersionStoreError({
          action,
          path: file,
          detail: explain(cause),
          isTransient: isPassing(cause) || isDiskFull(cause),
          cause
        })
    )

/** Fails if a link has taken the place of a file or folder of the controller: the target is not the controller's. */
export const refuseLink = (path: string): Effect.Effect<void, VersionStoreError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.matchEffect(fs.readLink(path), {
      onFailure: () => Effect.void,
      onSuccess: (target) =>
        new VersionStoreError({
          action: "use",
          path,
          detail: `it is a link to ${target}, whose content would be removed or overwritten. Remove the link.`
        })
    })
  )

/** Succeeds with `otherwise` if the file or folder is missing. */
export const orWhereMissing =
  <B>(otherwise: B) =>
  <A, R>(effect: Effect.Effect<A, PlatformError, R>): Effect.Effect<A | B, PlatformError, R> =>
    Effect.catchIf(
      effect,
      (error) => error._tag === "SystemError" && error.reason === "NotFound",
      () => Effect.succeed(otherwise)
    )

/** The content of a file; `None` if it does not exist. */
export const readIfThere = (file: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(file)),
    Effect.asSome,
    orWhereMissing(Option.none<string>()),
    mapDiskError("read", file)
  )
