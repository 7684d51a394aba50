/**
 * CSV text as rows of cells, all of them texts.
 *
 * The first line names the columns. Where that line has semicolons and no comma, semicolons separate the cells. Empty
 * lines are skipped: a row of empty cells has its commas.
 */
import { CsvError, parse } from "csv-parse/sync"
import * as Either from "effect/Either"
import type { TextMistake } from "./editedText.ts"

export interface CsvContent {
  /** No two are the same, and none is empty. */
  readonly columns: ReadonlyArray<string>
  /** Each has as many cells as there are columns. */
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** `nameOf` makes the name of a column of its header. */
export const parseCsvText = (
  text: string,
  nameOf: (header: string) => string = (header) => header
): Either.Either<CsvContent, TextMistake> =>
  Either.flatMap(readLines(text), ([columns = [], ...rows]) =>
    Either.map(checkNames(columns.map(nameOf)), () => ({ columns, rows }))
  )

/** The rows as objects, by the names of the columns. Empty cells are left out. */
export const parseCsvRecords = (
  text: string
): Either.Either<ReadonlyArray<Readonly<Record<string, string>>>, TextMistake> =>
  Either.map(parseCsvText(text), ({ columns, rows }) =>
    rows.map((row) =>
      Object.fromEntries(
        columns.flatMap((column, index) => {
          const cell = row[index] ?? ""
          return cell === "" ? [] : [[column, cell]]
        })
      )
    )
  )

const readLines = (text: string) =>
  Either.try({
    try: () =>
      parse(text, {
        delimiter: delimiterOf(text),
        record_delimiter: ["\r\n", "\n", "\r"],
        skip_empty_lines: true,
        max_record_size: 0
      }),
    catch: describe
  })

/** Spreadsheet programs write semicolons where the comma is the decimal sign. */
const delimiterOf = (text: string): string => {
  const [header = ""] = text.split(/[\r\n]/, 1)
  return header.includes(";") && !header.includes(",") ? ";" : ","
}

const describe = (error: unknown): TextMistake => {
  if (!(error instanceof CsvError)) {
    return { problem: `is not valid CSV: ${String(error)}` }
  }
  return { ...(typeof error.lines === "number" ? { line: error.lines } : {}), problem: advice(error) }
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

const checkNames = (names: ReadonlyArray<string>): Either.Either<void, TextMistake> => {
  const invalid = (problem: string) => Either.left({ line: 1, problem })
  if (names.length === 0) {
    return invalid("the header line with the names of the fields is missing.")
  }
  const nameless = names.indexOf("")
  if (nameless !== -1) {
    return invalid(`column ${nameless + 1} has no name.`)
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined ? Either.void : invalid(`two columns are named ${JSON.stringify(twice)}.`)
}
