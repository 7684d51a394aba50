/**
 * A source of documents of any kind: saves documents, checks expectations, fetches files, and detects unchanged
 * content. Your own source uses it, with the options, requests and documents that it exports too.
 *
 * ```
 * <source id>/<document>.json    an array of records, or one value
 * ```
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { constFalse, flow, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { fileKey } from "../../files/fileName.ts"
import { sha256OfText } from "../../files/sha256.ts"
import { withoutParentSpan } from "../../internal/background.ts"
import { sumCounts } from "../../internal/contentCounts.ts"
import type { MistakePlace } from "../../internal/mistakeParts.ts"
import type {
  AttachmentProgress,
  ContentSource,
  FetchedAttachments,
  FetchedSource,
  FetchTarget,
  SourceChanges
} from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { WaitObserver } from "../../services/WaitObserver.ts"
import type { Warning } from "../../services/Warning.ts"
import { makeSentSecrets, SentSecrets } from "../httpClient/secrets.ts"
import { Refused, withinBudget } from "./budget.ts"
import {
  type Document,
  type DocumentsError,
  empty,
  type FailedIn,
  failedIn,
  firstPage,
  type LinkedSource,
  mistakePlace,
  withSteps
} from "./Document.ts"
import type { DocumentOptions } from "./DocumentOptions.ts"
import { rewrite } from "./documentFile.ts"
import { documentSchemas, makeExpectations, requireExpected } from "./expect/Expectations.ts"
import type { CheckedTable } from "./expect/TableCheck.ts"
import * as Gone from "./Gone.ts"
import * as KeptFile from "./KeptFile.ts"
import { linkRecords } from "./linkRecords.ts"
import { LinkExpired } from "./media/FileProblem.ts"
import { type Finding, isChangedByFiles, merged } from "./media/findMedia.ts"
import type { Lasting, MediaReader } from "./media/placeMedia.ts"
import * as SourceFiles from "./media/SourceFiles.ts"
import type { Flaw } from "./media/verdict.ts"
import { alikeWarnings, documentKey } from "./names.ts"
import { makeProgressReporter } from "./progress.ts"
import { type SavedDocument, saveDocument } from "./saveDocument.ts"
import { failureOf, sourceErrors } from "./sourceErrors.ts"
import { failureAbout, listed, makeSayWarnings, notice, placed, within, withWarnings } from "./warnings.ts"

// The declarations of a program use these types.
export type {
  ContentSource,
  ContentSourceDefinition,
  SourceEnvironment
} from "../../services/ContentSource.ts"
export { SourceError } from "../../services/SourceError.ts"
export { type Answer, RequestFailed, type RequestOptions } from "../httpClient/Requests.ts"
export {
  type Document,
  type DocumentContent,
  type DocumentsError,
  Keys,
  Records,
  type Step,
  Value
} from "./Document.ts"
export type { FieldType } from "./DocumentConfig.ts"
export {
  type DocumentConfig as Config,
  DocumentOptions as Options,
  define
} from "./DocumentOptions.ts"
export { fileFieldsOfReader } from "./media/MediaOptions.ts"
export { makeRequests, type Requests } from "./readText.ts"

/**
 * The properties of documents that are tables.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tables extends Pick<CheckedTable, "isAttachment" | "view"> {
  /** The fields of a saved record as in the table. */
  readonly fieldsOf: (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
}

/**
 * Everything may have changed if the cursor differs from the one before.
 *
 * @since 0.1.0
 * @category utils
 */
export const changesSince = (before: Option.Option<string>, cursor: string): SourceChanges => ({
  cursor,
  changed: Option.contains(before, cursor) ? "nothing" : "everything"
})

/**
 * Files that a source puts into its folder itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface OwnFiles<E> extends FetchedAttachments {
  /** By their paths. */
  readonly digests: Readonly<Record<string, string>>
  /** By their paths. Default none. */
  readonly flaws?: Readonly<Record<string, Flaw>>
  /** Puts the missing files there; called only if something has changed. */
  readonly place: Effect.Effect<unknown, E>
}

