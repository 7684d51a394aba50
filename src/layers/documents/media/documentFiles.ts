/**
 * Reading and writing the JSON documents of a source, in bounded memory.
 *
 * In the form that Vitrine saves lists in, each record begins and ends on a line of its own: a part of the file is parsed at a
 * time. JSON of another form is parsed as a whole, up to 64 MiB.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { move } from "../../../internal/heldOpen.ts"
import { printableLine } from "../../../internal/printable.ts"
import { sizeText } from "../../../internal/readable.ts"
import { explain } from "../../../internal/systemError.ts"
import * as jsonFile from "../jsonFile.ts"
import { MediaDocumentNotSaved } from "./errors.ts"

/** Of a document that is not read in parts, and of a record. In bytes; parsed, they take several times as much memory. */
const maxParsed = 64 * 1024 ** 2

/** Bytes of a document that are read in one go. */
const readSize = 1024 ** 2

/** A part of a document. */
export interface DocumentPart {
  /** Records, or the one value that the document is. */
  readonly values: ReadonlyArray<unknown>
  /** The number of the first record; `None` where the document is no list. */
  readonly first: Option.Option<number>
}

/** A document on disk. */
export interface DocumentFile {
  /** Its path in the folder of the source. */
  readonly name: string
  /** Its absolute path. */
  readonly file: string
}

/** What a document is on disk. */
export interface FileDigest {
  readonly sha256: string
  /** Its size. */
  readonly bytes: number
}

const beginning = "[\n"
const separator = ",\n"
const firstRecord = Buffer.from("[\n  {\n")
const lastLine = Buffer.from("\n  },\n")
const ending = /\n\]\s*$/

/** Gives each part of the document, one after the other, and then how many bytes it has. */
export const forEachPart = <E, R>(
  { file, name }: DocumentFile,
  use: (part: DocumentPart) => Effect.Effect<void, E, R>
): Effect.Effect<number, MediaDocumentNotSaved | E, FileSystem.FileSystem | R> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const handle = yield* reading(name, fileSystem.open(file, { flag: "r" }))
    let size = 0
    let records = 0
    let isInRecords = false
    let pending = Buffer.alloc(0)

    const useRecords = Effect.fnUntraced(function* (bytes: Uint8Array) {
      const values = yield* parse(name, `[${decode(bytes)}]`)
      if (!Array.isArray(values)) return
      yield* use({ values, first: Option.some(records) })
      records += values.length
    })

    while (true) {
      const read = yield* reading(name, handle.readAlloc(readSize))
      if (Option.isNone(read)) break
      size += read.value.length
      pending = Buffer.concat([pending, read.value])
      if (!isInRecords && pending.length === size && pending.indexOf(firstRecord) === 0) {
        isInRecords = true
        pending = pending.subarray(beginning.length)
      }
      const end = isInRecords ? pending.lastIndexOf(lastLine) : -1
      if (end !== -1) {
        yield* useRecords(pending.subarray(0, end + lastLine.length - separator.length))
        pending = pending.subarray(end + lastLine.length)
      }
      if (pending.length > maxParsed) return yield* tooLarge(name, isInRecords)
    }
    const text = decode(pending)
    if (isInRecords) {
      if (!ending.test(text)) return yield* noJson(name, "it ends in the middle")
      yield* useRecords(Buffer.from(text.replace(ending, "")))
    } else {
      const value = yield* parse(name, text)
      yield* use({
        values: Array.isArray(value) ? value : [value],
        first: Array.isArray(value) ? Option.some(0) : Option.none()
      })
    }
    return size
  }).pipe(Effect.scoped)

/** Writes what becomes of the values of each part. The file is new: one that another version has a link to stays as it is. */
export const rewrite = <E, R>(
  document: DocumentFile,
  target: { readonly file: string; readonly temporary: string },
  change: (part: DocumentPart) => Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<FileDigest, MediaDocumentNotSaved | E, FileSystem.FileSystem | R> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const write = <A, R>(effect: Effect.Effect<A, PlatformError, R>) => writing(document.name, effect)

    const writeTemporary = Effect.gen(function* () {
      const list = yield* write(jsonFile.openArray(target.temporary))
      let single = Option.none<jsonFile.WrittenFile>()
      yield* forEachPart(document, (part) =>
        Effect.flatMap(change(part), (values) => {
          if (Option.isSome(part.first)) {
            list.add(values)
            return write(list.flush)
          }
          const { encoded, written } = jsonFile.encodeValue(values[0])
          single = Option.some(written)
          return write(fileSystem.writeFile(target.temporary, encoded))
        })
      )
      return Option.isSome(single) ? single.value : yield* write(list.end)
    })
    const { bytes, sha256 } = yield* Effect.scoped(writeTemporary)
    yield* write(move(target.temporary, target.file))
    return { bytes, sha256 }
  })

const decode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()

const parse = (document: string, text: string): Effect.Effect<unknown, MediaDocumentNotSaved> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) => noJson(document, printableLine(String(cause), 200))
  })

const noJson = (document: string, reason: string) =>
  new MediaDocumentNotSaved({ document, detail: `it is no JSON: ${reason}` })

const tooLarge = (document: string, isInRecords: boolean) =>
  new MediaDocumentNotSaved({
    document,
    detail: isInRecords
      ? `a record of it has more than ${sizeText(maxParsed)}`
      : `it has more than ${sizeText(maxParsed)} and is no list of records in the form that Vitrine saves, which are read one after the other`
  })

const onDisk =
  (action: "read" | "written") =>
  <A, R>(document: string, effect: Effect.Effect<A, PlatformError, R>) =>
    Effect.mapError(
      effect,
      (cause) =>
        new MediaDocumentNotSaved({ document, detail: `it cannot be ${action}: ${explain(cause)}`, cause })
    )
const reading = onDisk("read")
const writing = onDisk("written")
