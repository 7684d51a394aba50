/**
 * The JSON file of a document: written in one pass, hashed on the way, and read by its lines.
 *
 * A list has one record on each line: `[`, each record as JSON without blanks, a comma behind each except the last,
 * `]`. A single value has an indent of two spaces. Lists in another form, which a program of the user has
 * written, are parsed as a whole.
 */

import { createHash, type Hash } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { unfinishedFile } from "../../files/durable.ts"
import { toError } from "../../files/fileBatch.ts"
import { explain, move } from "../../files/systemError.ts"
import { inTurns } from "../../internal/nextTurn.ts"
import type { FetchedDocument, PreviousContent } from "../../services/ContentSource.ts"
import type { SourceError } from "../../services/SourceError.ts"
import { withinBudget } from "./budget.ts"
import { catchTooDeep, type FailedIn, fileBefore } from "./Document.ts"
import { savedText } from "./jsonValues.ts"

export interface FileTarget {
  /** The file to write (absolute path). */
  readonly path: string
  readonly failed: FailedIn
}

/** The written file of a document. */
export interface DocumentFile {
  /** Its size in bytes. */
  readonly bytes: number
  /** The SHA-256 of its bytes. */
  readonly sha256: string
}

interface WrittenFile extends DocumentFile {
  /** Digest without the volatile parts: equal for equal content. */
  readonly digest: string
}

/** Whether a document is a list of records, or one value with keys. */
export type Holds = "records" | "keys"

/** A document in a folder. */
export interface DocumentOnDisk {
  /** The name of its file, and the source's information about its records. */
  readonly about: FetchedDocument & { readonly name: string }
  /** The path of the file (absolute). */
  readonly path: string
  readonly holds: Holds
  readonly failed: FileTarget["failed"]
}

/** Some records of a document, or its one value. */
export interface DocumentPart {
  readonly values: ReadonlyArray<unknown>
  /** The number of the first record; `None` if the document is no list. */
  readonly first: Option.Option<number>
}

/** In bytes: less text is not worth a write. */
const fewBytes = 512 * 1024

/** Opens a file for text. A file of this path is replaced. It is closed with the scope. */
const open = Effect.fnUntraced(function* (target: FileTarget) {
  const fileSystem = yield* FileSystem.FileSystem
  const file = yield* writing(target, fileSystem.open(target.path, { flag: "w" }))
  const written = createHash("sha256")
  // The digest of the file itself, until the first volatile part.
  let stable: Hash | undefined
  let bytes = 0
  let unwritten: Array<Uint8Array> = []
  let unwrittenBytes = 0

  const flush = Effect.suspend(() => {
    const all = Buffer.concat(unwritten)
    unwritten = []
    unwrittenBytes = 0
    // A write of no bytes is an error.
    return all.length === 0 ? Effect.void : writing(target, file.writeAll(all))
  })

  return {
    /** Adds text; `stableText` is the same text without volatile parts. Throws `Refused`. */
    add: (text: string, stableText = text): void => {
      const encoded = Buffer.from(text)
      if (stableText !== text) stable ??= written.copy()
      written.update(encoded)
      stable?.update(stableText)
      unwritten.push(encoded)
      unwrittenBytes += encoded.length
      bytes += encoded.length
      withinBudget("bytes", bytes)
    },

    /** Whether there is enough text for a write. */
    isFull: () => unwrittenBytes >= fewBytes,

    flush,

    end: Effect.suspend(() =>
      Effect.map(flush, (): WrittenFile => {
        const sha256 = written.digest("hex")
        return { bytes, sha256, digest: stable === undefined ? sha256 : stable.digest("hex") }
      })
    )
  }
})

/** Opens the file of a list. */
export const openList = (target: FileTarget) =>
  Effect.map(open(target), (file) => {
    let count = 0
    let lines: Array<string> = []
    let stableLines: Array<string> = []
    let length = 0
    let isStable = true
    let separator = "[\n"
    /** Many small texts at once: a hash and a buffer for each record are slow. */
    const addLines = () => {
      if (lines.length === 0) return
      file.add(separator)
      file.add(lines.join(",\n"), isStable ? undefined : stableLines.join(",\n"))
      separator = ",\n"
      lines = []
      stableLines = []
      length = 0
      isStable = true
    }
    return {
      /**
       * Adds a record; `stable` is the same record without its volatile parts. Returns whether `flush` has something
       * to do. Throws the errors of `JSON.stringify`, and `Refused`.
       */
      add: (record: unknown, stable = record): boolean => {
        const text = JSON.stringify(record)
        const stableText = stable === record ? text : JSON.stringify(stable)
        withinBudget("records", ++count)
        lines.push(text)
        stableLines.push(stableText)
        length += text.length
        if (text !== stableText) isStable = false
        if (length >= partLength) addLines()
        return file.isFull()
      },
      flush: Effect.suspend(() => (file.isFull() ? file.flush : Effect.void)),
      end: Effect.suspend(() => {
        addLines()
        file.add(count === 0 ? "[]\n" : "\n]\n")
        return file.end
      })
    }
  })

/** Writes the file of one value; `stable` is the same value without its volatile parts. */
export const writeValue = (target: FileTarget, value: unknown, stable = value) =>
  Effect.gen(function* () {
    const file = yield* open(target)
    const text = savedText(value)
    file.add(text, stable === value ? text : savedText(stable))
    return yield* file.end
  }).pipe(Effect.scoped)