/**
 * A source, opened for one fetch. Everything that belongs to the fetch is in here, and ends with its scope.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenedSource<E> extends LinkedSource<E> {
  /** Finds files in records in the source's own way, beside the files of the options. */
  readonly reader?: MediaReader | undefined

  /** The source's own files, after the documents are read. Default none. */
  readonly files?:
    | ((progress: (attachments: AttachmentProgress) => Effect.Effect<void>) => Effect.Effect<OwnFiles<E>, E>)
    | undefined

  /** Whether a path belongs to one of these files, for expectations. Default: there are none. */
  readonly isFile?: ((path: string) => boolean) | undefined

  /** The path of one of these files that is similar to a path, for messages. */
  readonly similar?: ((path: string) => string | undefined) | undefined
}

/**
 * The parts of a source. `E` is the error of reading its documents, `R` the services for reading them, and `Target`
 * the input of a fetch.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentSource<E extends DocumentsError, R, Target extends FetchTarget = FetchTarget>
  extends Pick<ContentSource, "changes" | "data">,
    SourceFiles.FileSettings {
  readonly options: Pick<DocumentOptions, "id" | "expect"> &
    Partial<Pick<DocumentOptions, "links" | "steps">> &
    SourceFiles.FileOptions

  /** Begins a fetch, or a check. */
  readonly open: (target: Target) => Effect.Effect<OpenedSource<E>, E, R | Scope.Scope>

  /** Present if its documents are tables. */
  readonly tables?: Tables | undefined

  /** As the `poll` of a `ContentSource`; `kept` is what the source keeps over restarts. */
  readonly poll?:
    | ((cursor: Option.Option<string>, kept: KeptFile.KeptFile) => Effect.Effect<SourceChanges, E, R>)
    | undefined

  /** As the `schema` of a `ContentSource`. Default the expectations. */
  readonly schema?: ContentSource["schema"] | undefined

  /**
   * Removes the volatile parts of an object, such as a counter: they are saved, but a change of them makes no new
   * version. It is called for each object, inner objects first. Default: there are none.
   */
  readonly lasting?: Lasting | undefined
}

/**
 * Makes the source: each document is saved as `<name>.json`, after its steps and the check of its expectations, and
 * with its files if `media` or `images` want them. Its fetches fail with `SourceError`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* <
  E extends DocumentsError,
  R,
  Target extends FetchTarget = FetchTarget
>(
  source: DocumentSource<E, R, Target>
): Effect.fn.Return<
  Omit<ContentSource, "fetch"> & {
    readonly fetch: (target: Target) => Effect.Effect<FetchedSource, SourceError>
  },
  never,
  FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | Scope.Scope | Exclude<R, Scope.Scope>
> {
  const { changes, data, options, poll, schema, tables } = source
  const { expect, id } = options
  const environment = yield* withoutParentSpan(
    Effect.context<FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | Exclude<R, Scope.Scope>>()
  )
  const sent = makeSentSecrets()
  const files = yield* SourceFiles.make(options, source)
  const kept = yield* KeptFile.make(id)
  const gone = Gone.make(options, tables === undefined ? "document" : "table", kept)
  const reads = yield* Ref.make<ReadonlyArray<KeptFile.ReadSource>>([])
  const state: FetchState = { files, gone, kept, reads, say: makeSayWarnings() }

  const fetch = Effect.fn("DocumentSource.fetch")((target: Target) =>
    sourceErrors(Effect.scoped(fetchInto(source, state, target)))
  )

  const answering = flow(
    Effect.mapError(failureOf(id)),
    Effect.annotateLogs("source", id),
    // The caller gets the failure, without secrets. A fiber of the work would log it with them.
    Effect.withUnhandledErrorLogLevel(Option.none()),
    Effect.provideService(SentSecrets, sent),
    Effect.provide(environment)
  )

  return {
    id,
    changes,
    data,
    schema: schema ?? Effect.succeed(documentSchemas(expect)),
    options: Gone.optionsDigest(options),
    accept: gone.accept,
    fetch: (target: Target) => answering(fetch(target)),
    poll:
      poll && ((cursor: Option.Option<string>) => answering(sourceErrors(Effect.scoped(poll(cursor, kept)))))
  }
})

/** The state of a source between its fetches. */
interface FetchState {
  readonly files: SourceFiles.SourceFiles
  readonly kept: KeptFile.KeptFile
  readonly gone: ReturnType<typeof Gone.make>
  /** The last read, and the read that became the last version. */
  readonly reads: Ref.Ref<ReadonlyArray<KeptFile.ReadSource>>
  readonly say: ReturnType<typeof makeSayWarnings>
}

