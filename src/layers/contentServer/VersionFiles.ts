/**
 * The files of the versions on disk, as listed in the `files.json` of each version: no other files are served.
 *
 * The lists of the eight versions that were read last stay in memory. A changed list is read again. The check for a change
 * is made only if a file does not match its list, because players ask for thousands of files in a row. An index of each version
 * stays in memory as long as the version, with 8 bytes a file: it proves without the lists that no version has a file.
 */
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { gzip, type ZlibOptions } from "node:zlib"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { decodeFileList, fileListName, type WrittenList } from "../../files/FileList.ts"
import type { SourceFile } from "../../services/ContentSource.ts"
import { VersionId } from "../../services/VersionStore.ts"
import { NotFound } from "../http/errors.ts"
import * as PlainFiles from "./PlainFile.ts"

/** The files of a version. */
export interface VersionList {
  readonly versionId: VersionId
  /** Changes when the list is written again. */
  readonly stamp: string
  /**
   * A file by its path in the folder of the version, with forward slashes. Also finds the list itself. Composed and decomposed
   * letters are equal: browsers and editors write "ü" in both ways.
   */
  readonly find: (path: string) => Option.Option<ListedFile>
  /** The files of each source, by their paths in its folder. */
  readonly sources: ReadonlyMap<string, Readonly<Record<string, SourceFile>>>
  /** Real paths of folders that were checked before, by their paths. Later requests check only the file. */
  readonly folders: Map<string, string>
  /** The list in gzip, compressed at the first request: 77 KB become 20 KB. */
  readonly gzip: Effect.Effect<Buffer>
}

interface ListedFile extends SourceFile {
  /** The path on disk. */
  readonly path: string
}

export interface StoredFile {
  /** The path in the folder of the version, as in the request. */
  readonly path: string
  readonly sha256: string
  readonly found: PlainFiles.PlainFile
  readonly list: VersionList
}

/** Hashes of the files of a version: a hash that is missing proves that the version has no such file. */
interface VersionIndex {
  readonly stamp: string
  /** Hashes of the composed paths and of the digests. */
  readonly hashes: Int32Array
}

/** How many lists stay in memory. */
export const capacity = 8

export const noManifest = new NotFound({ message: "There is no manifest yet: no version was fetched." })

export const isVersionId = Schema.is(VersionId)

export type VersionFiles = Effect.Effect.Success<ReturnType<typeof make>>

/** The lists and indexes in memory. */
const makeLists = Effect.fnUntraced(function* (folder: string, files: ReturnType<typeof PlainFiles.make>) {
  const fs = yield* FileSystem.FileSystem
  const lists = yield* Ref.make<ReadonlyArray<VersionList>>([])
  const indexes = yield* Ref.make<ReadonlyMap<VersionId, VersionIndex>>(new Map())
  const inTurn = (yield* Effect.makeSemaphore(1)).withPermits(1)

  const known = (versionId: VersionId) =>
    Effect.map(
      Ref.get(lists),
      Array.findFirst((list) => list.versionId === versionId)
    )

  const missing = Effect.fnUntraced(function* (versionId: VersionId) {
    if (!(yield* files.isThere)) return yield* noManifest
    const message = (yield* fs.exists(join(folder, versionId)))
      ? `The version ${versionId} has no ${fileListName}: it was made by an older Vitrine. The next fetch makes one that can be served.`
      : `There is no version ${versionId} here any more, or not yet. Read the manifest again.`
    return yield* new NotFound({ message })
  })

  /** Reads one list at a time, so that concurrent requests read a list only once. */
  const readList = Effect.fnUntraced(function* (versionId: VersionId, { file, stamp }: PlainFiles.PlainFile) {
    const before = yield* known(versionId)
    if (Option.isSome(before) && before.value.stamp === stamp) return before.value
    const bytes = yield* fs.readFile(file)
    const decoded = yield* Effect.mapError(decodeFileList(Buffer.from(bytes).toString()), () =>
      damaged(versionId)
    )
    const list = yield* makeList(versionId, stamp, decoded, bytes)
    yield* Ref.update(indexes, (before) => new Map(before).set(versionId, indexOf(stamp, decoded)))
    yield* Ref.update(lists, (before) =>
      [list, ...before.filter((other) => other.versionId !== versionId)].slice(0, capacity)
    )
    return list
  }, inTurn)

  const read = Effect.fnUntraced(function* (versionId: VersionId) {
    const found = yield* files.find([versionId, fileListName])
    return Option.isSome(found) && found.value.type === "File"
      ? yield* readList(versionId, found.value)
      : yield* missing(versionId)
  })

  /** Whether the version may have a file with such a path or digest. */
  const mayHave = Effect.fnUntraced(function* (versionId: VersionId, name: string) {
    const index = (yield* Ref.get(indexes)).get(versionId)
    if (index === undefined || index.hashes.includes(Hash.string(name))) return true
    const found = yield* files.find([versionId, fileListName])
    return !Option.exists(found, ({ stamp }) => stamp === index.stamp)
  })

  /** Forgets the indexes of versions that are no longer on disk. */
  const keepOnly = (versionIds: ReadonlyArray<VersionId>) =>
    Ref.update(indexes, (before) =>
      before.size <= versionIds.length
        ? before
        : new Map([...before].filter(([versionId]) => versionIds.includes(versionId)))
    )

  return { keepOnly, known, mayHave, read }
})

