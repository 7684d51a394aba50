/**
 * Downloads that are kept over restarts until they are part of a version: files that are named by their digests.
 */
import { rm, stat, unlink } from "node:fs/promises"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import { forEachFile, toError } from "../../internal/fileBatch.ts"
import { retryHeldOpen } from "../../internal/heldOpen.ts"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { explain } from "../../internal/systemError.ts"
import { VersionStoreError } from "../../services/VersionStore.ts"

export const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const fileOf = (sha256: string) => path.join(folder, sha256)
  const writing =
    (file: string) =>
    <A>(effect: Effect.Effect<A, PlatformError | Error>): Effect.Effect<A, VersionStoreError> =>
      Effect.mapError(
        effect,
        (cause) => new VersionStoreError({ action: "write", path: file, detail: explain(cause), cause })
      )

  /** Makes a folder for files that are put into a version. */
  const makeFolder = (folder: string) => writing(folder)(fs.makeDirectory(folder, { recursive: true }))

  return {
    fileOf,

    /** Makes the folder of the downloads, and removes everything from it that is not wanted. Gives what is left. */
    keepOnly: Effect.fnUntraced(
      function* (wanted: ReadonlySet<string>) {
        yield* fs.makeDirectory(folder, { recursive: true })
        const names = yield* fs.readDirectory(folder)
        const kept = yield* forEachFile(
          names,
          async (name) => {
            const file = path.join(folder, name)
            if (wanted.has(name) && !(await isOfVersion(file))) return [name]
            await unlink(file).catch(() => rm(file, { recursive: true, force: true }))
            return []
          },
          toError
        )
        return new Set(kept.flat())
      },
      flow(retryHeldOpen, writing(folder))
    ),

    remove: (sha256: string) => Effect.ignore(retryHeldOpen(fs.remove(fileOf(sha256), { force: true }))),

    makeFolder,

    /** Puts a finished download into a version, where there is a folder for it. */
    putInto: (sha256: string, file: string) =>
      linkOrCopy(fileOf(sha256), file).pipe(Effect.provideService(FileSystem.FileSystem, fs), writing(file))
  }
})

/** What is linked into a version, too, must not be written on. */
const isOfVersion = async (file: string): Promise<boolean> => {
  const stats = await stat(file)
  return !stats.isFile() || stats.nlink > 1
}