/** One fetch of the opened source. */
interface CurrentFetch<E> {
  readonly opened: OpenedSource<E>
  readonly target: FetchTarget
  readonly progress: Effect.Effect.Success<ReturnType<typeof makeProgressReporter>>
}

/** Fetches the source into a folder, once more if links have expired, and says what is wrong. */
const fetchInto = Effect.fnUntraced(function* <E extends DocumentsError, R, Target extends FetchTarget>(
  source: DocumentSource<E, R, Target>,
  { files, gone, kept, reads, say }: FetchState,
  target: Target
) {
  yield* Effect.annotateCurrentSpan("source", source.options.id)
  const isPrevious = ({ fingerprint }: KeptFile.ReadSource) =>
    Option.exists(target.previous, (previous) => Option.contains(previous.fingerprint, fingerprint))
  const before = [...(yield* Ref.get(reads)), (yield* kept.read).files]
    .filter(Predicate.isNotUndefined)
    .find(isPrevious)
  const reading = withWarnings(read(source, files, target, before))
  const [{ areTagsNew, fetched, found, read: latest, ...saved }, noticed] = yield* Effect.catchIf(
    reading,
    // The documents have fresh links.
    (error) => error instanceof LinkExpired,
    () => Effect.zipRight(empty(target.directory), reading)
  )
  const { hide } = yield* SentSecrets
  const isCheck = target.isCheck === true
  const given = [...noticed, ...saved.warnings].map(withoutSecrets(hide))
  const warnings = (yield* gone.judge(given, found, isCheck)).map(withoutSecrets(hide))
  if (!isCheck) {
    // Beside the last version, because this read may not become a version.
    const isOther = before !== undefined && before.fingerprint !== latest.fingerprint
    yield* Ref.set(reads, isOther ? [latest, before] : [latest])
    if (areTagsNew) yield* kept.change({ files: latest })
    yield* say(warnings)
  }
  return { ...fetched, ...listed(warnings) } satisfies FetchedSource
})

/** Opens the source, and reads it into the folder. */
const read = Effect.fnUntraced(function* <E extends DocumentsError, R, Target extends FetchTarget>(
  source: DocumentSource<E, R, Target>,
  files: SourceFiles.SourceFiles,
  target: Target,
  before: KeptFile.ReadSource | undefined
) {
  const outer = yield* WaitObserver
  const opened = yield* source.open(target)
  const progress = yield* makeProgressReporter(opened.documents.length, target.progress)
  return yield* Effect.provideService(
    save(source, files, { opened, progress, target }, before),
    WaitObserver,
    { waiting: (wait) => Effect.zipRight(outer.waiting(wait), progress.waiting(wait)) }
  )
})

