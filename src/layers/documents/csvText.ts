/**
 * CSV text, as people and their programs write it, as rows of cells, all of them texts.
 *
 * The first line with text names the columns, and shows the separator of cells. Empty lines are skipped. Rows may be
 * longer than the header line if their extra cells are empty.
 */
import { CsvError, parse } from "csv-parse"
import * as Effect from "effect/Effect"
import { makeGiveWay } from "../../internal/nextTurn.ts"
import { quotedName } from "../../internal/printable.ts"
import { countText, sizeText } from "../../internal/readable.ts"
import { note, type Warning } from "../../services/Warning.ts"
import { readSoFar, TooMuch, withinBudget } from "./budget.ts"
import { setOwn } from "./jsonValues.ts"
import { isSpreadsheetError, otherProblem, type TextMistake } from "./textMistakes.ts"

export type CsvRecord = Readonly<Record<string, string>>

export interface CsvTable {
  /** The rows by the names of the columns. Empty cells and rows without text are left out. */
  readonly records: ReadonlyArray<CsvRecord>
  /** The lines on which the records end, counted from 1. */
  readonly lines: ReadonlyArray<number>
  /** Warnings for editors about a readable text. */
  readonly warnings: ReadonlyArray<Omit<TextMistake, "problem"> & Warning>
}

/** In bytes. A longer row has an unclosed quote, or does not fit into memory. */
const maxRow = 16 * 1024 * 1024

/** In bytes: some milliseconds of work. */
const pieceSize = 16 * 1024

/** Parses CSV, in turns of 10 ms. `delimiter` separates cells, if the header line does not show it. */
export const parseCsvTable = (text: string, delimiter?: Delimiter): Effect.Effect<CsvTable, TextMistake> =>
  Effect.gen(function* () {
    const { columns, isGuessed, line, pages } = yield* tryRead(() => openTable(text, delimiter))
    const giveWay = makeGiveWay()
    const soFar = yield* readSoFar
    const records: Array<CsvRecord> = []
    const lines: Array<number> = []
    const errors = new Map<string, { readonly line: number; readonly cell: string; readonly count: number }>()
    let repeated: number | undefined
    const readPage = tryRead(() => {
      const page = pages.next()
      for (const { cells, line } of page.done === true ? [] : page.value) {
        soFar.values += cells.length
        withinBudget("read", soFar.values)
        const record = recordOf(columns, cells, (column, cell) => {
          const known = errors.get(column)
          errors.set(column, { line, cell, ...known, count: (known?.count ?? 0) + 1 })
        })
        if (record === undefined) continue
        if (columns.length > 1 && columns.every((column, index) => cells[index] === column)) repeated ??= line
        records.push(record)
        lines.push(line)
      }
      return page.done === true
    })
    while (!(yield* readPage)) yield* giveWay
    const ofHeader = headerWarnings(columns, isGuessed ? records : []).map((warning) => ({
      line,
      ...warning
    }))
    const ofRows =
      repeated === undefined
        ? []
        : [{ line: repeated, ...note("the row repeats the header line. Remove it.") }]
    const ofCells = [...errors].map(([column, { cell, count, line }]) => ({
      line,
      code: "cell:error",
      subject: column,
      text: `${quotedName(column)} is an error of a spreadsheet in ${countText(count, "row")}, ${quotedName(cell)} first, and is saved as empty. Correct the formula.`
    }))
    return { records, lines, warnings: [...ofHeader, ...ofRows, ...ofCells] }
  })

const tryRead = <A>(read: () => A) => Effect.try({ try: read, catch: mistakeOf })

/** `undefined` if the row has no text. FileMaker exports line breaks as vertical tabs. */
const recordOf = (
  columns: ReadonlyArray<string>,
  row: ReadonlyArray<string>,
  failed: (column: string, cell: string) => void
): CsvRecord | undefined => {
  if (!hasText(row)) return undefined
  const record: Record<string, string> = {}
  for (const [index, column] of columns.entries()) {
    const cell = row[index] ?? ""
    const isError: boolean = isSpreadsheetError(cell)
    if (isError) failed(column, cell)
    else if (cell !== "") setOwn(record, column, cell.replaceAll("\v", "\n"))
  }
  return record
}

