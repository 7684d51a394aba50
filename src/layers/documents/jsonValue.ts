/**
 * JSON text from outside as a value: in turns, with its values counted, and without losing a digit.
 */
import { Tokenizer, TokenParser, TokenType } from "@streamparser/json"
import * as Effect from "effect/Effect"
import { makeGiveWay } from "../../internal/nextTurn.ts"
import { isExact, maxNumberLength, mayHaveInexactNumbers } from "./exactNumber.ts"
import { TooMuch, type ValueCount } from "./valueCount.ts"

export interface JsonReading {
  /** Counts objects, lists, and what is in them. */
  readonly count: ValueCount
  /** Told of each number that becomes the text of its digits, because it would be another one as a number. */
  readonly keepDigits: (digits: string) => void
}

/** In characters: `JSON.parse` takes some milliseconds for as many. */
const shortLength = 256 * 1024

/** In bytes, some milliseconds of work. */
const pieceSize = 64 * 1024

/** What is nested more deeply is not saved. */
const maxDepth = 1000

/** The most fields of an object: working on more of them at once takes too long. */
const maxFields = 100_000

/** What the text says. It fails with what the parser throws, or with `TooMuch`. */
export const readJson = (text: string, reading: JsonReading): Effect.Effect<unknown, unknown> =>
  text.length <= shortLength && !mayHaveInexactNumbers(text)
    ? attempt(() => {
        const value: unknown = JSON.parse(text)
        reading.count.add(valuesIn(value))
        return value
      })
    : readPieces(text, reading)

const attempt = <A>(evaluate: () => A) => Effect.try({ try: evaluate, catch: (error) => error })

/** Without recursion: it may be nested deeply. */
const valuesIn = (value: unknown): number => {
  const left = [value]
  let values = 0
  while (left.length > 0) {
    const next = left.pop()
    values++
    if (typeof next === "object" && next !== null) {
      for (const member of Object.values(next)) left.push(member)
    }
  }
  return values
}

const readPieces = Effect.fnUntraced(function* (text: string, reading: JsonReading) {
  const giveWay = makeGiveWay()
  const parser = makeParser(reading)
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += pieceSize) {
    yield* attempt(() => parser.write(bytes.subarray(start, start + pieceSize)))
    yield* giveWay
  }
  return yield* attempt(parser.end)
})

/** Keeps the last number as it is written. */
class ExactTokenizer extends Tokenizer {
  written = ""

  override parseNumber(written: string): number {
    this.written = written
    return Number(written)
  }
}

const makeParser = ({ count, keepDigits }: JsonReading) => {
  const tokenizer = new ExactTokenizer({ stringBufferSize: 1024, numberBufferSize: 64 })
  const parser = new TokenParser({ paths: ["$"] })
  /** The number of fields of the open objects, by depth. */
  const fields: Array<number> = []
  let whole: unknown
  let depth = 0
  parser.onValue = ({ value }) => {
    whole = value
  }
  tokenizer.onToken = (token) => {
    count.add(weights[token.token] ?? 1)
    depth += levels[token.token] ?? 0
    if (depth > maxDepth) throw new TooMuch(`it is nested more than ${maxDepth} levels deep.`)
    if (token.token === TokenType.LEFT_BRACE) fields[depth] = 0
    if (token.token === TokenType.COLON && addTo(fields, depth) > maxFields) {
      throw new TooMuch("it has an object with more than 100,000 fields, which would better be a list.")
    }
    if (token.token === TokenType.NUMBER && tokenizer.written.length > maxNumberLength) {
      throw new TooMuch(`it has a number of more than 1,000 digits, at byte ${token.offset + 1}.`)
    }
    if (token.token === TokenType.NUMBER && !isExact(tokenizer.written)) {
      keepDigits(tokenizer.written)
      parser.write({ token: TokenType.STRING, value: tokenizer.written })
    } else {
      parser.write(token)
    }
  }
  return {
    write: (bytes: Uint8Array) => tokenizer.write(bytes),
    end: (): unknown => {
      tokenizer.end()
      if (!parser.isEnded) throw new SyntaxError("Unexpected end of JSON input")
      return whole
    }
  }
}

const addTo = (counts: Array<number>, index: number): number => {
  const count = (counts[index] ?? 0) + 1
  counts[index] = count
  return count
}

const levels: Readonly<Partial<Record<TokenType, number>>> = {
  [TokenType.LEFT_BRACE]: 1,
  [TokenType.LEFT_BRACKET]: 1,
  [TokenType.RIGHT_BRACE]: -1,
  [TokenType.RIGHT_BRACKET]: -1
}

/** Each token is a value but for these; the name before a colon is none. */
const weights: Readonly<Partial<Record<TokenType, number>>> = {
  [TokenType.COLON]: -1,
  [TokenType.COMMA]: 0,
  [TokenType.RIGHT_BRACE]: 0,
  [TokenType.RIGHT_BRACKET]: 0
}
