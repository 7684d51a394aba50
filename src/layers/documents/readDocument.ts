/**
 * Reading a document of a source into its folder, or taking it over from the version before.
 */
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fileName } from "../../internal/FileName.ts"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { explain } from "../../internal/systemError.ts"
import type { FetchTarget } from "../../services/ContentSource.ts"
import { catchTooDeep, type Document, DocumentNotSaved, Records } from "./Document.ts"
import { type DocumentFile, readParts } from "./documentFile.ts"
import type { Expectations } from "./expect/Expectations.ts"
import type { FoundDocument, KnownDocument } from "./knownDocuments.ts"
import type { FoundMedia, SearchedDocument } from "./media/findMedia.ts"
import type * as SourceFiles from "./media/SourceFiles.ts"
import { withWarnings } from "./readText.ts"
import { type DocumentTarget, saveDocument } from "./saveDocument.ts"
import { makeEmptied } from "./warnings.ts"

/** A document that was read, or is taken over. */
export interface ReadDocument {
  readonly known: KnownDocument
  /** As it is in the folder, but for the places of its files. */
  readonly file: DocumentFile
  /** Where it is (absolute path). */
  readonly path: string
  /** What it has links to; none where these get no files. */
  readonly found: Option.Option<FoundMedia>
  readonly searched: SearchedDocument
}

/** What the documents of a source have in common. */
export interface Reading extends Pick<DocumentTarget, "fieldsOf" | "lasting" | "steps"> {
  readonly expectations: Expectations
  readonly files: Effect.Effect.Success<ReturnType<typeof SourceFiles.make>>
  readonly failedIn: (document: string) => DocumentTarget["failed"]
  /** Takes secrets out of words that have something of the documents in them. */
  readonly hide: (text: string) => string
}

export const makeReadDocument = ({ expectations, failedIn, files, hide, ...shared }: Reading) => {
  const emptied = makeEmptied()

  const read = Effect.fn("DocumentSource.read")(function* <E>(
    document: Document<E>,
    { directory, isSample = false, previous }: FetchTarget,
    progress: DocumentTarget["progress"]
  ) {
    yield* Effect.annotateCurrentSpan("document", document.name)
    const path = yield* Path.Path
    const name = fileOf(document)
    const searched = searchedOf(document)
    const target = path.join(directory, name)
    const [{ check, file, found, isEmpty, ...saved }, noticed] = yield* saveDocument(
      isSample ? firstPage(document) : document,
      {
        ...shared,
        path: target,
        progress,
        begin: isSample ? Option.none : expectations.begin,
        search: Effect.sync(() =>
          files.isWanted && !isSample ? Option.some(files.search(searched)) : Option.none()
        ),
        failed: failedIn(document.name)
      }
    ).pipe(
      catchTooDeep(failedIn(document.name)),
      Effect.mapError((error) => (error instanceof DocumentNotSaved ? error.hidden(hide) : error)),
      withWarnings
    )
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
    return { known, file, found, path: target, searched } satisfies ReadDocument
  })

  /** Takes a document over from the version before. Where it has files, it is read again there: these may have changed. */
  const takeOver = Effect.fnUntraced(function* <E>(
    document: Document<E>,
    { directory, file, known }: FoundDocument,
    target: FetchTarget
  ) {
    const path = yield* Path.Path
    const from = path.join(directory, known.name)
    const searched = searchedOf(document)
    const cannotReuse = (cause: Error) =>
      failedIn(document.name)(`cannot be reused: ${explain(cause)}`, cause)
    if (!files.isWanted) {
      yield* Effect.mapError(linkOrCopy(from, path.join(target.directory, known.name)), cannotReuse)
      return { known, file, found: Option.none(), path: from, searched } satisfies ReadDocument
    }
    const search = files.search(searched)
    yield* Effect.mapError(
      Stream.runForEach(readParts(from, known.holds), (part) => Effect.sync(() => search.look(part))),
      cannotReuse
    )
    return { known, file, found: Option.some(search.found()), path: from, searched } satisfies ReadDocument
  })

  return { read, takeOver }
}

const fileOf = ({ name }: Document<unknown>): string => `${fileName(name)}.json`

const searchedOf = (document: Document<unknown>) => {
  const { key, url } = document
  return { name: fileOf(document), ...(key && { key }), ...(url && { url }) }
}

const firstPage = <E>(document: Document<E>): Document<E> =>
  document.content._tag === "Records"
    ? { ...document, content: Records({ pages: Stream.take(document.content.pages, 1) }) }
    : document
