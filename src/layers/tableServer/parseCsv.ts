/**
 * CSV text as the content of a table.
 *
 * The first line names the fields; cells are texts. Where that line has semicolons and no comma, semicolons
 * separate the cells. Empty lines are skipped: a row of empty cells has its commas. A column whose header ends
 * in ` (attachments)` has the name before that, and its cells hold paths of files, one a line.
 */
import { CsvError, parse } from "csv-parse/sync"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import type { DeclaredAttachment } from "./attachmentCells.ts"
import { InvalidTableFile } from "./FileCache.ts"
import type { TableContent } from "./Table.ts"

export const parseCsv = (file: string, text: string): Either.Either<TableContent, InvalidTableFile> =>
  Either.gen(function* () {
    const lines = yield* readLines(file, text)
    const columns = (lines[0] ?? []).map(columnOf)
    const fieldNames = yield* checkNames(
      file,
      columns.map(({ name }) => name)
    )
    const cellsOf = (line: ReadonlyArray<string>) =>
      Object.fromEntries(Arr.zipWith(columns, line, ({ name, read }, cell) => [name, read(cell)]))
    return { fieldNames, rows: lines.slice(1).map((line) => ({ cells: cellsOf(line) })) }
  })

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

const readLines = (file: string, text: string) =>
  Either.try({
    try: () =>
      parse(text, {
        delimiter: delimiterOf(text),
        record_delimiter: ["\r\n", "\n", "\r"],
        skip_empty_lines: true,
        max_record_size: 0
      }),
    catch: (error) => describe(file, error)
  })

/** Spreadsheet programs write semicolons where the comma is the decimal sign. */
const delimiterOf = (text: string): string => {
  const [header = ""] = text.split(/[\r\n]/, 1)
  return header.includes(";") && !header.includes(",") ? ";" : ","
}

const describe = (file: string, error: unknown): InvalidTableFile => {
  if (!(error instanceof CsvError)) {
    return new InvalidTableFile({ file, problem: `is not valid CSV: ${String(error)}` })
  }
  const line = typeof error.lines === "number" ? error.lines : undefined
  return new InvalidTableFile({ file, line, problem: advice(error) })
}

const advice = (error: CsvError): string => {
  switch (error.code) {
    case "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH":
      return "the row has not as many cells as the header line. Cells that hold a comma or a line break need double quotes around them."
    case "CSV_QUOTE_NOT_CLOSED":
      return "a cell begins with a double quote and none ends it."
    case "INVALID_OPENING_QUOTE":
    case "CSV_INVALID_CLOSING_QUOTE":
      return "a double quote inside a cell must be written twice, and the cell needs double quotes around it."
    default:
      return error.message
  }
}

const checkNames = (
  file: string,
  names: ReadonlyArray<string>
): Either.Either<ReadonlyArray<string>, InvalidTableFile> => {
  const invalid = (problem: string) => Either.left(new InvalidTableFile({ file, line: 1, problem }))
  if (names.length === 0) {
    return invalid("the header line with the names of the fields is missing.")
  }
  const nameless = names.indexOf("")
  if (nameless !== -1) {
    return invalid(`column ${nameless + 1} has no name.`)
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined
    ? Either.right(names)
    : invalid(`two columns are named ${JSON.stringify(twice)}.`)
}
