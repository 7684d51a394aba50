/**
 * Reading a document: one answer, or page after page of a list.
 */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { excerpt } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { defaultKey, type RecordKey, recordId } from "../../../internal/recordKey.ts"
import { parseCsv, parseJson } from "../../documents/answers.ts"
import { type Document, DocumentNotSaved, Records, Value } from "../../documents/Document.ts"
import { redirectAdvice } from "../../documents/refusedRequest.ts"
import type { RequestFailed, Requests } from "../../httpClient/Requests.ts"
import type { JsonDocument } from "./JsonSourceOptions.ts"
import { nextPage, type ReadPage } from "./nextPage.ts"
import { valueAt, whatIs } from "./valueAt.ts"

/** More than these are taken for a list without an end. */
export const maxPages = 10_000

/** Pages in a row without a record that is new. While records are added, some are on the page behind once more. */
const maxStale = 3

export const readDocument = (
  requests: Pick<Requests, "get">,
  name: string,
  document: JsonDocument
): Document<DocumentNotSaved> => {
  const { items, key, next, offset, page, url } = document
  const { origin, pathname } = new URL(url)
  const ask = makeAsk(requests, name, document)
  const isPaged = (next ?? page ?? offset) !== undefined
  return {
    name,
    url: `${origin}${pathname}`,
    ...(key === undefined ? {} : { key: [key].flat() }),
    content: isPaged
      ? Records({ pages: readPages(ask, name, document) })
      : Value({
          value: Effect.flatMap(ask(url), ({ hide, json }) =>
            items === undefined
              ? Effect.succeed(json)
              : Effect.mapError(listIn(json, items), (detail) => mistake(name, hide(detail)))
          )
        })
  }
}

const mistake = (document: string, detail: string, isTransient = false) =>
  new DocumentNotSaved({ document, detail, isTransient })

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
    return Array.isArray(json)
      ? Either.right(json)
      : Either.left(`the answer is no list: ${whatIs(json)}. "items" is the path to its list`)
  }
  return Either.flatMap(
    Either.mapLeft(valueAt(json, path), (there) => `"items": "${path}" is not in the answer; ${there}`),
    (value) =>
      Array.isArray(value)
        ? Either.right(value)
        : Either.left(`"items": "${path}" is no list; ${whatIs(value, path)}`)
  )
}

/** How far a list is read. */
interface Position {
  readonly url: string
  /** Of the page at `url`, from 1. */
  readonly number: number
  /** How many records have come before it. */
  readonly read: number
  readonly total: Option.Option<number>
  /** How many pages before it had records, but no new one. */
  readonly stale: number
}

const readPages = (ask: Ask, name: string, document: JsonDocument) =>
  Stream.suspend(() => {
    const start = { url: document.url, number: 1, read: 0, total: Option.none(), stale: 0 }
    const asked = new Set<string>()
    const onlyNew = makeOnlyNew(document.key === undefined ? defaultKey : [document.key].flat())

    return Stream.paginateEffect<Position, ReadonlyArray<unknown>, DocumentNotSaved, never>(
      start,
      Effect.fnUntraced(function* (position) {
        const { number, url } = position
        const answer = yield* ask(url)
        const failed = (detail: string, isTransient = false) =>
          mistake(name, `page ${number}: ${answer.hide(detail)}`, isTransient)
        asked.add(url)
        const records = yield* Effect.mapError(listIn(answer.json, document.items), failed)
        const total = yield* Effect.mapError(totalIn(answer.json, document.total), failed)
        const read = position.read + records.length
        const page: ReadPage = { ...answer, number, records: records.length, read, total }
        const missing = notThere(page, position.total)
        if (missing !== undefined) return yield* failed(missing, true)
        const found = yield* Effect.mapError(nextPage(document, page), failed)

        const { added, changed, twins } = yield* Effect.try({
          try: () => onlyNew(records, number),
          catch: () => failed("it is nested too deeply")
        })
        if (twins[0] !== undefined) {
          return yield* failed(
            `two records are not the same, but both have the key ${excerpt(twins[0])}. ${setKey}`
          )
        }
        if (changed[0] !== undefined) {
          yield* Effect.logWarning(
            `Document "${name}": page ${number}: ${countText(changed.length, "record")} (${excerpt(changed[0])} first) came on an earlier page with other content, which is kept. If nobody is changing the list: ${setKey}`
          )
        }
        const stale = added.length > 0 || records.length === 0 ? 0 : position.stale + 1
        const isRound =
          Option.exists(found, (next) => asked.has(next)) || (isCounted(document) && stale === maxStale)
        if (isRound && records.length > 0 && number === stale + 1) {
          return yield* failed(firstAgain(document))
        }
        const next = isRound ? Option.none() : found
        if (Option.isSome(next) && number === maxPages) {
          return yield* failed(
            `there are more than ${maxPages} pages, which looks like a list without an end`
          )
        }
        return [added, Option.map(next, (url) => ({ url, number: number + 1, read, total, stale }))] as const
      })
    )
  })

