/**
 * A folder that people edit, as a source of content.
 *
 * ```
 * <source id>/<name>.json    the table of <name>.csv, or what is in <name>.json, at the top of the folder
 * <source id>/<path>         every other file, as it is
 * ```
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { remove } from "../../../files/heldOpen.ts"
import { findPrivate } from "../../../files/privateFiles.ts"
import { withoutParentSpan } from "../../../internal/withoutParentSpan.ts"
import { HasDevServer } from "../../../services/ContentServer.ts"
import {
  type AttachmentProgress,
  BaseFolder,
  type ContentSource,
  type ContentSourceDefinition,
  type FetchTarget
} from "../../../services/ContentSource.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { type Document, Keys, Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { documentSchemas } from "../../documents/expect/Expectations.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import { ImageOptions } from "../../documents/media/MediaOptions.ts"
import * as PathPattern from "../../documents/media/PathPattern.ts"
import { failureOf } from "../../documents/sourceErrors.ts"
import { notice } from "../../documents/warnings.ts"
import { FolderInUse, shown } from "./FolderInUse.ts"
import { FolderOptions, type FolderSourceConfig } from "./FolderOptions.ts"
import { documentName, type FolderFile, type FolderLook } from "./lookAtFolder.ts"
import { isShownType, makeNamedFiles, type NamedFiles } from "./namedFiles.ts"
import { makeProblemsFile } from "./problemsFile.ts"
import { isCsv, readDocument, readKeyValues } from "./readDocument.ts"
import { linkReused, makeTakeFiles, sizeOf } from "./takeFiles.ts"
import * as WatchedFolder from "./WatchedFolder.ts"

/**
 * A source of content for the content plugin's `sources`: the files of a folder. CSV and JSON files at its top are documents, unless
 * `documents` is `false`; others, and all in folders inside it, are saved as they are.
 */
export const folderSource = (config: FolderSourceConfig): ContentSourceDefinition =>
  define("the folder source", FolderOptions, config, make)

/** The parts of a look at the folder that a fetch saves. */
interface FolderParts {
  readonly look: FolderLook
  readonly documents: ReadonlyArray<Document<SourceError | FolderInUse>>
  readonly others: ReadonlyArray<FolderFile>
  readonly named: NamedFiles
  /** Spreadsheets whose names no document has, by these. */
  readonly spreadsheets: ReadonlyMap<string, string>
}

const make = Effect.fnUntraced(function* (options: FolderOptions) {
  const { id, keys, keyValueTables } = options
  const pictures = options.pictures.flatMap((path) => Option.toArray(PathPattern.parse(path)))
  const path = yield* Path.Path
  const environment = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path>())
  const base = yield* BaseFolder
  const directory = path.resolve(base, options.directory)
  const found = yield* findPrivate(directory, base)
  if (Option.isSome(found)) {
    return yield* new SourceError({
      place: directory,
      detail: `${found.value} is in this folder, and everybody who sees the content could read it. Keep content in a folder of its own.`
    })
  }
  const isBuildNeeded = !options.documents && !(yield* HasDevServer)
  const folder = yield* WatchedFolder.make(directory, options.documents)
  const takeFiles = makeTakeFiles()
  const { withPermits } = yield* Effect.makeSemaphore(1)

  const partsOf = (look: FolderLook): FolderParts => {
    const nameOf = (path: string) => (options.documents ? documentName(path) : undefined)
    const others = look.files.filter(({ path }) => nameOf(path) === undefined)
    const named = makeNamedFiles(others.map(({ path }) => path))
    const documents = look.files.flatMap((file): ReadonlyArray<Document<SourceError | FolderInUse>> => {
      const name = nameOf(file.path)
      if (name === undefined) return []
      const reading = { ...options, pictures }
      const content =
        keyValueTables.includes(name) && isCsv(file.path)
          ? Keys({ keys: readKeyValues(file, named, reading) })
          : Value({ value: readDocument(file, named, reading) })
      const key = Object.hasOwn(keys, name) ? keys[name] : undefined
      return [{ name, content, key: key === undefined ? undefined : [key].flat() }]
    })
    const spreadsheets = options.documents
      ? spreadsheetsIn(look, new Set(documents.map(({ name }) => name)))
      : new Map<string, string>()
    return { look, documents, others, named, spreadsheets }
  }

  const checkNames = ({ documents, look, spreadsheets }: FolderParts) => {
    const tables = look.files
      .filter(({ path }) => isCsv(path))
      .flatMap(({ path }) => documentName(path) ?? [])
    const missing = keyValueTables.find((name) => !tables.includes(name))
    if (missing !== undefined) {
      return new SourceError({
        place: directory,
        detail: `"keyValueTables" names the table "${missing}", but there is no ${missing}.csv in it; ${tables.length === 0 ? "there is no CSV" : `there are: ${tables.map((name) => `${name}.csv`).join(", ")}`}.${withSpreadsheet(missing, spreadsheets)}`
      })
    }
    for (const [option, named] of Object.entries({ keys, expect: options.expect })) {
      const unknown = Object.keys(named).find((name) => documents.every((document) => document.name !== name))
      if (unknown === undefined) continue
      return new SourceError({
        place: directory,
        detail: `"${option}" names the document "${unknown}", but there is no ${unknown}.csv or ${unknown}.json in it.${withSpreadsheet(unknown, spreadsheets)}`
      })
    }
    return Effect.void
  }

  const images = options.images ?? (pictures.length > 0 ? Schema.decodeSync(ImageOptions)({}) : undefined)
  const open = (target: FetchTarget & FolderParts) => {
    const { documents, look, named, others, spreadsheets } = target
    const files = Effect.fnUntraced(function* (progress: (files: AttachmentProgress) => Effect.Effect<void>) {
      const taken = yield* takeFiles(others, target, progress)
      yield* notice([
        ...look.leftOut,
        ...[...spreadsheets.values()].map(noTable),
        ...taken.flatMap(({ flaw, path }) =>
          flaw === undefined || (flaw.isShrinkable && images !== undefined)
            ? []
            : [`${shown(path)}: ${flaw.problem}`]
        )
      ])
      return {
        total: taken.length,
        bytes: sizeOf(taken),
        reused: taken.filter(({ isReused }) => isReused).length,
        digests: Object.fromEntries(taken.map(({ path, sha256 }) => [path, sha256])),
        place: Effect.provide(linkReused(taken, target), environment)
      }
    })
    return Effect.succeed({ documents, files, isFile: (path: string) => named.find(path) === path })
  }

  const documentSource = yield* makeDocumentSource({
    options: { ...options, ...(images && { images }) },
    open,
    schema: Effect.succeed(documentSchemas(options.expect, keyValueTables))
  })

  /** Everything of one look. */
  const save = Effect.fnUntraced(function* (look: FolderLook, target: FetchTarget) {
    const found = partsOf(look)
    if (isBuildNeeded) yield* checkBuild(look, target)
    yield* checkNames(found)
    yield* checkFiles(found.others)
    yield* empty(target.directory)
    return yield* documentSource.fetch({ ...target, ...found })
  })

  const file = options.problems && (yield* makeProblemsFile(id, directory))

  const source: ContentSource = {
    ...documentSource,
    report: file && ((problems) => Effect.provide(file.report(problems), environment)),
    fetch: (target) =>
      notInside(directory, target).pipe(
        Effect.zipRight(
          folder.take(
            (look) => save(look, target),
            ({ fingerprint }) => isNew(target, fingerprint)
          )
        ),
        Effect.mapError(failureOf(id)),
        withPermits(1),
        Effect.provide(environment)
      ),
    poll: (cursor) =>
      folder
        .poll(cursor)
        .pipe(
          Effect.mapError(failureOf(id)),
          Effect.ensuring(file?.writeAgain ?? Effect.void),
          Effect.provide(environment)
        ),
    changes: Stream.provideContext(
      isBuildNeeded ? Stream.onStart(folder.changes, announceBuild(directory)) : folder.changes,
      environment
    )
  }
  return source
})

