/**
 * Reads one document and saves it in its file: checks its expectations, and finds its links.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { fileName } from "../../files/fileName.ts"
import type { RowPlace } from "../../internal/mistakeParts.ts"
import { inTurns, makeGiveWay } from "../../internal/nextTurn.ts"
import { defaultKey, type RecordKey, recordId } from "../../internal/recordKey.ts"
import type { FetchTarget } from "../../services/ContentSource.ts"
import type { SourceError } from "../../services/SourceError.ts"
import type { Warning } from "../../services/Warning.ts"
import { counted } from "./budget.ts"
import {
  catchTooDeep,
  type Document,
  type DocumentsError,
  type FailedIn,
  type Keys,
  type Place,
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
import { makeShape, type Shape } from "./Gone.ts"
import { type JsonObject, makeNamesOf } from "./jsonValues.ts"
import { type Finding, type FoundMedia, makeSearch, type Search } from "./media/findMedia.ts"
import { nameKey, visible } from "./names.ts"
import { makeRecordMistakes } from "./recordMistakes.ts"
import { sourceErrors } from "./sourceErrors.ts"
import { hadRecords, warn, withWarnings } from "./warnings.ts"
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
  /** Called with the number of records of a document so far. */
  readonly progress: (document: string, records: number) => Effect.Effect<void>
}

/** A document of a source after reading. */
export interface SavedDocument extends DocumentOnDisk, Omit<Written, "check"> {
  readonly document: string
  readonly place: Place
  /** Whether it had content in the last version. */
  readonly hadContent: boolean
  readonly verdict: Verdict
}

/** Saves a document. Retries from its beginning if its list changed meanwhile. */
export const saveDocument = Effect.fn("DocumentSource.read")(
  function* <E extends DocumentsError>(document: Document<E>, saving: Saving) {
    const { file, isSorted = false, key, name, url } = document
    const { expectations, failedIn, finding, isOfTables, target } = saving
    const { directory, isSample = false, previous } = target
    yield* Effect.annotateCurrentSpan("document", name)
    const about = { name: `${fileName(name)}.json`, key, url }
    const failed = failedIn(name)
    const path = (yield* Path.Path).join(directory, about.name)
    const place: Place = isOfTables
      ? { document: name, kind: "table" }
      : { document: file ?? about.name, kind: file === undefined ? undefined : "file" }
    yield* saving.progress(name, 0)
    const writing = write(document, {
      ...saving,
      path,
      failed,
      begin: isSample ? Option.none : (holds) => expectations.begin(document, holds),
      search: (text, recordOf) =>
        makeSearch(finding, { key, url, ...place, recordOf, sorts: !isSorted, text })
    })
    const [{ check, ...saved }, noticed] = yield* catchTooDeep(failed)(
      readAgain(withWarnings(counted(writing)))
    )
    const verdict = yield* expectations.end(document, check, readNames(previous, about.name, saved.holds))
    yield* Effect.annotateCurrentSpan("records", saved.records)
    return {
      ...saved,
      document: name,
      place,
      path,
      about,
      verdict,
      hadContent: hadRecords(previous, about.name),
      warnings: [...noticed, ...saved.warnings],
      failed
    } satisfies SavedDocument
  },
  (work) => sourceErrors(work)
)

interface WriteTarget extends FileTarget, Pick<Saving, "fieldsOf" | "isOfTables" | "progress"> {
  readonly begin: (holds: Holds) => Option.Option<TableCheck>
  /** Begins the search for files in it. */
  readonly search: (text: (text: string, field: string) => void, recordOf?: Keys["recordOf"]) => Search
}

