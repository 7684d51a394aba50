/**
 * The header line of CSV: its place, and the separator of cells.
 */
import { nameWarnings } from "./textMistakes.ts"

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
): ReadonlyArray<string> => {
  const [only = "", ...others] = columns
  const rows = records.slice(0, firstRows).map((record) => record[only] ?? "")
  const separated = others.length > 0 ? undefined : delimiters.find((candidate) => areSplit(rows, candidate))
  return [
    ...(separated === undefined
      ? []
      : [
          `the header line has one cell, and ${delimiterText[separated]} is in each of the rows. If this line is a title, remove it: the first line with text names the columns.`
        ]),
    ...nameWarnings("column", columns)
  ]
}

/** Whether every row has the same number of this delimiter, and at least one. */
const areSplit = ([first = "", ...others]: ReadonlyArray<string>, delimiter: Delimiter): boolean => {
  const countIn = (row: string) => row.split(delimiter).length
  return countIn(first) > 1 && others.every((row) => countIn(row) === countIn(first))
}
