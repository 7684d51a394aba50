/**
 * The tables of a source as documents, with the attachments in their cells.
 */
import * as Effect from "effect/Effect"
import * as MutableRef from "effect/MutableRef"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Attachment, TableRecord, TableSourceClient } from "../../../services/TableSourceClient.ts"
import { type Document, Records, Value } from "../../documents/Document.ts"
import type { CheckedTable } from "../../documents/expect/TableCheck.ts"
import type { AttachedFile, WantedFile } from "../../documents/media/WantedFile.ts"
import { notice } from "../../documents/warnings.ts"
import * as Attachments from "./Attachments.ts"
import { keyValues } from "./KeyValueTable.ts"
import { type ChangeRecord, type LinkedFrom, type LinkedTables, makeLinkedTables } from "./LinkedTables.ts"
import { makeSavedRecords, type SavedRecord } from "./SavedRecords.ts"
import { type ReadError, withRestarts } from "./TableReader.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"

type Kind<Name, Content> = Extract<Document<ReadError>["content"], { readonly _tag: Name }> & Content

/** A table as a document; one of records gives these as they are saved. */
export interface TableDocument
  extends Required<Pick<Document<ReadError>, "about" | "again" | "isSorted" | "name">> {
  readonly content:
    | Kind<"Records", { readonly pages: Stream.Stream<ReadonlyArray<SavedRecord>, ReadError> }>
    | Kind<"Value", { readonly value: Effect.Effect<SavedRecord, ReadError> }>
}

/** A table, and how it is saved. */
export type SourceTable = Pick<CheckedTable, "table" | "holds">

export const warnOfNoTables = ({
  id,
  keyValueTables,
  tables
}: Pick<TableSourceOptions, "id" | "keyValueTables" | "tables">): Effect.Effect<void> =>
  tables.length + keyValueTables.length === 0
    ? Effect.logWarning(`The table source "${id}" has neither "tables" nor "keyValueTables": it is empty.`)
    : Effect.void

export const tablesOf = ({
  keyValueTables,
  tables
}: Pick<TableSourceOptions, "keyValueTables" | "tables">): ReadonlyArray<SourceTable> => [
  ...tables.map((table) => ({ table, holds: "records" as const })),
  ...keyValueTables.map((table) => ({ table, holds: "keys" as const }))
]

type Options = Pick<
  TableSourceOptions,
  "appendLocalAttachmentPaths" | "defaultView" | "fields" | "keyValueTables" | "links" | "tables"
>

/** The documents of a fetch. */
export const makeTableDocuments = (options: Options, client: typeof TableSourceClient.Service) => {
  const cells = Attachments.make(client.attachments)

  return Effect.map(makeLinkedTables(options, client), (linked) => {
    const pathOf = Attachments.makeAttachmentPaths()
    const linkOf = makeLinks(cells, client)
    return tablesOf(options).map((source) =>
      tableDocument(source, linked, () => makeCollection(source.table, options, cells, { linkOf, pathOf }))
    )
  })
}

/** A table as a document; `collect` is called anew each time that it is read. */
export const tableDocument = (
  { holds, table }: SourceTable,
  linked: LinkedTables,
  collect: () => Collection
): TableDocument => {
  /** Of the last reading: a document is read by one fiber. */
  const about = MutableRef.make<TableDocument["about"]>(() => ({}))
  const pages = linked.pages(table)
  const shared = {
    name: table,
    isSorted: true,
    about: () => MutableRef.get(about)(),
    again: withRestarts(table)
  }
  const records = Stream.suspend(() => {
    const { add, files } = collect()
    const saved = makeSavedRecords(table)
    const { end, resolve, warnings } = linked.linksOf(table)
    MutableRef.set(about, () => ({ files: files() }))
    const warned = Effect.suspend(() => notice([...saved.warnings(), ...warnings()]))
    return Stream.mapEffect(pages, (page) => Effect.flatMap(resolve(page, add), saved.add)).pipe(
      Stream.concat(Stream.execute(Effect.zipRight(end, warned)))
    )
  })
  const value = Effect.gen(function* () {
    const { add, files } = collect()
    const rows: Array<TableRecord> = []
    yield* Stream.runForEach(pages, (page) =>
      Effect.sync(() => {
        for (const row of page) rows.push(add(row))
      })
    )
    const { recordOf, value, warnings } = yield* keyValues(table, rows)
    MutableRef.set(about, () => ({ recordOf, records: rows.length, files: files(value) }))
    yield* notice(warnings)
    return value
  })
  return {
    ...shared,
    content:
      holds === "records"
        ? { ...Records({ pages: records }), pages: records }
        : { ...Value({ value }), value }
  }
}