/** A document in its file. */
interface Written {
  /** Digest without the volatile parts. */
  readonly digest: string
  /** The number of records, for a list. */
  readonly records: number
  readonly holds: Holds
  readonly shape: Shape
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
      return Effect.flatMap(content.keys, (keys) => writeKeys(keys, target))
    case "Value":
      return Effect.flatMap(content.value, (value) =>
        Array.isArray(value)
          ? writeRecords(document, pagesOf(value), target)
          : writeKeys({ value, recordOf: () => undefined }, target)
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
    const { isOfTables } = target
    const mistakes = makeRecordMistakes(isOfTables ? "column" : "field")
    const check = target.begin("records")
    const search = target.search(mistakes.text)
    const shape = makeShape()
    const file = yield* openList(target)
    const giveWay = makeGiveWay()
    const namesOf = makeNamesOf()

    const look = (record: unknown, text: TextPlace | undefined) => {
      const id = ids.add(record, text)
      const names = Predicate.isReadonlyRecord(record) ? namesOf(record) : []
      shape.add(record, names)
      mistakes.names(record, names)
      if (Option.isSome(check)) {
        const place = { id: Option.getOrUndefined(id), text }
        check.value.add(Predicate.isReadonlyRecord(record) ? target.fieldsOf(record) : {}, () => place)
      }
    }

    const visit = function* (page: ReadonlyArray<unknown>, first: number): Generator<void, void> {
      for (const [index, record] of page.entries()) {
        const { saved, stable } = yield* search.look(record, first + index)
        look(saved, textPlaceOf(record))
        if (file.add(saved, stable)) yield
      }
    }

    const records = yield* Stream.runFoldEffect(
      pages,
      0,
      Effect.fnUntraced(function* (first: number, page) {
        yield* inTurns(visit(page, first), file.flush)
        yield* giveWay
        yield* target.progress(name, first + page.length)
        return first + page.length
      })
    )
    const { digest, ...written } = yield* file.end
    const ended = shape.end(records)
    const columns = new Set(Array.from(ended.fields.keys(), nameKey))
    const hasKeyColumns = columns.has("key") && columns.has("value")
    return {
      digest,
      file: written,
      records,
      holds: "records" as const,
      shape: ended,
      check,
      warnings: [
        ...(hasKeyColumns && (isOfTables || document.file?.toLowerCase().endsWith(".csv") === true)
          ? [warn("keys:unread", "", { name })]
          : []),
        ...ids.warnings(),
        ...mistakes.warnings(),
        ...warningsOf(check)
      ],
      found: search.found()
    }
  }).pipe(Effect.scoped)

const writeKeys = <E>(
  { recordOf, textPlaceOf, value }: Omit<Keys, "value"> & { readonly value: unknown },
  target: WriteTarget
): Writing<E> =>
  Effect.gen(function* () {
    const check = target.begin("keys")
    const mistakes = makeRecordMistakes("key")
    const search = target.search(mistakes.text, recordOf)
    const { saved, stable } = yield* inTurns(search.look(value))
    mistakes.names(saved)
    if (Option.isSome(check)) {
      const place = (key: string) => {
        const text = textPlaceOf?.(key)
        return text === undefined ? { id: recordOf(key) } : { text }
      }
      check.value.add(Predicate.isReadonlyRecord(saved) ? saved : {}, place)
    }
    const shape = makeShape()
    const isEmpty = value === null || (Predicate.isReadonlyRecord(value) && Object.keys(value).length === 0)
    shape.add(saved)
    const { digest, ...written } = yield* writeValue(target, saved, stable)
    return {
      digest,
      file: written,
      records: 0,
      holds: "keys" as const,
      shape: shape.end(isEmpty ? 0 : 1),
      check,
      warnings: [...mistakes.warnings(), ...warningsOf(check)],
      found: search.found()
    }
  })

const warningsOf = (check: Option.Option<TableCheck>): ReadonlyArray<Warning> =>
  Option.match(check, { onNone: () => [], onSome: ({ warnings }) => warnings() })

/** The most rows without an id that a warning names. */
const maxUnnamed = 5

/** Most ids: their letters have one form. */
const isPlain = /^[ -~]*$/

/** If no `key` is given, records may lack an `id`. */
const makeRecordIds = (key: RecordKey | undefined) => {
  const idOf = recordId(key ?? defaultKey)
  const name = (key ?? defaultKey).join(" and ")
  const seen = new Map<string, TextPlace | undefined>()
  let missing = 0
  const unnamed: Array<RowPlace> = []
  let twice = 0
  let first: { readonly id: string; readonly at: ReadonlyArray<RowPlace> } | undefined

  return {
    /** The id of the next record. */
    add: (record: unknown, text: TextPlace | undefined): Option.Option<string> => {
      const id = idOf(record)
      if (Option.isNone(id)) {
        missing++
        if (text !== undefined && unnamed.length < maxUnnamed) unnamed.push({ row: text.row })
      } else {
        const read = isPlain.test(id.value) ? id.value.trim() : visible(id.value).normalize()
        if (seen.has(read)) {
          twice++
          first ??= { id: read, at: [seen.get(read), text].flatMap((place) => place ?? []) }
        } else seen.set(read, text)
      }
      return id
    },

    warnings: (): ReadonlyArray<Warning> => [
      ...(missing === 0 || (key === undefined && seen.size === 0)
        ? []
        : [warn("records:unnamed", "", { count: missing, key: name, at: unnamed })]),
      ...(first === undefined ? [] : [warn("records:twice", "", { count: twice, key: name, ...first })])
    ]
  }
}
