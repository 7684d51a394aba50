/**
 * Reading a document: one answer, or page after page of a list.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { defaultKey, recordId } from "../../../internal/recordKey.ts"
import { parseCsv, parseJson } from "../../documents/answers.ts"
import { type Document, DocumentNotSaved, Records, Value } from "../../documents/Document.ts"
import { redirectAdvice } from "../../documents/refusedRequest.ts"
import { type List, type ListNotWhole, type ListPage, wholeList } from "../../documents/wholeList.ts"
import type { RequestFailed, Requests } from "../../httpClient/Requests.ts"
import type { JsonDocument } from "./JsonSourceOptions.ts"
import { nextPage, type ReadPage } from "./nextPage.ts"
import { valueAt, whatIs } from "./valueAt.ts"

export const readDocument = (
  requests: Pick<Requests, "get">,
  name: string,
  document: JsonDocument
): Document<DocumentNotSaved | ListNotWhole> => {
  const { items, key, next, offset, page, url } = document
  const { origin, pathname } = new URL(url)
  const ask = makeAsk(requests, name, document)
  const isPaged = (next ?? page ?? offset) !== undefined
  const list = wholeList(listOf(ask, name, document))
  return {
    name,
    url: `${origin}${pathname}`,
    ...(key === undefined ? {} : { key: [key].flat() }),
    ...(isPaged
      ? { content: Records({ pages: list.pages }), again: list.again }
      : {
          content: Value({
            value: Effect.flatMap(ask(url), ({ hide, json }) =>
              items === undefined
                ? Effect.succeed(json)
                : Effect.mapError(listIn(json, items), (detail) => mistake(name, hide(detail)))
            )
          })
        })
  }
}

const mistake = (document: string, detail: string) => new DocumentNotSaved({ document, detail })

/** Asks an address of a document. Headers go to the origin of its URL. */
const makeAsk = (
  requests: Pick<Requests, "get">,
  name: string,
  { as, delimiter, headers, url }: JsonDocument
) => {
  const { origin } = new URL(url)
  const own = Record.mapEntries(headers, (value, header) => [header.toLowerCase(), Redacted.value(value)])
  const accept = as === "csv" ? "text/csv" : "application/json"
  return (address: string) =>
    Effect.gen(function* () {
      const answer = yield* requests.get(address, {
        accept,
        ...(new URL(address).origin === origin ? own : {})
      })
      const json: unknown = yield* as === "csv" ? parseCsv(answer, delimiter) : parseJson(answer)
      return { ...answer, json }
    }).pipe(Effect.mapError((error) => refused(name, url, error)))
}

type Ask = ReturnType<typeof makeAsk>

const refused = (document: string, url: string, error: RequestFailed) => {
  const { isTransient, message, status = 0 } = error
  const isUnknown = status === 401 || status === 403
  const advice = isUnknown
    ? `; ${redirectAdvice(url, "headers", error) ?? '"headers" may have to say who asks'}`
    : ""
  return new DocumentNotSaved({ document, detail: `${message}${advice}`, isTransient, cause: error })
}

const listIn = (json: unknown, path: string | undefined): Either.Either<ReadonlyArray<unknown>, string> => {
  if (path === undefined) {
    return Array.isArray(json) || json === null
      ? Either.right(json ?? [])
      : Either.left(`the answer is no list: ${whatIs(json)}. "items" is the path to its list`)
  }
  return Either.flatMap(
    Either.mapLeft(valueAt(json, path), (there) => `"items": "${path}" is not in the answer; ${there}`),
    (value) =>
      Array.isArray(value) || value === null
        ? Either.right(value ?? [])
        : Either.left(`"items": "${path}" is no list; ${whatIs(value, path)}`)
  )
}

const listOf = (ask: Ask, name: string, document: JsonDocument): List<string, DocumentNotSaved> => ({
  name: `Document "${name}"`,
  start: document.url,
  isCounted: isCounted(document),
  idOf: recordId(document.key === undefined ? defaultKey : [document.key].flat()),
  failed: (detail) => mistake(name, detail),
  firstAgain: firstAgain(document),
  keyAdvice: 'Set "key" to what identifies a record, such as ["id", "locale"]',
  totalAdvice: 'If it counts what may not be read, set "total" of the document to false',
  read: Effect.fnUntraced(function* (url, progress) {
    const answer = yield* Effect.map(ask(url), Option.some).pipe(
      Effect.catchIf(
        (error) => progress.read > 0 && isCounted(document) && isBehindTheLast(error),
        () => Effect.succeed(Option.none())
      )
    )
    if (Option.isNone(answer)) return { items: [], next: Option.none() }
    const { hide } = answer.value
    const failed = (detail: string) => mistake(name, `page ${progress.number}: ${hide(detail)}`)
    const items = yield* Effect.mapError(listIn(answer.value.json, document.items), failed)
    const said = yield* Effect.mapError(sizeOf(document, answer.value), failed)
    const read = progress.read + items.length
    const next = yield* Effect.mapError(nextPage(document, { ...answer.value, ...progress, read }), failed)
    return { items, next, hide, ...said }
  })
})

/** What servers answer to the number of a page that a list does not have. */
const isBehindTheLast = ({ cause }: DocumentNotSaved): boolean =>
  Predicate.hasProperty(cause, "status") && (cause.status === 400 || cause.status === 404)

/** Where a list has nothing but its first page, though a page is said to be behind it. */
const firstAgain = ({ cursor, next, offset, page }: JsonDocument): string => {
  const parameter = page ?? offset ?? cursor
  return parameter !== undefined
    ? `it has the records of page 1 again. Does the server know the parameter "${parameter}"?`
    : `the next page is page 1 again. Is ${next === "link" ? 'the "Link" header that' : `"${next}" the path to the address`} of the page behind it?`
}

const isCounted = ({ offset, page }: JsonDocument): boolean => (page ?? offset) !== undefined

const totalHeaders = ["x-wp-total", "x-total-count"]
const pagesHeaders = ["x-wp-totalpages", "x-total-pages"]

/** How many records and pages a server says there are: at the path or in the header that `total` names, or in a header that many have. */
const sizeOf = (
  { total: place }: JsonDocument,
  { headers, json }: Pick<ReadPage, "headers" | "json">
): Either.Either<Pick<ListPage<string>, "total" | "pages">, string> => {
  if (place === false) return Either.right({})
  const numberIn = (names: ReadonlyArray<string>) =>
    names.map((name) => countOf(headers[name])).find(Predicate.isNotUndefined)
  if (place === undefined) {
    return Either.right({ total: numberIn(totalHeaders), pages: numberIn(pagesHeaders) })
  }
  return Either.flatMap(
    Either.mapLeft(
      Either.orElse(valueAt(json, place), (there) =>
        Either.fromNullable(headers[place.toLowerCase()], () => there)
      ),
      (there) => `"total": "${place}" is neither in the answer nor one of its headers; ${there}`
    ),
    (value) =>
      Either.map(
        Either.fromNullable(countOf(value), () => `"total": "${place}" is no number`),
        (total) => ({ total })
      )
  )
}

const countOf = (value: unknown): number | undefined =>
  Predicate.isString(value) && /^\d+$/.test(value)
    ? Number(value)
    : Predicate.isNumber(value)
      ? value
      : undefined
