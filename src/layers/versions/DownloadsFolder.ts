/**
 * The downloads folder: where in it is what, which versions are there, whose it is, and the folders that go.
 */
import { randomUUID } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { retryHeldOpen } from "../../internal/heldOpen.ts"
import { makePath } from "../../internal/makePath.ts"
import { errorCode, isDiskFull } from "../../internal/systemError.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import { fileListName } from "../../services/FileList.ts"
import { DownloadsInUse, VersionId, VersionNotFound, VersionStoreError } from "../../services/VersionStore.ts"
import { lockFolder } from "../folderLock/FolderLock.ts"
import { mapDiskError, orWhereMissing } from "./diskError.ts"
import { syncDirectory } from "./durable.ts"
import { readList } from "./fileLists.ts"

export interface DownloadsFolder extends Effect.Effect.Success<ReturnType<typeof make>> {}

const isVersionId = Schema.is(VersionId)

/** The path of a version in the manifest. */
export const pathOf = (versionId: VersionId) => `versions/${versionId}`

/** Nothing is made yet: that is `makeRoot` and `claim`. The lock is held until the scope ends. */
export const make = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const scope = yield* Effect.scope
  const claiming = yield* Effect.makeSemaphore(1)
  const trash = makeTrash(fs)

  const root = path.resolve(directory)
  const versions = path.join(root, "versions")
  const acks = path.join(root, "acks")
  const staging = path.join(root, ".staging")
  const ofVersion = (versionId: VersionId) => path.join(versions, versionId)

  const namesIn = (folder: string) =>
    fs.readDirectory(folder).pipe(orWhereMissing<ReadonlyArray<string>>([]), mapDiskError("read", folder))

  const hasVersion = (versionId: VersionId) =>
    fs.exists(ofVersion(versionId)).pipe(mapDiskError("read", versions))

  /** Not recursively: on a disk that is read-only, that would say that the folder above is missing. */
  const makeFolder = (folder: string) =>
    Effect.unlessEffect(fs.makeDirectory(folder), fs.exists(folder)).pipe(mapDiskError("make", folder))

  const makeRoot = makePath(root).pipe(mapDiskError("make", root))

  /** Somebody may have removed them since the start. */
  const makeFolders = makeRoot.pipe(
    Effect.zipRight(Effect.forEach([versions, acks, staging], makeFolder)),
    Effect.zipRight(syncDirectory(root).pipe(mapDiskError("write to", root)))
  )

  /** Whether the lock is still there; missing until it was taken once. */
  let isLocked = Option.none<Effect.Effect<boolean>>()

  /** Makes the folders, and takes the lock where it is not there; the first time, removes what a crash has left. */
  const claim = Effect.gen(function* () {
    yield* makeFolders
    if (Option.isSome(isLocked) && (yield* isLocked.value)) {
      return
    }
    const real = yield* fs.realPath(root).pipe(mapDiskError("read", root))
    const isFirst = Option.isNone(isLocked)
    isLocked = Option.some(yield* Scope.extend(lockFolder(real, staging), scope))
    if (isFirst) {
      const left = yield* Effect.orElseSucceed(namesIn(staging), () => [])
      yield* trash.remove(left.map((name) => path.join(staging, name)))
    }
  }).pipe(
    Effect.catchTags({
      "vitrine/FolderLocked": ({ owner, path }) => new DownloadsInUse({ path, owner }),
      "vitrine/FolderLockFailed": (cause) =>
        new VersionStoreError({ action: "lock", path: cause.path, detail: cause.detail, cause })
    }),
    claiming.withPermits(1)
  )

  /** As `claim`, before something is written: it fails where the folder is not this controller's. */
  const claimed = Effect.catchTag(
    claim,
    "vitrine/DownloadsInUse",
    ({ message }) => new VersionStoreError({ action: "write to", path: root, detail: message })
  )

  const makeStaged = Effect.suspend(() => {
    const staged = path.join(staging, randomUUID())
    return Effect.as(fs.makeDirectory(staged).pipe(mapDiskError("write to", staging)), staged)
  })

  return {
    root,
    versions,
    acks,
    staging,
    ofVersion,
    manifest: path.join(root, "manifest.json"),
    reserve: path.join(root, ".reserve"),
    trash,
    makeRoot,
    claim,
    claimed,

    /** Whether the lock was ever taken. */
    wasClaimed: () => Option.isSome(isLocked),

    /** An empty folder until the scope ends, unless it was moved away. */
    staged: Effect.acquireRelease(Effect.provide(Effect.zipRight(claimed, makeStaged), platform), (staged) =>
      trash.remove([staged])
    ),

    /** The versions on disk, the oldest first. */
    versionIds: Effect.map(namesIn(versions), (names) => names.filter(isVersionId).sort()),

    hasVersion,

    /** A version of this id that is on disk. */
    find: Effect.fnUntraced(function* (versionId: string) {
      return isVersionId(versionId) && (yield* hasVersion(versionId))
        ? versionId
        : yield* new VersionNotFound({ versionId })
    }),

    /** The list of a version; `None` if it is missing or cannot be read. */
    listOf: (versionId: VersionId) => readList(ofVersion(versionId), versionId),

    /** Whether the folders of all sources are in the version. */
    isWhole: (versionId: VersionId, sources: ReadonlyArray<{ readonly sourceId: string }>) =>
      Effect.every(sources, ({ sourceId }) => fs.exists(path.join(ofVersion(versionId), sourceId))).pipe(
        mapDiskError("read", ofVersion(versionId))
      ),

    /**
     * Takes a version out in one step, so that no half of it is ever seen among the others: it goes with the next `trash.empty`.
     * Where it cannot be moved, on a full disk or out of the image of a container, it is removed in place: first what says that
     * it is whole.
     */
    discard: Effect.fnUntraced(function* (versionId: VersionId) {
      const version = ofVersion(versionId)
      const discarded = path.join(staging, randomUUID())
      yield* retryHeldOpen(fs.rename(version, discarded)).pipe(
        Effect.map(() => trash.add(discarded)),
        Effect.catchIf(
          (error) => errorCode(error) === "EXDEV" || isDiskFull(error),
          () =>
            retryHeldOpen(
              Effect.zipRight(
                fs.remove(path.join(version, fileListName), { force: true }),
                fs.remove(version, { recursive: true, force: true })
              )
            )
        ),
        mapDiskError("remove", version)
      )
    })
  }
})

