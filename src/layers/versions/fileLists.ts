/**
 * Makes the list of the files of a version, and finds out which of them are in a folder.
 */
import { stat as statFile } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { FileList, fileListName, ListedSource, writtenList } from "../../files/FileList.ts"
import { entriesIn, forEachFile, toError } from "../../files/fileBatch.ts"
import { sha256OfFile } from "../../files/sha256.ts"
import { mapDiskError } from "../../files/versionStoreError.ts"
import { issueText, placedIssues } from "../../internal/Options.ts"
import type { FileTimes, SourceFile } from "../../services/ContentSource.ts"
import { type VersionSource, VersionStoreError } from "../../services/VersionStore.ts"

const stat = promisify(statFile)

/** How many files are read concurrently. */
const concurrency = 8

/** Lists the files of a version in a folder. Reads the files for which the source gives no digest. */
export const makeList = Effect.fnUntraced(function* (
  folder: string,
  {
    sources,
    ...version
  }: Pick<FileList, "versionId" | "generatedAt"> & {
    readonly sources: ReadonlyArray<VersionSource>
  }
) {
  const listed = yield* Effect.forEach(sources, (source) => listSource(folder, source)).pipe(
    mapDiskError("read", folder)
  )
  const list = yield* decodeListed(FileList, { schemaVersion: 1, ...version, sources: listed }, folder)
  return writtenList(list)
})

/** The files of one source in a folder of a version. Fails if a file is not allowed in a version. */
export const sourceFiles = Effect.fnUntraced(function* (folder: string, source: VersionSource) {
  const listed = yield* listSource(folder, source).pipe(mapDiskError("read", folder))
  const { files } = yield* decodeListed(ListedSource, listed, folder)
  return files
})

const decodeListed = Effect.fnUntraced(function* <A, I>(
  schema: Schema.Schema<A, I>,
  listed: unknown,
  folder: string
) {
  return yield* Effect.mapError(
    Schema.decodeUnknown(schema)(listed),
    (error) =>
      new VersionStoreError({
        action: "write",
        path: join(folder, fileListName),
        detail: issueText(placedIssues(error))
      })
  )
})

/** Lists the files of one source in a folder of a version. */
const listSource = Effect.fnUntraced(function* (
  folder: string,
  { digests = {}, ...source }: VersionSource
): Effect.fn.Return<ListedSource, PlatformError | Error, FileSystem.FileSystem> {
  const directory = join(folder, source.sourceId)
  const files = yield* Effect.forEach(
    yield* filesIn(directory),
    ([file, size]) =>
      Option.match(Record.get(digests, file), {
        onNone: () => sha256OfFile(join(directory, file)),
        onSome: Effect.succeed
      }).pipe(Effect.map((sha256) => [file, { size, sha256 }] as const)),
    { concurrency }
  )
  return { ...source, files: Object.fromEntries(files) }
})

/** All files below a folder: paths with forward slashes, and sizes in bytes. Files in `known` are not looked at. */
export const filesIn = Effect.fnUntraced(function* (
  directory: string,
  known: ReadonlyMap<string, number> = new Map()
) {
  const entries = yield* entriesIn(directory)
  const sizes = yield* forEachFile(
    entries.filter(({ isDirectory }) => !isDirectory),
    async ({ path }) => {
      const size = known.get(path)
      if (size !== undefined) return [[path, size] as const]
      const stats = await stat(join(directory, path))
      return stats.isFile() ? [[path, stats.size] as const] : []
    },
    toError
  )
  return new Map(sizes.flat())
})

/** Whether a file exists with the expected size. */
export const isWhole = (file: string, size: number) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.stat(file)),
    Effect.map((stats) => stats.type === "File" && Number(stats.size) === size),
    Effect.orElseSucceed(() => false)
  )

/** The times of the files that are in the folder of their source with their listed sizes. */
export const wholeFiles = (
  directory: string,
  files: Readonly<Record<string, SourceFile>>
): Effect.Effect<ReadonlyMap<string, FileTimes>> =>
  Effect.suspend(() => {
    const times = new Map<string, FileTimes>()
    const look = async ([name, { size }]: readonly [string, SourceFile]) => {
      const stats = await stat(join(directory, name)).catch(() => undefined)
      if (stats?.isFile() && stats.size === size) {
        times.set(name, { modified: stats.mtimeMs, made: stats.birthtimeMs })
      }
    }
    return Effect.as(Effect.orDie(forEachFile(Object.entries(files), look, toError)), times)
  })
