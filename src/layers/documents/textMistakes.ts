/**
 * Text files that people edit, and the mistakes in them.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"

/** The mistake in a text, for the people who edit it. */
export interface TextMistake {
  /** Counted from 1, if it is known. */
  readonly line?: number | undefined
  readonly column?: number | undefined
  /** As in "is not valid JSON: …". */
  readonly problem: string
}

/** `Objects.csv, line 3, column 5` */
export const placeText = (file: string, { column, line }: Omit<TextMistake, "problem">): string =>
  [
    file,
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(column === undefined ? [] : [`column ${column}`])
  ].join(", ")

/**
 * UTF-8 text, or UTF-16 text with a byte order mark, which Excel writes as "Unicode Text". Byte order marks at its
 * start are removed.
 */
export const decodeText = (bytes: Uint8Array): Either.Either<string, TextMistake> =>
  Either.try(() => new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)).pipe(
    // UTF-16 without a mark has zero bytes.
    Either.filterOrLeft(
      (text) => !text.includes("\0"),
      () => undefined
    ),
    Either.mapBoth({
      onLeft: () => ({
        problem: isSpreadsheet(bytes)
          ? 'is a spreadsheet or an archive under another name, and no text. Export it as CSV, in Excel with the file type "CSV UTF-8".'
          : 'is not UTF-8 text. Save it with that encoding, in Excel with the file type "CSV UTF-8".'
      }),
      onRight: (text) => text.replace(/^\ufeff+/, "")
    })
  )

/** Whether bytes begin like `.xlsx`, `.ods` and `.numbers`, which are ZIP archives, or like `.xls`. */
const isSpreadsheet = (bytes: Uint8Array): boolean =>
  /^(?:PK\x03\x04|\xd0\xcf\x11\xe0)/.test(Buffer.from(bytes.subarray(0, 4)).toString("latin1"))

/** Whether a text is HTML or XML, for example a login page, in the place of the wanted text. */
export const isMarkup = (text: string): boolean =>
  /^\s*(?:<!--(?:[^-]|-(?!->))*-->\s*)*<(?:!doctype|html|head|body|table|\?xml)\b/i.test(text.slice(0, 4096))

const markupProblem = "it looks like a web page (HTML), perhaps one to log in"

/** What is in the place of a text: a web page, or what Git LFS leaves there. */
export const otherProblem = (text: string): string | undefined =>
  isMarkup(text) ? markupProblem : isPointer(text) ? pointerProblem : undefined

export const isPointer = (text: string): boolean =>
  /^version https:\/\/git-lfs\.github\.com\/spec\//.test(text)

export const pointerProblem =
  'it is a pointer of Git LFS in the place of the file. Fetch the file with "git lfs pull"'

/** The signs that a text has lost letters, or was joined from several files. */
export const findStrayMarks = (text: string): ReadonlyArray<TextMistake> => {
  const joined = text.indexOf("\n\ufeff")
  const doubled = doubleEncoded.exec(text.slice(0, maxPlaced))
  return [
    {
      offset: text.indexOf("\ufffd"),
      problem: 'has "\ufffd" in the place of a letter that was lost when it was saved. Write it again.'
    },
    {
      offset: joined === -1 ? -1 : joined + 1,
      problem: "has an invisible byte order mark (U+FEFF), perhaps because files were joined. Remove it."
    },
    {
      offset: doubled?.index ?? -1,
      problem: `has "${doubled?.[0]}", which is one letter that was read in another encoding and saved again. Write it again.`
    }
  ].flatMap(({ offset, problem }) => (offset === -1 ? [] : [{ ...placeIn(text, () => offset), problem }]))
}

/**
 * UTF-8 that was read as Windows-1252. Words in capitals may end with these letters before quotes and dashes, which
 * do not count.
 */
const doubleEncoded = /[ÂÃ][\x80-\x9f€‚ƒ„†‡ˆ‰Š‹ŒŽ•˜š›œžŸ¡-ª¬-º¼-¿]|â€./

const encodingOf = ([first, second]: Uint8Array): string =>
  first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"

/** The most reported names. */
const maxTwice = 10