/** Puts everything into the folder, unless nothing has changed. */
const save = Effect.fnUntraced(function* <E extends DocumentsError>(
  source: Pick<DocumentSource<E, never>, "options" | "tables" | "lasting">,
  files: SourceFiles.SourceFiles,
  current: CurrentFetch<E>,
  before: KeptFile.ReadSource | undefined
) {
  const { opened, progress, target } = current
  const { directory, isSample = false, previous } = target
  const path = yield* Path.Path
  const finding = { ...SourceFiles.findingOf(files, opened.reader), lasting: source.lasting }
  const all = yield* saveAll(source, current, finding)
  const records = new Map(all.map(({ document, records }) => [document, records]))
  const report = (document: string, attachments: AttachmentProgress) =>
    progress.report({ document, records: records.get(document) ?? 0, attachments })
  const own = yield* opened.files?.((attachments) => report("files", attachments)) ??
    Effect.succeed<OwnFiles<E>>(noFiles)
  const found = merged(isSample ? [] : all.map(({ found }) => found))
  yield* Effect.try({
    try: () => withinBudget("files", found.files.size + Object.keys(own.digests).length),
    catch: (error) =>
      error instanceof Refused ? failureAbout(error.mistake) : new SourceError({ cause: error })
  })
  const fetched = yield* SourceFiles.fetchAll(files, {
    directory,
    previous,
    found,
    finding,
    own: own.digests,
    ownFlaws: own.flaws ?? {},
    index: before?.index,
    progress: ({ place }, attachments) => report(place.document, attachments),
    pictureProgress: progress.again
  })
  const fingerprint = fingerprintOf([
    ...all.map(({ about: { name }, digest }) => ({ name, digest })),
    ...Object.entries(own.digests).map(([name, digest]) => ({ name, digest })),
    ...Option.toArray(fetched.digest).map((digest) => ({ name: "", digest }))
  ])
  const isUnchanged = Option.exists(previous, (before) => Option.contains(before.fingerprint, fingerprint))
  const placed: SourceFiles.PlacedFiles = isUnchanged
    ? { bytes: 0, digests: {}, change: undefined, index: fetched.index }
    : yield* Effect.zipRight(own.place, fetched.place)
  const written = yield* Effect.forEach(all, (document) =>
    placed.change === undefined || isSample || !isChangedByFiles(document.found)
      ? Effect.succeed(document.file)
      : rewrite(document, placed.change(document), path.join(directory, document.about.name))
  )
  const counts = sumCounts(all.map(({ holds, records }) => ({ records, values: holds === "keys" ? 1 : 0 })))
  const attachments = addUp(own, fetched.attachments)
  const documents = all.map((saved) => ({ ...saved, place: placeOf(saved) }))
  return {
    found: isSample ? undefined : { previous, documents, files: attachments.total },
    warnings: [
      ...all.flatMap(warningsOf),
      ...fetched.warningsOf(placed.index),
      ...(isSample
        ? []
        : yield* SourceFiles.nothingFound(files, found, counts.records + (counts.values ?? 0)))
    ],
    read: { fingerprint, index: placed.index } satisfies KeptFile.ReadSource,
    /** Whether the index of the version has older tags: equal files were downloaded again. */
    areTagsNew: isUnchanged && fetched.attachments.reused < fetched.attachments.total,
    fetched: {
      fingerprint,
      ...counts,
      bytes: written.reduce((sum, { bytes }) => sum + bytes, attachments.bytes + placed.bytes),
      attachments: source.tables !== undefined || finding.isWanted || own.total > 0 ? attachments : undefined,
      digests: {
        ...Object.fromEntries(all.map(({ about }, index) => [about.name, written[index]?.sha256 ?? ""])),
        ...own.digests,
        ...placed.digests
      },
      documents: Object.fromEntries(all.map(({ about: { name, ...document } }) => [name, document]))
    }
  }
})

