/**
 * JSON and CSV at URLs: each document is one response, or the pages of a list.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fileName } from "../../../files/fileName.ts"
import { excerpt } from "../../../internal/printable.ts"
import { defaultKey, recordId } from "../../../internal/recordKey.ts"
import type { ContentSourceDefinition, FetchTarget } from "../../../services/ContentSource.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import { type Document, failedIn, fileBefore, Records, Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { readRecords } from "../../documents/documentFile.ts"
import { csvOf, jsonOf, redirectAdvice } from "../../documents/readText.ts"
import { notice, warn } from "../../documents/warnings.ts"
import { hasAll, isShort, type ListChanged, type ListProgress, readList } from "../../documents/wholeList.ts"
import {
  type Answer,
  make as makeRequests,
  printableUrl,
  RequestFailed,
  type Requests
} from "../../httpClient/Requests.ts"
import { type JsonDocumentOptions, type JsonSourceConfig, JsonSourceOptions } from "./JsonSourceOptions.ts"
import {
  namesNext,
  nextLink,
  nextPage,
  type StatedCount,
  sizeAsked,
  statedCount,
  valueAt,
  whatIs
} from "./nextPage.ts"

/**
 * A source of content for the content plugin's `sources`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const jsonSource = (config: JsonSourceConfig): ContentSourceDefinition =>
  define("the JSON source", JsonSourceOptions, config, make)

const make = Effect.fnUntraced(function* (options: JsonSourceOptions) {
  const requests = yield* makeRequests({
    ...options,
    urls: Object.values(options.documents).map(({ url }) => url)
  })
  const platform = yield* Effect.context<FileSystem.FileSystem>()

  /** The columns of the saved document, which are the server's columns unless steps have changed them. */
  const columnsBefore = (name: string, target: FetchTarget) =>
    options.steps.length > 0 ? Effect.succeedNone : Effect.provide(savedColumns(name, target), platform)

  return yield* DocumentSource.make({
    options,
    open: (target) =>
      Effect.succeed({
        documents: Object.entries(options.documents).map(([name, document]) =>
          readDocument(requests, name, document, columnsBefore(name, target))
        )
      })
  })
})

export type ReadError = SourceError | ListChanged

export const readDocument = (
  requests: Pick<Requests, "get">,
  name: string,
  document: JsonDocumentOptions,
  columnsBefore: ColumnsBefore = Effect.succeedNone
): Document<ReadError> => {
  const { key, next, offset, page, url } = document
  const { origin, pathname } = new URL(url)
  const ask = makeAsk(requests, document, columnsBefore)
  const isPaged = (next ?? page ?? offset) !== undefined
  const content = isPaged
    ? Records({ pages: readPages(ask, name, document) })
    : Value({ value: readWhole(ask, name, document, columnsBefore) })
  return { name, url: `${origin}${pathname}`, key, content }
}

const mistake = (document: string, detail: string) => failedIn({ document })(detail)

/** Requests an address of a document. Headers are sent only to the origin of its URL. */
const makeAsk = (
  requests: Pick<Requests, "get">,
  document: JsonDocumentOptions,
  columnsBefore: ColumnsBefore
) => {
  const { as, delimiter, headers, items, next, offset, page, url } = document
  const isList = (items ?? next ?? page ?? offset) !== undefined
  const { origin } = new URL(url)
  const own = Record.mapEntries(headers, (value, header) => [header.toLowerCase(), Redacted.value(value)])
  const accept = as === "csv" ? "text/csv" : "application/json"
  return (address: string) =>
    Effect.gen(function* () {
      const answer = yield* requests.get(address, {
        accept,
        ...(new URL(address).origin === origin ? own : {})
      })
      const json: unknown =
        isList && answer.status === 204
          ? null
          : yield* as === "csv"
              ? Effect.tap(csvOf(answer, delimiter), (rows) =>
                  rows.length > 0 ? Effect.void : requireColumns(answer, columnsBefore)
                )
              : jsonOf(answer)
      return { ...answer, json }
    })
}

type Ask = ReturnType<typeof makeAsk>

/**
 * The names in the first record of the last version, empty if it has no records; `None` if it has no list of this
 * document.
 */
export type ColumnsBefore = Effect.Effect<Option.Option<ReadonlyArray<string>>>

