/**
 * A folder that people edit, as a source of content.
 *
 * ```
 * <source id>/<name>.json    the table of <name>.csv, or the value of <name>.json, at the top of the folder
 * <source id>/<path>         every other file, as it is
 * ```
 */

import { isAbsolute, relative, resolve } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { findPrivate } from "../../../files/privateFiles.ts"
import { withoutParentSpan } from "../../../internal/background.ts"
import { type LanguageCode, languageCodes, languages } from "../../../internal/languages.ts"
import { type Mistake, mistake } from "../../../internal/mistake.ts"
import { expects, omittable, optional, documentName as optionName } from "../../../internal/Options.ts"
import { HasDevServer } from "../../../services/ContentServer.ts"
import {
  BaseFolder,
  type ContentSource,
  type ContentSourceDefinition,
  type FetchTarget
} from "../../../services/ContentSource.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { type Document, empty, Keys, Value } from "../../documents/Document.ts"
import {
  type DocumentConfig,
  DocumentKeys,
  DocumentOptions,
  define,
  delimiter
} from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { documentSchemas } from "../../documents/expect/Expectations.ts"
import { isFieldType } from "../../documents/expect/ExpectOptions.ts"
import { codeOf } from "../../documents/media/FileProblem.ts"
import { ImageOptions, sharpIssue } from "../../documents/media/MediaOptions.ts"
import { isShownType } from "../../documents/media/mediaTypes.ts"
import * as PathPattern from "../../documents/media/PathPattern.ts"
import { isUseless } from "../../documents/media/verdict.ts"
import { failureOf } from "../../documents/sourceErrors.ts"
import { failureAbout, notice, warningOf } from "../../documents/warnings.ts"
import { type FolderCall, makeFolderCall } from "./folderCalls.ts"
import {
  cannotRead,
  documentName,
  type FolderFile,
  FolderInUse,
  type FolderLook,
  printablePath
} from "./lookAtFolder.ts"
import { makeNamedFiles, type NamedFiles } from "./namedFiles.ts"
import { makeProblemsFile } from "./problemsFile.ts"
import { isCsv, readDocument, readKeyValues } from "./readDocument.ts"
import { linkReused, makeTakeFiles, type SavedFile, sizeOf } from "./takeFiles.ts"
import * as WatchedFolder from "./WatchedFolder.ts"

/**
 * The options of `folderSource`.
 *
 * @since 0.1.0
 * @category models
 */
export interface FolderSourceConfig extends Omit<DocumentConfig, "maxBytes"> {
  /** The folder, relative to the configuration file. */
  readonly directory: string

  /**
   * `false` saves every file as it is, JSON and CSV too: a page, for `site` of `contentServer`. Such a
   * folder may be missing until the page is built for the first time. Default `true`.
   */
  readonly documents?: boolean | undefined

  /**
   * The field, or fields, that identify the records of a document, by its name; paths with dots. Default
   * `{}` (their id).
   */
  readonly keys?: Readonly<Record<string, string | ReadonlyArray<string>>> | undefined

  /**
   * CSV files with the columns `key` and `value`, by their names without the ending; each becomes one
   * object, as the key/value tables of `tableSource` do. Default `[]`.
   */
  readonly keyValueTables?: ReadonlyArray<string> | undefined

  /**
   * Columns whose cells name pictures of the folder, such as `photo`; each cell becomes `{ localPath,
   * sizes }`. A path may have `*` for one level and `**` for any. Default `[]`.
   */
  readonly pictures?: ReadonlyArray<string> | undefined

  /**
   * `"file"` keeps a file `VITRINE-PROBLEMS.txt` in the folder while its content is rejected or has
   * warnings, `{ file: true, language: "de" }` in German. Languages are `"en"` and `"de"`. Default none.
   */
  readonly problems?:
    | "file"
    | { readonly file: true; readonly language?: LanguageCode | undefined }
    | undefined

  /** The separator between the cells of CSV. Default found in the file. */
  readonly delimiter?: ";" | "," | "\t" | "|" | undefined

  /**
   * The largest CSV or JSON file at the top of the folder, in bytes. It is held in memory. Default
   * `33554432` (32 MiB).
   */
  readonly maxBytes?: number | undefined
}

