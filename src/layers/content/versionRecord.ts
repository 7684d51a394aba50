/**
 * What a version was made of: `.version.json` in its folder. Where that cannot be read, the version is not whole.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { sizeOfWhole } from "../../internal/reuseFile.ts"
import { VersionSource } from "../../services/VersionStore.ts"

export const recordName = ".version.json"

const RecordedSource = Schema.Struct({
  ...VersionSource.fields,
  /** The sizes in bytes of all its files, by their paths with forward slashes. Missing in versions of an older Vitrine. */
  files: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Number }), { exact: true })
})
export type RecordedSource = typeof RecordedSource.Type

const VersionRecord = Schema.Struct({
  generatedAt: Schema.String,
  sources: Schema.Array(RecordedSource)
})
export type VersionRecord = typeof VersionRecord.Type

const VersionRecordJson = Schema.parseJson(VersionRecord)

/** Writes down what the version in the folder was made of. */
export const writeRecord = Effect.fnUntraced(function* (folder: string, record: VersionRecord) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.writeFileString(path.join(folder, recordName), JSON.stringify(record))
})

/** What the version in the folder was made of, where it says so. */
export const readRecord = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* fs
    .readFileString(path.join(folder, recordName))
    .pipe(Effect.flatMap(Schema.decode(VersionRecordJson)), Effect.option)
})

/** How many files are looked at concurrently. */
const concurrency = 8

/** The sources of a version, with what is in their folders: one entry for each file. */
export const recordSources = Effect.fnUntraced(function* (
  folder: string,
  sources: ReadonlyArray<VersionSource>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.forEach(
    sources,
    Effect.fnUntraced(function* (source): Effect.fn.Return<RecordedSource, PlatformError> {
      const directory = path.join(folder, source.sourceId)
      const entries = yield* Effect.forEach(
        yield* fs.readDirectory(directory, { recursive: true }),
        (entry) => Effect.map(fs.stat(path.join(directory, entry)), (stats) => ({ entry, ...stats })),
        { concurrency }
      )
      const files = entries
        .filter(({ type }) => type === "File")
        .map(({ entry, size }) => [entry.replaceAll(path.sep, "/"), Number(size)] as const)
      return { ...source, files: Object.fromEntries(files) }
    })
  )
})

/** Whether the files are in the folder of their source, with the sizes that they had. */
export const hasFiles = Effect.fnUntraced(function* (
  directory: string,
  files: Readonly<Record<string, number>>
) {
  const path = yield* Path.Path
  return yield* Effect.forEach(
    Object.entries(files),
    ([name, size]) => Effect.flatten(sizeOfWhole(path.join(directory, name), Option.some(size))),
    { concurrency, discard: true }
  ).pipe(Effect.isSuccess)
})