const hasText = (cells: ReadonlyArray<string>): boolean => cells.some((cell) => cell.trim() !== "")

interface Row {
  readonly cells: ReadonlyArray<string>
  /** The line of the text on which it ends. */
  readonly line: number
}

type Page = ReadonlyArray<Row>

/** A text from its header line on, and the number of this line. */
interface Body {
  readonly text: string
  readonly delimiter: Delimiter
  readonly line: number
}

/** Returns the columns, and the rows while they are read. Both throw errors that `mistakeOf` explains. */
const openTable = (text: string, delimiter: Delimiter | undefined) => {
  const other = otherProblem(text)
  if (other !== undefined) throw new Mistake(`${other}.`)
  if (/^\s*(?:\{\s*"|\[\s*[[{])/.test(text)) throw new Mistake("it looks like JSON, and not like CSV.")
  const header = findHeader(text, delimiter)
  const body = {
    text: text.slice(header.start),
    delimiter: header.delimiter,
    line: lineAt(text, header.start)
  }
  if (header.cells > maxColumns) {
    throw new Mistake(`there are more than ${maxColumns.toLocaleString("en")} columns.`, body.line)
  }
  const pages = readPages(body)
  const [names, ...rows] = firstOf(pages)
  const cells = names?.cells ?? []
  const columns = cells.slice(0, cells.findLastIndex((name) => name !== "") + 1)
  checkNames(columns, columns.length === 0 ? 1 : body.line)
  return {
    columns,
    isGuessed: header.isGuessed,
    line: body.line,
    pages: checkedPages(body, columns.length, rows, pages)
  }
}

const firstOf = (pages: Generator<Page, void>): Page => {
  for (let next = pages.next(); next.done !== true; next = pages.next()) {
    if (next.value.length > 0) return next.value
  }
  return []
}

function* checkedPages(
  body: Body,
  columns: number,
  first: Page,
  more: Iterable<Page>
): Generator<Page, void> {
  let isFirst = true
  const checked = (page: Page) => {
    for (const { cells, line } of page) {
      if (cells.length < columns || hasText(cells.slice(columns))) {
        const title = isFirst
          ? ` If line ${body.line} is a title, remove it: the first line with text names the columns.`
          : ""
        throw new Mistake(
          `the row does not have as many cells as the header line: ${cells.length}, and not ${columns}.${title} Cells with a line break or ${delimiterText[body.delimiter]}, the separator of cells here, need double quotes around them. If the separator is another character, add a first line such as "sep=;".`,
          line
        )
      }
      if (isFirst) isFirst = !hasText(cells)
    }
    return page
  }
  yield checked(first)
  for (const page of more) yield checked(page)
}

/** The rows of the text, one piece of the text after the other. */
function* readPages({ delimiter, line, text }: Body): Generator<Page, void> {
  const lines: Array<number> = []
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    on_record: (record, info) => {
      lines.push(info.lines + line - 1)
      return record
    }
  })
  // `take` throws the error.
  parser.on("error", () => {})
  const take = (): Page => {
    const rows: Array<Row> = []
    for (let cells = parser.read(); cells !== null; cells = parser.read()) {
      rows.push({ cells, line: lines[rows.length] ?? line })
    }
    lines.length = 0
    if (parser.errored !== null) throw explained(parser.errored, { delimiter, line, text })
    return rows
  }
  const bytes = Buffer.from(text)
  let rowEnd = 0
  for (let start = 0; start < bytes.length; start += pieceSize) {
    parser.write(bytes.subarray(start, start + pieceSize))
    const page = take()
    if (page.length > 0) rowEnd = start
    if (start - rowEnd > maxRow) throw new Mistake(`a row has more than ${sizeText(maxRow)}.`)
    yield page
  }
  parser.end()
  yield take()
}

const explained = (error: Error, body: Body): Mistake => {
  const { code, lines } = { code: "", lines: undefined, ...(error instanceof CsvError ? error : {}) }
  const line = typeof lines === "number" ? lines + body.line - 1 : undefined
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return new Mistake("a cell begins with a double quote that is never closed.", brokenQuoteLine(body))
    case "CSV_INVALID_CLOSING_QUOTE":
      return new Mistake(
        "a double quote inside a cell must be written twice, and a cell that begins with a double quote must end with a double quote.",
        brokenQuoteLine(body)
      )
    case "INVALID_OPENING_QUOTE":
      return new Mistake(
        "a double quote inside a cell must be written twice, and the cell needs double quotes around it.",
        line
      )
    default:
      return new Mistake(`is not valid CSV: ${error.message}`, line)
  }
}

