/**
 * A document of a source, before it is saved: its content, its first page, its steps, and places in it for messages.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { linkOrCopyAll } from "../../files/fileBatch.ts"
import { remove } from "../../files/systemError.ts"
import { english } from "../../internal/englishMistakes.ts"
import { at, type Mistake, mistake } from "../../internal/mistake.ts"
import type { MistakePlace } from "../../internal/mistakeParts.ts"
import { makeGiveWay, partsOf } from "../../internal/nextTurn.ts"
import { excerpt, printableLine } from "../../internal/printable.ts"
import type { RecordKey } from "../../internal/recordKey.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import type { FetchTarget, PreviousContent } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { Refused } from "./budget.ts"
import { asJson, type JsonObject, maxDetail } from "./jsonValues.ts"
import { failureAbout } from "./warnings.ts"

/**
 * The content of a document: one JSON value, records that arrive page by page, or one object made from records.
 *
 * @since 0.1.0
 * @category models
 */
export type DocumentContent<E> = Data.TaggedEnum<{
  Value: { readonly value: Effect.Effect<unknown, E> }
  Records: { readonly pages: Stream.Stream<ReadonlyArray<unknown>, E> }
  Keys: { readonly keys: Effect.Effect<Keys, E> }
}>

/**
 * An object made from records.
 *
 * @since 0.1.0
 * @category models
 */
export interface Keys {
  readonly value: Readonly<Record<string, unknown>>
  /** The record of a key. */
  readonly recordOf: (key: string) => string | undefined
  /** The line of a key, if the records come from a text file. */
  readonly textPlaceOf?: ((key: string) => TextPlace | undefined) | undefined
}

interface DocumentContentDefinition extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: DocumentContent<this["A"]>
}

/**
 * `Records({ pages })` is read page by page when the document is saved, but as a whole if there are `steps`. `Value({
 * value })` and `Keys({ keys })` are always read as a whole.
 */
export const { Keys, Records, Value } = Data.taggedEnum<DocumentContentDefinition>()

/**
 * One JSON file of a source. `E` is the error of reading it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Document<E> {
  /** It is saved as `<name>.json`. */
  readonly name: string
  readonly content: DocumentContent<E>
  /** The key of its records: fields, as paths with dots. Default `["id"]`. */
  readonly key?: RecordKey | undefined
  /** Its address, for relative links in it. */
  readonly url?: string | undefined
  /** The file that people edit, if there is one. Messages name it in the place of the document. */
  readonly file?: string | undefined
  /** Whether the names in its records are sorted already. Default false. */
  readonly isSorted?: boolean
}

/** The documents of a source, and those that they may link to. */
export interface LinkedSource<E> {
  /** The documents, in the order of reading, one after the other. */
  readonly documents: ReadonlyArray<Document<E>>

  /** Documents of others that documents may link to by name. Default none. */
  readonly linked?: ((name: string) => Document<E> | undefined) | undefined
}

/**
 * Why documents cannot be read.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentsError extends Error {
  readonly isTransient: boolean
}

/**
 * A step with unchecked input.
 *
 * @since 0.1.0
 * @category models
 */
export type Step = (document: unknown, about: { readonly name: string }) => unknown

/** The records of a list in memory, some at a time. */
export const pagesOf = (records: ReadonlyArray<unknown>): Stream.Stream<ReadonlyArray<unknown>> =>
  Stream.fromIterable(partsOf(records, pageSize))

const pageSize = 100

/** All records of a list. */
export const listOf = <E>(pages: Stream.Stream<ReadonlyArray<unknown>, E>): Effect.Effect<unknown, E> =>
  Effect.map(Stream.runCollect(Stream.flattenIterables(pages)), Chunk.toArray)

/** The whole document. */
export const wholeOf = <E>(content: DocumentContent<E>): Effect.Effect<unknown, E> => {
  switch (content._tag) {
    case "Value":
      return content.value
    case "Keys":
      return Effect.map(content.keys, ({ value }) => value)
    case "Records":
      return listOf(content.pages)
  }
}

