/**
 * A source of documents, wherever they come from: saving them, what is expected of them, their files, and what has not changed.
 *
 * ```
 * <source id>/<document>.json    an array of records, or one value
 * ```
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import { constFalse, flow, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileKey, fileName } from "../../internal/FileName.ts"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { explain } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import type {
  AttachmentProgress,
  ContentSource,
  FetchedAttachments,
  FetchedSource,
  FetchTarget,
  SourceChanges,
  SourceProgress
} from "../../services/ContentSource.ts"
import { WaitObserver } from "../../services/WaitObserver.ts"
import { type Document, DocumentNotSaved, Records } from "./Document.ts"
import type { DocumentOptions } from "./DocumentOptions.ts"
import { makeExpectations, requireExpected } from "./expect/Expectations.ts"
import { expectedSchema } from "./expect/expectedSchema.ts"
import { readItems, readValue } from "./expect/readSaved.ts"
import type { CheckedTable } from "./expect/TableCheck.ts"
import { makeHolding } from "./heldValues.ts"
import {
  type FoundDocument,
  fingerprint,
  type KnownDocument,
  type KnownDocuments,
  makeKnownDocuments
} from "./knownDocuments.ts"
import { type SearchedDocument, together } from "./media/findMedia.ts"
import * as SourceFiles from "./media/SourceFiles.ts"
import type { WantedFile } from "./media/WantedFile.ts"
import { withWarnings } from "./outsideText.ts"
import { makeProgressReporter, type ProgressReporter } from "./progressReporter.ts"
import {
  type DocumentFile,
  type DocumentTarget,
  forEachPart,
  saveDocument,
  type Waiting,
  writeDocument
} from "./saveDocument.ts"
import { sourceFailed } from "./sourceAnswers.ts"
import { listed, makeEmptied, makeSayWarnings } from "./warnings.ts"

type Step = Pick<SourceProgress, "attachments" | "document" | "records">

type JsonObject = Readonly<Record<string, unknown>>

/** Why documents cannot be had. */
export interface DocumentsError extends Error {
  readonly isTransient: boolean
}

/** What documents are that are tables. */
export interface Tables extends Pick<CheckedTable, "isAttachment" | "view"> {
  /** The fields of a saved record as they are in the table. */
  readonly fieldsOf: (record: JsonObject) => JsonObject
}

/** Files that a source puts into its folder by itself. */
export interface OwnFiles<E> extends FetchedAttachments {
  /** By their paths. */
  readonly digests: Readonly<Record<string, string>>
  readonly warnings: ReadonlyArray<string>
  /** Puts there what is not yet; only where something has changed. */
  readonly place: Effect.Effect<unknown, E>
}

/** What a source is made of. `E` is why its documents cannot be had, `R` what reading them needs. */
export interface DocumentSource<E extends DocumentsError, R>
  extends Pick<ContentSource, "changes" | "data">,
    SourceFiles.FileSettings {
  readonly options: Pick<DocumentOptions, "id" | "expect"> &
    Partial<Pick<DocumentOptions, "steps">> &
    SourceFiles.FileOptions

  /**
   * The documents, in the order in which they are read. They are read one after the other. `attached` are the files of those that
   * may be taken over instead.
   */
  readonly documents: (
    target: FetchTarget,
    attached: ReadonlyArray<WantedFile>
  ) => Effect.Effect<ReadonlyArray<Document<E>>, E, R>

  /** Puts files of its own into the folder, once the documents are read. */
  readonly ownFiles?: (
    target: FetchTarget,
    progress: (attachments: AttachmentProgress) => Effect.Effect<void>
  ) => Effect.Effect<OwnFiles<E>, E, R>

  /** Where its documents are tables. */
  readonly tables?: Tables

  /** As the `poll` of a `ContentSource`. */
  readonly poll?: (cursor: Option.Option<string>) => Effect.Effect<SourceChanges, E, R>

  /** Whether a path is that of a file that the source has beside its documents, for what is expected. Default: it has none. */
  readonly isFile?: (path: string) => boolean

  /** As the `schema` of a `ContentSource`. Default what is expected. */
  readonly schema?: ContentSource["schema"]

  /** A record or value without what says nothing of the content: that is saved, but makes no new version. Default all of it. */
  readonly lasting?: (value: unknown) => unknown
}