export const savedColumns = (name: string, { previous }: FetchTarget) =>
  Effect.flatMap(fileBefore(previous, `${fileName(name)}.json`), (path) =>
    Stream.runHead(readRecords(path))
  ).pipe(Effect.map(Option.match({ onNone: () => [], onSome: Object.keys })), Effect.option)

/** A server may respond with a line of text in the place of a table. */
const requireColumns = ({ text, url }: Answer, columnsBefore: ColumnsBefore) =>
  Effect.flatMap(columnsBefore, (before) => {
    const columns = Option.getOrElse(before, () => [])
    return text.trim() === "" || columns.length === 0 || columns.some((column) => text.includes(column))
      ? Effect.void
      : new RequestFailed({
          url: printableUrl(url),
          detail: `it is one line, without a column of the version before: ${excerpt(text)}`,
          isTransient: false
        })
  })

const refused = (document: string, url: string, error: RequestFailed) => {
  const { isTransient, message, status = 0 } = error
  const isUnknown = status === 401 || status === 403
  const advice = isUnknown
    ? `; ${redirectAdvice(url, "headers", error) ?? '"headers" may need a credential'}`
    : ""
  return failedIn({ document })(`${message}${advice}`, error, isTransient)
}

const listIn = (json: unknown, path: string | undefined): Either.Either<ReadonlyArray<unknown>, string> => {
  if (path === undefined) {
    if (json === null) return Either.right([])
    return Array.isArray(json)
      ? Either.right(json)
      : Either.left(`the answer is no list: ${whatIs(json)}. "items" is the path to its list`)
  }
  return Either.flatMap(
    Either.mapLeft(valueAt(json, path), (there) => `"items": "${path}" is not in the answer; ${there}`),
    (value) =>
      value === null || (Array.isArray(value) && value.length === 0)
        ? noItems(json, path, value === null ? "null" : "empty")
        : Array.isArray(value)
          ? Either.right(value)
          : Either.left(`"items": "${path}" is no list; ${whatIs(value, path)}`)
  )
}

/** An empty list, unless the server reports an error. */
const noItems = (json: unknown, path: string, found: string): Either.Either<ReadonlyArray<unknown>, string> =>
  Option.match(
    Option.orElse(errorIn(json), () => failureIn(json)),
    {
      onNone: () => Either.right([]),
      onSome: (error) => Either.left(`"items": "${path}" is ${found}, and ${error}`)
    }
  )

/** The whole response, unless it only reports an error. */
const wholeOf = (json: unknown): Either.Either<unknown, string> =>
  Predicate.isReadonlyRecord(json) &&
  Object.entries(json).every(([name, value]) => value === null || isAboutError(name.toLowerCase(), value))
    ? Either.flip(Either.fromOption(errorIn(json), () => json))
    : Either.right(json)

/** A text in "success" is content. */
const isAboutError = (name: string, value: unknown): boolean =>
  aboutErrors.has(name) && !(name === "success" && Predicate.isString(value))

const aboutErrors = new Set(["code", "error", "errors", "message", "path", "status", "success", "timestamp"])

/** The error in a response with HTTP 200, as GraphQL sends it. */
const errorIn = (json: unknown): Option.Option<string> =>
  Option.fromNullable(
    ["errors", "error"]
      .map((name) => JSON.stringify(Either.getOrElse(valueAt(json, name), () => null)))
      .find((text) => !/^(?:null|false|0|""|\[\]|\{\})$/.test(text))
  ).pipe(Option.map(whatIsWrong))

/** The error in a response that only says that it failed. */
const failureIn = (json: unknown): Option.Option<string> =>
  Predicate.isReadonlyRecord(json) && (json.success === false || json.status === "error")
    ? Option.some(whatIsWrong(JSON.stringify(json)))
    : Option.none()

const whatIsWrong = (text: string): string => `the server reports an error: ${excerpt(text)}`

/**
 * One response. If the server states that there is more, this is only a warning: a URL may deliberately request the
 * latest ten.
 */
