/**
 * CSV text, as people and their programs write it, as rows of cells, all of them texts.
 *
 * The first line with text names the columns, and shows the separator of cells. Empty lines are skipped. Rows may be
 * longer than the header line if their extra cells are empty.
 */
import { CsvError, parse } from "csv-parse"
import * as Effect from "effect/Effect"
import { type Code, type Fields, type Mistake, mistake } from "../../internal/mistake.ts"
import type { MistakePlace, RowPlace, Separator } from "../../internal/mistakeParts.ts"
import { makeGiveWay } from "../../internal/nextTurn.ts"
import { excerpt } from "../../internal/printable.ts"
import type { Warning } from "../../services/Warning.ts"
import { Refused, readSoFar, withinBudget } from "./budget.ts"
import { setOwn } from "./jsonValues.ts"
import { type FindPlace, isSpreadsheetError, maxPlaced, otherMistake } from "./textMistakes.ts"
import { warn, warningOf } from "./warnings.ts"

export type CsvRecord = Readonly<Record<string, string>>

export interface CsvTable {
  /** The rows by the names of the columns. Empty cells and rows without text are left out. */
  readonly records: ReadonlyArray<CsvRecord>
  /** The rows of the records, as a spreadsheet counts them. */
  readonly rows: ReadonlyArray<number>
  /** The cells that were saved as empty, because they are errors of a spreadsheet, by the records that had them. */
  readonly errors: ReadonlyMap<CsvRecord, CsvRecord>
  readonly columns: ReadonlyArray<string>
  /** Warnings for editors about a readable text. */
  readonly warnings: ReadonlyArray<Warning>
}

/** In bytes. A longer row has an unclosed quote, or does not fit into memory. */
const maxRow = 16 * 1024 * 1024

/** In bytes: some milliseconds of work. */
const pieceSize = 16 * 1024

export interface CsvFormat {
  /** Separates cells, if the header line does not show it. */
  readonly delimiter?: Delimiter | undefined
  /** The column with the ids of rows, for messages. */
  readonly id?: string | undefined
}

/** Parses CSV, in turns of 10 ms. */
export const parseCsvTable = (
  text: string,
  { delimiter, id = "id" }: CsvFormat = {}
): Effect.Effect<CsvTable, Mistake> =>
  Effect.gen(function* () {
    const body = yield* tryRead(() => findBody(text, delimiter))
    const table = makeTable(body, id)
    const pages = readPages(body)
    const giveWay = makeGiveWay()
    const soFar = yield* readSoFar
    const readPage = tryRead(() => {
      const page = pages.next()
      for (const row of page.done === true ? [] : page.value) {
        soFar.values += row.cells.length
        withinBudget("read", soFar.values)
        table.add(row)
      }
      return page.done === true
    })
    while (!(yield* readPage)) yield* giveWay
    return yield* tryRead(table.end)
  })

