/**
 * The headers of responses: the letters in them, and what they say about when something was changed.
 */
import * as Option from "effect/Option"

/** Names in small letters. */
export type Headers = Readonly<Record<string, string>>

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** They come as Latin-1; what is UTF-8 in truth is read as that. */
export const readHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, readHeader(value)]))

export const readHeader = (value: string): string =>
  /[\x80-\xff]/.test(value) && !/[^\0-\xff]/.test(value)
    ? Option.getOrElse(decode(Buffer.from(value, "latin1")), () => value)
    : value

const decode = Option.liftThrowable((bytes: Uint8Array) => utf8.decode(bytes))

/** In bytes. */
export const contentLength = (headers: Headers): Option.Option<number> => {
  const length = headers["content-length"] ?? ""
  return /^\d+$/.test(length) ? Option.some(Number(length)) : Option.none()
}

/**
 * Whether it was changed so recently that it could change again under the same tag: that of static servers may be made of
 * a time in seconds (RFC 9110, section 8.8.2.2). A date of no meaning, which builds and archives give all files, tells no change at all.
 */
export const mayChangeUnseen = ({ date, etag, "last-modified": lastModified }: Headers): boolean => {
  const modified = Date.parse(lastModified ?? "")
  if (Number.isNaN(modified)) return false
  const hasOnlyDate = etag === undefined
  const age = Date.parse(date ?? "") - modified
  return Number.isNaN(age) ? hasOnlyDate : age < 2000 || (hasOnlyDate && modified < firstDate)
}

/** Reproducible builds and packages have dates between 1970 and 1985. */
const firstDate = Date.UTC(1990, 0, 1)
