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
import { catchTooDeep, type Document, Records } from "./Document.ts"
import type { DocumentsError } from "./DocumentSource.ts"
import type { DocumentFile, DocumentOnDisk } from "./documentFile.ts"
import type { Expectations } from "./expect/Expectations.ts"
import type { FoundDocument, KnownDocument, KnownDocuments } from "./knownDocuments.ts"
import { type DocumentTarget, saveDocument } from "./saveDocument.ts"
import { sourceErrors } from "./sourceErrors.ts"
import { emptiedText, hadRecords } from "./warnings.ts"

/** A document that was read, or is taken over. */
export interface ReadDocument extends DocumentOnDisk {
  readonly known: KnownDocument
  /** As it was written, without the places of its files. */
  readonly file: DocumentFile
}

/** What the documents of a source have in common. */
export interface Reading extends Pick<DocumentTarget, "fieldsOf" | "lasting" | "steps"> {
  readonly expectations: Expectations
  /** Whether documents get places of files: they are written again then. */
  readonly hasFiles: boolean
  readonly failedIn: (document: string) => DocumentTarget["failed"]
}

export const makeReadDocument = ({ expectations, failedIn, hasFiles, ...shared }: Reading) => {
  const read = Effect.fn("DocumentSource.read")(
    function* <E extends DocumentsError>(
      document: Document<E>,
      { directory, isSample = false, previous }: FetchTarget,
      before: KnownDocuments,
      progress: DocumentTarget["progress"]
    ) {
      yield* Effect.annotateCurrentSpan("document", document.name)
      const path = yield* Path.Path
      const about = aboutOf(document)
      const failed = failedIn(document.name)
      const target = path.join(directory, about.name)
      const { check, file, isEmpty, ...saved } = yield* saveDocument(
        isSample ? firstPage(document) : document,
        {
          ...shared,
          path: target,
          progress,
          begin: isSample ? Option.none : expectations.begin,
          failed
        }
      ).pipe(catchTooDeep(failed))
      const verdict = yield* expectations.end(check, previous, about.name, saved.holds)
      const isEmptied = isEmpty && (hadRecords(previous, about.name) || before.wasEmptied(document.name))
      const known: KnownDocument = {
        ...saved,
        document: document.name,
        name: about.name,
        verdict,
        isEmptied,
        warnings: [...saved.warnings, ...(isEmptied && verdict.violations.length === 0 ? [emptiedText] : [])],
        attached: isSample ? [] : (document.about?.().files ?? [])
      }
      yield* Effect.annotateCurrentSpan("records", saved.records)
      return { known, file, path: target, about, holds: saved.holds, failed } satisfies ReadDocument
    },
    (reading) => sourceErrors(reading)
  )

  /** Takes a document over from the version before, unless it is written again: its files may have changed. */
  const takeOver = Effect.fnUntraced(function* <E>(
    document: Document<E>,
    { directory, file, known }: FoundDocument,
    target: FetchTarget
  ) {
    const path = yield* Path.Path
    const from = path.join(directory, known.name)
    const failed = failedIn(document.name)
    if (!hasFiles) {
      yield* Effect.mapError(linkOrCopy(from, path.join(target.directory, known.name)), (cause) =>
        failed(`cannot be reused: ${explain(cause)}`, cause)
      )
    }
    return {
      known,
      file,
      path: from,
      about: aboutOf(document),
      holds: known.holds,
      failed
    } satisfies ReadDocument
  })

  return { read, takeOver }
}

const aboutOf = ({ key, name, url }: Document<unknown>) => ({
  name: `${fileName(name)}.json`,
  key,
  url
})

const firstPage = <E>(document: Document<E>): Document<E> =>
  document.content._tag === "Records"
    ? { ...document, content: Records({ pages: Stream.take(document.content.pages, 1) }) }
    : document