/** The table of the rows that are added. The first row names its columns. Throws errors that `mistakeOf` explains. */
const makeTable = ({ delimiter, isGuessed, row: title }: Body, id: string) => {
  let columns: ReadonlyArray<string> | undefined
  const records: Array<CsvRecord> = []
  const rows: Array<number> = []
  const errors = new Map<CsvRecord, Record<string, string>>()
  const odd = new Map<string, FirstCell>()
  let repeated: number | undefined

  const addRow = (columns: ReadonlyArray<string>, { cells, row }: Row): void => {
    const placeOf = () => ({ rows: [rowPlace(columns, { cells, row }, id)] })
    if (cells.length < columns.length || hasText(cells.slice(columns.length))) {
      const counts = { cells: cells.length, columns: columns.length }
      const isFirst = records.length === 0
      throw new Refused(
        mistake("csv:cells", placeOf(), {
          ...counts,
          separator: delimiter,
          title: isFirst ? title : undefined
        })
      )
    }
    if (!hasText(cells)) return
    const ofRow: Record<string, string> = {}
    const record = recordOf(columns, cells, (name, cell, code) => {
      if (code === "cell:error") setOwn(ofRow, name, cell)
      const key = `${code} ${name}`
      const { count, ...first } = odd.get(key) ?? { code, name, cell, first: placeOf(), count: 0 }
      odd.set(key, { ...first, count: count + 1 })
    })
    if (Object.keys(ofRow).length > 0) errors.set(record, ofRow)
    if (columns.length > 1 && columns.every((column, index) => cells[index] === column)) repeated ??= row
    records.push(record)
    rows.push(row)
  }

  return {
    add: (row: Row): void => {
      if (columns === undefined) columns = columnsOf(row.cells, title)
      else addRow(columns, row)
    },

    end: (): CsvTable => {
      if (columns === undefined) throw refusal("csv:header", 1)
      const separator = isGuessed ? separatorOfRows(columns, records) : undefined
      const place = { rows: [{ row: title }] }
      const isAlone = columns.length === 1 && records.length === 0 && /[^\w-]/.test(columns[0] ?? "")
      const ofTable = [
        ...(separator === undefined ? [] : [mistake("csv:title", place, { separator })]),
        ...(repeated === undefined ? [] : [mistake("csv:repeated", { rows: [{ row: repeated }] })]),
        ...(isAlone ? [mistake("csv:alone", place)] : [])
      ]
      const ofCells = Array.from(odd.values(), ({ code, ...cell }) =>
        warn(code, cell.name, { ...cell, isSaved: false })
      )
      const warnings = [...ofTable.map((mistake) => warningOf("", mistake)), ...ofCells]
      return { records, rows, errors, columns, warnings }
    }
  }
}

/** The first cell of a column with a mistake, and how many there are. */
interface FirstCell {
  readonly code: OddCode
  readonly name: string
  readonly cell: string
  readonly first: MistakePlace
  readonly count: number
}

const tryRead = <A>(read: () => A) => Effect.try({ try: read, catch: mistakeOf })

const rowPlace = (columns: ReadonlyArray<string>, { cells, row }: Row, id: string): RowPlace => {
  const found = cells[columns.indexOf(id)]?.trim() ?? ""
  return { row, id: found === "" ? undefined : excerpt(found) }
}

/**
 * FileMaker exports line breaks as vertical tabs, and other programs write `="007"` for Excel, to keep the zeros. `found`
 * is called with errors and with odd cells.
 */
const recordOf = (
  columns: ReadonlyArray<string>,
  row: ReadonlyArray<string>,
  found: (column: string, cell: string, code: OddCode) => void
): CsvRecord => {
  const record: Record<string, string> = {}
  for (const [index, column] of columns.entries()) {
    const text = row[index] ?? ""
    if (text === "") continue
    const [cell, code] = mayBeOdd.test(text) ? readOdd(text) : [text, undefined]
    if (code !== undefined) found(column, cell, code)
    if (code !== "cell:error" && cell !== "") setOwn(record, column, cell.replaceAll("\v", "\n"))
  }
  return record
}

/** How odd cells and errors begin: most cells need no further look. */
const mayBeOdd = /^[#=\-\dELNu[\\\s]/

const readOdd = (text: string): readonly [cell: string, code: OddCode | undefined] => {
  const cell = text.startsWith('="') ? text.replace(/^="([^"]*)"$/, "$1") : text
  return [cell, isSpreadsheetError(cell) ? "cell:error" : oddCode(cell)]
}

type OddCode = "cell:error" | "csv:shortened" | "csv:program"

/** A long number as Excel shows it, or what a program writes for a value that it cannot write. */
const oddCode = (cell: string): OddCode | undefined =>
  cell.includes("E+") && /^-?\d(?:[.,]\d+)?E\+\d\d$/.test(cell)
    ? "csv:shortened"
    : cell.length <= 15 && ofPrograms.has(cell)
      ? "csv:program"
      : undefined

const ofPrograms = new Set(["NULL", "\\N", "NaN", "undefined", "[object Object]"])

