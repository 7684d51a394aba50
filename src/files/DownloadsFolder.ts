/**
 * The downloads folder: its paths, its lock, its staged folders, and the removal of folders. It knows nothing of what is
 * in a version or a lease.
 */

import { randomUUID } from "node:crypto"
import { join, resolve } from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import { makeWarnOnce } from "../internal/warnOnce.ts"
import { DownloadsInUse, SavesNothing, VersionStoreError } from "../services/VersionStore.ts"
import { makePath, syncDirectory } from "./durable.ts"
import { lockFolder } from "./folderLock.ts"
import { retryHeldOpen } from "./systemError.ts"
import { mapDiskError, orWhereMissing, refuseLink } from "./versionStoreError.ts"

/** The paths in the folder. */
interface Paths {
  readonly root: string
  readonly versions: string
  readonly acks: string
  readonly staging: string
  readonly manifest: string
  readonly reserve: string
}

export class DownloadsFolder extends Context.Tag("vitrine/DownloadsFolder")<
  DownloadsFolder,
  Paths & {
    /**
     * Makes missing folders, and takes the lock again if it is lost. Run before each write. Takes no lock if nothing is
     * saved.
     */
    readonly claimed: Effect.Effect<void, VersionStoreError>

    /** Whether the lock was held at any time. */
    readonly wasClaimed: Effect.Effect<boolean>

    /** Makes an empty folder. It is removed when the scope ends, unless it was moved away. */
    readonly staged: Effect.Effect<string, VersionStoreError, Scope.Scope>

    /** Moves a folder out in one step; the next `emptyTrash` removes it. */
    readonly discard: (folder: string) => Effect.Effect<void, PlatformError>

    /** Removes discarded folders. A folder that another program keeps open is tried again the next time. */
    readonly emptyTrash: Effect.Effect<void>

    /** Logs a warning, each text once. */
    readonly warnOnce: (message: string) => Effect.Effect<void>
  }
>() {}

/**
 * Makes the folder, and locks it until the scope ends. Fails if another controller has the lock; a folder that cannot
 * be written is a warning.
 */
export const layer = (directory: string) => Layer.scoped(DownloadsFolder, make(directory))

const make = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const paths = pathsIn(resolve(directory))
  const warnOnce = makeWarnOnce((message) => `${message} It is tried again after the next fetch.`)
  const { discard, emptyTrash, throwAway } = yield* makeTrash(paths.staging, warnOnce)
  const { claim, wasClaimed } = yield* makeLock(paths, throwAway)

  const claimed = Effect.catchTag(
    claim,
    "vitrine/DownloadsInUse",
    ({ message }) => new VersionStoreError({ action: "write to", path: paths.root, detail: message })
  )

  const makeStaged = Effect.gen(function* () {
    yield* claimed
    const staged = join(paths.staging, randomUUID())
    yield* fs.makeDirectory(staged).pipe(mapDiskError("write to", paths.staging))
    return staged
  })

  yield* makeRoot(paths).pipe(Effect.provide(platform))
  yield* Effect.catchTag(claim, "vitrine/VersionStoreError", ({ message }) =>
    Effect.logWarning(`${message} Existing content is shown; nothing can be fetched until this is fixed.`)
  )
  return DownloadsFolder.of({
    ...paths,
    claimed,
    wasClaimed,
    staged: Effect.acquireRelease(makeStaged, (staged) => throwAway([staged])),
    discard,
    emptyTrash,
    warnOnce
  })
})

const pathsIn = (root: string): Paths => ({
  root,
  versions: join(root, "versions"),
  acks: join(root, "acks"),
  staging: join(root, ".staging"),
  manifest: join(root, "manifest.json"),
  reserve: join(root, ".reserve")
})

/** The discarded folders that are still on disk. */
const makeTrash = Effect.fnUntraced(function* (
  staging: string,
  warnOnce: (message: string) => Effect.Effect<void>
) {
  const fs = yield* FileSystem.FileSystem
  const trash = yield* Ref.make(HashSet.empty<string>())

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

  const discard = (folder: string) =>
    Effect.suspend(() => {
      const discarded = join(staging, randomUUID())
      return Effect.zipRight(
        retryHeldOpen(fs.rename(folder, discarded)),
        Ref.update(trash, HashSet.add(discarded))
      )
    })

  const throwAway = (folders: Iterable<string>) =>
    Effect.zipRight(Ref.update(trash, HashSet.union(folders)), emptyTrash)

  return { discard, emptyTrash, throwAway }
})

/** Takes the lock for the scope, and again if it is lost. */
const makeLock = Effect.fnUntraced(function* (
  paths: Paths,
  throwAway: (folders: Iterable<string>) => Effect.Effect<void>
) {
  const { root, staging } = paths
  const fs = yield* FileSystem.FileSystem
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const scope = yield* Effect.scope
  const claiming = yield* Effect.makeSemaphore(1)
  const savesNothing = yield* SavesNothing
  /** Whether the lock is still held; `None` until it is taken for the first time. */
  const lock = yield* Ref.make(Option.none<Effect.Effect<boolean>>())

  /** The first claim also removes what a crash left in the staging folder. */
  const claim = Effect.gen(function* () {
    yield* makeFolders(paths)
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
      const remains = yield* Effect.orElseSucceed(namesIn(yield* FileSystem.FileSystem, staging), () => [])
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

  return { claim, wasClaimed: Effect.map(Ref.get(lock), Option.isSome) }
})

const makeRoot = ({ root }: Paths) => makePath(root).pipe(mapDiskError("make", root))

/** Before each write: somebody may have removed the folders since the start. */
const makeFolders = Effect.fnUntraced(function* (paths: Paths) {
  const { acks, reserve, root, staging, versions } = paths
  yield* makeRoot(paths)
  yield* Effect.forEach([acks, staging, reserve], refuseLink)
  yield* Effect.forEach([versions, acks, staging], makeFolder)
  yield* syncDirectory(root).pipe(mapDiskError("write to", root))
})

/** Not recursive: on a read-only disk, the error would say that the parent folder is missing. */
const makeFolder = (folder: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.unlessEffect(fs.makeDirectory(folder), fs.exists(folder)).pipe(mapDiskError("make", folder))
  )

/** The names in a folder; none if it is missing. */
export const namesIn = (fs: FileSystem.FileSystem, folder: string) =>
  fs.readDirectory(folder).pipe(orWhereMissing<ReadonlyArray<string>>([]), mapDiskError("read", folder))
