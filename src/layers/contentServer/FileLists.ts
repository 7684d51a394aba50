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
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
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
  /** The files of each source, by their paths in its folder. */
  readonly sources: ReadonlyMap<string, Readonly<Record<string, SourceFile>>>
  /** The list itself in gzip, made when it is first asked for: a list of 77 KB has 20. */
  readonly gzip: Effect.Effect<Buffer>
}

export interface ListedFile extends SourceFile {
  /** As it is on disk. */
  readonly path: string
}

export interface FileLists {
  /** As it was read last: versions never change, and players ask for thousands of files in a row. */
  readonly known: (versionId: VersionId) => Effect.Effect<Option.Option<VersionFiles>>
  readonly of: (versionId: VersionId) => Effect.Effect<VersionFiles, NotFound | PlatformError | Unreadable>
}

/** A list at one time: once the file has another stamp, it is read again. */
interface ReadList extends Pick<PlainFile, "stamp"> {
  readonly versionId: VersionId
  readonly files: VersionFiles
}

/** For the folder of all versions. */
export const make = Effect.fnUntraced(function* (
  folder: string,
  versions: PlainFiles
): Effect.fn.Return<FileLists, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const lists = yield* Ref.make<ReadonlyArray<ReadList>>([])
  const inTurn = (yield* Effect.makeSemaphore(1)).withPermits(1)

  const find = (versionId: VersionId) =>
    Effect.map(
      Ref.get(lists),
      Array.findFirst((list) => list.versionId === versionId)
    )

  /** One at a time, so that each is read once, however many ask for it. */
  const read = Effect.fnUntraced(function* (versionId: VersionId, { file, stamp }: PlainFile) {
    const known = yield* find(versionId)
    if (Option.isSome(known) && known.value.stamp === stamp) return known.value.files
    const bytes = yield* fs.readFile(file)
    const list = decode(Buffer.from(bytes).toString())
    if (Option.isNone(list)) return yield* unreadable(versionId)
    const files = yield* versionFiles(list.value, bytes)
    yield* Ref.update(lists, (before) =>
      [{ versionId, stamp, files }, ...before.filter((other) => other.versionId !== versionId)].slice(
        0,
        capacity
      )
    )
    return files
  }, inTurn)

  return {
    known: (versionId) =>
      Effect.map(
        find(versionId),
        Option.map(({ files }) => files)
      ),
    of: Effect.fnUntraced(function* (versionId) {
      const found = yield* versions.find([versionId, fileListName])
      if (Option.isSome(found) && found.value.type === "File") return yield* read(versionId, found.value)
      const isThere = yield* fs.exists(path.join(folder, versionId))
      return yield* isThere ? withoutList(versionId) : noVersion(versionId)
    })
  }
})

const decode = Schema.decodeOption(FileListJson)

const versionFiles = (list: FileList, bytes: Uint8Array): Effect.Effect<VersionFiles> => {
  const itself = { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }
  const files = new Map([...filesOf(list), [fileListName, itself]])
  const composed = new Map([...files.keys()].map((path) => [path.normalize("NFC"), path]))
  const find = (path: string) =>
    Option.map(Option.fromNullable(files.get(path)), (file) => ({ ...file, path }))
  return Effect.map(Effect.cached(Effect.promise(() => compress(bytes, { level: 9 }))), (gzip) => ({
    find: (path) => Option.orElse(find(path), () => find(composed.get(path.normalize("NFC")) ?? path)),
    sources: new Map(list.sources.map(({ files, sourceId }) => [sourceId, files])),
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
