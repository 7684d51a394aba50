/**
 * CSV text as the content of a table.
 *
 * The first line names the fields; cells are texts. Where that line has semicolons and no comma, semicolons
 * separate the cells. Empty lines are skipped: a row of empty cells has its commas.
 */
import { CsvError, parse } from "csv-parse/sync"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import { InvalidTableFile } from "./InvalidTableFile.ts"
import type { TableContent } from "./Table.ts"

export const parseCsv = (file: string, text: string): Either.Either<TableContent, InvalidTableFile> =>
  Either.gen(function* () {
    const lines = yield* readLines(file, text)
    const fieldNames = yield* checkHeader(file, lines[0] ?? [])
    return {
      fieldNames,
      rows: lines.slice(1).map((cells) => ({ cells: Object.fromEntries(Arr.zip(fieldNames, cells)) }))
    }
  })

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

const checkHeader = (
  file: string,
  header: ReadonlyArray<string>
): Either.Either<ReadonlyArray<string>, InvalidTableFile> => {
  const invalid = (problem: string) => Either.left(new InvalidTableFile({ file, line: 1, problem }))
  if (header.length === 0) {
    return invalid("the header line with the names of the fields is missing.")
  }
  const nameless = header.indexOf("")
  if (nameless !== -1) {
    return invalid(`column ${nameless + 1} has no name.`)
  }
  const twice = header.find((name, index) => header.indexOf(name) !== index)
  return twice === undefined
    ? Either.right(header)
    : invalid(`two columns are named ${JSON.stringify(twice)}.`)
}
