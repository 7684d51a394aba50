/**
 * Reading a document of a source into its folder.
 */
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fileName } from "../../internal/FileName.ts"
import type { FetchTarget } from "../../services/ContentSource.ts"
import { catchTooDeep, type Document, type FailedIn, Records } from "./Document.ts"
import type { DocumentsError } from "./DocumentSource.ts"
import type { DocumentOnDisk } from "./documentFile.ts"
import type { Expectations } from "./expect/Expectations.ts"
import type { Verdict } from "./expect/TableCheck.ts"
import { type Finding, makeSearch } from "./media/findMedia.ts"
import { type DocumentTarget, type SavedDocument, saveDocument } from "./saveDocument.ts"
import { sourceErrors } from "./sourceErrors.ts"
import { emptiedText, hadRecords } from "./warnings.ts"

/** A document that was read. */
export interface ReadDocument extends DocumentOnDisk, Omit<SavedDocument, "check" | "isEmpty"> {
  readonly document: string
  /** Whether it has become empty: it is, and had records in a version before. */
  readonly isEmptied: boolean
  readonly verdict: Verdict
}

/** What the documents of a source have in common. */
export interface Reading extends Pick<DocumentTarget, "fieldsOf" | "lasting"> {
  readonly expectations: Expectations
  readonly finding: Finding
  readonly failedIn: (document: string) => FailedIn
  /** Whether messages call documents tables. */
  readonly isOfTables: boolean
}

export const makeReadDocument = ({ expectations, failedIn, finding, isOfTables, ...shared }: Reading) =>
  Effect.fn("DocumentSource.read")(
    function* <E extends DocumentsError>(
      { key, name, url, ...document }: Document<E>,
      { directory, isSample = false, previous }: FetchTarget,
      wasEmptied: boolean,
      progress: DocumentTarget["progress"]
    ) {
      yield* Effect.annotateCurrentSpan("document", name)
      const path = yield* Path.Path
      const about = { name: `${fileName(name)}.json`, key, url }
      const failed = failedIn(name)
      const place = isOfTables ? { document: name, kind: "table" as const } : { document: about.name }
      const target = path.join(directory, about.name)
      const { check, isEmpty, ...saved } = yield* saveDocument(
        { key, name, url, ...document },
        {
          ...shared,
          path: target,
          progress,
          begin: isSample ? Option.none : expectations.begin,
          search: (recordOf) => makeSearch(finding, { ...about, ...place, recordOf }),
          failed
        }
      ).pipe(catchTooDeep(failed))
      const verdict = yield* expectations.end(check, previous, about.name, saved.holds)
      const isEmptied = isEmpty && (hadRecords(previous, about.name) || wasEmptied)
      const warnings = [
        ...saved.warnings,
        ...(isEmptied && verdict.violations.length === 0 ? [emptiedText] : [])
      ]
      yield* Effect.annotateCurrentSpan("records", saved.records)
      return {
        ...saved,
        document: name,
        path: target,
        about,
        verdict,
        isEmptied,
        warnings,
        failed
      } satisfies ReadDocument
    },
    (reading) => sourceErrors(reading)
  )

/** The beginning of a document: one page. */
export const firstPage = <E>(document: Document<E>): Document<E> =>
  document.content._tag === "Records"
    ? { ...document, content: Records({ pages: Stream.take(document.content.pages, 1) }) }
    : document
