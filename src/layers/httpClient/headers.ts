/**
 * The headers of responses, the encoding of their texts, and the time of their last change.
 */
import * as Option from "effect/Option"
import { printableLine } from "../../internal/printable.ts"

/** Names in small letters. */
export type Headers = Readonly<Record<string, string>>

/** The most bytes of the headers of a response. */
export const maxHeaderBytes = 64 * 1024

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Headers arrive as Latin-1. Values that are valid UTF-8 are decoded as UTF-8. */
export const readHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, readHeader(value)]))

export const readHeader = (value: string): string =>
  /[\x80-\xff]/.test(value) && !/[^\0-\xff]/.test(value)
    ? Option.getOrElse(decode(Buffer.from(value, "latin1")), () => value)
    : value

const decode = Option.liftThrowable((bytes: Uint8Array) => utf8.decode(bytes))

/** In bytes; `undefined` if it is not known. */
export const contentLength = (headers: Headers): number | undefined => {
  const length = headers["content-length"] ?? ""
  return /^\d+$/.test(length) ? Number(length) : undefined
}

/**
 * Whether the file has changed so recently that it could change again under the same tag: static servers may make the
 * tag from a time in seconds (RFC 9110, section 8.8.2.2). Also if there is only a meaningless date, which builds and
 * archives give to all files: it does not show changes.
 */
export const mayChangeUnseen = ({ date, etag, "last-modified": lastModified }: Headers): boolean => {
  const modified = Date.parse(lastModified ?? "")
  if (Number.isNaN(modified)) return false
  const hasOnlyDate = etag === undefined
  const age = Date.parse(date ?? "") - modified
  return Number.isNaN(age) ? hasOnlyDate : age < 2000 || (hasOnlyDate && modified < firstDate)
}

/** What tells a response from a later one: its tag and its date. */
export interface Validators {
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
}

/** The validators of a response; none if it could change again under the same ones. */
export const validatorsOf = (headers: Headers): Validators =>
  mayChangeUnseen(headers) ? {} : { etag: headers.etag, lastModified: headers["last-modified"] }

/**
 * The header that asks whether a response has changed: with its tag, or else with its date, unless somebody asks by
 * hand.
 */
export const conditionsOf = ({ etag, lastModified }: Validators, byHand: boolean): Headers =>
  etag !== undefined
    ? { "if-none-match": etag }
    : lastModified === undefined || byHand
      ? {}
      : { "if-modified-since": lastModified }

/** Reproducible builds and packages have dates between 1970 and 1985. */
const firstDate = Date.UTC(1990, 0, 1)

/**
 * If the label is unknown, or of an encoding with one byte for a letter, valid UTF-8 beyond ASCII is decoded as
 * UTF-8: other text is hardly ever valid UTF-8. Throws if the text is not valid in the encoding.
 */
export const decodeText = (bytes: Uint8Array, declared: string): string => {
  const label =
    marks.find(({ mark }) => mark.every((byte, index) => bytes[index] === byte))?.encoding ??
    wideEncodingOf(bytes) ??
    declared
  const decoder = Option.getOrUndefined(makeDecoder(label))
  if (decoder !== undefined && !/^(?:iso-8859|windows|koi8|mac|x-mac|ibm)/.test(decoder.encoding)) {
    return decoder.decode(bytes)
  }
  try {
    return utf8.decode(bytes)
  } catch (error) {
    if (decoder === undefined) throw error
    const text = decoder.decode(bytes)
    return decoder.encoding === "windows-1252"
      ? text.replaceAll(/[\x80-\x9f]/g, (letter) => windows1252[letter.charCodeAt(0) - 0x80] ?? letter)
      : text
  }
}

/** The letters from 0x80 to 0x9f. Node 20 decodes them as ISO 8859-1. */
const windows1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"

/** A byte order mark overrides everything else. */
const marks = [
  { encoding: "utf-8", mark: [0xef, 0xbb, 0xbf] },
  { encoding: "utf-16le", mark: [0xff, 0xfe] },
  { encoding: "utf-16be", mark: [0xfe, 0xff] }
]

/** No text begins with a zero character: a zero byte is one half of the first letter, and shows the encoding. */
const wideEncodingOf = ([first, second]: Uint8Array): string | undefined =>
  first === 0 && (second ?? 0) > 0 ? "utf-16be" : (first ?? 0) > 0 && second === 0 ? "utf-16le" : undefined

const makeDecoder = Option.liftThrowable(
  (label: string) => new TextDecoder(label, { fatal: true, ignoreBOM: true })
)

/** The declared encoding of a body; UTF-8 by default. */
export const charsetOf = (headers: Headers): string =>
  printableLine(/;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8", 40)
