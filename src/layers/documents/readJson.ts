/**
 * JSON text from outside as a value.
 *
 * The caller limits the bytes of an answer. This module limits the values of a short text: two million commas, counted before anything is
 * parsed.
 */

/** A text that can be read, and says more than a content has. */
export class TooMuch extends Error {
  constructor(
    /** Names the excess, with the limit. */
    readonly problem: string
  ) {
    super(problem)
  }
}

export interface JsonValue {
  readonly value: unknown
  /** The numbers that are texts in the value, because a double cannot hold them. */
  readonly digits: ReadonlyArray<string>
}

/** The value of a text. It throws `SyntaxError` if the text is no JSON, and `TooMuch`. */
export const readJson = (text: string): JsonValue => {
  requireFewCommas(text)
  const digits: Array<string> = []
  let isInString = false
  const exact = /\d{16}|\d[eE]\+?\d{3}/.test(text)
    ? text.replace(tokens, (found) => {
        if (found === '"') isInString = !isInString
        if (isInString || !isInexact(found)) return found
        digits.push(found)
        return JSON.stringify(found)
      })
    : text
  return { value: JSON.parse(exact), digits }
}

/** Escapes, quotes and long numbers: a pattern for whole strings would need a stack as deep as the longest string. */
const tokens = /\\.|"|-?\d[\d.eE+-]{3,}/gs

/**
 * Whether the text is an integer that no double is written as, or a number beyond all doubles. Integers of JavaScript programs are as
 * they write them: zeros stand in the place of the digits that they do not have.
 */
export const isInexact = (text: string): boolean => {
  const value = Number(text)
  if (/^-?\d{16,}$/.test(text) && Number.isFinite(value)) {
    return String(value) !== text && BigInt(value) !== BigInt(text)
  }
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && !Number.isFinite(value)
}

const maxCommas = 2_000_000

const requireFewCommas = (text: string): void => {
  let commas = 0
  for (let at = text.indexOf(","); at !== -1; at = text.indexOf(",", at + 1)) {
    commas++
    if (commas > maxCommas) {
      throw new TooMuch(
        `it has more than ${maxCommas.toLocaleString("en")} commas, more than is held in memory. Split it, or ask for less.`
      )
    }
  }
}
