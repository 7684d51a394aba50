/**
 * Two tables out of their files, in batches.
 *
 * Of tables as Vitrine saves them, a part of each file is read at a time, and records that are equal in both are passed over.
 * JSON of another form is parsed as a whole, up to 16 MiB.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { nextTurn } from "../../internal/nextTurn.ts"
import { defaultKey, type RecordKey, recordId } from "../../internal/recordKey.ts"
import { parseItems, readList } from "../documents/savedList.ts"
import type { Batch, Entry } from "./compareDocuments.ts"

/** Two tables, of which one may be empty. */
export interface Tables {
  readonly holds: "records" | "keys"
  readonly batches: Stream.Stream<Batch, NoTable, FileSystem.FileSystem>
}

/** A file is no table, or not in the form that was expected. */
export class NoTable extends Data.TaggedError("vitrine/NoTable")<{ readonly cause?: unknown }> {}

/** In bytes; parsed, they take several times as much memory. */
const maxParsed = 16 * 1024 * 1024

/** The largest record, in bytes. */
const maxRecord = 16 * 1024 * 1024

/** In characters: of records that are not equal, before they are parsed. */
const maxWaiting = 64 * 1024

/** How many entries of parsed tables are a batch. */
const batchSize = 1000

/** Tables of records as Vitrine saves them, by the paths of their files. */
export const savedTables = (
  before: Option.Option<string>,
  after: Option.Option<string>,
  key: RecordKey = defaultKey
): Tables => {
  const partsOf = Option.match({
    onNone: () => Stream.empty,
    onSome: (file: string) => Stream.either(readList(file, maxRecord))
  })
  // A failure is a value until both have been read: `zipAllWith` never ends when both sides fail at once (Effect 3.22).
  const parts = Stream.zipAllWith(partsOf(before), {
    other: partsOf(after),
    onSelf: (part) => Either.all([part, Either.right(noBytes)]),
    onOther: (part) => Either.all([Either.right(noBytes), part]),
    onBoth: (part, other) => Either.all([part, other])
  }).pipe(Stream.mapEffect(Either.mapLeft((cause) => new NoTable({ cause }))))
  const batches = Stream.suspend(() => {
    const waiting = makeWaiting(makeEntriesOf(key))
    return Stream.map(parts, Option.some).pipe(
      Stream.concat(Stream.succeed(Option.none())),
      Stream.mapAccumEffect(0, (length, next) =>
        Effect.gen(function* () {
          const [waits, read] = yield* tryRead(() => waiting(length, next))
          // To parse a record of a hundred thousand fields takes a quarter of a second.
          const before = yield* Effect.zipLeft(tryRead(read.before), nextTurn)
          return [waits, { before, after: yield* tryRead(read.after) }] as const
        })
      )
    )
  })
  return { holds: "records", batches }
}

/** Reads some entries of each table; it throws where a record is none of the table. */
interface Reads {
  readonly before: () => ReadonlyArray<Entry>
  readonly after: () => ReadonlyArray<Entry>
}

/** The next records of both lists, with the commas between them. */
type Parts = readonly [before: Buffer, after: Buffer]

const noBytes = Buffer.alloc(0)

/**
 * Takes the next records of both tables, none at the end, and gives what of them is to be compared, and how many characters wait. Records
 * that have no equal on the other side wait for it as they are in the file: where records were put in between, it comes with the next part.
 */
const makeWaiting = (entriesOf: EntriesOf) => {
  const before = new Set<string>()
  const after = new Set<string>()

  const take = (records: Set<string>): ReadonlyArray<Entry> => {
    const text = Buffer.from([...records].join(","), "latin1").toString()
    records.clear()
    return entriesOf(parseItems(text))
  }

  return (waiting: number, next: Option.Option<Parts>): readonly [number, Reads] => {
    if (Option.isSome(next)) {
      const [part, other] = next.value
      const more = part.equals(other) ? 0 : pass(part, before, after) + pass(other, after, before)
      if (waiting + more <= maxWaiting) return [waiting + more, { before: () => [], after: () => [] }]
    }
    return [0, { before: () => take(before), after: () => take(after) }]
  }
}

/** Adds records to those of their side that wait, or takes away their equals: gives how many characters more wait. */
const pass = (records: Buffer, own: Set<string>, other: Set<string>): number => {
  let more = 0
  for (const record of textsOf(records)) {
    const isEqual = other.delete(record)
    if (!isEqual) own.add(record)
    more += isEqual ? -record.length : record.length
  }
  return more
}

/** Each record, its bytes as characters: that is faster than to decode it, and most are never parsed. */
function* textsOf(records: Buffer): Generator<string> {
  for (let start = 0; start < records.length; ) {
    const found = records.indexOf(endOfRecord, start)
    const end = found === -1 ? records.length : found + endOfRecord.length - separator.length
    yield records.toString("latin1", start, end)
    start = end + separator.length
  }
}

const separator = ",\n"
const endOfRecord = `\n  }${separator}`

type EntriesOf = (records: ReadonlyArray<unknown>) => ReadonlyArray<Entry>

/** It throws where a record has no value of its key. */
const makeEntriesOf = (key: RecordKey): EntriesOf => {
  const idOf = recordId(key)
  return (records) => records.map((record) => [Option.getOrThrow(idOf(record)), record])
}

/** Tables of records or of keys, parsed as a whole. It fails where they are large, no JSON, or not both of the same kind. */
export const parsedTables = Effect.fnUntraced(function* (
  before: Option.Option<string>,
  after: Option.Option<string>,
  key: RecordKey = defaultKey
) {
  const parse = parseWith(makeEntriesOf(key))
  const [old, recent] = [yield* parse(before), yield* parse(after)]
  const [holds, other] = [old.holds ?? recent.holds, recent.holds ?? old.holds]
  if (holds === undefined || holds !== other) return yield* new NoTable({})
  const batches = Math.ceil(Math.max(old.entries.length, recent.entries.length) / batchSize)
  const batchOf = (number: number): Batch => ({
    before: old.entries.slice(number * batchSize, (number + 1) * batchSize),
    after: recent.entries.slice(number * batchSize, (number + 1) * batchSize)
  })
  return { holds, batches: Stream.fromIterable(Array.makeBy(batches, batchOf)) } satisfies Tables
})

interface Parsed {
  /** Missing where there is no file. */
  readonly holds?: Tables["holds"]
  readonly entries: ReadonlyArray<Entry>
}

const parseWith = (entriesOf: EntriesOf) =>
  Effect.fnUntraced(function* (file: Option.Option<string>) {
    if (Option.isNone(file)) return { entries: [] } satisfies Parsed
    const fs = yield* FileSystem.FileSystem
    const { size } = yield* fs.stat(file.value)
    if (size > maxParsed) return yield* new NoTable({})
    const text = yield* fs.readFileString(file.value)
    return yield* tryRead((): Parsed => {
      const value: unknown = JSON.parse(text)
      if (Array.isArray(value)) return { holds: "records", entries: entriesOf(value) }
      if (Predicate.isReadonlyRecord(value)) return { holds: "keys", entries: Object.entries(value) }
      throw new Error("The document is neither a list nor an object.")
    })
  })

/** Where reading throws, there is no table. */
export const tryRead = <A>(read: () => A): Effect.Effect<A, NoTable> =>
  Effect.try({ try: read, catch: (cause) => new NoTable({ cause }) })
