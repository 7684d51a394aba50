/**
 * A source of documents of any kind: saves documents, checks expectations, fetches files, and detects unchanged
 * content.
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
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { sha256OfText } from "../../files/fileContent.ts"
import { fileKey } from "../../files/fileName.ts"
import { withoutParentSpan } from "../../internal/background.ts"
import { sumCounts } from "../../internal/contentCounts.ts"
import type {
  AttachmentProgress,
  FetchedAttachments,
  FetchedSource,
  FetchTarget
} from "../../services/ContentSource.ts"
import type { SourceError } from "../../services/SourceError.ts"
import { WaitObserver } from "../../services/WaitObserver.ts"
import { makeSentSecrets, SentSecrets } from "../httpClient/secrets.ts"
import { type Document, type FailedIn, failedIn } from "./Document.ts"
import type { DocumentOptions } from "./DocumentOptions.ts"
import type { DocumentSource, DocumentsError, OpenedSource, OwnFiles } from "./DocumentSource.ts"
import { rewrite } from "./documentFile.ts"
import { documentSchemas, makeExpectations, requireExpected } from "./expect/Expectations.ts"
import { linkRecords } from "./linkRecords.ts"
import { type Finding, isChangedByFiles, merged } from "./media/findMedia.ts"
import { withoutSignatures } from "./media/links.ts"
import type { MediaIndex } from "./media/MediaDownload.ts"
import * as SourceFiles from "./media/SourceFiles.ts"
import { makeProgressReporter, type ProgressReporter } from "./progress.ts"
import { firstPage, makeReadDocument, type ReadDocument } from "./saveDocument.ts"
import { failureOf, sourceErrors } from "./sourceErrors.ts"
import { listed, makeSayWarnings, withWarnings } from "./warnings.ts"
import { withSteps } from "./withSteps.ts"

/**
 * Makes the source: each document is saved as `<name>.json`, after its steps and the check of its expectations, and
 * with its files if `media` or `images` want them. It fails with `SourceError`.
 */
export const makeDocumentSource = Effect.fnUntraced(function* <
  E extends DocumentsError,
  R,
  Target extends FetchTarget = FetchTarget
>(source: DocumentSource<E, R, Target>) {
  const { changes, data, lasting: stablePart = identity, options, poll, schema, tables } = source
  const { expect, id, links = {}, steps = [] } = options
  const environment = yield* withoutParentSpan(
    Effect.context<FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | Exclude<R, Scope.Scope>>()
  )
  const sent = makeSentSecrets()
  const files = yield* SourceFiles.make(options, source)
  const reads = yield* Ref.make<ReadonlyArray<ReadSource>>([])
  const say = makeSayWarnings()
  const failedAt = (document: string) => failedIn({ document, kind: tables && "table" })

  /** Begins a fetch. */
  const open = Effect.fnUntraced(function* (target: Target) {
    const opened = yield* source.open(target)
    yield* checkNames(opened.documents, expect, failedAt)
    const fieldsOf = tables?.fieldsOf ?? identity
    const expectations = makeExpectations(expect, {
      view: tables?.view ?? null,
      isAttachment: tables?.isAttachment ?? constFalse,
      isFile: opened.isFile,
      kind: tables === undefined ? "document" : undefined
    })
    const ready = (document: Document<E>): Document<E | SourceError> =>
      target.isSample === true
        ? withSteps(firstPage(document), steps, failedAt(document.name))
        : expectations.leaveOut(
            withSteps(document, steps, failedAt(document.name)),
            Object.keys(links),
            fieldsOf
          )
    const linked = yield* linkRecords(
      // A sample would otherwise read all linked documents.
      target.isSample === true ? {} : links,
      { documents: opened.documents.map(ready), linked: opened.linked },
      failedAt
    )
    const finding = files.findingOf(opened.reader)
    const before = (yield* Ref.get(reads)).find(({ fingerprint }) =>
      Option.exists(target.previous, (previous) => Option.contains(previous.fingerprint, fingerprint))
    )
    const read = makeReadDocument({
      expectations,
      failedIn: failedAt,
      fieldsOf,
      finding,
      isOfTables: tables !== undefined,
      stablePart: finding.areLinksSigned ? flow(stablePart, withoutSignatures) : stablePart
    })
    return {
      files,
      finding,
      opened,
      linked,
      read,
      target,
      before,
      progress: yield* makeProgressReporter(opened.documents.length, target.progress),
      isOfTables: tables !== undefined
    } satisfies Fetch<E>
  })

  const fetch = Effect.fn("DocumentSource.fetch")(
    function* (target: Target) {
      yield* Effect.annotateCurrentSpan("source", id)
      const outer = yield* WaitObserver
      const [{ before, fetched, found, read }, noticed] = yield* withWarnings(
        Effect.flatMap(open(target), (fetch) =>
          Effect.provideService(fetchAll(fetch), WaitObserver, {
            waiting: (wait) => Effect.zipRight(outer.waiting(wait), fetch.progress.waiting(wait))
          })
        )
      )
      const warnings = [...noticed, ...found].map(sent.hide)
      if (target.isCheck !== true) {
        // Beside the last version, because this read may not become a version.
        const isOther = before !== undefined && before.fingerprint !== read.fingerprint
        yield* Ref.set(reads, isOther ? [read, before] : [read])
        yield* say(warnings)
      }
      return { ...fetched, ...listed(warnings) } satisfies FetchedSource
    },
    (fetching) => sourceErrors(Effect.scoped(fetching))
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
    fetch: (target: Target) => answering(fetch(target)),
    poll: poll && ((cursor: Option.Option<string>) => answering(sourceErrors(Effect.scoped(poll(cursor)))))
  }
})