/** A change of a document, for one time that it is read. */
export interface Change {
  readonly records: (page: ReadonlyArray<unknown>) => ReadonlyArray<unknown>
  /** For a value that is no list. */
  readonly value: (value: unknown) => unknown
  /** For an object made from records. */
  readonly keys: (value: JsonObject) => JsonObject
  readonly end: Effect.Effect<void>
}

/** The content, changed while it is read; a list in memory some records at a time. */
export const changed = <E, E2>(
  content: DocumentContent<E>,
  begin: Effect.Effect<Change, E2>
): DocumentContent<E | E2> => {
  const inPages = <E3>(pages: Stream.Stream<ReadonlyArray<unknown>, E3>) =>
    Stream.unwrap(
      Effect.map(begin, ({ end, records }) => Stream.concat(Stream.map(pages, records), Stream.execute(end)))
    )
  const once = <A>(change: (changes: Change) => A): Effect.Effect<A, E2> =>
    Effect.flatMap(begin, (changes) =>
      Effect.zipLeft(
        Effect.sync(() => change(changes)),
        changes.end
      )
    )
  switch (content._tag) {
    case "Records":
      return Records({ pages: inPages(content.pages) })
    case "Keys":
      return Keys({
        keys: Effect.flatMap(content.keys, (keys) =>
          once((change) => ({ ...keys, value: change.keys(keys.value) }))
        )
      })
    case "Value": {
      const giveWay = makeGiveWay()
      return Value({
        value: Effect.flatMap(content.value, (value) =>
          Array.isArray(value)
            ? listOf(inPages(Stream.tap(pagesOf(value), () => giveWay)))
            : once((change) => change.value(value))
        )
      })
    }
  }
}

/** The first page of a document. */
export const firstPage = <E>(document: Document<E>): Document<E> =>
  document.content._tag === "Records"
    ? { ...document, content: Records({ pages: Stream.take(document.content.pages, 1) }) }
    : document

/** The absolute path of a file of the last version; `None` if the file is missing or incomplete there. */
export const fileBefore = (previous: Option.Option<PreviousContent>, file: string): Option.Option<string> =>
  Option.filter(previous, ({ files }) => Object.hasOwn(files, file)).pipe(
    Option.map(({ directory }) => join(directory, file))
  )

/** Puts files of the last version into the folder of this one. It fails if a file is missing. */
export const takeOver = (
  { directory, previous }: Pick<FetchTarget, "directory" | "previous">,
  files: ReadonlyArray<string>
) => Effect.flatMap(previous, (before) => linkOrCopyAll(files, before.directory, directory))

/** Removes the files of an earlier try. */
export const empty = (directory: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.zipRight(remove(directory), fs.makeDirectory(directory, { recursive: true }))
  ).pipe(Effect.ignore)

/** A place in the documents of a source. */
export const Place = Schema.Struct({
  document: Schema.String,
  /** `file` if the document is called as the file that people edit. */
  kind: Schema.optional(Schema.Literal("table", "file")),
  /** The id of the record, if the document is a list of records. */
  record: Schema.optional(Schema.String),
  /** The row of the record in the file, as a spreadsheet counts it. */
  row: Schema.optional(Schema.Number),
  /** The place in the record or the document. */
  field: Schema.optional(Schema.String)
})
export type Place = typeof Place.Type

/** The place for people. */
export const mistakePlace = ({ document, field, kind, record, row }: Place): MistakePlace => {
  const id = record && printableLine(record, 80)
  return {
    name: excerpt(document),
    kind: kind === "file" ? undefined : (kind ?? "document"),
    ...(row === undefined ? { record: id } : { rows: [{ row, id }] }),
    field: field && excerpt(field)
  }
}

/** `Document "events.json", record 12, field "image.url"`, `Events.csv, row 13 (12), "image"` */
export const placeText = (place: Place): string => english.place(mistakePlace(place))

/** The place as the subject of a warning: the document, and the field of all records. */
export const subjectOf = ({ document, field }: Place): string =>
  [document.replace(/\.(?:json|csv)$/i, ""), ...(field === undefined ? [] : [field])].join("/")