/** A picture or film without a byte is one whose copying was cut off. */
const checkFiles = (files: ReadonlyArray<FolderFile>): Effect.Effect<void, SourceError> => {
  const empty = files.find(({ path, size }) => size === 0 && isShownType(path))
  return empty === undefined
    ? Effect.void
    : new SourceError({
        place: shown(empty.path),
        detail: "is empty, perhaps because copying was interrupted. Copy it again, or remove it."
      })
}

/** Those at the top of the folder whose names no document has, by these. */
const spreadsheetsIn = ({ files }: FolderLook, documents: ReadonlySet<string>): ReadonlyMap<string, string> =>
  new Map(
    files.flatMap(({ path }) => {
      const [, name = ""] = /^([^/]+)\.(?:xlsx?|xlsm|ods|numbers|tsv|csv\.txt|json\.txt)$/i.exec(path) ?? []
      return name === "" || documents.has(name) ? [] : [[name, path] as const]
    })
  )

const withSpreadsheet = (name: string, spreadsheets: ReadonlyMap<string, string>): string => {
  const spreadsheet = spreadsheets.get(name)
  return spreadsheet === undefined ? "" : ` ${noTable(spreadsheet)}`
}

const noTable = (spreadsheet: string): string =>
  /\.(?:tsv|txt)$/i.test(spreadsheet)
    ? `${spreadsheet}: this is saved as a file, and is no document, as its name ends in neither .csv nor .json. Rename it.`
    : `${spreadsheet}: this spreadsheet is saved as a file, and is no table. Export it as CSV, in Excel with the file type "CSV UTF-8".`

const isNew = ({ previous }: FetchTarget, fingerprint: string): boolean =>
  !Option.exists(previous, (before) => Option.contains(before.fingerprint, fingerprint))

/** No failure: before the first build there is none. */
const announceBuild = Effect.fnUntraced(function* (directory: string) {
  const fileSystem = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fileSystem.exists(directory), constTrue))) {
    yield* Effect.logInfo(
      `There is no build of the page in ${directory} yet. Make one, for example with "npm run build": then it is shown.`
    )
  }
})

/** A tool that builds a page empties its folder first. */
const checkBuild = ({ files }: FolderLook, { previous }: FetchTarget): Effect.Effect<void, FolderInUse> => {
  const before = Option.toArray(previous).flatMap(({ files }) => Object.keys(files))
  const lost = before.includes(firstPage) ? firstPage : before[0]
  const isThere = files.some(({ path }) => lost !== firstPage || path === firstPage)
  return lost === undefined || isThere
    ? Effect.void
    : new FolderInUse({ file: lost, detail: "is not there any more. Is the page being built?" })
}

const firstPage = "index.html"

/** What a try before this one has left. */
const empty = Effect.fnUntraced(function* (directory: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* Effect.orElseSucceed(fileSystem.readDirectory(directory), () => [])
  yield* Effect.ignore(Effect.forEach(names, (name) => remove(path.join(directory, name))))
})

/** A version of a folder that the version is in would have itself in it. */
const notInside = Effect.fnUntraced(function* (directory: string, target: FetchTarget) {
  const path = yield* Path.Path
  const way = path.relative(directory, target.directory)
  if (!way.startsWith("..") && !path.isAbsolute(way)) {
    return yield* new SourceError({
      place: directory,
      detail: "the downloads folder is in this folder. Keep content in a folder of its own."
    })
  }
})