const hasText = (cells: ReadonlyArray<string>): boolean => cells.some((cell) => cell.trim() !== "")

interface Row {
  readonly cells: ReadonlyArray<string>
  /** As a spreadsheet counts it, from 1. */
  readonly row: number
}

/** A text from its header line on, and the row of this line. */
interface Body extends Pick<Header, "delimiter" | "isGuessed"> {
  readonly text: string
  readonly row: number
}

const findBody = (text: string, stated: Delimiter | undefined): Body => {
  const other = otherMistake(text)
  if (other !== undefined) throw new Refused(other)
  if (/^\s*(?:\{\s*"|\[\s*[[{])/.test(text)) throw refusal("csv:json", undefined)
  const { cells, delimiter, isGuessed, start } = findHeader(text, stated)
  const row = rowAt(text, start)
  if (cells > maxColumns) throw refusal("budget:limit", row, { limit: "columns", most: maxColumns })
  return { text: text.slice(start), delimiter, isGuessed, row }
}

/** The rows of the text, one piece of the text after the other. */
function* readPages(body: Body): Generator<ReadonlyArray<Row>, void> {
  const { delimiter, row, text } = body
  const numbers: Array<number> = []
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    on_record: (record, info) => {
      numbers.push(row - 1 + info.records + info.empty_lines)
      return record
    }
  })
  // `take` throws the error.
  parser.on("error", () => {})
  const take = (): ReadonlyArray<Row> => {
    const rows: Array<Row> = []
    for (let cells = parser.read(); cells !== null; cells = parser.read()) {
      rows.push({ cells, row: numbers[rows.length] ?? row })
    }
    numbers.length = 0
    if (parser.errored !== null) throw explained(parser.errored, body)
    return rows
  }
  const bytes = Buffer.from(text)
  let rowEnd = 0
  for (let start = 0; start < bytes.length; start += pieceSize) {
    parser.write(bytes.subarray(start, start + pieceSize))
    const page = take()
    if (page.length > 0) rowEnd = start
    if (start - rowEnd > maxRow) throw refusal("budget:limit", undefined, { limit: "row", most: maxRow })
    yield page
  }
  parser.end()
  yield take()
}

const explained = (error: Error, body: Body): Refused => {
  const { code, empty_lines, records } = {
    code: "",
    empty_lines: 0,
    records: 0,
    ...(error instanceof CsvError ? error : {})
  }
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return refusal("csv:open", brokenQuoteRow(body))
    case "CSV_INVALID_CLOSING_QUOTE":
      return refusal("csv:quote", brokenQuoteRow(body))
    case "INVALID_OPENING_QUOTE":
      return refusal("csv:quote", body.row + Number(records) + Number(empty_lines))
    default:
      return refusal("csv:other", undefined, { message: error.message })
  }
}

/** The row of the first double quote that begins a cell and is not closed, or not at the end of the cell. */
const brokenQuoteRow = ({ delimiter, row, text }: Body): number => {
  const ends = ["", "\r", "\n", delimiter]
  let open = text.indexOf('"')
  while (open !== -1) {
    let close = text.indexOf('"', open + 1)
    while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
    if (close === -1 || !ends.includes(text.charAt(close + 1))) break
    open = text.indexOf('"', close + 1)
  }
  return row - 1 + rowAt(text, Math.max(open, 0))
}

/**
 * The row of a spreadsheet: a line break inside quotes begins none, and spreadsheets do not show a line `sep=;`. Counts
 * by hand, because a list of all lines may be too large for memory.
 */
export const rowAt = (text: string, offset: number): number => {
  let row = separatorLine.test(text) ? 0 : 1
  let isQuoted = false
  for (let index = 0; index < offset; index++) {
    const code = text.charCodeAt(index)
    if (code === doubleQuote) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (code === carriageReturn || (code === lineFeed && text.charCodeAt(index - 1) !== carriageReturn))
      row++
  }
  return row
}

const carriageReturn = 13
const lineFeed = 10
const doubleQuote = 34

