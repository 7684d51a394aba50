/**
 * Reads one document and saves it in its file: checks its expectations, and finds its links.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { fileName } from "../../files/fileName.ts"
import { makeGiveWay } from "../../internal/nextTurn.ts"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { defaultKey, type RecordKey, recordId } from "../../internal/recordKey.ts"
import type { FetchTarget } from "../../services/ContentSource.ts"
import type { SourceError } from "../../services/SourceError.ts"
import { note, type Warning } from "../../services/Warning.ts"
import {
  catchTooDeep,
  type Document,
  type DocumentsError,
  type FailedIn,
  type Keys,
  pagesOf,
  type TextPlace,
  textPlaceOf
} from "./Document.ts"
import {
  type DocumentFile,
  type DocumentOnDisk,
  type FileTarget,
  type Holds,
  openList,
  writeValue
} from "./documentFile.ts"
import { type Expectations, readNames } from "./expect/Expectations.ts"
import type { TableCheck, Verdict } from "./expect/TableCheck.ts"
import { type JsonObject, sorted } from "./jsonValues.ts"
import { type Finding, type FoundMedia, makeSearch, type Search } from "./media/findMedia.ts"
import { sourceErrors } from "./sourceErrors.ts"
import { emptiedText, hadRecords, withWarnings } from "./warnings.ts"
import { readAgain } from "./wholeList.ts"

/** The settings that all documents of a fetch share. */
export interface Saving {
  readonly target: FetchTarget
  readonly expectations: Expectations
  readonly finding: Finding
  readonly failedIn: (document: string) => FailedIn
  /** Whether messages call documents tables. */
  readonly isOfTables: boolean
  readonly fieldsOf: (record: JsonObject) => JsonObject
  /**
   * Removes the volatile parts of a record or value, such as a counter: they are saved, but a change of them makes no
   * new version.
   */
  readonly stablePart: (value: unknown) => unknown
  /** The documents that had become empty in the last version. */
  readonly emptied: ReadonlySet<string>
  /** Called with the number of records of a document so far. */
  readonly progress: (document: string, records: number) => Effect.Effect<void>
}

/** A document of a source after reading. */
export interface SavedDocument extends DocumentOnDisk, Omit<Written, "check" | "isEmpty"> {
  readonly document: string
  /** Whether it has become empty: it had records in an earlier version. */
  readonly isEmptied: boolean
  readonly verdict: Verdict
}

/** Saves a document. Retries once from its beginning if its list changed meanwhile. */
export const saveDocument = Effect.fn("DocumentSource.read")(
  function* <E extends DocumentsError>(document: Document<E>, saving: Saving) {
    const { again = readAgain, key, name, url } = document
    const { expectations, failedIn, finding, isOfTables, target } = saving
    const { directory, isSample = false, previous } = target
    yield* Effect.annotateCurrentSpan("document", name)
    const about = { name: `${fileName(name)}.json`, key, url }
    const failed = failedIn(name)
    const path = (yield* Path.Path).join(directory, about.name)
    const place = isOfTables ? { document: name, kind: "table" as const } : { document: about.name }
    yield* saving.progress(name, 0)
    const writing = write(document, {
      ...saving,
      path,
      failed,
      begin: isSample ? Option.none : (holds) => expectations.begin(name, holds),
      search: (recordOf) => makeSearch(finding, { ...about, ...place, recordOf })
    })
    const [{ check, isEmpty, ...saved }, noticed] = yield* catchTooDeep(failed)(again(withWarnings(writing)))
    const verdict = yield* expectations.end(name, check, readNames(previous, about.name, saved.holds))
    const isEmptied = isEmpty && (hadRecords(previous, about.name) || saving.emptied.has(name))
    yield* Effect.annotateCurrentSpan("records", saved.records)
    return {
      ...saved,
      document: name,
      path,
      about,
      verdict,
      isEmptied,
      warnings: [
        ...noticed,
        ...saved.warnings,
        ...(isEmptied && verdict.violations.length === 0
          ? [{ code: "gone:records", subject: "", text: emptiedText }]
          : [])
      ],
      failed
    } satisfies SavedDocument
  },
  (work) => sourceErrors(work)
)

interface WriteTarget extends FileTarget, Pick<Saving, "fieldsOf" | "progress" | "stablePart"> {
  readonly begin: (holds: Holds) => Option.Option<TableCheck>
  /** Begins the search for files in it. */
  readonly search: (recordOf?: Keys["recordOf"]) => Search
}

/** A document in its file. */
interface Written {
  /** Digest without the volatile parts. */
  readonly digest: string
  /** The number of records, for a list. */
  readonly records: number
  readonly holds: Holds
  readonly isEmpty: boolean
  readonly check: Option.Option<TableCheck>
  readonly warnings: ReadonlyArray<Warning>
  readonly file: DocumentFile
  /** The files that it links to. */
  readonly found: FoundMedia
}

