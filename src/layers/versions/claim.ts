/**
 * Making the downloads folder this controller's alone.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { DownloadsInUse, VersionStoreError } from "../../services/VersionStore.ts"
import { lockFolder } from "../folderLock/FolderLock.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import type { Trash } from "./Trash.ts"

/** The lock is held until the scope ends. */
export const makeClaim = Effect.fnUntraced(function* (folder: DownloadsFolder, trash: Trash) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const scope = yield* Effect.scope
  const claiming = yield* Effect.makeSemaphore(1)
  /** Whether the lock is still there; missing until it was taken once. */
  let isLocked = Option.none<Effect.Effect<boolean>>()

  const claim = Effect.gen(function* () {
    yield* folder.makeFolders
    if (Option.isSome(isLocked) && (yield* isLocked.value)) {
      return
    }
    const real = yield* fs.realPath(folder.root).pipe(mapDiskError("read", folder.root))
    const isFirst = Option.isNone(isLocked)
    isLocked = Option.some(yield* Scope.extend(lockFolder(real, folder.staging), scope))
    if (!isFirst) {
      return
    }
    for (const name of yield* Effect.orElseSucceed(folder.namesIn(folder.staging), () => [])) {
      trash.add(path.join(folder.staging, name))
    }
    yield* trash.empty
  }).pipe(
    Effect.catchTags({
      "vitrine/FolderLocked": ({ owner, path }) => new DownloadsInUse({ path, owner }),
      "vitrine/FolderLockFailed": (cause) =>
        new VersionStoreError({ action: "lock", path: cause.path, detail: cause.detail, cause })
    }),
    claiming.withPermits(1)
  )

  return {
    /** Makes the folder, and takes its lock; the first time, removes what a crash has left in it. */
    claim,

    /** As `claim`, before something is written: it fails where the folder is not this controller's. */
    claimed: Effect.catchTag(
      claim,
      "vitrine/DownloadsInUse",
      ({ message }) => new VersionStoreError({ action: "write to", path: folder.root, detail: message })
    ),

    /** Whether the lock was ever taken. */
    wasClaimed: () => Option.isSome(isLocked)
  }
})
