/**
 * A source of documents, wherever they come from: saving them, what is expected of them, and what has not changed.
 *
 * ```
 * <source id>/<document>.json    an array of records, or one value
 * ```
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { constFalse, flow, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileKey, fileName } from "../../internal/FileName.ts"
import { explain } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import type {
  ContentSource,
  FetchedSource,
  FetchTarget,
  SourceChanges,
  SourceProgress
} from "../../services/ContentSource.ts"
import { type Document, DocumentNotSaved, Records } from "./Document.ts"
import type { DocumentOptions } from "./DocumentOptions.ts"
import { makeExpectations, requireExpected } from "./expect/Expectations.ts"
import { expectedSchema } from "./expect/expectedSchema.ts"
import { fingerprint } from "./fingerprint.ts"
import { makeKnownDocuments, takeOver } from "./knownDocuments.ts"
import { type FileOptions, withFiles } from "./media/fileOptions.ts"
import { withoutSignatures } from "./media/links.ts"
import type { MediaReader } from "./media/placeMedia.ts"
import { withWarnings } from "./outsideText.ts"
import { makeProgressReporter } from "./progressReporter.ts"
import { saveDocument } from "./saveDocument.ts"
import { sourceFailed } from "./sourceAnswers.ts"

type Step = Pick<SourceProgress, "document" | "records">

/** Why documents cannot be had. */
export interface DocumentsError extends Error {
  readonly isTransient: boolean
}

/** What a source is made of. `E` is why its documents cannot be had, `R` what reading them needs. */
export interface DocumentSource<E extends DocumentsError, R> extends Pick<ContentSource, "changes" | "data"> {
  readonly options: Pick<DocumentOptions, "id" | "expect" | "steps"> & FileOptions

  /** The documents, in the order in which they are read. They are read one after the other. */
  readonly documents: (target: FetchTarget) => Effect.Effect<ReadonlyArray<Document<E>>, E, R>

  /** As the `poll` of a `ContentSource`. */
  readonly poll?: (cursor: Option.Option<string>) => Effect.Effect<SourceChanges, E, R>

  /** Whether a path is that of a file that the source has beside its documents, for what is expected. Default: it has none. */
  readonly isFile?: (path: string) => boolean

  /** Finds the media objects of a vendor. */
  readonly reader?: MediaReader

  /** Where the server is, for relative links in documents without a `url` of their own. */
  readonly url?: string

  /** Sent with requests for files to the origin of `url`, and to nobody else: names in small letters. Default none. */
  readonly serverHeaders?: Readonly<Record<string, Redacted.Redacted>>

  /** A record or value without what says nothing of the content: that is saved, but makes no new version. Default all of it. */
  readonly lasting?: (value: unknown) => unknown
}

/**
 * Makes the source: each document is saved as `<name>.json`, after its steps, with what is expected checked, and with its files where
 * `media` or `images` say so. It fails with `SourceFailed`, whose cause is `E`, `DocumentNotSaved`, or what is not as expected.
 * Parts that have changed, in polls, are names of documents.
 */