/** The names that are twice in one object of valid JSON, each with its first place. `value` is the value of the text. */
export const findTwice = (
  text: string,
  value: unknown
): ReadonlyArray<Omit<TextMistake, "problem"> & { readonly name: string }> => {
  // Nearly every text has as many names as its value: then nothing else is read.
  if (namesIn(value) === countIn(text, '":')) return []
  const twice = new Map<string, number>()
  const open: Array<Set<string>> = []
  let isInString = false
  let [start, end] = [0, 0]
  for (const { 0: found, index } of text.matchAll(/\\.|["{}:]/gs)) {
    if (found === '"') {
      if (isInString) end = index + 1
      else start = index
      isInString = !isInString
    } else if (isInString) {
    } else if (found === "{") {
      open.push(new Set())
    } else if (found === "}") {
      open.pop()
    } else if (found === ":") {
      const name: unknown = JSON.parse(text.slice(start, end))
      const names = open.at(-1)
      if (typeof name !== "string" || names === undefined) continue
      if (names.has(name) && !twice.has(name) && twice.size < maxTwice) twice.set(name, start)
      names.add(name)
    }
  }
  return [...twice].map(([name, offset]) => ({ name, ...placeIn(text, () => offset) }))
}

const countIn = (text: string, part: string): number => {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** The names of all fields of a value. Not recursive: JSON may be nested deeper than calls. */
const namesIn = (value: unknown): number => {
  let count = 0
  const rest: Array<unknown> = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next !== "object" || next === null) continue
    const parts: ReadonlyArray<unknown> = Object.values(next)
    if (!Array.isArray(next)) count += parts.length
    for (const part of parts) if (typeof part === "object" && part !== null) rest.push(part)
  }
  return count
}

/** The mistake in invalid JSON, with the message of the parser. It has no place in long texts, which programs write. */
export const jsonMistake = (text: string, error: unknown): TextMistake => {
  const other = otherProblem(text)
  return other !== undefined
    ? { problem: `is not valid JSON: ${other}.` }
    : {
        ...placeIn(text, () => endOfJson(text)),
        problem: `is not valid JSON: ${printableLine(error instanceof Error ? error.message : String(error), 200)}`
      }
}

/** In characters: a search takes some milliseconds. */
const maxPlaced = 1024 * 1024

const placeIn = (text: string, find: () => number): Omit<TextMistake, "problem"> => {
  if (text.length > maxPlaced) return {}
  const offset = find()
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf("\n") + 1
  return { line: before.split("\n").length, column: offset - lineStart + 1 }
}

type Expected = "value" | "item" | "name" | "first name" | "colon" | "more" | "nothing"

const blanks = /[ \t\n\r]*/y
const mark = /[{}[\]:,]/y
const quoted = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/**
 * The length of the valid beginning of JSON: the offset of the first mistake. Node's messages say the offset of only
 * a few mistakes.
 */
export const endOfJson = (text: string): number => {
  const open: Array<"}" | "]"> = []
  let expected: Expected = "value"
  let offset = 0

  const take = (pattern: RegExp): string => {
    pattern.lastIndex = offset
    const [match] = pattern.exec(text) ?? [""]
    offset += match.length
    return match
  }
  const ended = (): Expected => (open.length === 0 ? "nothing" : "more")
  const begin = (closer: "}" | "]", next: Expected): Expected => {
    open.push(closer)
    return next
  }
  const end = (): Expected => {
    open.pop()
    return ended()
  }

  /** Reads one token. Returns what must follow it; `undefined` if the token is a mistake. */
  const next = (): Expected | undefined => {
    const sign = take(mark)
    if (expected === "value" || expected === "item") {
      if (sign === "{") return begin("}", "first name")
      if (sign === "[") return begin("]", "item")
      if (sign === "]" && expected === "item") return end()
      return sign === "" && (take(quoted) || take(scalar)) ? ended() : undefined
    }
    if (expected === "colon") return sign === ":" ? "value" : undefined
    if (expected === "more") {
      if (sign === ",") return open.at(-1) === "}" ? "name" : "value"
      return sign === open.at(-1) ? end() : undefined
    }
    if (expected === "first name" && sign === "}") return end()
    return expected !== "nothing" && sign === "" && take(quoted) ? "colon" : undefined
  }

  while (true) {
    take(blanks)
    const start = offset
    const following = next()
    if (following === undefined) return start
    expected = following
  }
}

/**
 * Whether a cell is the text of Excel or Google Sheets for a formula without a result, in English, German, French,
 * Spanish, Italian or Dutch. Other texts that begin with `#` are texts.
 */
export const isSpreadsheetError = (cell: unknown): cell is string =>
  Predicate.isString(cell) && spreadsheetError.test(cell.trim())

const spreadsheetError =
  /^(?:#(?:N\/[ABD]|NV|GETTING_DATA|[¡¿]?(?:D(?:IV|EEL)\/0|REF|BEZUG|RIF|VERW|VALUE|WERT|VALEUR|VALOR|VALORE|WAARDE|NAME|NOM|NOMBRE|NOME|NAAM|NUM|ZAHL|GETAL|NULL|NUL|NULO|NULLO|LEEG|ERROR|SPILL|CALC)[!?])|Loading(?:\.{3}|…))$/