const readWhole = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  document: JsonDocumentOptions,
  columnsBefore: ColumnsBefore
) {
  const { items, total, url } = document
  const answer = yield* Effect.mapError(ask(url), (error) => refused(name, url, error))
  const { headers, json } = answer
  const value = yield* Effect.mapError(items === undefined ? wholeOf(json) : listIn(json, items), (detail) =>
    mistake(name, detail)
  )
  if (!Array.isArray(value) && Option.isSome(yield* columnsBefore)) {
    const current = excerpt(JSON.stringify(value))
    return yield* mistake(
      name,
      `the answer was a list before, and is no list now: ${current}. If it is one value from now on, give the document another name`
    )
  }
  const records = Array.isArray(value) ? value.length : Number.POSITIVE_INFINITY
  const stated = Either.getOrElse(statedCount(document, answer, records), (): StatedCount => ({}))
  if (stated.total !== undefined && stated.total > records) {
    yield* noticeMore(records, stated.total)
  } else if (
    total !== false &&
    Array.isArray(value) &&
    (nextLink(headers) !== undefined || (stated.total === undefined && namesNext(json)))
  ) {
    yield* noticeMore(records, undefined)
  }
  return value
})

const noticeMore = (count: number, total: number | undefined) =>
  notice([warn("list:more", "", { count, total })])

/** The position in a list. */
interface Position {
  readonly url: string
  /** Whether the page before is shorter than the others, or everything that the server states has arrived. */
  readonly isEndLikely: boolean
}

const readPages = (ask: Ask, name: string, document: JsonDocumentOptions) => {
  const { cursor, key = defaultKey, offset, page, url } = document
  const isCounted = (page ?? offset) !== undefined

  const askPage = Effect.fnUntraced(function* (position: Position, progress: ListProgress) {
    const { number } = progress
    const answer = yield* Effect.catchAll(Effect.asSome(ask(position.url)), (error) =>
      isCounted && number > 1 && isBehindLast(error, position)
        ? Effect.succeedNone
        : Effect.fail(refused(name, url, error))
    )
    if (Option.isNone(answer)) return { items: [], next: Option.none() }
    const failed = (detail: string) => mistake(name, `page ${number}: ${detail}`)
    const items = yield* Effect.mapError(listIn(answer.value.json, document.items), failed)
    const firstRecords = number === 1 ? items.length : progress.firstItems
    const count = statedCount(document, answer.value, firstRecords)
    // Some servers count only for the first page.
    const stated: StatedCount =
      number === 1 ? yield* Effect.mapError(count, failed) : Either.getOrElse(count, () => ({}))
    const current = {
      ...answer.value,
      ...stated,
      asked: position.url,
      number,
      firstRecords,
      records: items.length,
      read: progress.read + items.length
    }
    const next = yield* Effect.mapError(nextPage(document, current), failed)
    const isMissing = document.next !== undefined && Either.isLeft(valueAt(current.json, document.next))
    if (isMissing && Option.isNone(next) && document.total !== false && namesNext(current.json)) {
      yield* noticeMore(current.read, undefined)
    }
    return {
      ...stated,
      items,
      next: Option.map(next, (url) => ({
        url,
        isEndLikely: isShort(current, sizeAsked(document)) || hasAll(current)
      }))
    }
  })

  return readList({
    name: `Document "${name}"`,
    first: { url, isEndLikely: false },
    ask: askPage,
    placeOf: ({ url }) => url,
    idOf: recordId(key),
    mistake: (detail) => mistake(name, detail),
    firstAgain: firstAgain(document),
    advice: {
      missing: "If the server counts records that it does not send: total: false",
      twice:
        'If these are two records: "key" lists the fields that identify a record, such as ["id", "locale"]'
    },
    mayRepeatLast: isCounted,
    mayLeadBack: cursor === undefined
  })
}

/** Whether the refused page is behind the last page: some servers refuse it with an error. */
const isBehindLast = ({ body = "", status = 0 }: RequestFailed, { isEndLikely }: Position): boolean =>
  status === 416 ||
  (isEndLikely && [400, 404, 422].includes(status)) ||
  ([400, 404].includes(status) && /invalid[ _]page/i.test(body))

/** What to check if a list has only its first page, although the server announces another page. */
const firstAgain = ({ cursor, next, offset, page }: JsonDocumentOptions): string => {
  const parameter = page ?? offset ?? cursor
  return parameter !== undefined
    ? `it has the records of page 1 again. Does the server know the parameter "${parameter}"?`
    : `the next page is page 1 again. Is ${next === "link" ? 'the "Link" header that' : `"${next}" the path to the address`} of the page behind it?`
}
