/**
 * What a version was made of: `.version.json` in its folder. Where that cannot be read, the version is not whole.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { VersionSource } from "../../services/VersionStore.ts"

export const recordName = ".version.json"

const VersionRecord = Schema.Struct({
  generatedAt: Schema.String,
  sources: Schema.Array(VersionSource),
  /** The sizes in bytes of files in the folders of the sources, not below, by `<source>/<name>`. */
  sizes: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Number }), {
    exact: true,
    default: () => ({})
  })
})
export type VersionRecord = typeof VersionRecord.Type

const VersionRecordJson = Schema.parseJson(VersionRecord)

/** Of how many files in the folder of a source the sizes are written down. */
const maxFiles = 1000

/** Writes down what the version in the folder was made of. */
export const writeRecord = Effect.fnUntraced(function* (
  folder: string,
  { generatedAt, sources }: Omit<VersionRecord, "sizes">
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const sizesOf = Effect.fnUntraced(function* (sourceId: string) {
    const names = yield* fs.readDirectory(path.join(folder, sourceId))
    const files = yield* Effect.forEach(names.slice(0, maxFiles), (name) =>
      Effect.map(fs.stat(path.join(folder, sourceId, name)), (stats) => ({ name, ...stats }))
    )
    return files
      .filter(({ type }) => type === "File")
      .map(({ name, size }) => [`${sourceId}/${name}`, Number(size)] as const)
  })
  const sizes = yield* Effect.forEach(sources, ({ sourceId }) => sizesOf(sourceId))
  const record = { generatedAt, sources, sizes: Object.fromEntries(sizes.flat()) }
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

/** Whether the files whose sizes were written down still have them. */
export const hasSizes = Effect.fnUntraced(function* (folder: string, { sizes }: VersionRecord) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.every(Object.entries(sizes), ([name, size]) =>
    fs.stat(path.join(folder, name)).pipe(
      Effect.map((stats) => Number(stats.size) === size),
      Effect.orElseSucceed(() => false)
    )
  )
})