/** A document that was read, or is taken over. */
interface ReadDocument {
  readonly known: KnownDocument
  readonly content: DocumentFile | Waiting
  readonly searched: SearchedDocument
}

/**
 * Makes the source: each document is saved as `<name>.json`, after its steps, with what is expected checked, and with its files where
 * `media` or `images` say so. It fails with `SourceFailed`, whose cause is `E`, `DocumentNotSaved`, `FileNotSaved`, `SizesNotMade`, or what
 * is not as expected. Parts that have changed, in polls, are names of documents.
 */
export const makeDocumentSource = Effect.fnUntraced(function* <E extends DocumentsError, R>({
  changes,
  data,
  documents,
  isFile,
  lasting = identity,
  options,
  ownFiles,
  poll,
  schema,
  tables,
  ...settings
}: DocumentSource<E, R>) {
  const { expect, id, steps = [] } = options
  const environment = yield* withoutParentSpan(
    Effect.context<FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | R>()
  )
  const path = yield* Path.Path
  const kind = tables === undefined ? { kind: "document" as const } : {}
  const subject = tables === undefined ? "Document" : "Table"
  const expectations = makeExpectations(expect, {
    view: tables?.view ?? null,
    isAttachment: tables?.isAttachment ?? constFalse,
    isFile,
    ...kind
  })
  const files = yield* SourceFiles.make(options, settings)
  const knownDocuments = makeKnownDocuments()
  /** Whether its documents may name files. */
  const hasFiles = tables !== undefined || files.isWanted
  const emptied = makeEmptied()
  const say = makeSayWarnings()

  const failedIn = (document: string) => (detail: string, cause?: unknown) =>
    new DocumentNotSaved({ document, detail, ...(tables && { kind: "table" as const }), cause })

  const read = Effect.fn("DocumentSource.read")(function* (
    document: Document<E>,
    { directory, isSample = false, previous }: FetchTarget,
    progress: DocumentTarget["progress"],
    hold: Effect.Effect.Success<typeof makeHolding>
  ) {
    yield* Effect.annotateCurrentSpan("document", document.name)
    const name = fileOf(document)
    const isHeld = files.isWanted && !isSample
    const holding = Effect.map(hold(path.join(directory, `.${name}.held`)), (values) => ({
      values,
      ...files.search(searchedOf(document))
    }))
    const [{ check, content, isEmpty, ...saved }, noticed] = yield* saveDocument(
      isSample ? firstPage(document) : document,
      {
        path: path.join(directory, name),
        progress,
        begin: isSample ? Option.none : expectations.begin,
        fieldsOf: tables?.fieldsOf ?? identity,
        steps,
        lasting: files.lasting(lasting),
        holding: isHeld ? Option.some(holding) : Option.none(),
        failed: failedIn(document.name)
      }
    ).pipe(isHeld ? identity : Effect.scoped, withWarnings)
    const verdict = yield* expectations.end(check, previous, name, saved.holds)
    const empty = emptied(name, isEmpty, previous)
    const known: KnownDocument = {
      ...saved,
      document: document.name,
      name,
      verdict,
      warnings: [...noticed, ...saved.warnings, ...(verdict.violations.length === 0 ? empty : [])],
      attached: isSample ? [] : (document.about?.().files ?? [])
    }
    yield* Effect.annotateCurrentSpan("records", saved.records)
    return { known, content, searched: searchedOf(document) } satisfies ReadDocument
  })

  /** Takes a document over from the version before. Where it has files, it is read again there: these may have changed. */
  const takeOver = Effect.fnUntraced(function* (
    document: Document<E>,
    { directory, file, known }: FoundDocument,
    target: FetchTarget
  ) {
    const from = path.join(directory, known.name)
    const cannotReuse = (cause: Error) =>
      failedIn(document.name)(`cannot be reused: ${explain(cause)}`, cause)
    if (!files.isWanted) {
      yield* Effect.mapError(linkOrCopy(from, path.join(target.directory, known.name)), cannotReuse)
      return { known, content: file, searched: searchedOf(document) } satisfies ReadDocument
    }
    const parts = Stream.mapError(
      known.holds === "records"
        ? Stream.map(Stream.chunks(readItems(from)), Chunk.toReadonlyArray)
        : Stream.fromEffect(Effect.map(readValue(from), Array.of)),
      cannotReuse
    )
    const search = files.search(searchedOf(document))
    yield* forEachPart(parts, known.holds, (part) => Effect.sync(() => search.look(part)))
    const content = { parts, found: search.found() }
    return { known, content, searched: searchedOf(document) } satisfies ReadDocument
  })

  const readAll = Effect.fnUntraced(function* (
    given: ReadonlyArray<Document<E>>,
    target: FetchTarget,
    before: KnownDocuments,
    progress: ProgressReporter<Step>
  ) {
    const hold = yield* makeHolding
    const all = yield* Effect.forEach(
      given,
      Effect.fnUntraced(function* (document) {
        const found =
          target.changedParts?.includes(document.name) === false ? before.find(document.name) : Option.none()
        const report = (records: number) => progress.report({ document: document.name, records })
        const result: ReadDocument = yield* Option.isSome(found)
          ? takeOver(document, found.value, target)
          : read(document, target, report, hold)
        progress.documentDone()
        return result
      })
    )
    yield* requireExpected(all.map(({ known }) => known.verdict))
    return all
  })

  const fetch = Effect.fn("DocumentSource.fetch")(function* (target: FetchTarget) {
    yield* Effect.annotateCurrentSpan("source", id)
    const { directory, previous } = target
    const before = knownDocuments.of(previous)
    const [given, noticed] = yield* withWarnings(documents(target, before.attached))
    yield* checkNames(given, expect, failedIn)
    const progress = makeProgressReporter<Step>(given.length, target.progress)
    const outer = yield* WaitObserver

    const fetching = Effect.gen(function* () {
      const all = yield* readAll(given, target, before, progress)
      const records = new Map(all.map(({ known }) => [known.document, known.records]))
      const reportFiles = (document: string, attachments: AttachmentProgress) =>
        progress.report({ document, records: records.get(document) ?? 0, attachments })
      const own: OwnFiles<E> = yield* ownFiles === undefined
        ? Effect.succeed(noFiles)
        : ownFiles(target, (attachments) => reportFiles("files", attachments))
      const found = together(all.flatMap(({ content }) => ("found" in content ? [content.found] : [])))
      const fetched = yield* files.fetchAll({
        directory,
        previous,
        found,
        attached: all.flatMap(({ known }) => known.attached),
        index: before.index,
        progress: ({ place }, attachments) => reportFiles(place.document, attachments)
      })
      const content = fingerprint([
        ...all.map(({ known }) => known),
        ...Object.entries(own.digests).map(([name, digest]) => ({ name, digest })),
        ...(files.isWanted ? [{ name: "", digest: fetched.digest }] : [])
      ])
      const isUnchanged = Option.exists(previous, ({ fingerprint }) => Option.contains(fingerprint, content))
      const placed = isUnchanged
        ? Option.none()
        : Option.some(yield* Effect.zipRight(own.place, fetched.place(own.digests)))
      const written = yield* Effect.forEach(all, ({ content, known, searched }) =>
        "parts" in content
          ? Effect.map(
              Effect.transposeMapOption(placed, ({ change }) =>
                writeDocument(content, known.holds, change(searched), {
                  path: path.join(directory, known.name),
                  failed: failedIn(known.document)
                })
              ),
              Option.getOrElse(() => fileBefore(previous, known.name))
            )
          : Effect.succeed(content)
      )
      const { bytes, digests, flaws } = Option.getOrElse(placed, () => ({
        bytes: 0,
        digests: {},
        flaws: before.flaws
      }))
      before.add({
        fingerprint: content,
        documents: all.map(({ known }) => known),
        index: fetched.index,
        flaws
      })
      const total = sum(all.map(({ known }) => known.records))
      const warnings = [
        ...noticed,
        ...all.flatMap(({ known: { document, warnings } }) =>
          warnings.map((warning) => `${subject} "${document}": ${warning}`)
        ),
        ...own.warnings,
        ...fetched.warnings,
        ...(target.isSample === true ? [] : yield* files.nothingFound(found, total)),
        ...flaws
      ]
      yield* say(warnings)
      const attachments = addUp(own, fetched.attachments)
      return {
        ...listed(warnings),
        fingerprint: content,
        records: total,
        bytes: sum(written.map(({ bytes }) => bytes)) + attachments.bytes + bytes,
        ...(hasFiles || own.total > 0 ? { attachments } : {}),
        digests: {
          ...Object.fromEntries(all.map(({ known }, index) => [known.name, written[index]?.sha256 ?? ""])),
          ...own.digests,
          ...digests
        },
        documents: Object.fromEntries(all.map(({ searched: { name, ...document } }) => [name, document]))
      } satisfies FetchedSource
    })
    return yield* fetching.pipe(
      Effect.provideService(WaitObserver, {
        waiting: (wait) => Effect.zipRight(outer.waiting(wait), progress.waiting(wait))
      })
    )
  }, Effect.scoped)

  const answering = flow(
    Effect.mapError(sourceFailed(id)),
    Effect.annotateLogs("source", id),
    Effect.provide(environment)
  )

  return {
    id,
    ...(changes && { changes }),
    ...(data && { data }),
    schema:
      schema ??
      Effect.succeed(
        Record.map(expect, (expectation) => ({
          schemas: [expectedSchema(expectation, { attachment: Schema.Unknown, emptyCells: "left out" })]
        }))
      ),
    fetch: (target) => answering(fetch(target)),
    ...(poll && { poll: (cursor) => answering(poll(cursor)) })
  } satisfies ContentSource
})

