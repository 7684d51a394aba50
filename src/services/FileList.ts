/**
 * The list of all files of a version: `files.json` in its folder. Replicas copy it verbatim.
 *
 * It may come from another machine: whatever decodes can be stored on Linux, macOS and Windows, and lies in the folder of
 * its source.
 */
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { foldCase, isPortableFileName } from "../internal/FileName.ts"
import { isSha256 } from "../internal/sha256.ts"
import { SourceFile } from "./ContentSource.ts"
import { VersionId } from "./VersionStore.ts"

/** The name of the file, which no source may have for its id. */
export const fileListName = "files.json"

/** The name of the prototype would be no key of the record. */
const isFilePath = (path: string): boolean =>
  path !== "__proto__" && path.split("/").every(isPortableFileName)

const FilePath = Schema.String.pipe(
  Schema.filter(isFilePath, {
    description: "relative paths with forward slashes, of names that Linux, macOS and Windows can store"
  })
)

type ListedFiles = Readonly<Record<string, SourceFile>>

const CheckedFiles = Schema.Record({ key: FilePath, value: SourceFile })
  // Without it, other keys would be left out.
  .annotations({ parseOptions: { onExcessProperty: "error" } })
  .pipe(Schema.filter((files) => clash(Object.keys(files))))

/** The schema of each file takes ten times as long, so it is asked only for what is wrong. */
const ListedFiles: Schema.Schema<ListedFiles> = Schema.declare([], {
  decode: () => (input, options) =>
    areListedFiles(input)
      ? ParseResult.succeed(input)
      : ParseResult.decodeUnknown(CheckedFiles)(input, options),
  encode: () => (files, options) => ParseResult.encodeUnknown(CheckedFiles)(files, options)
})

const SourceId = Schema.String.pipe(
  Schema.filter(
    (id) =>
      (isPortableFileName(id) && foldCase(id) !== foldCase(fileListName)) ||
      `${JSON.stringify(id)} cannot be the name of a source's folder`
  )
)

export const ListedSource = Schema.Struct({
  sourceId: SourceId,
  fingerprint: Schema.String,
  records: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }),
  /** By their paths in the folder of the source, with forward slashes. */
  files: ListedFiles
})
export type ListedSource = typeof ListedSource.Type

export const FileList = Schema.Struct({
  schemaVersion: Schema.Literal(1),
  versionId: VersionId,
  /** ISO 8601, UTC, with milliseconds. */
  generatedAt: Schema.String,
  sources: Schema.Array(ListedSource).pipe(
    Schema.filter((sources) => clash(sources.map(({ sourceId }) => sourceId)))
  )
})
export type FileList = typeof FileList.Type

/** The text of `files.json`. */
export const FileListJson = Schema.parseJson(FileList)

/** The text of `files.json`: the same one for the same list, whatever order its files came in. */
export const fileListText = ({ schemaVersion, versionId, generatedAt, sources }: FileList): string =>
  JSON.stringify(
    {
      schemaVersion,
      versionId,
      generatedAt,
      sources: sources.map(({ files, ...source }) => ({
        ...source,
        files: Object.fromEntries(Object.entries(files).sort(([one], [other]) => (one < other ? -1 : 1)))
      }))
    },
    null,
    2
  )

const madeOnce = <A extends object>(make: (list: FileList) => A) => {
  const made = new WeakMap<FileList, A>()
  return (list: FileList): A => {
    const value = made.get(list) ?? make(list)
    made.set(list, value)
    return value
  }
}

/** The files of all sources, by their paths in the folder of the version. Made once for a list. */
export const filesOf = madeOnce((list): ReadonlyMap<string, SourceFile> => {
  const files = new Map<string, SourceFile>()
  for (const source of list.sources) {
    for (const [path, file] of Object.entries(source.files)) files.set(`${source.sourceId}/${path}`, file)
  }
  return files
})

/** The path of the first file of each content, by its digest. Made once for a list. */
export const pathsOfContents = madeOnce((list): ReadonlyMap<string, string> => {
  const paths = new Map<string, string>()
  for (const [path, { sha256 }] of filesOf(list)) {
    if (!paths.has(sha256)) paths.set(sha256, path)
  }
  return paths
})

const areListedFiles = (input: unknown): input is ListedFiles =>
  Predicate.isRecord(input) &&
  Object.values(input).every(isListedFile) &&
  Object.keys(input).every(isFilePath) &&
  clash(Object.keys(input)) === true

const isListedFile = (input: unknown): boolean =>
  Predicate.isRecord(input) &&
  Object.keys(input).length === 2 &&
  Number.isSafeInteger(input.size) &&
  Number(input.size) >= 0 &&
  Predicate.isString(input.sha256) &&
  isSha256(input.sha256)

/** Says which paths cannot be stored side by side, where a file system ignores case; `true` where all can. */
const clash = (paths: ReadonlyArray<string>): true | string => {
  const entries = new Map<string, string>()
  for (const path of paths) {
    const end = path.length
    for (let length = path.indexOf("/"); ; length = path.indexOf("/", length + 1)) {
      const isFile = length === -1
      const entry = path.slice(0, isFile ? end : length)
      const key = foldCase(entry)
      const other = entries.get(key)
      // A folder is the same one each time it comes up, a file comes up once.
      if (other !== undefined && (isFile || other !== `${entry}/`)) {
        return `${JSON.stringify(other)} and ${JSON.stringify(path)} cannot be stored side by side on all systems`
      }
      entries.set(key, isFile ? entry : `${entry}/`)
      if (isFile) break
    }
  }
  return true
}
