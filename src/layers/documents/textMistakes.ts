/**
 * Text files that people edit, and the mistakes in them.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { type Mistake, mistake } from "../../internal/mistake.ts"
import type { MistakePlace } from "../../internal/mistakeParts.ts"
import { printableLine } from "../../internal/printable.ts"

/**
 * UTF-8 text, or UTF-16 text with a byte order mark, which Excel writes as "Unicode Text". Byte order marks at its
 * start are removed.
 */
export const decodeText = (bytes: Uint8Array): Either.Either<string, Mistake> =>
  Either.try(() => new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)).pipe(
    // UTF-16 without a mark has zero bytes.
    Either.filterOrLeft(
      (text) => !text.includes("\0"),
      () => undefined
    ),
    Either.mapBoth({
      onLeft: () => mistake(isSpreadsheet(bytes) ? "text:archive" : "text:encoding", {}),
      onRight: (text) => text.replace(/^\ufeff+/, "")
    })
  )

/** Whether bytes begin like `.xlsx`, `.ods` and `.numbers`, which are ZIP archives, or like `.xls`. */
const isSpreadsheet = (bytes: Uint8Array): boolean =>
  /^(?:PK\x03\x04|\xd0\xcf\x11\xe0)/.test(Buffer.from(bytes.subarray(0, 4)).toString("latin1"))

/** Whether a text is HTML or XML, for example a login page, in the place of the wanted text. */
export const isMarkup = (text: string): boolean =>
  /^\s*(?:<!--(?:[^-]|-(?!->))*-->\s*)*<(?:!doctype\b|\?xml\b|[a-z][a-z0-9-]*[\s>/])/i.test(
    text.slice(0, 4096)
  )

/** Names what stands in the place of a text: a web page, or a pointer of Git LFS or git-annex. */
export const otherMistake = (text: string): Mistake | undefined =>
  isMarkup(text) ? mistake("text:page", {}) : isPointer(text) ? pointerMistake : undefined

export const isPointer = (text: string): boolean =>
  /^(?:version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/|(?:(?:\.\.\/)*\.git)?\/annex\/objects\/)/.test(
    text
  )

export const pointerMistake = mistake("text:pointer", {})

/** Finds a place in a text by an offset, which is only asked for if the text is short enough. */
export type FindPlace = (text: string, offset: () => number) => MistakePlace

/** The signs that a text has lost letters, or was joined from several files. */
export const findStrayMarks = (text: string, place: FindPlace = placeIn): ReadonlyArray<Mistake> => {
  const lost = lostLetter(text)
  const doubled = doubleEncoded.exec(text.slice(0, maxPlaced))
  const at = (offset = -1, mistakeAt: (place: MistakePlace) => Mistake) =>
    offset === -1 ? [] : [mistakeAt(place(text, () => offset))]
  return [
    ...at(lost?.at, (place) => mistake("text:lost", place, { found: lost?.found ?? "" })),
    ...at(text.indexOf("\n\ufeff") + 1 || -1, (place) => mistake("text:mark", place)),
    ...at(doubled?.index, (place) => mistake("text:doubled", place, { found: doubled?.[0] ?? "" }))
  ]
}

/** The first sign in the place of a letter: that of Unicode, half of an emoji in JSON, or question marks in words. */
const lostLetter = (text: string) => {
  const at = text.indexOf("\ufffd")
  if (at !== -1) return { at, found: "\ufffd" }
  const half = halfLetter.exec(text.slice(0, maxPlaced))
  if (half !== null) return { at: half.index, found: half[0] }
  const questioned: Array<number> = []
  for (
    let at = text.indexOf("?"), left = 10_000;
    at !== -1 && left > 0;
    at = text.indexOf("?", at + 1), left--
  ) {
    const after = text.slice(at + 1, at + 30)
    const isInWord = endOfWord.test(after) && startOfWord.test(text.slice(Math.max(0, at - 30), at))
    if (isInWord || allLost.test(after)) questioned.push(at)
    if (questioned.length === leastQuestioned) return { at: questioned[0] ?? at, found: "?" }
  }
  return undefined
}

const halfLetter = /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])/

/** Somebody may forget the blank after a question mark once or twice. */
const leastQuestioned = 3

const startOfWord = /(?:^|[\s"',;(>])\p{L}+$/u
const endOfWord = /^\p{Ll}+(?:[\s"',;:!)<\\-]|\.?(?:\s|$))/u
const allLost = /^\?+ +\?\?/

/**
 * UTF-8 that was read as Windows-1252. Words in capitals may end with these letters before quotes and dashes, which
 * do not count. Cyrillic, Greek, Hebrew and Arabic letters begin with letters of other languages: two of them count.
 * Then UTF-8 that was read as Mac Roman, and as a code page of DOS.
 */
const doubleEncoded =
  /[ÂÃ][\x80-\x9f€‚ƒ„†‡ˆ‰Š‹ŒŽ•˜š›œžŸ¡-ª¬-º¼-¿]|â€.|(?:[ÎÏÐÑ×ØÙ][\x80-\x9f€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ\xa0-¿]){2}|√[ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ±≤≥¥∂∏∫ªºæø]|‚Ä[ôòúùìîû¶¢]|├(?:[╝╢]|[^\s\w─-▟])/

const encodingOf = ([first, second]: Uint8Array): string =>
  first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"

/** The most reported names. */
const maxTwice = 10

/** The names that are twice in one object of valid JSON, each with its first place. `value` is the value of the text. */
export const findTwice = (
  text: string,
  value: unknown
): ReadonlyArray<{ readonly name: string; readonly place: MistakePlace }> => {
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
  return [...twice].map(([name, offset]) => ({ name, place: placeIn(text, () => offset) }))
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
export const jsonMistake = (text: string, error: unknown): Mistake =>
  otherMistake(text) ??
  mistake(
    "json:syntax",
    placeIn(text, () => endOfJson(text)),
    { message: printableLine(error instanceof Error ? error.message : String(error), 200) }
  )

/** In characters: a search takes some milliseconds. */
export const maxPlaced = 1024 * 1024

const placeIn: FindPlace = (text, find) => {
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
 * Whether a cell is the text of Excel, Google Sheets or LibreOffice for a formula without a result, in English, German, French,
 * Spanish, Italian or Dutch. Other texts that begin with `#` are texts.
 */
export const isSpreadsheetError = (cell: unknown): cell is string =>
  Predicate.isString(cell) && spreadsheetError.test(cell.trim())

const spreadsheetError =
  /^(?:#(?:#+|N\/[ABD]|NV|GETTING_DATA|[¡¿]?(?:D(?:IV|EEL)\/0|REF|BEZUG|RIF|VERW|VALUE|WERT|VALEUR|VALOR|VALORE|WAARDE|NAME|NOM|NOMBRE|NOME|NAAM|NUM|ZAHL|GETAL|NULL|NUL|NULO|NULLO|LEEG|ERROR|SPILL|CALC)[!?])|Err:5\d\d|Loading(?:\.{3}|…))$/