export const make = Effect.fnUntraced(function* (downloadPath: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = join(downloadPath, "versions")
  const files = PlainFiles.make(folder)
  const { keepOnly, known, mayHave, read } = yield* makeLists(folder, files)

  const findIn = Effect.fnUntraced(function* ({ folders, versionId }: VersionList, onDisk: string) {
    const folder = dirname(onDisk)
    const known = folders.get(folder)
    if (known !== undefined) return yield* PlainFiles.findAt(join(known, basename(onDisk)))
    const found = yield* files.find([versionId, ...onDisk.split("/")])
    if (Option.isSome(found)) folders.set(folder, dirname(found.value.file))
    return found
  })

  /** The file on disk for an entry of a list. */
  const fileOf = Effect.fnUntraced(function* (list: VersionList, path: string, digest: string | undefined) {
    const listed = Option.filter(list.find(path), ({ sha256 }) => digest === undefined || sha256 === digest)
    if (Option.isNone(listed)) return Option.none<StoredFile>()
    const { path: onDisk, sha256, size } = listed.value
    const found = yield* findIn(list, onDisk)
    if (Option.isNone(found) || found.value.type !== "File" || found.value.stats.size !== size) {
      return yield* new NotFound({
        message: `${path} of version ${list.versionId} is damaged, or was removed a moment ago. Read the manifest again.`
      })
    }
    return Option.some({ path, sha256, found: found.value, list })
  })

  const search = Effect.fnUntraced(function* (versionId: VersionId, path: string, digest?: string) {
    const before = yield* known(versionId)
    const asBefore = Option.isSome(before)
      ? yield* Effect.option(fileOf(before.value, path, digest))
      : Option.none()
    const found = Option.flatten(asBefore)
    return Option.isSome(found) ? found : yield* fileOf(yield* read(versionId), path, digest)
  })

  const newestFirst = Effect.map(
    Effect.orElseSucceed(fs.readDirectory(folder), () => []),
    (names) => names.filter(isVersionId).sort().reverse()
  )

  return {
    list: (versionId: VersionId) =>
      Effect.flatMap(
        known(versionId),
        Option.match({ onNone: () => read(versionId), onSome: Effect.succeed })
      ),

    /** A file of a version; `None` if the version has no such file. */
    find: (versionId: VersionId, path: string) => search(versionId, path),

    /** A file of this version, or else of the newest version on disk that has the file; with this digest, if it is given. */
    findInAny: Effect.fnUntraced(function* (first: Option.Option<VersionId>, path: string, sha256?: string) {
      const searchOne = (versionId: VersionId) =>
        search(versionId, path, sha256).pipe(
          Effect.catchTag("vitrine/NotFound", () => Effect.succeedNone),
          Effect.whenEffect(mayHave(versionId, sha256 ?? path.normalize("NFC"))),
          Effect.map(Option.flatten)
        )
      const found = Option.flatten(yield* Effect.transposeMapOption(first, searchOne))
      if (Option.isSome(found)) return found
      const versionIds = yield* newestFirst
      yield* keepOnly(versionIds)
      for (const versionId of versionIds) {
        const found = yield* searchOne(versionId)
        if (Option.isSome(found)) return found
      }
      return Option.none()
    })
  }
})

const makeList = (
  versionId: VersionId,
  stamp: string,
  { list, sha256, ...listed }: WrittenList,
  bytes: Uint8Array
): Effect.Effect<VersionList> => {
  const files = new Map([...listed.files, [fileListName, { size: bytes.length, sha256 }]])
  const composed = new Map([...files.keys()].map((path) => [path.normalize("NFC"), path]))
  const find = (path: string) =>
    Option.map(Option.fromNullable(files.get(path)), (file) => ({ ...file, path }))
  return Effect.map(Effect.cached(Effect.promise(() => compress(bytes, { level: 9 }))), (gzip) => ({
    versionId,
    stamp,
    find: (path) => Option.orElse(find(path), () => find(composed.get(path.normalize("NFC")) ?? path)),
    folders: new Map(),
    sources: new Map(list.sources.map(({ files, sourceId }) => [sourceId, files])),
    gzip
  }))
}

const indexOf = (stamp: string, { files }: WrittenList): VersionIndex => ({
  stamp,
  hashes: Int32Array.from(
    [...files].flatMap(([path, { sha256 }]) => [path.normalize("NFC"), sha256]),
    Hash.string
  )
})

const compress = promisify<Uint8Array, ZlibOptions, Buffer>(gzip)

const damaged = (versionId: VersionId) =>
  new NotFound({
    message: `The ${fileListName} of version ${versionId} is damaged. The next fetch makes a version that can be served.`
  })
