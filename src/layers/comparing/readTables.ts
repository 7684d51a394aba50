/**
 * Reads two documents from their files, as entries that differ.
 *
 * A list is compared line by line: lines that both files have are skipped and not parsed. The keys of a value are
 * compared like records.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { nextTurn } from "../../internal/nextTurn.ts"
import { defaultKey, type RecordKey, recordId } from "../../internal/recordKey.ts"
import { isList, readLines, readValue } from "../documents/documentFile.ts"
import type { Batch, Entry } from "./compareDocuments.ts"

/** Two documents. One of them may be missing. */
export interface Tables {
  readonly holds: "records" | "keys"
  readonly batches: Stream.Stream<Batch, NoTable, FileSystem.FileSystem>
}

/** A file is neither a list of records nor an object. */
export class NoTable extends Data.TaggedError("vitrine/NoTable")<{ readonly cause?: unknown }> {}

/** How many characters of unequal lines wait before they are parsed. */
const maxWaiting = 256 * 1024

/** Opens two documents by the paths of their files. Fails if they are of different kinds. */
export const openTables = Effect.fnUntraced(function* (
  before: Option.Option<string>,
  after: Option.Option<string>,
  key: RecordKey = defaultKey
) {
  const files = [before, after].flatMap(Option.toArray)
  const kinds = yield* Effect.forEach(files, isList)
  const isRecords = kinds[0] === true
  if (kinds.some((kind) => kind !== isRecords)) return yield* new NoTable({})
  const lines = isRecords ? readLines : memberLines
  const entryOf = isRecords ? recordEntry(key) : memberEntry
  const open = Option.match({ onNone: () => Stream.empty, onSome: lines })
  return {
    holds: isRecords ? "records" : "keys",
    batches: Stream.mapError(unequal(open(before), open(after), entryOf), (cause) => new NoTable({ cause }))
  } satisfies Tables
})

/** The keys of an object with their values, as lines. */
const memberLines = (file: string) =>
  Stream.mapEffect(Stream.fromEffect(readValue(file)), (value) =>
    Predicate.isReadonlyRecord(value)
      ? Effect.succeed(Object.entries(value).map((member) => JSON.stringify(member)))
      : new NoTable({ cause: "the document is neither a list nor an object" })
  )

type EntryOf = (line: string) => Entry

const memberEntry: EntryOf = (line) => JSON.parse(line)

/** Throws if a record has no value of its key. */
const recordEntry = (key: RecordKey): EntryOf => {
  const idOf = recordId(key)
  return (line) => {
    const record: unknown = JSON.parse(line)
    return [Option.getOrThrow(idOf(record)), record]
  }
}

type Lines<E, R> = Stream.Stream<ReadonlyArray<string>, E, R>

/**
 * The entries of lines that only one file has. Both files are read side by side, and a line waits for its equal on the
 * other side: after inserted records, the equal line comes in a later part.
 */
const unequal = <E, R>(
  before: Lines<E, R>,
  after: Lines<E, R>,
  entryOf: EntryOf
): Stream.Stream<Batch, E | NoTable, R> =>
  Stream.suspend(() => {
    const [one, other] = [new Set<string>(), new Set<string>()]
    // In characters. Only the fiber that pulls the stream uses this count.
    let waiting = 0

    /** Adds lines to their side, or removes their equals from the other side. */
    const pass = (lines: ReadonlyArray<string>, own: Set<string>, opposite: Set<string>) => {
      for (const line of lines) {
        const isEqual = opposite.delete(line)
        if (!isEqual) own.add(line)
        waiting += isEqual ? -line.length : line.length
      }
    }

    const take = (lines: Set<string>) => {
      const entries = [...lines].map(entryOf)
      lines.clear()
      return entries
    }

    const batch = Effect.suspend(() => {
      waiting = 0
      return tryRead((): Batch => ({ before: take(one), after: take(other) }))
    })

    return Stream.zipAll(before, { other: after, defaultSelf: [], defaultOther: [] }).pipe(
      Stream.mapEffect(([old, recent]) => {
        pass(old, one, other)
        pass(recent, other, one)
        return Effect.zipRight(nextTurn, waiting > maxWaiting ? Effect.asSome(batch) : Effect.succeedNone)
      }),
      Stream.filterMap(identity),
      Stream.concat(Stream.fromEffect(batch))
    )
  })

/** Runs code that reads a table. If the code throws, the file is no table. */
export const tryRead = <A>(read: () => A): Effect.Effect<A, NoTable> =>
  Effect.try({ try: read, catch: (cause) => new NoTable({ cause }) })
