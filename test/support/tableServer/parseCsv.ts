/**
 * CSV text as the content of a table.
 *
 * A column whose header ends in ` (attachments)` has the name before that, and its cells hold paths of files, one a line.
 */
import { parse } from "csv-parse/sync"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import type { DeclaredAttachment } from "./attachmentCells.ts"
import { InvalidTableFile } from "./FileCache.ts"
import type { TableContent } from "./Table.ts"

export const parseCsv = (file: string, text: string): Either.Either<TableContent, InvalidTableFile> =>
  Either.try({
    try: (): ReadonlyArray<ReadonlyArray<string>> => parse(text, { bom: true, skip_empty_lines: true }),
    catch: (error) => new InvalidTableFile({ file, problem: String(error) })
  }).pipe(
    Either.map(([headers = [], ...rows]) => {
      const columns = headers.map(columnOf)
      return {
        fieldNames: columns.map(({ name }) => name),
        rows: rows.map((row) => ({
          cells: Object.fromEntries(Arr.zipWith(columns, row, ({ name, read }, cell) => [name, read(cell)]))
        }))
      }
    })
  )

interface Column {
  readonly name: string
  readonly read: (cell: string) => unknown
}

const columnOf = (header: string): Column => {
  const name = /^(.+) \(attachments\)$/.exec(header)?.[1]
  return name === undefined ? { name: header, read: identity } : { name, read: attachmentsOf }
}

const attachmentsOf = (cell: string): ReadonlyArray<DeclaredAttachment> =>
  cell
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((file) => ({ file }))
