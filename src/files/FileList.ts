/**
 * The list of all files of a version: `files.json` in its folder. Replicas copy it verbatim.
 *
 * It may come from another machine: a list that decodes can be stored on Linux, macOS and Windows, and stays in the
 * folder of its source. Paths have 1,024 bytes and 32 folders at most, and together 2,000,000 names; there are 1,000
 * sources at most.
 */

import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { contentCounts } from "../internal/contentCounts.ts"
import { optional } from "../internal/schemas.ts"
import { Sha256, SourceFile } from "../services/ContentSource.ts"
import { maxSources, VersionId } from "../services/VersionStore.ts"
import { foldCase, isPortableFileName } from "./fileName.ts"
import { sha256OfText } from "./sha256.ts"

/**
 * The name of the file. No source may have it as its id.
 *
 * @since 0.1.0
 * @category utils
 */
export const fileListName = "files.json"

const maxPathBytes = 1024
const maxFolders = 32
const maxNames = 2_000_000

/** `__proto__` cannot be a key of the record. */
const isFilePath = (path: string): boolean => {
  if (Buffer.byteLength(path) > maxPathBytes || path === "__proto__") return false
  const names = path.split("/")
  return names.length <= maxFolders + 1 && names.every(isPortableFileName)
}

const wrongPath = `must be a relative path with forward slashes, of at most ${maxPathBytes} bytes and ${maxFolders} folders, of names that Linux, macOS and Windows can store`

type ListedFiles = Readonly<Record<string, SourceFile>>

const CheckedFiles = Schema.Record({
  key: Schema.String,
  value: SourceFile.pipe(Schema.annotations({ parseOptions: { onExcessProperty: "error" } }))
})

/** The schema of each file takes ten times as long, so it only checks the first invalid file. */
const decodeFiles: ParseResult.DeclarationDecodeUnknown<ListedFiles, never> = (input, options, ast) => {
  if (areListedFiles(input)) {
    const problem = clash(Object.keys(input))
    return problem === true
      ? ParseResult.succeed(input)
      : ParseResult.fail(new ParseResult.Type(ast, input, problem))
  }
  const wrong = Predicate.isRecord(input)
    ? Array.findFirst(Object.entries(input), (entry) => !isListedFile(entry))
    : Option.none()
  if (Option.isSome(wrong) && !isFilePath(wrong.value[0])) {
    const [path, file] = wrong.value
    return ParseResult.fail(new ParseResult.Pointer(path, input, new ParseResult.Type(ast, file, wrongPath)))
  }
  const checked = Option.match(wrong, { onNone: () => input, onSome: (entry) => Object.fromEntries([entry]) })
  return ParseResult.decodeUnknown(CheckedFiles)(checked, options)
}

const ListedFiles: Schema.Schema<ListedFiles> = Schema.declare([], {
  decode: () => decodeFiles,
  encode: () => decodeFiles
})

const SourceId = Schema.String.pipe(
  Schema.filter(
    (id) =>
      (isPortableFileName(id) && foldCase(id) !== foldCase(fileListName)) ||
      `${JSON.stringify(id)} cannot be the name of a source's folder`
  )
)

const Key = Schema.Array(Schema.String.pipe(Schema.maxLength(200))).pipe(
  Schema.minItems(1),
  Schema.maxItems(8)
)

/**
 * The files of one source of a version (docs/wire.md, section 9).
 *
 * @since 0.1.0
 * @category schemas
 */
export const ListedSource = Schema.Struct({
  sourceId: SourceId,
  fingerprint: Schema.String,
  records: optional(Schema.NonNegativeInt),
  values: contentCounts.values,
  /** The fields that identify the records of documents, by the paths of the documents, if these are not `id`. */
  keys: optional(Schema.Record({ key: Schema.String, value: Key })),
  /** Since when it failed when the version was made, so that this is its content from before; as `generatedAt`. */
  keptSince: optional(Schema.String.pipe(Schema.maxLength(24))),
  /** By their paths in the folder of the source, with forward slashes. */
  files: ListedFiles
})
export type ListedSource = typeof ListedSource.Type

/**
 * An array of sources. The number of sources and names is checked first, so that a huge list fails quickly.
 *
 * @since 0.1.0
 * @category utils
 */
export const listedSources = <A, I>(source: Schema.Schema<A, I>) =>
  Schema.Array(Schema.Unknown).pipe(
    Schema.filter(
      (sources) => sources.length <= maxSources || `must be ${maxSources} at most, not ${sources.length}`
    ),
    Schema.filter(
      (sources) =>
        sources.reduce<number>((sum, source) => sum + namesIn(source), 0) <= maxNames ||
        `the paths of all files have more than ${maxNames} names`
    ),
    Schema.compose(Schema.Array(source), { strict: false })
  )

