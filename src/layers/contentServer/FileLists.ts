/**
 * What each version has, from its `files.json`: nothing else of its folder is served.
 *
 * The lists of the eight versions that were read last stay in memory, and one is read again when it has changed.
 */
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gzip, type ZlibOptions } from "node:zlib"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Cache from "effect/Cache"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SourceFile } from "../../services/ContentSource.ts"
import { type FileList, FileListJson, fileListName, filesOf } from "../../services/FileList.ts"
import type { VersionId } from "../../services/VersionStore.ts"
import { NotFound, type Unreadable } from "../http/errors.ts"
import type { PlainFile, PlainFiles } from "./plainFile.ts"

/** How many lists are kept. */
export const capacity = 8

export interface VersionFiles {
  /**
   * A file by its path in the folder of the version, with forward slashes; the list is one, too. Composed and decomposed letters
   * find each other: browsers and editors write "ü" in either way.
   */
  readonly find: (path: string) => Option.Option<ListedFile>
  /** The list itself in gzip, made when it is first asked for: a list of 77 KB has 20. */
  readonly gzip: Effect.Effect<Buffer>
}

export interface ListedFile extends SourceFile {
  /** As it is on disk. */
  readonly path: string
}

export interface FileLists {
  /** As it was read last: versions never change, and players ask for thousands of files in a row. */
  readonly known: (versionId: VersionId) => Option.Option<VersionFiles>
  readonly of: (versionId: VersionId) => Effect.Effect<VersionFiles, NotFound | PlatformError | Unreadable>
}

/** For the folder of all versions. */
export const make = (
  folder: string,
  versions: PlainFiles
): Effect.Effect<FileLists, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path

    const read = ({ file, versionId }: Reading) =>
      Effect.flatMap(fs.readFile(file), (bytes) =>
        Option.match(decode(Buffer.from(bytes).toString()), {
          onNone: () => Effect.fail(unreadable(versionId)),
          onSome: (list) => versionFiles(list, bytes)
        })
      )

    const lists = yield* Cache.makeWith({
      capacity,
      lookup: read,
      timeToLive: Exit.match({ onFailure: () => 0, onSuccess: () => Number.POSITIVE_INFINITY })
    })

    const missing = (versionId: VersionId) =>
      Effect.flatMap(fs.exists(path.join(folder, versionId)), (isThere) =>
        Effect.fail(isThere ? withoutList(versionId) : noVersion(versionId))
      )

    const known = new Map<VersionId, VersionFiles>()
    const remember = (versionId: VersionId, files: VersionFiles) => {
      known.delete(versionId)
      known.set(versionId, files)
      for (const oldest of [...known.keys()].slice(0, -capacity)) known.delete(oldest)
    }

    return {
      known: (versionId) => Option.fromNullable(known.get(versionId)),
      of: (versionId) =>
        versions.find([versionId, fileListName]).pipe(
          Effect.map(Option.filter(({ type }) => type === "File")),
          Effect.flatMap(
            Option.match({
              onNone: () => missing(versionId),
              onSome: ({ file, stamp }) => lists.get(Data.struct({ file, stamp, versionId }))
            })
          ),
          Effect.tap((files) => Effect.sync(() => remember(versionId, files)))
        )
    }
  })

/** A list at one time: once the file has another stamp, it is read again. */
type Reading = Pick<PlainFile, "file" | "stamp"> & { readonly versionId: VersionId }

const decode = Schema.decodeOption(FileListJson)

const versionFiles = (list: FileList, bytes: Uint8Array): Effect.Effect<VersionFiles> => {
  const itself = { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }
  const files = new Map([...filesOf(list), [fileListName, itself]])
  const composed = new Map([...files.keys()].map((path) => [path.normalize("NFC"), path]))
  const find = (path: string) =>
    Option.map(Option.fromNullable(files.get(path)), (file) => ({ ...file, path }))
  return Effect.map(Effect.cached(Effect.promise(() => compress(bytes, { level: 9 }))), (gzip) => ({
    find: (path) => Option.orElse(find(path), () => find(composed.get(path.normalize("NFC")) ?? path)),
    gzip
  }))
}

const compress = promisify<Uint8Array, ZlibOptions, Buffer>(gzip)

const noVersion = (versionId: string) =>
  new NotFound({
    message: `There is no version ${versionId} here any more, or not yet. Read the manifest again.`
  })

const withoutList = (versionId: string) =>
  new NotFound({
    message: `The version ${versionId} has no ${fileListName}: it was made by an older Vitrine. The next fetch makes one that can be served.`
  })

const unreadable = (versionId: string) =>
  new NotFound({
    message: `The ${fileListName} of version ${versionId} is damaged. The next fetch makes a version that can be served.`
  })