/** A list that has nothing but its first page, though a page is said to be behind it. */
const firstAgain = ({ cursor, next, offset, page }: JsonDocument): string => {
  const parameter = page ?? offset ?? cursor
  return parameter !== undefined
    ? `it has the records of page 1 again. Does the server know the parameter "${parameter}"?`
    : `the next page is page 1 again. Is ${next === "link" ? 'the "Link" header that' : `"${next}" the path to the address`} of the page behind it?`
}

const isCounted = ({ offset, page }: JsonDocument): boolean => (page ?? offset) !== undefined

const totalIn = (json: unknown, path: string | undefined): Either.Either<Option.Option<number>, string> => {
  if (path === undefined) return Either.right(Option.none())
  return Either.flatMap(
    Either.mapLeft(valueAt(json, path), (there) => `"total": "${path}" is not in the answer; ${there}`),
    (value) => {
      const total = Predicate.isString(value) && /^\d+$/.test(value) ? Number(value) : value
      return Predicate.isNumber(total)
        ? Either.right(Option.some(total))
        : Either.left(`"total": "${path}" is no number`)
    }
  )
}

/** What says that records may have been missed, because others were removed while the list was read. */
const notThere = ({ read, records, total }: ReadPage, before: Option.Option<number>): string | undefined => {
  if (Option.isNone(total)) return undefined
  const all = total.value
  return Option.exists(before, (before) => all < before)
    ? "the list has become shorter while it was read: records may be missing"
    : records === 0 && read < all
      ? `the list ends after ${countText(read, "record")}, but "total" says ${all}`
      : undefined
}

/** Keys of records on a page that differ from one with the same key, on the same page (`twins`) or on one before (`changed`). */
interface NewRecords {
  readonly added: ReadonlyArray<unknown>
  readonly twins: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/** Records that have not come before, by their key; without it, by all that is in them. */
const makeOnlyNew = (key: RecordKey) => {
  const idOf = recordId(key)
  const seen = new Map<string, { readonly content: string; readonly page: number }>()
  return (records: ReadonlyArray<unknown>, page: number): NewRecords => {
    const added: Array<unknown> = []
    const twins: Array<string> = []
    const changed: Array<string> = []
    for (const record of records) {
      const content = digest(record)
      const id = Option.getOrElse(idOf(record), () => content)
      const before = seen.get(id)
      if (before === undefined) {
        seen.set(id, { content, page })
        added.push(record)
      } else if (before.content !== content) {
        const differing = before.page === page ? twins : changed
        differing.push(id)
      }
    }
    return { added, twins, changed }
  }
}

const setKey = 'Set "key" to what identifies a record, such as ["id", "locale"]'

const digest = (record: unknown): string =>
  `sha256 ${createHash("sha256").update(JSON.stringify(record)).digest("base64")}`