/** The line of the first double quote that begins a cell and is not closed, or not at the end of the cell. */
const brokenQuoteLine = ({ delimiter, line, text }: Body): number => {
  const ends = ["", "\r", "\n", delimiter]
  let open = text.indexOf('"')
  while (open !== -1) {
    let close = text.indexOf('"', open + 1)
    while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
    if (close === -1 || !ends.includes(text.charAt(close + 1))) break
    open = text.indexOf('"', close + 1)
  }
  return lineAt(text, Math.max(open, 0)) + line - 1
}

/** Counts by hand, because a list of all lines may be too large for memory. */
const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let index = 0; index < offset; index++) {
    const code = text.charCodeAt(index)
    if (code === carriageReturn || (code === lineFeed && text.charCodeAt(index - 1) !== carriageReturn))
      line++
  }
  return line
}

const carriageReturn = 13
const lineFeed = 10

const checkNames = (names: ReadonlyArray<string>, line: number): void => {
  if (names.length === 0) throw new Mistake("the header line with the names of the fields is missing.", line)
  const nameless = names.findIndex((name) => name.trim() === "")
  if (nameless !== -1) throw new Mistake(`column ${nameless + 1} has no name. Name it, or remove it.`, line)
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw new Mistake(`two columns are named ${JSON.stringify(name)}.`, line)
    seen.add(name)
  }
}

class Mistake extends Error {
  constructor(
    readonly problem: string,
    readonly line?: number
  ) {
    super(problem)
  }
}

const mistakeOf = (error: unknown): TextMistake =>
  error instanceof Mistake || error instanceof TooMuch
    ? error
    : { problem: `is not valid CSV: ${String(error)}` }

/**
 * By preference, if a line has the same number of two delimiters: names of columns contain commas rather than
 * semicolons.
 */
export const delimiters = [";", "\t", ",", "|"] as const

export type Delimiter = (typeof delimiters)[number]

export const delimiterText: Readonly<Record<Delimiter, string>> = {
  ",": "a comma",
  ";": "a semicolon",
  "\t": "a tab",
  "|": 'a "|"'
}

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
  const [line = "", declared] = /^"?sep=([,;\t|])"?(?:\r\n|\r|\n|$)/i.exec(text) ?? []
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

/**
 * Warnings about column names that are possible, but rarely intended. `records` are the rows, if the delimiter was
 * guessed.
 */
export const headerWarnings = (
  columns: ReadonlyArray<string>,
  records: ReadonlyArray<Readonly<Record<string, string>>>
): ReadonlyArray<Warning> => {
  const [only = "", ...others] = columns
  const rows = records.slice(0, firstRows).map((record) => record[only] ?? "")
  const separated = others.length > 0 ? undefined : delimiters.find((candidate) => areSplit(rows, candidate))
  return [
    ...(separated === undefined
      ? []
      : [
          note(
            `the header line has one cell, and ${delimiterText[separated]} is in each of the rows. If this line is a title, remove it: the first line with text names the columns.`
          )
        ])
  ]
}

/** Whether every row has the same number of this delimiter, and at least one. */
const areSplit = ([first = "", ...others]: ReadonlyArray<string>, delimiter: Delimiter): boolean => {
  const countIn = (row: string) => row.split(delimiter).length
  return countIn(first) > 1 && others.every((row) => countIn(row) === countIn(first))
}
