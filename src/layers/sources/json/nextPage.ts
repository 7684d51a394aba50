/**
 * The next page of a list: its address, and the stated number of records or pages, in the response or in a header.
 *
 * It also reads the parameters of a URL, the `Link` header (RFC 8288, read as leniently as servers write it), and
 * values in JSON by paths with dots.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { printableLine } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { isLast, isShort, type PageRead } from "../../documents/wholeList.ts"
import { type JsonDocumentOptions, parameterOf } from "./JsonSourceOptions.ts"

/** A page after reading. */
export interface ReadPage extends PageRead {
  /** The requested address. */
  readonly asked: string
  /** The address of the response, after all redirects. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

/** An address, or `None` at the end of the list; or a mistake. */
type Next = Either.Either<Option.Option<string>, string>

export const nextPage = (document: JsonDocumentOptions, page: ReadPage): Next => {
  const { cursor, next, url } = document
  if (next === undefined) return Either.right(counted(document, page))
  if (next === "link") return followed(document, page, Option.fromNullable(nextLink(page.headers)))
  const found = mentioned(page.json, next)
  if (cursor === undefined) return Either.flatMap(found, (link) => followed(document, page, link))
  const asked = new URL(page.asked).searchParams.get(cursor)
  // Some servers send the token of the last page again.
  const isEnd = (token: string) => token === asked && isShort(page, sizeAsked(document))
  return Either.map(found, (token) =>
    Option.map(Option.filter(token, Predicate.not(isEnd)), (token) => withParameter(url, cursor, token))
  )
}

/** The link to the next page in the header of a response. */
export const nextLink = ({ link = "" }: ReadPage["headers"]): string | undefined => linkOf(link, "next")

/** Whether a response names a next page, outside of lists. */
export const namesNext = (json: unknown, depth = 3): boolean =>
  Predicate.isReadonlyRecord(json) &&
  Object.entries(json).some(([name, value]) => {
    const next = Predicate.isReadonlyRecord(value) ? value.href : value
    return nextName.test(name) && (Predicate.isString(next) || Predicate.isNumber(next))
      ? next !== ""
      : depth > 0 && namesNext(value, depth - 1)
  })

const nextName = /^(?:@odata\.)?next(?:_?page)?(?:_?(?:link|url|uri|cursor|token|offset))?$/i

/** The number of records in a request, if it is known. */
export const sizeAsked = ({ size, url }: JsonDocumentOptions): number | undefined =>
  size === undefined ? undefined : parameterOf(url, size)

const counted = (document: JsonDocumentOptions, page: ReadPage) => {
  const { offset, page: counter, url } = document
  const { number, read } = page
  const count = (parameter: string, first: number, more: number) =>
    withParameter(
      withGivenSize(document, page),
      parameter,
      String((parameterOf(url, parameter) ?? first) + more)
    )
  return isLast(page, sizeAsked(document))
    ? Option.none()
    : counter !== undefined
      ? Option.some(count(counter, 1, number))
      : Option.map(Option.fromNullable(offset), (offset) => count(offset, 0, read))
}

/**
 * If page 1 has fewer records than requested, further pages are requested with this size, because some servers skip
 * the records that they did not send.
 */
const withGivenSize = (document: JsonDocumentOptions, { firstRecords }: ReadPage): string => {
  const { size, url } = document
  return size !== undefined && firstRecords < (sizeAsked(document) ?? 0)
    ? withParameter(url, size, String(firstRecords))
    : url
}

/** The value at a path of a response: nothing, `null`, `false` and an empty text mean the end. */
const mentioned = (json: unknown, path: string): Next => {
  const there = valueAt(json, path)
  if (Either.isLeft(there) && Array.isArray(json)) {
    return Either.left(`"next": "${path}" can be in no answer that is a list; ${there.left}`)
  }
  const value = Either.getOrElse(there, () => undefined)
  return Predicate.isNullable(value) || value === "" || value === false
    ? Either.right(Option.none())
    : Predicate.isString(value) || Predicate.isNumber(value)
      ? Either.right(Option.some(String(value)))
      : Either.left(`"next": "${path}" is neither a text nor a number`)
}

/**
 * A link in a response. It must stay on the host of the document, or on the host that the document redirected to.
 * Protocol and port are replaced, because a server behind a proxy often knows neither.
 */
const followed = (document: JsonDocumentOptions, page: ReadPage, link: Option.Option<string>): Next => {
  if (Option.isNone(link)) return Either.right(link)
  if (!URL.canParse(link.value, page.url)) {
    const advice = document.next === "link" ? "" : '; a token needs "cursor"'
    return Either.left(`the URL of the next page is not valid${advice}`)
  }
  const url = new URL(link.value, page.url)
  const known = [document.url, page.url].map((address) => new URL(address))
  const base = known.find(({ hostname }) => hostname === url.hostname)
  if (base === undefined) {
    return Either.left(
      `the next page is on another host, ${printableLine(url.host, 100)}: Vitrine does not follow it there. Remove "next", and set "page" or "offset" to count the pages of "url"`
    )
  }
  // A path that begins with two slashes would be another host in a relative URL.
  const next = new URL(base.origin)
  next.pathname = url.pathname
  next.search = url.search
  return Either.right(Option.some(next.href))
}

/** For all pages, without the pages before the first requested page. */
export interface StatedCount {
  readonly total?: number | undefined
  readonly pages?: number | undefined
}

interface JsonAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

/**
 * The number that a server states, or a mistake in it; `null` states nothing. `firstRecords` is the number of records
 * on the first page.
 */
export const statedCount = (
  document: JsonDocumentOptions,
  { headers, json }: JsonAnswer,
  firstRecords: number
): Either.Either<StatedCount, string> => {
  const { total: path } = document
  if (path === false) return Either.right({})
  const skipped = skippedBy(document, firstRecords)
  if (path === undefined) {
    const total = inHeaders(headers, totalHeaders) ?? inRange(headers)
    const pages = inHeaders(headers, pageHeaders)
    return Either.right({
      total: total && total - skipped.records,
      pages: pages && pages - skipped.pages
    })
  }
  const found = Either.orElse(valueAt(json, path), (there) =>
    Either.fromOption(Record.get(headers, path.toLowerCase()), () => there)
  )
  return Either.flatMap(
    Either.mapLeft(found, (there) => `"total": "${path}" is neither in the answer nor a header; ${there}`),
    (value) =>
      value === null
        ? Either.right({})
        : Option.match(wholeNumber(value), {
            onNone: () => Either.left(`"total": "${path}" is no number`),
            onSome: (count): Either.Either<StatedCount> =>
              Either.right(
                isOfPages(path) ? { pages: count - skipped.pages } : { total: count - skipped.records }
              )
          })
  )
}

/** `meta.pageCount`, `total_pages` */
const isOfPages = (path: string): boolean => /page/i.test(path.split(".").at(-1) ?? "")

const totalHeaders = ["x-wp-total", "x-total-count", "x-total", "total-count", "x-pagination-total-count"]
const pageHeaders = ["x-wp-totalpages", "x-total-pages", "x-pagination-page-count"]

const inHeaders = (headers: JsonAnswer["headers"], names: ReadonlyArray<string>): number | undefined =>
  names.map((name) => Option.getOrUndefined(wholeNumber(headers[name]))).find((count) => count !== undefined)

/** `Content-Range: items 0-24/319` */
const inRange = (headers: JsonAnswer["headers"]): number | undefined =>
  Option.getOrUndefined(wholeNumber(/^(?!\s*bytes).*\/(\d+)\s*$/i.exec(headers["content-range"] ?? "")?.[1]))

const wholeNumber = (value: unknown): Option.Option<number> =>
  /^\d{1,15}$/.test(String(value)) ? Option.some(Number(value)) : Option.none()

/** The pages and records before the first requested page. */
const skippedBy = ({ offset, page, url }: JsonDocumentOptions, firstRecords: number) => {
  const pages = page === undefined ? 0 : Math.max((parameterOf(url, page) ?? 1) - 1, 0)
  return { pages, records: offset === undefined ? pages * firstRecords : (parameterOf(url, offset) ?? 0) }
}

/** The URL with this parameter, and all others unchanged. */
export const withParameter = (address: string, name: string, value: string): string => {
  const url = new URL(address)
  const others = url.search
    .slice(1)
    .split("&")
    .filter((part) => part !== "" && !new URLSearchParams(part).has(name))
  url.search = [...others, new URLSearchParams({ [name]: value })].join("&")
  return url.href
}

const between = /[\s,]*/y
const target = /<([^>]*)>/y

/**
 * A parameter: its name, and its value in quotes or without. It may have no value, or consist only of its semicolon.
 */
const parameter = /\s*;\s*(?:([^\s=;,"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y

/** The first link with this relation. Links about something else than the response (`anchor`) do not count. */
export const linkOf = (header: string, relation: string): string | undefined => {
  let place = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = place
    const found = pattern.exec(header)
    if (found !== null) place = pattern.lastIndex
    return found
  }
  while (place < header.length) {
    take(between)
    const link = take(target)
    if (link === null) {
      // Text that is no link ends with the next comma. If a ">" is missing, no link follows.
      const comma = header[place] === "<" ? -1 : header.indexOf(",", place)
      place = comma === -1 ? header.length : comma + 1
      continue
    }
    const parameters = new Map<string, string>()
    for (let found = take(parameter); found !== null; found = take(parameter)) {
      const [, name = "", quoted, plain = ""] = found
      const value = quoted?.replace(/\\(.)/g, "$1") ?? plain.replaceAll("'", "")
      // If a name is repeated, the first value counts.
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value)
    }
    const relations = (parameters.get("rel") ?? "").toLowerCase().split(/\s+/)
    if (relations.includes(relation) && !parameters.has("anchor")) return link[1]
  }
  return undefined
}

/**
 * The value at a path; `null` if a part of the path is `null`; `Left` with a description if the path does not exist.
 * A name that contains dots (`@odata.nextLink`) is found at the end of a path.
 */
export const valueAt = (json: unknown, path: string): Either.Either<unknown, string> => {
  const find = (value: unknown, place: string, rest: string): Either.Either<unknown, string> => {
    if (value === null) return Either.right(null)
    if (!Predicate.isObject(value)) return Either.left(whatIs(value, place))
    const name = Object.hasOwn(value, rest) ? rest : (rest.split(".", 1)[0] ?? "")
    if (!Object.hasOwn(value, name)) return Either.left(whatIs(value, place))
    const member: unknown = Reflect.get(value, name)
    return name === rest
      ? Either.right(member)
      : find(member, place === "" ? name : `${place}.${name}`, rest.slice(name.length + 1))
  }
  return find(json, "", path)
}

const maxNames = 12

/** `it has: data, meta`, `its "data" is a list of 3 items`. */
export const whatIs = (value: unknown, place = ""): string =>
  `${place === "" ? "it" : `its "${printableLine(place, 100)}"`} ${kindOf(value)}`

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return `is a list of ${countText(value.length, "item")}`
  if (!Predicate.isObject(value)) return `is ${value === null ? "null" : `a ${typeof value}`}`
  const names = Object.keys(value)
  const listed = names.slice(0, maxNames).map((name) => printableLine(name, 40))
  return names.length === 0
    ? "is an empty object"
    : `has: ${listed.join(", ")}${names.length > maxNames ? ", …" : ""}`
}