/** Makes errors about a document. */
export type FailedIn = (detail: string | Mistake, cause?: unknown, isTransient?: boolean) => SourceError

export const failedIn =
  (place: Place): FailedIn =>
  (detail, cause, isTransient = false) =>
    Predicate.isString(detail)
      ? new SourceError({ place: placeText(place), detail, isTransient, cause })
      : failureAbout(at(mistakePlace(place), detail), { isTransient, cause })

/** Work on values beyond the budget throws `Refused` or a `RangeError`. This turns it into a failure of the document. */
export const catchTooDeep =
  (failed: FailedIn) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SourceError, R> =>
    Effect.catchSomeDefect(work, (defect) =>
      defect instanceof Refused
        ? Option.some(failed(defect.mistake))
        : defect instanceof RangeError
          ? Option.some(failed(`cannot be written as JSON: ${rangeText(defect)}`, defect))
          : Option.none()
    )

const rangeText = ({ message }: RangeError): string =>
  /call stack/.test(message) ? "it is nested too deeply" : message

/** A row of CSV. */
export interface TextPlace {
  /** As a spreadsheet counts it, from 1. */
  readonly row: number
  /** The cells that were saved as empty, because they are errors of a spreadsheet. */
  readonly errors?: Readonly<Record<string, string>> | undefined
}

/** The name of a record in messages. */
export interface RecordPlace {
  readonly id?: string | undefined
  readonly text?: TextPlace | undefined
}

const placeKey: unique symbol = Symbol("vitrine/TextPlace")

/** A copy of the record with its place. */
export const withTextPlace = (record: object, place: TextPlace): object => ({ ...record, [placeKey]: place })

/** The place of a record in a text file. A step that makes a new record without spreading the old one loses it. */
export const textPlaceOf = (record: unknown): TextPlace | undefined =>
  Predicate.hasProperty(record, placeKey) && isTextPlace(record[placeKey]) ? record[placeKey] : undefined

/** Runs the steps on the whole document. Without steps it stays as it is. */
export const withSteps = <E>(
  document: Document<E>,
  steps: ReadonlyArray<Step>,
  failed: FailedIn
): Document<E | SourceError> =>
  steps.length === 0
    ? document
    : {
        ...document,
        isSorted: false,
        content: Value({
          value: Effect.flatMap(wholeOf(document.content), (value) =>
            runSteps(document.name, value, steps, failed)
          )
        })
      }

const runSteps = Effect.fnUntraced(function* (
  name: string,
  start: unknown,
  steps: ReadonlyArray<Step>,
  failed: FailedIn
) {
  let value = start
  for (const [index, step] of steps.entries()) {
    const before = value
    const called = { number: index + 1, name: step.name }
    const given = yield* Effect.tryPromise({
      try: async () => step(before, { name }),
      catch: (cause) =>
        failed(
          mistake(
            "step:failed",
            {},
            {
              ...called,
              reason: printableLine(messageOf(cause), maxDetail),
              got: Array.isArray(before) ? undefined : kindOf(before)
            }
          ),
          cause
        )
    })
    const json = yield* Effect.mapError(asJson(given), (found) =>
      failed(mistake("step:value", {}, { ...called, found }))
    )
    value = withPlacesOf(given, json)
  }
  return value
})

const kindOf = (value: unknown): string =>
  Predicate.isRecord(value) ? "an object" : value === null ? "null" : `a ${typeof value}`

/** The JSON of a value, with the places of the value's records. */
const withPlacesOf = (value: unknown, json: unknown): unknown =>
  Array.isArray(value) && Array.isArray(json)
    ? json.map((record: unknown, index) => {
        const place = textPlaceOf(value[index])
        return place === undefined || !Predicate.isObject(record) ? record : withTextPlace(record, place)
      })
    : json

const isTextPlace = (value: unknown): value is TextPlace =>
  Predicate.hasProperty(value, "row") && Predicate.isNumber(value.row)
