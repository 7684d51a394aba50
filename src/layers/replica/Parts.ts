/**
 * Downloads that are kept over restarts until they are part of a version. Each file is named by its digest.
 */

import { rm, stat, unlink } from "node:fs/promises"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { forEachFile, toError } from "../../files/fileBatch.ts"
import { linkOrCopy } from "../../files/reuseFile.ts"
import { explain, move, retryHeldOpen } from "../../files/systemError.ts"
import { VersionStoreError } from "../../services/VersionStore.ts"
import { refuseLink } from "../versions/diskError.ts"

export const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const fileOf = (sha256: string) => join(folder, sha256)

  /** Makes the folder of downloads, and removes unwanted files from it. Gives the remaining files. */
  const keepOnly = (wanted: ReadonlySet<string>) =>
    Effect.zipRight(
      Effect.provideService(refuseLink(folder), FileSystem.FileSystem, fs),
      fs.makeDirectory(folder, { recursive: true }).pipe(
        Effect.zipRight(fs.readDirectory(folder)),
        Effect.flatMap((names) => forEachFile(names, (name) => keepOrRemove(name, wanted), toError)),
        retryHeldOpen,
        Effect.mapBoth({ onFailure: unwritten(folder), onSuccess: (kept) => new Set(kept.flat()) })
      )
    )

  const keepOrRemove = async (name: string, wanted: ReadonlySet<string>) => {
    const file = fileOf(name)
    if (wanted.has(name) && !(await isOfVersion(file))) return [name]
    await unlink(file).catch(() => rm(file, { recursive: true, force: true }))
    return []
  }

  return {
    fileOf,
    keepOnly,

    remove: (sha256: string) => Effect.ignore(retryHeldOpen(fs.remove(fileOf(sha256), { force: true }))),

    /**
     * Moves a finished download into a version, whose folders must exist. In further places, the file is a link or a
     * copy.
     */
    moveTo: (sha256: string, file: string, others: ReadonlyArray<string>) =>
      move(fileOf(sha256), file).pipe(
        Effect.zipRight(Effect.forEach(others, (other) => linkOrCopy(file, other), { discard: true })),
        Effect.provideService(FileSystem.FileSystem, fs),
        Effect.mapError(unwritten(file))
      )
  }
})

const unwritten = (path: string) => (cause: Error) =>
  new VersionStoreError({ action: "write", path, detail: explain(cause), cause })

/** A file that is also linked into a version must not be written to. */
const isOfVersion = async (file: string): Promise<boolean> => {
  const stats = await stat(file)
  return !stats.isFile() || stats.nlink > 1
}