/** Collects the attachments of records. */
export interface Collection {
  /** The record, with the paths of its files. */
  readonly add: ChangeRecord
  /** Those of all records, or of them only those that are in a value that was made of these. */
  readonly files: (value?: unknown) => ReadonlyArray<WantedFile>
}

export const collectNothing: Collection = { add: (record) => record, files: () => [] }

interface Attaching {
  readonly pathOf: Attachments.PathOf
  readonly linkOf: (
    attachment: Attachment,
    of: { readonly table: string; readonly recordId: string }
  ) => AttachedFile["link"]
}

const makeCollection = (
  table: string,
  { appendLocalAttachmentPaths }: Options,
  cells: Attachments.AttachmentCells,
  { linkOf, pathOf }: Attaching
): Collection => {
  const found = new Map<string, WantedFile>()

  /** A record is read again in its own table; messages name the one that links to it. */
  const addFrom =
    (recordId: string, field: string, from: LinkedFrom | undefined) =>
    (attachment: Attachment, item: Readonly<Record<string, unknown>>) => {
      const { filename, id, size, url } = attachment
      const localPath = pathOf(attachment)
      if (!found.has(localPath)) {
        found.set(localPath, {
          url: Option.some(url),
          name: filename,
          size: Option.getOrUndefined(size),
          version: id,
          identity: localPath,
          place: {
            kind: "table",
            document: table,
            record: from?.recordId ?? recordId,
            path: from === undefined ? [field] : [from.field, field]
          },
          isOptional: false,
          isAtServer: false,
          attachment: { localPath, link: linkOf(attachment, { table: from?.table ?? table, recordId }) }
        })
      }
      return appendLocalAttachmentPaths ? { ...item, [Attachments.localPathField]: localPath } : item
    }

  return {
    /** A record in which nothing changes stays the object that it is. */
    add: (record, from) => {
      const fields = Attachments.replaceInFields(record.fields, (cell, field) =>
        cells.replaceIn(cell, addFrom(record.id, field, from))
      )
      return fields === record.fields ? record : { id: record.id, fields }
    },
    files: (value) => {
      const all = [...found.values()]
      if (value === undefined) return all
      const left = new Set(cells.allIn(value).map(pathOf))
      return all.filter(({ identity }) => left.has(identity))
    }
  }
}

/** For one fetch: the links of records that were read again serve all their attachments. */
const makeLinks = (
  cells: Attachments.AttachmentCells,
  client: typeof TableSourceClient.Service
): Attaching["linkOf"] => {
  const links = new Map<string, string>()

  return ({ id, url }, record) =>
    Effect.fnUntraced(function* (expired) {
      const known = links.get(id) ?? url
      // Another file of the same record may have brought a fresh link.
      if (!Option.contains(expired, known)) return known
      const { fields } = yield* Effect.mapError(client.readRecord(record), (cause) => ({
        detail: `the record cannot be read again: ${cause.detail}`,
        isTransient: cause.isTransient,
        cause
      }))
      const attachments = cells.allIn(fields)
      for (const attachment of attachments) links.set(attachment.id, attachment.url)
      return attachments.some((attachment) => attachment.id === id)
        ? (links.get(id) ?? url)
        : yield* Effect.fail({ detail: "the record no longer has it" })
    })
}
