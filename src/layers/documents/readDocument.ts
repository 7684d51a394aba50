/**
 * Reading a document of a source into its folder, or taking it over from the version before.
 */
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fileName } from "../../internal/FileName.ts"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { explain } from "../../internal/systemError.ts"
import type { FetchTarget } from "../../services/ContentSource.ts"
import { type Document, DocumentNotSaved, Records } from "./Document.ts"
import type { Expectations } from "./expect/Expectations.ts"
import { readItems, readValue } from "./expect/readSaved.ts"
import type { makeHolding } from "./heldValues.ts"
import type { FoundDocument, KnownDocument } from "./knownDocuments.ts"
import type { SearchedDocument } from "./media/findMedia.ts"
import type * as SourceFiles from "./media/SourceFiles.ts"
import { withWarnings } from "./outsideText.ts"
import { type DocumentTarget, saveDocument } from "./saveDocument.ts"
import { makeEmptied } from "./warnings.ts"
import { type DocumentFile, forEachPart, type Waiting } from "./writeDocument.ts"

/** A document that was read, or is taken over. */
export interface ReadDocument {
  readonly known: KnownDocument
  readonly content: DocumentFile | Waiting
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
    progress: DocumentTarget["progress"],
    hold: Effect.Effect.Success<typeof makeHolding>
  ) {
    yield* Effect.annotateCurrentSpan("document", document.name)
    const path = yield* Path.Path
    const name = fileOf(document)
    const isHeld = files.isWanted && !isSample
    const holding = Effect.map(hold(path.join(directory, `.${name}.held`)), (values) => ({
      values,
      ...files.search(searchedOf(document))
    }))
    const [{ check, content, isEmpty, ...saved }, noticed] = yield* saveDocument(
      isSample ? firstPage(document) : document,
      {
        ...shared,
        path: path.join(directory, name),
        progress,
        begin: isSample ? Option.none : expectations.begin,
        holding: isHeld ? Option.some(holding) : Option.none(),
        failed: failedIn(document.name)
      }
    ).pipe(
      Effect.mapError((error) => (error instanceof DocumentNotSaved ? error.hidden(hide) : error)),
      isHeld ? identity : Effect.scoped,
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
    return { known, content, searched: searchedOf(document) } satisfies ReadDocument
  })

  /** Takes a document over from the version before. Where it has files, it is read again there: these may have changed. */
  const takeOver = Effect.fnUntraced(function* <E>(
    document: Document<E>,
    { directory, file, known }: FoundDocument,
    target: FetchTarget
  ) {
    const path = yield* Path.Path
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
