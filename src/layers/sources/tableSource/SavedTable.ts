/**
 * Writing a table to its file.
 *
 * It owns the form of the file and its digest. Which file that is, and what happens to it later, belongs to
 * the caller.
 */
import { createHash } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { explain } from "../../../internal/systemError.ts"
import type {
  Attachment,
  CursorExpired,
  TableError,
  TableRecord
} from "../../../services/TableSourceClient.ts"
import type { CheckFields } from "../expect/TableCheck.ts"
import { savedText } from "../sortedJson.ts"
import { type AttachmentCells, localPathField } from "./AttachmentCells.ts"
import type { PathOf } from "./AttachmentPaths.ts"
import { keyValues } from "./KeyValueTable.ts"
import type { FoundAttachment } from "./NotSaved.ts"
import { TableNotSaved } from "./NotSaved.ts"
import { makeSavedRecords, type SavedRecord, tryEncode } from "./SavedRecords.ts"
import type { Pages } from "./TableReader.ts"

export interface SavedTable {
  /** The attachments in what was saved, each file once. */
  readonly attachments: ReadonlyArray<FoundAttachment>
  /** The size of the JSON file. */
  readonly bytes: number
  /** Equal for equal content, though its attachments were signed again. */
  readonly digest: string
  /** The digest of the JSON file as it was written. */
  readonly sha256: string
  readonly records: number
  /** What was saved otherwise than one may expect. */
  readonly warnings: ReadonlyArray<string>
}

export interface SavedTableTarget {
  readonly table: string
  /** The file to write; one that is there is replaced. */
  readonly path: string
  /** Told after every page how many records there are so far. */
  readonly progress: (records: number) => Effect.Effect<void>
  readonly cells: AttachmentCells
  readonly pathOf: PathOf
  /** Whether saved attachments get their path, as `localPath`. */
  readonly appendLocalAttachmentPaths: boolean
  /** Given every record, or the object of a key/value table; `None` if nothing is expected. */
  readonly check: Option.Option<CheckFields>
}

/** Less than this is not worth a write. */
const fewBytes = 512 * 1024

type Saving = Effect.Effect<SavedTable, TableError | CursorExpired | TableNotSaved, FileSystem.FileSystem>

/** Writes an array of records, each page when it comes, so that a long table takes no more memory than a short one. */
export const saveRecords = (target: SavedTableTarget, pages: Pages): Saving =>
  Effect.gen(function* () {
    const { cells, check, path, progress, table } = target
    const fileSystem = yield* FileSystem.FileSystem
    const file = yield* writing(target, fileSystem.open(path, { flag: "w" }))
    const digest = createHash("sha256")
    const written = createHash("sha256")
    const savedRecords = makeSavedRecords(table)
    const attachments = makeCollection(target)
    let records = 0
    let bytes = 0
    let unwritten: Array<Uint8Array> = []
    let unwrittenBytes = 0

    const append = (encoded: Uint8Array) => {
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

    /** A part of the array, without its end. */
    const items = (saved: ReadonlyArray<unknown>): Uint8Array => {
      const encoded = Buffer.from(savedText(saved)).subarray(0, -"\n]".length)
      if (records > 0) encoded.write(",")
      return encoded
    }

    const addPage = (page: ReadonlyArray<SavedRecord>, withAttachments: boolean) => {
      const encoded = items(page)
      digest.update(withAttachments ? items(page.map(cells.withoutVolatileParts)) : encoded)
      append(encoded)
      records += page.length
    }

    yield* Stream.runForEach(pages, (page) =>
      page.length === 0
        ? progress(records)
        : tryEncode(table, () => {
            if (Option.isSome(check)) checkRecords(check.value, page)
            return page.map(attachments.add)
          }).pipe(
            Effect.flatMap((found) =>
              Effect.flatMap(savedRecords.add(found), (saved) =>
                tryEncode(table, () => addPage(saved, found.some(isNotIn(page))))
              )
            ),
            Effect.zipRight(Effect.suspend(() => (unwrittenBytes < fewBytes ? Effect.void : flush))),
            Effect.zipRight(Effect.suspend(() => progress(records)))
          )
    )
    append(Buffer.from(records === 0 ? "[]\n" : "\n]\n"))
    yield* flush
    return {
      attachments: attachments.found(),
      bytes,
      digest: digest.digest("hex"),
      sha256: written.digest("hex"),
      records,
      warnings: savedRecords.warnings()
    }
  }).pipe(Effect.scoped)

/** Writes the one object of a key/value table. */
export const saveKeyValues = (target: SavedTableTarget, pages: Pages): Saving =>
  Effect.gen(function* () {
    const { cells, check, path, pathOf, progress, table } = target
    const fileSystem = yield* FileSystem.FileSystem
    const records: Array<TableRecord> = []
    yield* Stream.runForEach(pages, (page) => {
      for (const record of page) records.push(record)
      return progress(records.length)
    })
    const attachments = makeCollection(target)
    const { recordOf, saved, text, value, warnings } = yield* Effect.flatten(
      tryEncode(table, () =>
        Either.map(keyValues(table, records.map(attachments.add)), (read) => ({
          ...read,
          saved: new Set(cells.allIn(read.value).map(pathOf)),
          text: savedText(read.value)
        }))
      )
    )
    if (Option.isSome(check)) check.value(value, recordOf)
    const digest = createHash("sha256").update(
      cells.isIn(value) ? savedText(cells.withoutVolatileParts(value)) : text
    )
    const encoded = new TextEncoder().encode(`${text}\n`)
    yield* writing(target, fileSystem.writeFile(path, encoded))
    return {
      // Not those of rows and columns that were left out.
      attachments: attachments.found().filter(({ localPath }) => saved.has(localPath)),
      bytes: encoded.length,
      digest: digest.digest("hex"),
      sha256: createHash("sha256").update(encoded).digest("hex"),
      records: records.length,
      warnings
    }
  })

/** Before attachments get paths: as they came. */
export const checkRecords = (check: CheckFields, page: ReadonlyArray<TableRecord>) => {
  for (const { fields, id } of page) {
    check(fields, () => id)
  }
}

const isNotIn = (page: ReadonlyArray<TableRecord>) => (record: TableRecord, index: number) =>
  record !== page[index]

/** Collects the attachments of records, and tells the records where their files are. */
const makeCollection = ({ appendLocalAttachmentPaths, cells, pathOf, table }: SavedTableTarget) => {
  const found = new Map<string, FoundAttachment>()

  const addFrom =
    (recordId: string, field: string) =>
    (attachment: Attachment, item: Readonly<Record<string, unknown>>) => {
      const localPath = pathOf(attachment)
      if (!found.has(localPath)) {
        found.set(localPath, { ...attachment, table, recordId, field, localPath })
      }
      return appendLocalAttachmentPaths ? { ...item, [localPathField]: localPath } : item
    }

  /** A record without attachments stays the object that it is. */
  const add = (record: TableRecord): TableRecord =>
    cells.isIn(record.fields)
      ? {
          id: record.id,
          fields: Object.fromEntries(
            Object.entries(record.fields).map(([field, cell]) => [
              field,
              cells.replaceIn(cell, addFrom(record.id, field))
            ])
          )
        }
      : record

  return { add, found: () => [...found.values()] }
}

const writing = <A, R>({ path, table }: SavedTableTarget, write: Effect.Effect<A, PlatformError, R>) =>
  Effect.mapError(
    write,
    (cause) => new TableNotSaved({ table, detail: `cannot write ${path}: ${explain(cause)}`, cause })
  )