/** The place as a row. The rows before it are well-formed. */
export const placeOfRow: FindPlace = (text, find) =>
  text.length > maxPlaced ? {} : { rows: [{ row: rowAt(text, find()) }] }

/** Cells without text at the end of the header line name no column. */
const columnsOf = (cells: ReadonlyArray<string>, row: number): ReadonlyArray<string> => {
  const names = cells.slice(0, cells.findLastIndex((name) => name !== "") + 1)
  if (names.length === 0) throw refusal("csv:header", 1)
  const nameless = names.findIndex((name) => name.trim() === "")
  if (nameless !== -1) throw refusal("csv:nameless", row, { number: nameless + 1 })
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw refusal("csv:twice", row, { name })
    seen.add(name)
  }
  return names
}

const refusal = <C extends Code>(code: C, row: number | undefined, ...fields: Fields[C]): Refused =>
  new Refused(mistake(code, row === undefined ? {} : { rows: [{ row }] }, ...fields))

const mistakeOf = (error: unknown): Mistake =>
  error instanceof Refused ? error.mistake : mistake("csv:other", {}, { message: String(error) })

/**
 * By preference, if a line has the same number of two delimiters: names of columns contain commas rather than
 * semicolons.
 */
export const delimiters = [";", "\t", ",", "|"] as const satisfies ReadonlyArray<Separator>

export type Delimiter = Separator

const separatorLine = /^"?sep=([,;\t|])"?(?:\r\n|\r|\n|$)/i

export interface Header {
  readonly delimiter: Delimiter
  /** Whether the delimiter was guessed. */
  readonly isGuessed: boolean
  /** The offset of the line. */
  readonly start: number
  /** The number of its cells. */
  readonly cells: number
}

/** The most columns of a table. */
export const maxColumns = 10_000

/** The most parts of a line that are read: names, quoted names, and the characters between them. */
const maxParts = 4 * maxColumns

/**
 * The first line with more than delimiters. `delimiter` separates its cells; by default, the most frequent delimiter
 * outside of quotes.
 */
export const findHeader = (text: string, delimiter?: Delimiter): Header => {
  const [line = "", declared] = separatorLine.exec(text) ?? []
  const blank = /(?:[\s,;|]{0,1000000}[\r\n])?/y
  blank.lastIndex = line.length
  blank.exec(text)
  const start = blank.lastIndex
  const part = /"[^"]*"?|[,;\t|]|[^",;\t|\r\n]+/y
  part.lastIndex = start
  const counts = new Map<string, number>()
  for (let parts = 0; parts < maxParts; parts++) {
    const [found] = part.exec(text) ?? []
    if (found === undefined) break
    counts.set(found, (counts.get(found) ?? 0) + 1)
  }
  const countOf = (candidate: Delimiter): number => counts.get(candidate) ?? 0
  const most = Math.max(...delimiters.map(countOf))
  const guess = most === 0 ? "," : delimiters.find((candidate) => countOf(candidate) === most)
  const stated = delimiter ?? delimiters.find((candidate) => candidate === declared)
  const found = stated ?? guess ?? ","
  return { delimiter: found, isGuessed: stated === undefined, start, cells: countOf(found) + 1 }
}

/** How many rows are read to tell a title from the name of a single column. */
const firstRows = 10

/** The separator of the first rows, if the header line has one cell: then this line may be a title. */
const separatorOfRows = (
  [only = "", ...others]: ReadonlyArray<string>,
  records: ReadonlyArray<CsvRecord>
): Delimiter | undefined => {
  const rows = records.slice(0, firstRows).map((record) => record[only] ?? "")
  return others.length > 0 ? undefined : delimiters.find((candidate) => areSplit(rows, candidate))
}

/** Whether every row has the same number of this delimiter, and at least one. */
const areSplit = ([first = "", ...others]: ReadonlyArray<string>, delimiter: Delimiter): boolean => {
  const countIn = (row: string) => row.split(delimiter).length
  return countIn(first) > 1 && others.every((row) => countIn(row) === countIn(first))
}