const Pictures = Schema.Array(
  expects(
    Schema.String.pipe(Schema.filter((path) => Option.isSome(PathPattern.parse(path)))),
    'a path in records, such as "photo" or "gallery.*"'
  )
).pipe(
  // These pictures need `images`, which the user has not written.
  Schema.filter(({ length }) => (length === 0 ? undefined : sharpIssue(import.meta.url, "pictures")))
)

const Problems = Schema.Union(
  Schema.Literal("file"),
  Schema.Struct({ file: Schema.Literal(true), language: omittable(Schema.Literal(...languageCodes)) })
)

export const FolderOptions = Schema.Struct({
  ...DocumentOptions.fields,
  directory: expects(Schema.NonEmptyString, 'the path of a folder, such as "content"'),
  documents: optional(Schema.Boolean, true),
  keys: optional(DocumentKeys, {}),
  keyValueTables: optional(Schema.Array(optionName), []),
  pictures: optional(Pictures, []),
  problems: omittable(
    // One declaration, so that a mistake is reported once and not for each member.
    expects(
      Schema.declare(Schema.is(Problems)),
      `"file" or { file: true, language: "de" }, with one of the languages ${languageCodes.map((code) => JSON.stringify(code)).join(", ")}`
    )
  ),
  delimiter
})
export type FolderOptions = typeof FolderOptions.Type

