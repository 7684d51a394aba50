/**
 * Where a list continues: the address of the next page.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../../internal/printable.ts"
import { isLast, isShort, type Reading } from "../../documents/wholeList.ts"
import { linkOf, parameterOf, withParameter } from "./addresses.ts"
import type { JsonDocumentOptions } from "./JsonSourceOptions.ts"
import { valueAt } from "./valueAt.ts"

/** A page that was read. */
export interface ReadPage extends Reading {
  /** The address that was asked for. */
  readonly asked: string
  /** Where it came from, to the end of all redirects. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

/** An address, or none where the list ends; or what is wrong. */
type Next = Either.Either<Option.Option<string>, string>

export const nextPage = (document: JsonDocumentOptions, page: ReadPage): Next => {
  const { cursor, next, url } = document
  if (next === undefined) return Either.right(counted(document, page))
  if (next === "link") return followed(document, page, Option.fromNullable(nextLink(page.headers)))
  const found = mentioned(page.json, next)
  if (cursor === undefined) return Either.flatMap(found, (link) => followed(document, page, link))
  const asked = new URL(page.asked).searchParams.get(cursor)
  // Some servers give the token of the last page again.
  const isEnd = (token: string) => token === asked && isShort(page, sizeAsked(document))
  return Either.map(found, (token) =>
    Option.map(Option.filter(token, Predicate.not(isEnd)), (token) => withParameter(url, cursor, token))
  )
}

/** The link to the next page in the header of an answer. */
export const nextLink = ({ link = "" }: ReadPage["headers"]): string | undefined => linkOf(link, "next")

/** How many records were asked for at once, where that is known. */
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

/** Where the first page has fewer records than were asked for, the others are asked for as many: some servers skip what they do not give. */
const withGivenSize = (document: JsonDocumentOptions, { firstRecords }: ReadPage): string => {
  const { size, url } = document
  return size !== undefined && firstRecords < (sizeAsked(document) ?? 0)
    ? withParameter(url, size, String(firstRecords))
    : url
}

/** What an answer has at a path: nothing, `null`, `false` and an empty text are the end. */
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
 * A link that an answer has. It stays on the host of the document, or on the one that this redirected to: a server behind a proxy often
 * knows neither its protocol nor its port.
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