/** A version of the source, as this process has read it. */
interface ReadSource {
  readonly fingerprint: string
  /** The documents that have become empty: they had records in an earlier version. */
  readonly emptied: ReadonlySet<string>
  /**
   * The index of its linked files. It is newer than the index on disk, because servers may have sent new tags since.
   */
  readonly index: MediaIndex
  /** Warnings about its pictures. */
  readonly flaws: ReadonlyArray<string>
}

/** A fetch that has begun, with everything that its steps need. */
interface Fetch<E extends DocumentsError> {
  readonly target: FetchTarget
  readonly opened: OpenedSource<E>
  /** The documents as they will be saved. */
  readonly linked: Effect.Effect.Success<ReturnType<typeof linkRecords<E | SourceError>>>
  readonly read: ReturnType<typeof makeReadDocument>
  readonly finding: Finding
  readonly files: Effect.Effect.Success<ReturnType<typeof SourceFiles.make>>
  /** The last version; `undefined` if this process has not read it. */
  readonly before: ReadSource | undefined
  readonly progress: ProgressReporter
  /** Whether messages call documents tables. */
  readonly isOfTables: boolean
}

/** Reads the documents, one after the other. */
const readAll = Effect.fnUntraced(function* <E extends DocumentsError>({
  before,
  linked,
  progress,
  read,
  target
}: Fetch<E>) {
  const all = yield* Effect.forEach(
    linked.documents,
    Effect.fnUntraced(function* (document) {
      const { name } = document
      const wasEmptied = before?.emptied.has(name) === true
      const result = yield* read(document, target, wasEmptied, (records) =>
        progress.report({ document: name, records })
      )
      yield* progress.documentDone
      return result
    })
  )
  yield* linked.end
  yield* requireExpected(all.map(({ verdict }) => verdict))
  return all
})

/** Gets the files of the documents, and the source's own files. */
const fetchFiles = Effect.fnUntraced(function* <E extends DocumentsError>(
  { before, files, finding, opened, progress, target }: Fetch<E>,
  all: ReadonlyArray<ReadDocument>
) {
  const { directory, isSample = false, previous } = target
  const records = new Map(all.map(({ document, records }) => [document, records]))
  const report = (document: string, attachments: AttachmentProgress) =>
    progress.report({ document, records: records.get(document) ?? 0, attachments })
  const own = yield* opened.files?.((attachments) => report("files", attachments)) ??
    Effect.succeed<OwnFiles<E>>(noFiles)
  const found = merged(isSample ? [] : all.map(({ found }) => found))
  const fetched = yield* files.fetchAll({
    directory,
    previous,
    found,
    finding,
    index: before?.index,
    progress: ({ place }, attachments) => report(place.document, attachments)
  })
  return { own, found, fetched }
})

/** Puts everything into the folder, unless nothing has changed. */
const fetchAll = Effect.fnUntraced(function* <E extends DocumentsError>(fetch: Fetch<E>) {
  const { before, files, isOfTables, target } = fetch
  const { directory, isSample = false, previous } = target
  const path = yield* Path.Path
  const all = yield* readAll(fetch)
  const { fetched, found, own } = yield* fetchFiles(fetch, all)
  const content = fingerprintOf([
    ...all.map(({ about: { name }, digest }) => ({ name, digest })),
    ...Object.entries(own.digests).map(([name, digest]) => ({ name, digest })),
    ...Option.toArray(fetched.digest).map((digest) => ({ name: "", digest }))
  ])
  const isUnchanged = Option.exists(previous, ({ fingerprint }) => Option.contains(fingerprint, content))
  const placed = isUnchanged
    ? { ...nothingPlaced, flaws: before?.flaws ?? [] }
    : yield* Effect.zipRight(own.place, fetched.place(own.digests))
  const written = yield* Effect.forEach(all, (document) =>
    placed.change === undefined || isSample || !isChangedByFiles(document.found)
      ? Effect.succeed(document.file)
      : rewrite(document, placed.change(document), path.join(directory, document.about.name))
  )
  const counts = sumCounts(all.map(({ holds, records }) => ({ records, values: holds === "keys" ? 1 : 0 })))
  const attachments = addUp(own, fetched.attachments)
  const warned = [
    ...all.flatMap(({ document, warnings }) =>
      warnings.map((warning) => `${isOfTables ? "Table" : "Document"} "${document}": ${warning}`)
    ),
    ...fetched.warnings,
    ...(isSample ? [] : yield* files.nothingFound(found, counts.records + (counts.values ?? 0))),
    ...placed.flaws
  ]
  return {
    before,
    /** Warnings about the documents and their files. */
    found: warned,
    /** Kept for later fetches, unless this is a check. */
    read: {
      fingerprint: content,
      emptied: new Set(all.filter(({ isEmptied }) => isEmptied).map(({ document }) => document)),
      index: fetched.index,
      flaws: placed.flaws
    },
    fetched: {
      fingerprint: content,
      ...counts,
      bytes: written.reduce((sum, { bytes }) => sum + bytes, attachments.bytes + placed.bytes),
      ...((isOfTables || fetch.finding.isWanted || own.total > 0) && { attachments }),
      digests: {
        ...Object.fromEntries(all.map(({ about }, index) => [about.name, written[index]?.sha256 ?? ""])),
        ...own.digests,
        ...placed.digests
      },
      documents: Object.fromEntries(all.map(({ about: { name, ...document } }) => [name, document]))
    }
  }
})

const noFiles: OwnFiles<never> = {
  total: 0,
  bytes: 0,
  reused: 0,
  digests: {},
  place: Effect.void
}

/** The result if nothing has changed. */
const nothingPlaced: Omit<SourceFiles.PlacedFiles, "flaws"> = { bytes: 0, digests: {}, change: undefined }

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
      : Effect.void
}
