/**
 * Writing a table to its file.
 *
 * It owns the form of the file and its digest. Which file that is, and what happens to it later, belongs to
 * the caller.
 */
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
import type { CheckFields } from "../../documents/expect/TableCheck.ts"
import type { WrittenFile } from "../../documents/jsonFile.ts"
import * as jsonFile from "../../documents/jsonFile.ts"
import { type AttachmentCells, localPathField } from "./AttachmentCells.ts"
import type { PathOf } from "./AttachmentPaths.ts"
import { keyValues } from "./KeyValueTable.ts"
import type { FoundAttachment } from "./NotSaved.ts"
import { TableNotSaved } from "./NotSaved.ts"
import { makeSavedRecords, type SavedRecord, tryEncode } from "./SavedRecords.ts"
import type { Pages } from "./TableReader.ts"

/** Its digest is the same though its attachments were signed again. */
export interface SavedTable extends WrittenFile {
  /** The attachments in what was saved, each file once. */
  readonly attachments: ReadonlyArray<FoundAttachment>
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

type Saving = Effect.Effect<SavedTable, TableError | CursorExpired | TableNotSaved, FileSystem.FileSystem>

/** Writes an array of records, each page when it comes, so that a long table takes no more memory than a short one. */
export const saveRecords = (target: SavedTableTarget, pages: Pages): Saving =>
  Effect.gen(function* () {
    const { cells, check, path, progress, table } = target
    const file = yield* writing(target, jsonFile.openArray(path))
    const savedRecords = makeSavedRecords(table)
    const attachments = makeCollection(target)
    let records = 0

    const addPage = (page: ReadonlyArray<SavedRecord>, withAttachments: boolean) => {
      file.add(page, withAttachments ? page.map(cells.withoutVolatileParts) : page)
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
            Effect.zipRight(writing(target, file.flush)),
            Effect.zipRight(Effect.suspend(() => progress(records)))
          )
    )
    return {
      ...(yield* writing(target, file.end)),
      attachments: attachments.found(),
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
    const { file, recordOf, saved, value, warnings } = yield* Effect.flatten(
      tryEncode(table, () =>
        Either.map(keyValues(table, records.map(attachments.add)), (read) => ({
          ...read,
          saved: new Set(cells.allIn(read.value).map(pathOf)),
          file: jsonFile.encodeValue(read.value, lastingParts(cells, read.value))
        }))
      )
    )
    if (Option.isSome(check)) check.value(value, recordOf)
    yield* writing(target, fileSystem.writeFile(path, file.encoded))
    return {
      ...file.written,
      // Not those of rows and columns that were left out.
      attachments: attachments.found().filter(({ localPath }) => saved.has(localPath)),
      records: records.length,
      warnings
    }
  })

const lastingParts = (cells: AttachmentCells, value: unknown) =>
  cells.isIn(value) ? cells.withoutVolatileParts(value) : value

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
