/**
 * The header line of CSV: where it is, and what separates cells in it.
 */

/** Where a line has as many of one as of another, the first one counts: names of columns have commas rather than semicolons in them. */
export const delimiters = [";", "\t", ",", "|"] as const

export type Delimiter = (typeof delimiters)[number]

export interface Header {
  readonly delimiter: Delimiter
  /** Where it begins. */
  readonly start: number
  /** How many cells it has. */
  readonly cells: number
}

/** A table has no more. */
export const maxColumns = 10_000

/** What is looked at of a line: names, quoted names, and what is between them. */
const maxParts = 4 * maxColumns

/**
 * The first line that is more than delimiters. `delimiter` is what separates its cells, or else what it has most of outside of quotes.
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
  const found = delimiter ?? delimiters.find((candidate) => candidate === declared) ?? guess ?? ","
  return { delimiter: found, start, cells: countOf(found) + 1 }
}