/**
 * A source of content for the content plugin's `sources`: the files of a folder. CSV and JSON files at its top are
 * documents, unless `documents` is `false`. All other files, also in folders inside it, are saved without changes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const folderSource = (config: FolderSourceConfig): ContentSourceDefinition =>
  define("the folder source", FolderOptions, config, make)

const make = Effect.fnUntraced(function* (options: FolderOptions) {
  const { id, problems } = options
  const environment = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem>())
  const base = yield* BaseFolder
  const directory = resolve(base, options.directory)
  const call = yield* makeFolderCall(directory)
  const refusePrivate = noPrivateIn(directory, base, call)
  // Each fetch looks again, so a share that hangs now does not stop the start.
  yield* Effect.catchIf(
    refusePrivate,
    ({ isTransient }) => isTransient,
    () => Effect.void
  )
  const isBuildNeeded = !options.documents && !(yield* HasDevServer)
  const folder = yield* WatchedFolder.make(directory, options.documents, call)
  const takeFiles = makeTakeFiles()
  const { withPermits } = yield* Effect.makeSemaphore(1)
  const pictures = options.pictures.flatMap((path) => Option.toArray(PathPattern.parse(path)))
  const images = options.images ?? (pictures.length > 0 ? Schema.decodeSync(ImageOptions)({}) : undefined)

  const documentSource = yield* DocumentSource.make({
    options: { ...options, ...(images && { images }) },
    open: (target: FetchTarget & FolderParts) =>
      Effect.succeed({
        documents: target.documents,
        files: (progress) =>
          takeFiles(target.others, target, progress).pipe(
            Effect.flatMap((saved) => ownFiles(target, saved, images !== undefined)),
            Effect.map((own) => ({ ...own, place: Effect.provide(own.place, environment) })),
            Effect.provide(environment)
          ),
        isFile: (path) => target.named.find(path) === path,
        similar: target.named.similar
      }),
    schema: Effect.succeed(documentSchemas(options.expect, options.keyValueTables))
  })

  /** Saves everything of one look. */
  const save = Effect.fnUntraced(function* (look: FolderLook, target: FetchTarget) {
    const found = partsOf(look, options, pictures)
    if (isBuildNeeded) yield* checkBuild(look, target)
    yield* checkNames(found, options)
    yield* checkFiles(found.others)
    yield* empty(target.directory)
    return yield* documentSource.fetch({ ...target, ...found })
  })

  const language = problems && (problems === "file" ? "en" : (problems.language ?? "en"))
  const file = language && (yield* makeProblemsFile(id, directory, languages[language], call))

  /** Whether the screens show something of this folder already. */
  const hadContent = yield* Ref.make(false)

  const source: ContentSource = {
    ...documentSource,
    hasDocuments: options.documents,
    report:
      file &&
      ((problems) =>
        Effect.flatMap(Ref.get(hadContent), (hadContent) =>
          Effect.provide(file.report({ problems, hadContent }), environment)
        )),
    fetch: (target) =>
      Ref.set(hadContent, Option.isSome(target.previous)).pipe(
        Effect.zipRight(notInside(directory, target)),
        Effect.zipRight(refusePrivate),
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

const noPrivateIn = (directory: string, base: string, call: FolderCall) =>
  Effect.flatMap(
    findPrivate(directory, base, (look) =>
      Effect.tryPromise({ try: () => call(look), catch: cannotRead(directory) })
    ),
    Option.match({
      onNone: () => Effect.void,
      onSome: (found) =>
        new SourceError({
          place: directory,
          detail: `${found} is in this folder, and everybody who can read the content could read this file. Keep content in a separate folder.`
        })
    })
  )

/** The parts of a look at the folder that a fetch saves. */
interface FolderParts {
  readonly look: FolderLook
  readonly documents: ReadonlyArray<Document<SourceError | FolderInUse>>
  readonly others: ReadonlyArray<FolderFile>
  readonly named: NamedFiles
  /** Spreadsheets whose names are no document's name, by their names. */
  readonly spreadsheets: ReadonlyMap<string, string>
}

const partsOf = (
  look: FolderLook,
  options: FolderOptions,
  pictures: ReadonlyArray<PathPattern.PathPattern>
): FolderParts => {
  const nameOf = (path: string) => (options.documents ? documentName(path) : undefined)
  const others = look.files.filter(({ path }) => nameOf(path) === undefined)
  const named = makeNamedFiles(others.map(({ path }) => path))
  const documents = look.files.flatMap((file): FolderParts["documents"] => {
    const name = nameOf(file.path)
    if (name === undefined) return []
    const key = Option.getOrUndefined(Record.get(options.keys, name))
    const readOptions = { ...options, files: named, pictures, key, typeOf: typesOf(name, options) }
    const content =
      options.keyValueTables.includes(name) && isCsv(file.path)
        ? Keys({ keys: readKeyValues(file, readOptions) })
        : Value({ value: readDocument(file, readOptions) })
    return [{ name, content, key, file: printablePath(file.path) }]
  })
  const spreadsheets = options.documents
    ? spreadsheetsIn(look, new Set(documents.map(({ name }) => name)))
    : new Map<string, string>()
  return { look, documents, others, named, spreadsheets }
}

/** Returns the expected type of a field. */
const typesOf = (name: string, { expect }: FolderOptions) => {
  const fields = Option.flatMapNullable(Record.get(expect, name), ({ fields }) => fields)
  return (field: string) =>
    fields.pipe(
      Option.flatMap((fields) => (Schema.isSchema(fields) ? Option.none() : Record.get(fields, field))),
      Option.filter(isFieldType),
      Option.getOrUndefined
    )
}

/** Fails if an option names a document that is not there. */
const checkNames = (
  { documents, look, spreadsheets }: FolderParts,
  { expect, keys, keyValueTables }: FolderOptions
) => {
  const noDocument = (name: string, isTable: boolean, others: ReadonlyArray<string>) =>
    failureAbout(
      mistake(
        "folder:document",
        {},
        { name, isTable, others: others.slice(0, 10), spreadsheet: spreadsheets.get(name) }
      )
    )
  const tables = look.files.filter(({ path }) => isCsv(path)).flatMap(({ path }) => documentName(path) ?? [])
  const missing = keyValueTables.find((name) => !tables.includes(name))
  if (missing !== undefined) {
    return noDocument(
      missing,
      true,
      tables.map((name) => `${name}.csv`)
    )
  }
  const unknown = [...Object.keys(keys), ...Object.keys(expect)].find((name) =>
    documents.every((document) => document.name !== name)
  )
  return unknown === undefined
    ? Effect.void
    : noDocument(
        unknown,
        false,
        documents.flatMap(({ file = "" }) => file)
      )
}

/** The files of the folder in the version, with warnings about their flaws. A flaw of a named file may be a failure. */
const ownFiles = Effect.fnUntraced(function* (
  target: FetchTarget & FolderParts,
  saved: ReadonlyArray<SavedFile>,
  areShrunk: boolean
) {
  const { look, named, spreadsheets } = target
  const flawed = saved.flatMap(({ flaw, path }) =>
    flaw === undefined ? [] : [{ flaw, path, isNamed: named.named.has(path) }]
  )
  const refused = flawed.find(({ flaw, isNamed }) => isNamed && isUseless(flaw))
  if (refused !== undefined) {
    return yield* failureAbout(mistake("file:flaw", { name: printablePath(refused.path) }, refused.flaw))
  }
  yield* notice([
    ...look.leftOut.map((mistake) => warningOf("", mistake)),
    ...[...spreadsheets.values()].map((path) => warningOf(path, noTable(path))),
    ...target.others
      .filter(({ path }) => shortcut.test(path))
      .map(({ path }) => warningOf(path, mistake("file:shortcut", { name: printablePath(path) }))),
    ...flawed.flatMap(({ flaw, isNamed, path }) =>
      (isNamed || isUseless(flaw) || flaw.wrong === "picture") && !(flaw.isShrinkable && areShrunk)
        ? [warningOf(path, mistake("file:flaw", { name: printablePath(path) }, flaw), codeOf[flaw.wrong])]
        : []
    )
  ])
  return {
    total: saved.length,
    bytes: sizeOf(saved),
    reused: saved.filter(({ isReused }) => isReused).length,
    digests: Object.fromEntries(saved.map(({ path, sha256 }) => [path, sha256])),
    flaws: Object.fromEntries(flawed.map(({ flaw, path }) => [path, flaw])),
    place: linkReused(saved, target)
  }
})

/** An empty picture or film is the result of an interrupted copy. */
const checkFiles = (files: ReadonlyArray<FolderFile>): Effect.Effect<void, SourceError> => {
  const unfinished = files.find(({ path, size }) => size === 0 && isShownType(path))
  return unfinished === undefined
    ? Effect.void
    : failureAbout(mistake("file:empty", { name: printablePath(unfinished.path) }))
}

/** The spreadsheets at the top of the folder whose names are no document's name, by their names. */
const spreadsheetsIn = ({ files }: FolderLook, documents: ReadonlySet<string>): ReadonlyMap<string, string> =>
  new Map(
    files.flatMap(({ path }) => {
      const [, name = ""] =
        /^([^/]+)\.(?:xlsx?|xlsm|ods|numbers|gsheet|tsv|csv\.txt|json\.txt)$/i.exec(path) ?? []
      return name === "" || documents.has(name) ? [] : [[name, path] as const]
    })
  )

/** Shortcuts of Windows, macOS and Linux. */
const shortcut = /\.(?:lnk|url|webloc|desktop)$/i

const noTable = (spreadsheet: string): Mistake =>
  mistake(/\.(?:tsv|txt)$/i.test(spreadsheet) ? "file:ending" : "file:spreadsheet", { name: spreadsheet })

const isNew = ({ previous }: FetchTarget, fingerprint: string): boolean =>
  !Option.exists(previous, (before) => Option.contains(before.fingerprint, fingerprint))

/** Not a failure, because the folder does not exist before the first build. */
const announceBuild = Effect.fnUntraced(function* (directory: string) {
  const fileSystem = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fileSystem.exists(directory), constTrue))) {
    yield* Effect.logInfo(
      `The page in ${directory} is not built yet. Build it, for example with "npm run build"; the screens then show it.`
    )
  }
})

/** A build tool empties the folder of the page first. An incomplete build must not be shown. */
const checkBuild = ({ files }: FolderLook, { previous }: FetchTarget): Effect.Effect<void, FolderInUse> => {
  const before = Option.toArray(previous).flatMap(({ files }) => Object.keys(files))
  const lost = before.includes(firstPage) ? firstPage : before[0]
  const isThere = files.some(({ path }) => lost !== firstPage || path === firstPage)
  return lost === undefined || isThere
    ? Effect.void
    : new FolderInUse({ file: lost, detail: "no longer exists. Is the page being built?" })
}

const firstPage = "index.html"

/** If the version were inside the folder, each version would contain itself. */
const notInside = Effect.fnUntraced(function* (directory: string, target: FetchTarget) {
  const way = relative(directory, target.directory)
  if (!way.startsWith("..") && !isAbsolute(way)) {
    return yield* new SourceError({
      place: directory,
      detail: "the downloads folder is in this folder. Keep content in a separate folder."
    })
  }
})