export const makeDocumentSource = Effect.fnUntraced(function* <E extends DocumentsError, R>({
  documents,
  isFile,
  lasting,
  options,
  poll,
  reader,
  serverHeaders,
  url,
  ...rest
}: DocumentSource<E, R>) {
  const { expect, id, steps } = options
  const environment = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path | R>())
  const path = yield* Path.Path
  const expectations = makeExpectations(expect, {
    kind: "document",
    view: null,
    isAttachment: constFalse,
    isFile
  })
  // Where files are saved, only what links lead to is content: they may be signed anew in each answer.
  const lastingParts =
    options.media !== false && (options.media ?? reader) !== undefined
      ? flow(lasting ?? identity, withoutSignatures)
      : lasting
  const knownDocuments = makeKnownDocuments<Effect.Effect.Success<ReturnType<typeof save>>>()

  const save = Effect.fn("DocumentSource.save")(function* (
    document: Document<E>,
    target: FetchTarget,
    progress: (records: number) => Effect.Effect<void>
  ) {
    yield* Effect.annotateCurrentSpan("document", document.name)
    const name = fileOf(document)
    const isSample = target.isSample === true
    const [{ check, holds, warnings, ...saved }, noticed] = yield* withWarnings(
      saveDocument(isSample ? firstPage(document) : document, {
        path: path.join(target.directory, name),
        progress,
        begin: isSample ? Option.none : expectations.begin,
        steps,
        lasting: lastingParts
      })
    )
    const verdict = yield* expectations.end(check, target.previous, name, holds)
    return { ...saved, document: document.name, name, verdict, warnings: [...noticed, ...warnings] }
  })

  const fetch = Effect.fn("DocumentSource.fetch")(function* (target: FetchTarget) {
    yield* Effect.annotateCurrentSpan("source", id)
    const [found, noticed] = yield* withWarnings(documents(target))
    yield* checkNames(found, expect)
    const progress = makeProgressReporter<Step>(found.length, target.progress)
    const known = knownDocuments.of(target.previous)

    const saveOrTakeOver = (document: Document<E>) =>
      Option.match(
        target.changedParts?.includes(document.name) === false ? known.find(document.name) : Option.none(),
        {
          onNone: () =>
            save(document, target, (records) => progress.report({ document: document.name, records })),
          onSome: ({ from, known }) =>
            takeOver(known.name, from, target.directory).pipe(
              Effect.mapError((cause) => cannotReuse(document.name, cause)),
              Effect.as(known)
            )
        }
      ).pipe(Effect.tap(() => Effect.sync(progress.documentDone)))

    const files = yield* Effect.forEach(found, saveOrTakeOver)
    yield* requireExpected(files.map(({ verdict }) => verdict))
    const content = fingerprint(files)
    knownDocuments.add(content, files)
    const warnings = noticed.concat(
      files.flatMap(({ document, warnings }) =>
        warnings.map((warning) => `Document "${document}": ${warning}`)
      )
    )
    return {
      ...(warnings.length === 0 ? {} : { warnings }),
      fingerprint: content,
      records: files.reduce((sum, { records }) => sum + records, 0),
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      digests: Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256])),
      documents: Object.fromEntries(
        found.map((document) => {
          const { key, url } = document
          return [fileOf(document), { ...(key && { key }), ...(url && { url }) }]
        })
      )
    } satisfies FetchedSource
  })

  const answering = flow(
    Effect.mapError(sourceFailed(id)),
    Effect.annotateLogs("source", id),
    Effect.provide(environment)
  )

  const source: ContentSource = {
    ...rest,
    id,
    schema: Effect.succeed(
      Record.map(expect, (expectation) => ({
        schemas: [expectedSchema(expectation, { attachment: Schema.Unknown, emptyCells: "left out" })]
      }))
    ),
    fetch: (target) => answering(fetch(target)),
    ...(poll && { poll: (cursor) => answering(poll(cursor)) })
  }
  return yield* withFiles(options, {
    ...(reader && { reader }),
    ...(serverHeaders && { serverHeaders }),
    ...(url && { url })
  })(source)
})

const fileOf = ({ name }: Document<unknown>): string => `${fileName(name)}.json`

const firstPage = <E>(document: Document<E>): Document<E> =>
  document.content._tag === "Records"
    ? { ...document, content: Records({ pages: Stream.take(document.content.pages, 1) }) }
    : document

const cannotReuse = (document: string, cause: PlatformError) =>
  new DocumentNotSaved({ document, detail: `cannot be reused: ${explain(cause)}`, cause })

/** No two documents have one file, and what is expected is expected of one that is there. */
const checkNames = (
  documents: ReadonlyArray<Document<unknown>>,
  expect: DocumentOptions["expect"]
): Effect.Effect<void, DocumentNotSaved> => {
  const names = documents.map(({ name }) => name)
  const files = new Set<string>()
  const clash = names.find((name) => files.size === files.add(fileKey(name)).size)
  const unknown = Object.keys(expect).find((name) => !names.includes(name))
  return clash !== undefined
    ? new DocumentNotSaved({
        document: clash,
        detail: "another document would be saved in the same file; rename one of them"
      })
    : unknown !== undefined
      ? new DocumentNotSaved({
          document: unknown,
          detail: `"expect" names it, but there is no such document; there are: ${names.join(", ")}`
        })
      : Effect.void
}
