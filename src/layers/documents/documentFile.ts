/**
 * The JSON file of a document: it is written in parts and in turns of the event loop, digested on the way, and read again one record at
 * a time.
 *
 * In an array, each item that is an object begins and ends on its own line.
 */
import { createHash } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { toError } from "../../internal/fileBatch.ts"
import { move } from "../../internal/heldOpen.ts"
import { makeGiveWay } from "../../internal/nextTurn.ts"
import { explain } from "../../internal/systemError.ts"
import type { FetchedDocument } from "../../services/ContentSource.ts"
import { catchTooDeep, type DocumentNotSaved } from "./Document.ts"
import { parseItems, readList } from "./savedList.ts"
import { type Order, runParts, runsOf, savedParts } from "./sortedJson.ts"

export interface FileTarget {
  /** The file to write (absolute path). */
  readonly path: string
  readonly failed: (detail: string, cause?: unknown) => DocumentNotSaved
}

/** The file of a document as it was written. */
export interface DocumentFile {
  /** Its size. */
  readonly bytes: number
  /** The SHA-256 of its bytes. */
  readonly sha256: string
}

interface WrittenFile extends DocumentFile {
  /** Equal for equal content, whatever is volatile in it. */
  readonly digest: string
}

/** What a document is. `keys` are those of one value. */
export type Holds = "records" | "keys"

/** A document in a folder. */
export interface DocumentOnDisk {
  /** The name of its file, and what it says of its records. */
  readonly about: FetchedDocument & { readonly name: string }
  /** Where it is (absolute path). */
  readonly path: string
  readonly holds: Holds
  readonly failed: FileTarget["failed"]
}

/** Some of what a document has. */
export interface DocumentPart {
  /** Records, or the one value that the document is. */
  readonly values: ReadonlyArray<unknown>
  /** The number of the first record; `None` where the document is no list. */
  readonly first: Option.Option<number>
}

/** Less than this is not worth a write. */
const fewBytes = 512 * 1024

/** Opens a file that is written in parts. One that is there is replaced. It is closed with the scope. */
const open = Effect.fnUntraced(function* (target: FileTarget) {
  const fileSystem = yield* FileSystem.FileSystem
  const file = yield* writing(target, fileSystem.open(target.path, { flag: "w" }))
  const giveWay = makeGiveWay()
  const written = createHash("sha256")
  const lasting = createHash("sha256")
  // Changed for each part of a text: a `Ref` takes longer than what is done.
  let bytes = 0
  let unwritten: Array<Uint8Array> = []
  let unwrittenBytes = 0

  const append = (part: string) => {
    const encoded = Buffer.from(part)
    unwritten.push(encoded)
    unwrittenBytes += encoded.length
    bytes += encoded.length
    written.update(encoded)
  }

  const flush = Effect.suspend(() => {
    const encoded = Buffer.concat(unwritten)
    unwritten = []
    unwrittenBytes = 0
    return writing(target, file.writeAll(encoded))
  })

  function* adding(parts: Iterable<string>, lastingParts: Iterable<string> | undefined): Generator<void> {
    for (const part of parts) {
      append(part)
      if (lastingParts === undefined) lasting.update(part)
      yield
    }
    for (const part of lastingParts ?? []) {
      lasting.update(part)
      yield
    }
  }

  return {
    /** Adds text. `lastingParts` are the same without what is volatile. */
    add: (parts: Iterable<string>, lastingParts?: Iterable<string>) =>
      Effect.gen(function* () {
        const work = adding(parts, lastingParts)
        while (work.next().done !== true) {
          if (unwrittenBytes >= fewBytes) yield* flush
          yield* giveWay
        }
      }),

    /** Writes the rest, and what ends the file. */
    end: Effect.suspend((): Effect.Effect<WrittenFile, DocumentNotSaved> => {
      append("\n")
      return Effect.map(flush, () => ({
        bytes,
        digest: lasting.digest("hex"),
        sha256: written.digest("hex")
      }))
    })
  }
})