/** Folders that are not needed any more. One that another program keeps open is tried again with the next ones. */
const makeTrash = (fs: FileSystem.FileSystem) => {
  const folders = new Set<string>()
  const warnOnce = makeWarnOnce((message) => `${message} It is tried again after the next fetch.`)

  /** Says once that something could not be removed. */
  const warn = ({ message }: VersionStoreError) => warnOnce(message)

  const add = (folder: string) => {
    folders.add(folder)
  }

  /** Removes what can be removed. */
  const empty = Effect.suspend(() =>
    Effect.forEach(
      [...folders],
      (folder) =>
        retryHeldOpen(fs.remove(folder, { recursive: true, force: true })).pipe(
          mapDiskError("remove", folder),
          Effect.tap(() => folders.delete(folder)),
          Effect.catchAll(warn)
        ),
      { concurrency: "unbounded", discard: true }
    )
  )

  return {
    add,
    empty,
    remove: (folders: Iterable<string>) =>
      Effect.suspend(() => {
        for (const folder of folders) add(folder)
        return empty
      }),
    warn
  }
}

/** The content of a file; `None` if it does not exist. */
export const readIfThere = (file: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(file)),
    Effect.asSome,
    orWhereMissing(Option.none<string>()),
    mapDiskError("read", file)
  )
