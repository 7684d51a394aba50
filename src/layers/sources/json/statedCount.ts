/**
 * How many records or pages a list has, as its server states it: in the answer, where `total` says, or in a header.
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { parameterOf } from "./addresses.ts"
import type { JsonDocumentOptions } from "./JsonSourceOptions.ts"
import { valueAt } from "./valueAt.ts"

/** On all pages, those before the first one that is asked for not counted. */
export interface StatedCount {
  readonly total?: number
  readonly pages?: number
}

interface Answer {
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

/** What a server states, or what is wrong with it. `firstRecords` is how many records the first page has. */
export const statedCount = (
  document: JsonDocumentOptions,
  { headers, json }: Answer,
  firstRecords: number
): Either.Either<StatedCount, string> => {
  const { total: path } = document
  if (path === false) return Either.right({})
  const skipped = skippedBy(document, firstRecords)
  if (path === undefined) {
    const total = inHeaders(headers, totalHeaders) ?? inRange(headers)
    const pages = inHeaders(headers, pageHeaders)
    return Either.right({
      ...(total !== undefined && { total: total - skipped.records }),
      ...(pages !== undefined && { pages: pages - skipped.pages })
    })
  }
  const found = Either.orElse(valueAt(json, path), (there) =>
    Either.fromOption(Record.get(headers, path.toLowerCase()), () => there)
  )
  return Either.flatMap(
    Either.mapLeft(found, (there) => `"total": "${path}" is neither in the answer nor a header; ${there}`),
    (value) =>
      Option.match(wholeNumber(value), {
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

const inHeaders = (headers: Answer["headers"], names: ReadonlyArray<string>): number | undefined =>
  names.map((name) => Option.getOrUndefined(wholeNumber(headers[name]))).find((count) => count !== undefined)

/** `Content-Range: items 0-24/319` */
const inRange = (headers: Answer["headers"]): number | undefined =>
  Option.getOrUndefined(wholeNumber(/^(?!\s*bytes).*\/(\d+)\s*$/i.exec(headers["content-range"] ?? "")?.[1]))

const wholeNumber = (value: unknown): Option.Option<number> =>
  /^\d{1,15}$/.test(String(value)) ? Option.some(Number(value)) : Option.none()

/** What comes before the first page that is asked for. */
const skippedBy = ({ offset, page, url }: JsonDocumentOptions, firstRecords: number) => {
  const pages = page === undefined ? 0 : Math.max((parameterOf(url, page) ?? 1) - 1, 0)
  return { pages, records: offset === undefined ? pages * firstRecords : (parameterOf(url, offset) ?? 0) }
}
