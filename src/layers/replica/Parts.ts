/**
 * Downloads that are kept over restarts until they are part of a version: files that are named by their digests.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { explain } from "../../internal/systemError.ts"
import { VersionStoreError } from "../../services/VersionStore.ts"

export interface Parts {
  readonly fileOf: (sha256: string) => string
  readonly makeFolder: Effect.Effect<void, VersionStoreError>
  /** Removes everything that is not wanted. */
  readonly keepOnly: (wanted: ReadonlySet<string>) => Effect.Effect<void, VersionStoreError>
  readonly remove: (sha256: string) => Effect.Effect<void>
  /** Makes a folder into which finished downloads are put. */
  readonly makePlace: (folder: string) => Effect.Effect<void, VersionStoreError>
  /** Puts a finished download where it belongs, into such a folder. */
  readonly place: (sha256: string, file: string) => Effect.Effect<void, VersionStoreError>
}

export const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const fileOf = (sha256: string) => path.join(folder, sha256)
  const writing =
    (file: string) =>
    <A>(effect: Effect.Effect<A, PlatformError>): Effect.Effect<A, VersionStoreError> =>
      Effect.mapError(
        effect,
        (cause) => new VersionStoreError({ action: "write", path: file, detail: explain(cause), cause })
      )

  /** What is linked into a version, too, must not be written on. */
  const isOfVersion = (file: string) =>
    Effect.map(
      fs.stat(file),
      ({ nlink, type }) => type !== "File" || Option.exists(nlink, (links) => links > 1)
    )

  const keepOnly = Effect.fnUntraced(function* (wanted: ReadonlySet<string>) {
    for (const name of yield* fs.readDirectory(folder)) {
      const file = path.join(folder, name)
      if (!wanted.has(name) || (yield* isOfVersion(file))) {
        yield* fs.remove(file, { recursive: true, force: true })
      }
    }
  }, writing(folder))

  const makePlace = (folder: string) => writing(folder)(fs.makeDirectory(folder, { recursive: true }))

  return {
    fileOf,
    makeFolder: makePlace(folder),
    keepOnly,
    remove: (sha256) => Effect.ignore(fs.remove(fileOf(sha256), { force: true })),
    makePlace,
    place: (sha256, file) =>
      linkOrCopy(fileOf(sha256), file).pipe(Effect.provideService(FileSystem.FileSystem, fs), writing(file))
  } satisfies Parts
})