const fileOf = ({ name }: Document<unknown>): string => `${fileName(name)}.json`

const searchedOf = (document: Document<unknown>) => {
  const { key, url } = document
  return { name: fileOf(document), ...(key && { key }), ...(url && { url }) }
}

const firstPage = <E>(document: Document<E>): Document<E> =>
  document.content._tag === "Records"
    ? { ...document, content: Records({ pages: Stream.take(document.content.pages, 1) }) }
    : document

const noFiles: OwnFiles<never> = {
  total: 0,
  bytes: 0,
  reused: 0,
  digests: {},
  warnings: [],
  place: Effect.void
}

const addUp = (a: FetchedAttachments, b: FetchedAttachments): FetchedAttachments => ({
  total: a.total + b.total,
  bytes: a.bytes + b.bytes,
  reused: a.reused + b.reused
})

const fileBefore = (previous: FetchTarget["previous"], name: string): DocumentFile =>
  Option.match(
    Option.flatMap(previous, ({ files }) => Record.get(files, name)),
    {
      onNone: () => ({ bytes: 0, sha256: "" }),
      onSome: ({ sha256, size }) => ({ bytes: size, sha256 })
    }
  )

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, number) => sum + number, 0)

/** No two documents have one file, and what is expected is expected of one that is there. */
const checkNames = (
  documents: ReadonlyArray<Document<unknown>>,
  expect: DocumentOptions["expect"],
  failedIn: (document: string) => (detail: string) => DocumentNotSaved
): Effect.Effect<void, DocumentNotSaved> => {
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
      : Effect.void
}
