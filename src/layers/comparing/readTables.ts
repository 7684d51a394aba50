/**
 * Two tables out of their files, in batches.
 *
 * In the form that Vitrine saves tables in, each record begins and ends on its own line: a part of each file is read at a time,
 * and records that are equal in both are passed over. JSON of another form is parsed as a whole, up to 16 MiB.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { defaultKey, type RecordKey, recordId } from "../../internal/recordKey.ts"
import type { Batch, Entry } from "./compareDocuments.ts"

/** Two tables, of which one may be empty. */
export interface Tables {
  readonly holds: "records" | "keys"
  /** The next entries of both; `None` at the end. */
  readonly next: Effect.Effect<Option.Option<Batch>, NoTable | PlatformError>
}

/** A file is no table, or not in the form that was expected. */
export class NoTable extends Data.TaggedError("vitrine/NoTable")<{ readonly cause?: unknown }> {}

/** In bytes; parsed, they take several times as much memory. */
const maxParsed = 16 * 1024 * 1024

/** How many bytes of a file are read at a time. */
const partLength = 64 * 1024

/** The largest record, in bytes. */
const maxRecord = 16 * 1024 * 1024

/** In characters: of records that are not equal, before they are parsed. */
const maxWaiting = 64 * 1024

/** How many entries of parsed tables are a batch. */
const batchSize = 1000

const beginning = "[\n"
const emptyList = "[]\n"
const separator = ",\n"
const lastLine = `\n  }${separator}`
const ending = /\n\]\s*$/

/** Tables of records as Vitrine saves them, by the paths of their files. They are open until the scope ends. */
export const savedTables = Effect.fnUntraced(function* (
  before: Option.Option<string>,
  after: Option.Option<string>,
  key: RecordKey = defaultKey
) {
  const [old, recent] = [yield* openList(before), yield* openList(after)]
  const waiting = makeWaiting(makeEntriesOf(key))
  let isDone = false
  const next: Tables["next"] = Effect.gen(function* () {
    if (isDone) return Option.none()
    const [part, other] = [yield* old, yield* recent]
    isDone = part.length === 0 && other.length === 0
    return Option.some(yield* tryRead(() => waiting(part, other, isDone)))
  })
  return { holds: "records", next } satisfies Tables
})

/**
 * Gives the next records of a list, with the commas between them, until it is asked for more; nothing at the end, and of a file that
 * is not there. One buffer serves for the whole file: many would keep the garbage collector busy.
 */
const openList = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return Effect.succeed(noBytes)
  const fs = yield* FileSystem.FileSystem
  const handle = yield* fs.open(file.value, { flag: "r" })
  let buffer = Buffer.allocUnsafe(2 * partLength)
  let rest = buffer.subarray(0, 0)
  let isBegun = false
  let isAtEnd = false

  /** Puts more behind the rest, which moves to the front. */
  const readMore = Effect.gen(function* () {
    if (buffer.length - rest.length < partLength) buffer = Buffer.concat([rest], 2 * buffer.length)
    else rest.copy(buffer)
    const free = buffer.subarray(rest.length, rest.length + partLength)
    const length = Number(yield* handle.read(free))
    isAtEnd = length === 0
    rest = buffer.subarray(0, rest.length + length)
  })

  return Effect.gen(function* () {
    while (!isAtEnd) {
      yield* readMore
      if (!isBegun) {
        if (rest.length <= emptyList.length && !isAtEnd) continue
        if (rest.toString("latin1") === emptyList) return noBytes
        if (rest.toString("latin1", 0, beginning.length) !== beginning) return yield* new NoTable({})
        isBegun = true
        rest = rest.subarray(beginning.length)
      }
      const end = isAtEnd ? endOfList(rest) : rest.lastIndexOf(lastLine)
      if (end !== -1) {
        const records = rest.subarray(0, end + lastLine.length - separator.length)
        rest = rest.subarray(end + lastLine.length)
        return records
      }
      if (isAtEnd || rest.length > maxRecord) return yield* new NoTable({})
    }
    return noBytes
  })
})

const noBytes = Buffer.alloc(0)

/** Where the last line of the last record begins, with the end of the line before it; -1 where the file has no such end. */
const endOfList = (bytes: Buffer): number => {
  const text = bytes.toString("latin1")
  const end = ending.exec(text)
  return end !== null && text.endsWith("\n  }", end.index) ? end.index - "\n  }".length : -1
}

/**
 * Takes the next records of both tables, and gives what of them is to be compared. Records that have no equal on the other side
 * wait for it as they are in the file: where records were put in between, it comes with the next part.
 */
const makeWaiting = (entriesOf: EntriesOf) => {
  const before = new Set<string>()
  const after = new Set<string>()
  let length = 0

  const pass = (records: Buffer, own: Set<string>, other: Set<string>) => {
    for (const record of textsOf(records)) {
      if (other.delete(record)) {
        length -= record.length
      } else {
        own.add(record)
        length += record.length
      }
    }
  }

  const take = (records: Set<string>): ReadonlyArray<Entry> => {
    const text = Buffer.from([...records].join(separator), "latin1").toString()
    records.clear()
    return entriesOf(JSON.parse(`[${text}]`))
  }

  return (part: Buffer, other: Buffer, isLast: boolean): Batch => {
    if (!part.equals(other)) {
      pass(part, before, after)
      pass(other, after, before)
    }
    if (length <= maxWaiting && !isLast) return { before: [], after: [] }
    length = 0
    return { before: take(before), after: take(after) }
  }
}

/** Each record, its bytes as characters: that is faster than to decode it, and most are never parsed. */
function* textsOf(records: Buffer): Generator<string> {
  for (let start = 0; start < records.length; ) {
    const found = records.indexOf(lastLine, start)
    const end = found === -1 ? records.length : found + lastLine.length - separator.length
    yield records.toString("latin1", start, end)
    start = end + separator.length
  }
}

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
  let start = 0
  const next = Effect.sync((): Option.Option<Batch> => {
    const [from, to] = [start, start + batchSize]
    start = to
    return from < Math.max(old.entries.length, recent.entries.length)
      ? Option.some({ before: old.entries.slice(from, to), after: recent.entries.slice(from, to) })
      : Option.none()
  })
  return { holds, next } satisfies Tables
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