type Writing<E> = Effect.Effect<Written, E | SourceError, FileSystem.FileSystem>

const write = <E>(document: Document<E>, target: WriteTarget): Writing<E> => {
  const { content } = document
  switch (content._tag) {
    case "Records":
      return writeRecords(document, content.pages, target)
    case "Keys":
      return Effect.flatMap(content.keys, (keys) => writeKeys(document, keys, target))
    case "Value":
      return Effect.flatMap(content.value, (value) =>
        Array.isArray(value)
          ? writeRecords(document, pagesOf(value), target)
          : writeKeys(document, { value, recordOf: () => undefined }, target)
      )
  }
}

const writeRecords = <E>(
  document: Document<E>,
  pages: Stream.Stream<ReadonlyArray<unknown>, E>,
  target: WriteTarget
): Writing<E> =>
  Effect.gen(function* () {
    const { key, name } = document
    const ids = makeRecordIds(key)
    const check = target.begin("records")
    const order = orderOf(document)
    const search = target.search()
    const file = yield* openList(target)
    const giveWay = makeGiveWay()

    const look = (record: unknown, text: TextPlace | undefined) => {
      const id = ids.add(record)
      if (Option.isSome(check)) {
        const place = { id: Option.getOrUndefined(id), text }
        check.value.add(Predicate.isReadonlyRecord(record) ? target.fieldsOf(record) : {}, () => place)
      }
    }

    const records = yield* Stream.runFoldEffect(
      pages,
      0,
      Effect.fnUntraced(function* (first: number, page) {
        const values = search.look({ values: page.map(order), first: Option.some(first) })
        for (const [index, record] of values.entries()) look(record, textPlaceOf(page[index]))
        const stablePart = values.map(target.stablePart)
        const isSame = stablePart.every((part, index) => part === values[index])
        yield* file.add(values, isSame ? values : stablePart)
        yield* giveWay
        yield* target.progress(name, first + page.length)
        return first + page.length
      })
    )
    const { digest, ...written } = yield* file.end
    return {
      digest,
      file: written,
      records,
      holds: "records" as const,
      isEmpty: records === 0,
      check,
      warnings: [...ids.warnings(), ...warningsOf(check)],
      found: search.found()
    }
  }).pipe(Effect.scoped)

const writeKeys = <E>(
  document: Document<E>,
  { recordOf, textPlaceOf, value }: Omit<Keys, "value"> & { readonly value: unknown },
  target: WriteTarget
): Writing<E> =>
  Effect.gen(function* () {
    const check = target.begin("keys")
    const search = target.search(recordOf)
    const [saved] = search.look({ values: [orderOf(document)(value)], first: Option.none() })
    if (Option.isSome(check)) {
      const place = (key: string) => ({ id: recordOf(key), text: textPlaceOf?.(key) })
      check.value.add(Predicate.isReadonlyRecord(saved) ? saved : {}, place)
    }
    const { digest, ...written } = yield* writeValue(target, saved, target.stablePart(saved))
    return {
      digest,
      file: written,
      records: 0,
      holds: "keys" as const,
      isEmpty: value === null || (Predicate.isReadonlyRecord(value) && Object.keys(value).length === 0),
      check,
      warnings: warningsOf(check),
      found: search.found()
    }
  })

const warningsOf = (check: Option.Option<TableCheck>): ReadonlyArray<Warning> =>
  Option.match(check, { onNone: () => [], onSome: ({ warnings }) => warnings() })

/** Sorts the names in a value, unless they are sorted already. */
const orderOf = ({ isSorted = false }: Document<unknown>) => (isSorted ? identity : sorted)

/** If no `key` is given, records may lack an `id`. */
const makeRecordIds = (key: RecordKey | undefined) => {
  const idOf = recordId(key ?? defaultKey)
  const name = (key ?? defaultKey).join(" and ")
  const seen = new Set<string>()
  let missing = 0
  let twice = 0
  let first = ""

  return {
    /** The id of the next record. */
    add: (record: unknown): Option.Option<string> => {
      const id = idOf(record)
      if (Option.isNone(id)) {
        missing++
      } else if (seen.has(id.value)) {
        if (twice++ === 0) first = id.value
      } else {
        seen.add(id.value)
      }
      return id
    },

    warnings: (): ReadonlyArray<Warning> => [
      ...(missing === 0 || (key === undefined && seen.size === 0)
        ? []
        : [note(`${countText(missing, "record")} without ${name}, which is needed to compare versions`)]),
      ...(twice === 0
        ? []
        : [
            {
              code: "records:twice",
              subject: "",
              text: `${countText(twice, "record")} with the ${name} of another record, ${excerpt(first)} first`
            }
          ])
    ]
  }
}