/** Opens a file for records that are written some at a time. */
export const openRecords = (target: FileTarget, order: Order) =>
  Effect.map(open(target), (file) => {
    function* next(run: ReadonlyArray<unknown>, first: number) {
      yield first === 0 ? "[" : ","
      yield* runParts(run, order)
    }
    return {
      /** Adds some of `runsOf`, behind so many others. `lasting` are the same without what is volatile. */
      add: (run: ReadonlyArray<unknown>, first: number, lasting = run) =>
        file.add(next(run, first), lasting === run ? undefined : next(lasting, first)),
      end: (records: number) => Effect.zipRight(file.add([records === 0 ? "[]" : "\n]"]), file.end)
    }
  })

/** Writes a file of one value. `lasting` is the same without what is volatile. */
export const writeValue = (target: FileTarget, value: unknown, order: Order, lasting = value) =>
  Effect.gen(function* () {
    const file = yield* open(target)
    yield* file.add(savedParts(value, order), lasting === value ? undefined : savedParts(lasting, order))
    return yield* file.end
  }).pipe(Effect.scoped)

const writing = <A, R>(
  { failed, path }: FileTarget,
  write: Effect.Effect<A, PlatformError, R>
): Effect.Effect<A, DocumentNotSaved, R> =>
  Effect.mapError(write, (cause) => failed(`cannot write ${path}: ${explain(cause)}`, cause))

/** Writes what a document on disk has, changed. Its file may be that of the target itself. */
export const rewrite = Effect.fnUntraced(
  function* (document: DocumentOnDisk, change: (part: DocumentPart) => ReadonlyArray<unknown>, path: string) {
    const { failed, holds } = document
    const temporary = { path: `${path}.new`, failed }
    const changed = Stream.map(readParts(document), change)
    const { digest: _, ...written } = yield* holds === "keys"
      ? Effect.flatMap(Stream.runCollect(changed), (parts) =>
          writeValue(temporary, Chunk.unsafeHead(parts)[0], identity)
        )
      : Effect.gen(function* () {
          const file = yield* openRecords(temporary, identity)
          const records = yield* Stream.runFoldEffect(changed, 0, (first, values) =>
            Effect.as(file.add(values, first), first + values.length)
          )
          return yield* file.end(records)
        }).pipe(Effect.scoped)
    yield* writing({ path, failed }, move(temporary.path, path))
    return written satisfies DocumentFile
  },
  (rewriting, { failed }) => catchTooDeep(failed)(rewriting)
)

/** What a document has, in parts that are as much work as is done at once. */
export const readParts = ({
  failed,
  holds,
  path
}: DocumentOnDisk): Stream.Stream<DocumentPart, DocumentNotSaved, FileSystem.FileSystem> => {
  const parts =
    holds === "keys"
      ? Stream.map(readValue(path), (value): DocumentPart => ({ values: [value], first: Option.none() }))
      : Stream.mapConcat(readItems(path), runsOf).pipe(
          Stream.mapAccum(0, (first, values): readonly [number, DocumentPart] => [
            first + values.length,
            { values, first: Option.some(first) }
          ])
        )
  return Stream.mapError(parts, (cause) => failed(`cannot be read again: ${explain(cause)}`, cause))
}

/** The records of a table. */
export const readRecords = (file: string) =>
  Stream.flattenIterables(readItems(file)).pipe(Stream.filter(Predicate.isReadonlyRecord))

/** The keys of a key/value table. */
export const readKeys = (file: string) =>
  Stream.mapConcat(readValue(file), (value) => (Predicate.isReadonlyRecord(value) ? Object.keys(value) : []))

/** The items of a list, some at a time. */
const readItems = (file: string) =>
  Stream.mapEffect(readList(file), (text) =>
    Effect.try({ try: () => parseItems(text.toString()), catch: toError })
  )

/** The one value of a file. */
const readValue = (file: string) =>
  Stream.fromEffect(
    Effect.flatMap(FileSystem.FileSystem, (fs) =>
      Effect.flatMap(fs.readFileString(file), (text) =>
        Effect.try({ try: (): unknown => JSON.parse(text), catch: toError })
      )
    )
  )
