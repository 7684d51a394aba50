/**
 * Which versions are kept on disk, and the removal of others.
 */
import { randomUUID } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { errorCode, isDiskFull } from "../../internal/systemError.ts"
import { fileListName } from "../../services/FileList.ts"
import type { Manifest, VersionId, VersionOverview } from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import { readList } from "./fileLists.ts"
import { withHold } from "./hold.ts"
import type { ManifestFile } from "./ManifestFile.ts"
import { manifestOf } from "./publish.ts"
import type { Trash } from "./Trash.ts"

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

/**
 * Takes a version out in one step, so that no half of it is ever seen among the others. Where it cannot be moved, on a full disk or out of the image of a container, it is removed in place: first what says
 * that it is whole.
 */
export const discard = Effect.fnUntraced(function* (
  folder: DownloadsFolder,
  trash: Trash,
  versionId: VersionId
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const version = folder.ofVersion(versionId)
  const discarded = path.join(folder.staging, randomUUID())
  yield* fs.rename(version, discarded).pipe(
    Effect.map(() => trash.add(discarded)),
    Effect.catchIf(
      (error) => errorCode(error) === "EXDEV" || isDiskFull(error),
      () =>
        fs
          .remove(path.join(version, fileListName), { force: true })
          .pipe(Effect.zipRight(fs.remove(version, { recursive: true, force: true })))
    ),
    mapDiskError("remove", version)
  )
})

/**
 * Where the manifest does not say which version is active, the newest one that is whole is. Where it says that a version is
 * held which is not there, the newest one before that is held in its place, or else the newest one.
 */
export const restore = Effect.fnUntraced(function* (folder: DownloadsFolder, manifestFile: ManifestFile) {
  const reading = yield* manifestFile.read
  if (reading.status === "ok") {
    return
  }
  const problem = reading.status === "invalid" ? reading.message : `${folder.manifest} is missing`
  const lost = Option.filter(yield* manifestFile.content, ({ held }) => held !== undefined)
  const [before, after] = Array.partition(yield* folder.versionIds, (id) =>
    Option.exists(lost, ({ versionId }) => id > versionId)
  )
  for (const versionId of [...after, ...before].reverse()) {
    const list = yield* readList(folder.ofVersion(versionId), versionId)
    if (Option.isSome(list) && (yield* folder.isWhole(versionId, list.value.list.sources))) {
      yield* manifestFile.write(inPlaceOf(lost, manifestOf(list.value)))
      return yield* Effect.logWarning(
        `${problem}. ${Option.isSome(lost) ? "It was held; in its place, this version is" : "The newest version on disk is active again"}: ${versionId}`
      )
    }
  }
})

/** Held, if the one that is lost was. */
const inPlaceOf = (lost: Option.Option<Manifest>, manifest: Manifest): Manifest =>
  Option.match(lost, {
    onNone: () => manifest,
    onSome: ({ held, versionId }) =>
      held === undefined
        ? manifest
        : withHold(manifest, { ...held, lost: versionId }, held.waiting ?? manifest.versionId)
  })
