/**
 * Two tables out of the bytes of their files, in batches.
 *
 * In the form that Vitrine saves tables in, each record begins and ends on a line of its own: what is equal in both files is
 * passed over, and the rest is parsed some records at a time. JSON of another form is parsed as a whole, up to 16 MiB.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { defaultKey, type RecordKey, recordId } from "../../internal/recordKey.ts"
import type { Batch, Entry } from "./compareDocuments.ts"

/** Two tables, of which one may be empty. Where they are not what they seem, iterating throws. */
export interface Tables {
  readonly holds: "records" | "keys"
  readonly batches: Iterable<Batch>
}

/** In bytes; parsed, they take several times as much memory. */
const maxParsed = 16 * 1024 * 1024

/** Of a batch of records, in bytes. */
const batchLength = 64 * 1024

/** How many entries of parsed tables are a batch. */
const batchSize = 1000

const beginning = "[\n  {\n"
const ending = "\n  }\n]\n"
const between = "\n  },\n"

/** Tables of records as Vitrine saves them; `None` where the form is another one. */
export const savedTables = (
  before: Option.Option<Buffer>,
  after: Option.Option<Buffer>,
  key: RecordKey = defaultKey
) =>
  Option.map(
    Option.all([savedRecords(before), savedRecords(after)]),
    ([before, after]): Tables => ({
      holds: "records",
      batches: savedBatches(before, after, makeEntriesOf(key))
    })
  )

/** The records without the brackets around them; nothing of a file that is not there. */
const savedRecords = Option.match({
  onNone: () => Option.some(Buffer.alloc(0)),
  onSome: (bytes: Buffer) =>
    bytes.equals(Buffer.from("[]\n"))
      ? Option.some(Buffer.alloc(0))
      : bytes.toString("latin1", 0, beginning.length) === beginning &&
          bytes.subarray(-ending.length).toString("latin1") === ending
        ? Option.some(bytes.subarray("[\n".length, -"]\n".length))
        : Option.none()
})

function* savedBatches(before: Buffer, after: Buffer, entriesOf: EntriesOf): Generator<Batch> {
  let [start, other] = [0, 0]
  while (start < before.length || other < after.length) {
    const end = endOfRecord(before, start + batchLength)
    const part = before.subarray(start, end)
    const isEqual = part.length > 0 && part.equals(after.subarray(other, other + part.length))
    const otherEnd = isEqual ? other + part.length : counterpart(before, end, after, other)
    if (!isEqual) {
      yield {
        before: entriesOf(parseRecords(part)),
        after: entriesOf(parseRecords(after.subarray(other, otherEnd)))
      }
    }
    start = end
    other = otherEnd
  }
}

/** Where the record ends that is at a place of the file. */
const endOfRecord = (bytes: Buffer, place: number): number => {
  const found = bytes.indexOf(between, place)
  return found === -1 ? bytes.length : found + between.length
}

/**
 * Where in the other file the record begins that begins here, by its first line, or else some record further on. Where it is
 * another one, more is parsed.
 */
const counterpart = (bytes: Buffer, place: number, other: Buffer, start: number): number => {
  const line = bytes.subarray(place, bytes.indexOf("\n", place + "  {\n".length))
  const header = line.at(-1) === comma ? line.subarray(0, -1) : line
  const found = header.length === 0 ? -1 : other.subarray(start, start + 4 * batchLength).indexOf(header)
  return found === -1 ? endOfRecord(other, start + batchLength) : start + found
}

const comma = ",".charCodeAt(0)

const parseRecords = (bytes: Buffer): ReadonlyArray<unknown> => {
  const text = bytes.toString()
  return JSON.parse(`[${text.endsWith(",\n") ? text.slice(0, -2) : text}]`)
}

type EntriesOf = (records: ReadonlyArray<unknown>) => ReadonlyArray<Entry>

/** It throws where a record has no value of its key. */
const makeEntriesOf = (key: RecordKey): EntriesOf => {
  const idOf = recordId(key)
  return (records) =>
    records.map((record) => [
      Option.getOrThrowWith(idOf(record), () => new Error("A record has no key.")),
      record
    ])
}

/** Tables of records or of keys; `None` where they are large, no JSON, or not both of the same kind. */
export const parsedTables = (
  before: Option.Option<Buffer>,
  after: Option.Option<Buffer>,
  key: RecordKey = defaultKey
): Option.Option<Tables> => {
  const parse = parseWith(entriesOf(key))
  return Option.flatMap(Option.all([parse(before), parse(after)]), ([before, after]) => {
    const [holds, other] = [before.holds ?? after.holds, after.holds ?? before.holds]
    return holds !== undefined && holds === other
      ? Option.some({ holds, batches: parsedBatches(before.entries, after.entries) })
      : Option.none()
  })
}

interface Parsed {
  /** Missing where there is no file. */
  readonly holds?: Tables["holds"]
  readonly entries: ReadonlyArray<Entry>
}

const parseWith = (read: (value: unknown) => Option.Option<Parsed>) =>
  Option.match({
    onNone: (): Option.Option<Parsed> => Option.some({ entries: [] }),
    onSome: (bytes: Buffer) =>
      bytes.length <= maxParsed ? Option.flatMap(parseJson(bytes.toString()), read) : Option.none()
  })

const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** An array of records, each with a key of its own, or an object of keys and values. */
const entriesOf =
  (key: RecordKey) =>
  (value: unknown): Option.Option<Parsed> => {
    if (!Array.isArray(value)) {
      return Predicate.isReadonlyRecord(value)
        ? Option.some({ holds: "keys", entries: Object.entries(value) })
        : Option.none()
    }
    return Option.liftThrowable(makeEntriesOf(key))(value).pipe(
      Option.filter((entries) => new Set(entries.map(([id]) => id)).size === entries.length),
      Option.map((entries) => ({ holds: "records", entries }))
    )
  }

export function* parsedBatches(before: ReadonlyArray<Entry>, after: ReadonlyArray<Entry>): Generator<Batch> {
  for (let start = 0; start < Math.max(before.length, after.length); start += batchSize) {
    yield { before: before.slice(start, start + batchSize), after: after.slice(start, start + batchSize) }
  }
}
