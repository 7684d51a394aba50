/**
 * The files of versions on disk, by the lists of these.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { VersionId } from "../../services/VersionStore.ts"
import { NotFound, type Unreadable } from "../http/errors.ts"
import * as FileLists from "./FileLists.ts"
import * as PlainFiles from "./plainFile.ts"

export interface StoredFile {
  readonly versionId: VersionId
  /** Its path in the folder of the version, as it was asked for. */
  readonly path: string
  readonly sha256: string
  readonly found: PlainFiles.PlainFile
  /** What its version has. */
  readonly list: FileLists.VersionFiles
}

type Failure = NotFound | PlatformError | Unreadable

export interface StoredFiles {
  /** What a version has. */
  readonly list: (versionId: VersionId) => Effect.Effect<FileLists.VersionFiles, Failure>
  /** A file of a version; `None` where the version has no such file. */
  readonly find: (versionId: VersionId, path: string) => Effect.Effect<Option.Option<StoredFile>, Failure>
  /** A file of this version, or of the newest on disk that has it, with a digest that is wanted. */
  readonly findInAny: (
    first: Option.Option<VersionId>,
    path: string,
    isWanted?: Predicate.Predicate<string>
  ) => Effect.Effect<Option.Option<StoredFile>, PlatformError | Unreadable>
}

export const noManifest = "There is no manifest yet: no version was fetched."

export const isVersionId = Schema.is(VersionId)

export const make = Effect.fnUntraced(function* (
  downloadPath: string
): Effect.fn.Return<StoredFiles, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(downloadPath, "versions")
  const versions = PlainFiles.make(folder, path)
  const lists = yield* FileLists.make(folder, versions)

  const read = (versionId: VersionId) =>
    Effect.catchTag(lists.of(versionId), "vitrine/NotFound", (error) =>
      Effect.flatMap(versions.isThere, (isThere) =>
        Effect.fail(isThere ? error : new NotFound({ message: noManifest }))
      )
    )

  const list = (versionId: VersionId) =>
    Effect.flatMap(
      lists.known(versionId),
      Option.match({ onNone: () => read(versionId), onSome: Effect.succeed })
    )

  const search = Effect.fnUntraced(function* (
    versionId: VersionId,
    path: string,
    isWanted: Predicate.Predicate<string>
  ) {
    const stored = (list: FileLists.VersionFiles) =>
      Effect.transposeMapOption(
        Option.filter(list.find(path), ({ sha256 }) => isWanted(sha256)),
        ({ path: listed, sha256, size }) =>
          Effect.map(versions.find([versionId, ...listed.split("/")]), (found) => ({
            file: { versionId, path, sha256, list },
            found: Option.filter(found, ({ stats, type }) => type === "File" && stats.size === size)
          }))
      )
    const known = Option.flatten(yield* Effect.transposeMapOption(yield* lists.known(versionId), stored))
    const listed = Option.exists(known, ({ found }) => Option.isSome(found))
      ? known
      : yield* Effect.flatMap(read(versionId), stored)
    return yield* Effect.transposeMapOption(listed, ({ file, found }) =>
      Option.match(found, {
        onNone: () =>
          new NotFound({
            message: `${path} of version ${versionId} is damaged, or was removed a moment ago. Read the manifest again.`
          }),
        onSome: (found) => Effect.succeed({ ...file, found } satisfies StoredFile)
      })
    )
  })

  const newestFirst = Effect.map(
    Effect.orElseSucceed(fs.readDirectory(folder), () => []),
    (names) => names.filter(isVersionId).sort().reverse()
  )

  return {
    list,
    find: (versionId, path) => search(versionId, path, constTrue),
    findInAny: Effect.fnUntraced(function* (first, path, isWanted = constTrue) {
      const searchOne = (versionId: VersionId) =>
        Effect.catchTag(search(versionId, path, isWanted), "vitrine/NotFound", () => Effect.succeedNone)
      const found = Option.flatten(yield* Effect.transposeMapOption(first, searchOne))
      if (Option.isSome(found)) return found
      for (const versionId of yield* newestFirst) {
        const found = yield* searchOne(versionId)
        if (Option.isSome(found)) return found
      }
      return Option.none()
    })
  }
})