/** Reads and saves the documents, one after the other. */
const saveAll = Effect.fnUntraced(function* <E extends DocumentsError>(
  { options, tables }: Pick<DocumentSource<E, never>, "options" | "tables">,
  { opened, progress, target }: CurrentFetch<E>,
  finding: Finding
) {
  const { expect, links = {}, steps = [] } = options
  const { isSample = false } = target
  const isOfTables = tables !== undefined
  const fieldsOf = tables?.fieldsOf ?? identity
  const edited = new Map(opened.documents.map(({ file, name }) => [name, file]))
  const failedAt = (document: string) => {
    const file = edited.get(document)
    return failedIn(
      file === undefined ? { document, kind: tables && "table" } : { document: file, kind: "file" }
    )
  }
  yield* checkNames(opened.documents, expect, failedAt)
  const expectations = makeExpectations(expect, {
    view: tables?.view ?? null,
    isAttachment: tables?.isAttachment ?? constFalse,
    isFile: opened.isFile,
    similar: opened.similar,
    kind: isOfTables ? undefined : "document"
  })
  const ready = (document: Document<E>): Document<E | SourceError> => {
    const failed = failedAt(document.name)
    return isSample
      ? withSteps(firstPage(document), steps, failed)
      : expectations.leaveOut(
          expectations.typed(withSteps(document, steps, failed)),
          Object.keys(links),
          fieldsOf
        )
  }
  const linked = yield* linkRecords(
    // A sample would otherwise read all linked documents.
    isSample ? {} : links,
    { documents: opened.documents.map(ready), linked: opened.linked },
    failedAt
  )
  const all = yield* Effect.forEach(linked.documents, (document) =>
    Effect.zipLeft(
      saveDocument(document, {
        target,
        expectations,
        finding,
        failedIn: failedAt,
        isOfTables,
        fieldsOf,
        progress: (document, records) => progress.report({ document, records })
      }),
      progress.documentDone
    )
  )
  yield* linked.end
  yield* requireExpected(all.map(({ verdict }) => verdict))
  return all
})

const withoutSecrets =
  (hide: (text: string) => string) =>
  ({ code, mistake, subject, text }: Warning): Warning => ({
    code,
    subject: hide(subject),
    text: hide(text),
    mistake: hide(text) === text ? mistake : undefined
  })

const warningsOf = (saved: SavedDocument): ReadonlyArray<Warning> =>
  saved.warnings.map(placed(placeOf(saved))).map(within(saved.document))

const placeOf = ({ document, place }: SavedDocument): MistakePlace =>
  mistakePlace(place.kind === "file" ? place : { ...place, document })

const noFiles: OwnFiles<never> = {
  total: 0,
  bytes: 0,
  reused: 0,
  digests: {},
  place: Effect.void
}

const addUp = (a: FetchedAttachments, b: FetchedAttachments): FetchedAttachments => ({
  total: a.total + b.total,
  bytes: a.bytes + b.bytes,
  reused: a.reused + b.reused
})

/** The fingerprint of files from the digests of their contents, independent of their order. */
const fingerprintOf = (files: ReadonlyArray<{ readonly name: string; readonly digest: string }>): string =>
  sha256OfText(JSON.stringify(files.map(({ digest, name }) => [name, digest].join("/")).sort()))

/** Checks that no two documents have the same file, and that all expectations are about existing documents. */
const checkNames = (
  documents: ReadonlyArray<Document<unknown>>,
  expect: DocumentOptions["expect"],
  failedIn: (document: string) => FailedIn
): Effect.Effect<void, SourceError> => {
  const names = new Set(documents.map(({ name }) => name))
  const keys = new Set<string>()
  const clash = documents.find(({ name }) => keys.size === keys.add(fileKey(name)).size)
  const unknown = Object.keys(expect).find((name) => !names.has(name))
  return clash !== undefined
    ? failedIn(clash.name)("another document would be saved in the same file; rename one of them")
    : unknown !== undefined
      ? failedIn(unknown)(
          `"expect" names it, but there is no such document; there are: ${[...names].join(", ")}`
        )
      : notice(alikeWarnings("document", names, documentKey))
}