const writing = <A, R>(
  { failed, path }: FileTarget,
  write: Effect.Effect<A, PlatformError, R>
): Effect.Effect<A, SourceError, R> =>
  Effect.mapError(write, (cause) => failed(`cannot write ${path}: ${explain(cause)}`, cause))

/**
 * Rewrites a document, changed part by part. The path may be the path of the document. The temporary file has a name
 * that no file of a source has: such a file may be a link to a file of the last version.
 */
export const rewrite = Effect.fnUntraced(
  function* (
    document: DocumentOnDisk,
    change: (part: DocumentPart) => Generator<void, ReadonlyArray<unknown>>,
    path: string
  ) {
    const { failed, holds } = document
    const temporary = { path: unfinishedFile(path), failed }
    const changed = Stream.mapEffect(readParts(document), (part) => inTurns(change(part)))
    const { digest: _, ...written } = yield* holds === "keys"
      ? Effect.flatMap(Stream.runHead(changed), (values) =>
          writeValue(temporary, Option.getOrElse(values, () => [])[0])
        )
      : Effect.gen(function* () {
          const file = yield* openList(temporary)
          yield* Stream.runForEach(changed, (records) => {
            for (const record of records) file.add(record)
            return file.flush
          })
          return yield* file.end
        }).pipe(Effect.scoped)
    yield* writing({ path, failed }, move(temporary.path, path))
    return written satisfies DocumentFile
  },
  (rewriting, { failed }) => catchTooDeep(failed)(rewriting)
)

/** The content of a document, some records at a time. */
export const readParts = ({
  failed,
  holds,
  path
}: DocumentOnDisk): Stream.Stream<DocumentPart, SourceError, FileSystem.FileSystem> => {
  const parts =
    holds === "keys"
      ? Stream.fromEffect(
          Effect.map(readValue(path), (value): DocumentPart => ({ values: [value], first: Option.none() }))
        )
      : Stream.mapAccum(readList(path), 0, (first, values): readonly [number, DocumentPart] => [
          first + values.length,
          { values, first: Option.some(first) }
        ])
  return Stream.mapError(parts, (cause) => failed(`cannot be read again: ${explain(cause)}`, cause))
}

/** The items of a list. */
export const readItems = (file: string) => Stream.flattenIterables(readList(file))

/** The records of a table. */
export const readRecords = (file: string) => Stream.filter(readItems(file), Predicate.isReadonlyRecord)

/** The keys of a key/value table. */
export const readKeys = (file: string) =>
  Stream.fromIterableEffect(
    Effect.map(readValue(file), (value) => (Predicate.isReadonlyRecord(value) ? Object.keys(value) : []))
  )

/** The items of a list, some at a time. It fails if the file is no list. */
const readList = (file: string) =>
  Stream.mapEffect(readLines(file), (lines) =>
    Effect.try({ try: (): ReadonlyArray<unknown> => JSON.parse(`[${lines.join(",")}]`), catch: toError })
  )

/** The items of a list as lines of JSON, some at a time. It fails if the file is no list. */
export const readLines = (
  file: string
): Stream.Stream<ReadonlyArray<string>, Error | PlatformError, FileSystem.FileSystem> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const beginning = yield* fs.stream(file, { bytesToRead: 3 }).pipe(Stream.decodeText(), Stream.mkString)
      return /^\[\n\S/.test(beginning)
        ? splitLines(fs.stream(file, { chunkSize: partLength }))
        : Stream.fromEffect(
            Effect.flatMap(readValue(file), (value) =>
              Array.isArray(value)
                ? Effect.succeed(value.map((item) => JSON.stringify(item)))
                : Effect.fail(new Error("The file is no list."))
            )
          )
    })
  )

/** How many bytes of a file are read at a time. Smaller parts take longer in total. */
const partLength = 256 * 1024

/**
 * The lines between the brackets, without the commas. A line that is cut by the end of a part comes with the next
 * part.
 */
const splitLines = <E>(
  bytes: Stream.Stream<Uint8Array, E>
): Stream.Stream<ReadonlyArray<string>, E | Error> =>
  Stream.suspend(() => {
    let rest = Buffer.alloc(0)
    const lines = Stream.map(bytes, (part): ReadonlyArray<string> => {
      const all = Buffer.concat([rest, part])
      const end = all.lastIndexOf("\n", -endOfList.length) + 1
      rest = all.subarray(end)
      return all
        .toString("utf8", 0, end)
        .split(/,?\n/)
        .filter((line) => line !== "" && line !== "[")
    })
    const ending = Effect.suspend(() =>
      rest.toString() === endOfList.slice(1) ? Effect.void : Effect.fail(new Error("The list has no end."))
    )
    return Stream.concat(lines, Stream.execute(ending))
  })

const endOfList = "\n]\n"

/** Whether a file is a list, and not one value. */
export const isList = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.stream(file, { bytesToRead: 64 }).pipe(Stream.decodeText(), Stream.mkString)
  ).pipe(Effect.map((beginning) => beginning.trimStart().startsWith("[")))

/** The whole value of a file. */
export const readValue = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.flatMap(fs.readFileString(file), (text) =>
      Effect.try({ try: (): unknown => JSON.parse(text), catch: toError })
    )
  )

/** The value of a file of the last version. It fails if the file is missing, or is no JSON. */
export const readBefore = (previous: Option.Option<PreviousContent>, file: string) =>
  Effect.flatMap(fileBefore(previous, file), readValue)