/** How many names the paths of a source have. A path that is too long counts as if it were cut. */
const namesIn = (source: unknown): number =>
  Predicate.hasProperty(source, "files") && Predicate.isRecord(source.files)
    ? Object.keys(source.files).reduce((sum, path) => sum + path.slice(0, maxPathBytes).split("/").length, 0)
    : 0

/**
 * The files of a version with their sizes and digests, as in its `files.json` (docs/wire.md, section 9).
 *
 * @since 0.1.0
 * @category schemas
 */
export const FileList = Schema.Struct({
  schemaVersion: Schema.Literal(1),
  versionId: VersionId,
  /** ISO 8601, UTC, with milliseconds. */
  generatedAt: Schema.String.pipe(Schema.maxLength(24)),
  sources: listedSources(ListedSource).pipe(
    Schema.filter((sources) => clash(sources.map(({ sourceId }) => sourceId)))
  )
})
export type FileList = typeof FileList.Type

/**
 * The text of `files.json`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FileListJson = Schema.parseJson(FileList)

/** The text of `files.json`: the same for the same list, independent of the order of its files. @internal */
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

/**
 * The files of all sources, by their paths in the folder of the version.
 *
 * @since 0.1.0
 * @category utils
 */
export const filesOf = ({ sources }: FileList): ReadonlyMap<string, SourceFile> =>
  new Map(
    sources.flatMap(({ files, sourceId }) =>
      Object.entries(files).map(([path, file]) => [`${sourceId}/${path}`, file] as const)
    )
  )

/**
 * A list of files, and its text on disk.
 *
 * @since 0.1.0
 * @category models
 */
export interface WrittenList {
  readonly list: FileList
  /** The files of all sources, by their paths in the folder of the version. */
  readonly files: ReadonlyMap<string, SourceFile>
  readonly text: string
  /** The digest of the text. */
  readonly sha256: string
}

/** Writes a list as text. @internal */
export const writtenList = (list: FileList): WrittenList => {
  const text = fileListText(list)
  return { list, files: filesOf(list), text, sha256: sha256OfText(text) }
}

/**
 * The lists decoded last, by digest. Each change reads the lists of all versions, of the new one and of the swept one:
 * five lists if three versions are kept.
 */
const decoded = new Map<string, Pick<WrittenList, "files" | "list">>()
const maxDecoded = 8

/** Decodes the text of `files.json`. The eight lists that were read last stay in memory. @internal */
export const decodeFileList = (text: string): Effect.Effect<WrittenList, ParseResult.ParseError> =>
  Effect.suspend(() => {
    const sha256 = sha256OfText(text)
    const known = decoded.get(sha256)
    return Effect.map(
      known === undefined
        ? Effect.map(Schema.decode(FileListJson)(text), (list) => ({ list, files: filesOf(list) }))
        : Effect.succeed(known),
      (lists) => {
        decoded.delete(sha256)
        decoded.set(sha256, lists)
        for (const oldest of Array.take([...decoded.keys()], decoded.size - maxDecoded)) {
          decoded.delete(oldest)
        }
        return { ...lists, text, sha256 }
      }
    )
  })

const isSha256 = Schema.is(Sha256)

const areListedFiles = (input: unknown): input is ListedFiles =>
  Predicate.isRecord(input) && Object.entries(input).every(isListedFile)

const isListedFile = ([path, input]: readonly [path: string, file: unknown]): boolean =>
  isFilePath(path) &&
  Predicate.isRecord(input) &&
  Object.keys(input).length === 2 &&
  Number.isSafeInteger(input.size) &&
  Number(input.size) >= 0 &&
  Predicate.isString(input.sha256) &&
  isSha256(input.sha256)

/** Says which paths cannot be stored side by side if a file system ignores case; `true` if all can. */
const clash = (paths: ReadonlyArray<string>): true | string => {
  const entries = paths
    // In this order, the content of a folder comes together, directly behind a file of the same name.
    .map((path) => ({ path, key: foldCase(path).replaceAll("/", "\0") }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ path }) => path)
  const index = entries.findIndex((path, index) => index > 0 && !canBeBeside(entries[index - 1] ?? "", path))
  const [one = "", other = ""] = entries.slice(Math.max(0, index - 1))
  const looksEqual = one.normalize() === other.normalize()
  return (
    index === -1 ||
    `${JSON.stringify(one)} and ${JSON.stringify(other)} cannot be stored side by side on all systems${
      looksEqual ? ": they have the same letters, composed and decomposed" : ""
    }`
  )
}

/** Whether the first names that differ do so in more than case, and neither path is a folder of the other. */
const canBeBeside = (one: string, other: string): boolean => {
  const [names, others] = [one.split("/"), other.split("/")]
  const index = names.findIndex((name, index) => name !== others[index])
  const [name, beside] = [names[index], others[index]]
  return name !== undefined && beside !== undefined && foldCase(name) !== foldCase(beside)
}
