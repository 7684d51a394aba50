/**
 * What texts of files and servers say, JSON and CSV: how much is made of them, what is noticed about them, and what is wrong with them.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { excerpt, printableLine } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import {
  type Answer,
  type Requests as HttpRequests,
  make,
  RequestFailed,
  type RequestOptions,
  shownUrl
} from "../httpClient/Requests.ts"
import type { Delimiter } from "./csvHeader.ts"
import { type CsvRecord, parseCsvRecords } from "./csvText.ts"
import { readJson } from "./jsonValue.ts"
import {
  findStrayMarks,
  isMarkup,
  jsonMistake,
  markupProblem,
  placeText,
  type TextMistake
} from "./textMistakes.ts"
import { makeValueCount, TooMuch, type ValueCount } from "./valueCount.ts"

/** What is read of texts: one for all texts of a document. */
interface Reading {
  readonly count: ValueCount
  readonly keepDigits: (digits: string) => void
  readonly notice: (warning: string) => void
  /** Notices the stray marks of the first text that has any: in a list of many pages, they have one cause. */
  readonly noticeMarks: (place: string, text: string) => void
  readonly warnings: () => ReadonlyArray<string>
  /** Gives what takes back all that is read from now on. */
  readonly mark: () => () => void
}

class CurrentReading extends Context.Reference<CurrentReading>()("vitrine/CurrentReading", {
  defaultValue: () => Option.none<Reading>()
}) {}

const makeReading = (): Reading => {
  const count = makeValueCount()
  let kept = 0
  let first = ""
  let hasMarks = false
  const noticed: Array<string> = []
  return {
    count,
    keepDigits: (digits) => {
      if (kept++ === 0) first = excerpt(digits)
    },
    notice: (warning) => noticed.push(warning),
    noticeMarks: (place, text) => {
      if (hasMarks) return
      const marks = findStrayMarks(text)
      hasMarks = marks.length > 0
      noticed.push(...marks.map((mark) => warningAt(place, mark)))
    },
    warnings: () =>
      kept === 0
        ? noticed
        : [
            ...noticed,
            `${countText(kept, "number")} saved as text, to lose no digit: ${first}${kept === 1 ? "" : " first"}`
          ],
    mark: () => {
      const before = { kept, first, hasMarks, noticed: noticed.length }
      const uncount = count.mark()
      return () => {
        uncount()
        kept = before.kept
        first = before.first
        hasMarks = before.hasMarks
        noticed.length = before.noticed
      }
    }
  }
}

/**
 * Reads a document: all its texts together have `maxValues` values at most. Beside what is read is what its editors should look at,
 * as far as it is read when that is asked for.
 */
export const withWarnings = <A, E, R>(
  read: Effect.Effect<A, E, R>
): Effect.Effect<readonly [A, () => ReadonlyArray<string>], E, R> =>
  Effect.suspend(() => {
    const reading = makeReading()
    return read.pipe(
      Effect.provideService(CurrentReading, Option.some(reading)),
      Effect.map((value) => [value, reading.warnings] as const)
    )
  })

/** Reads texts that are read again after a failure: what a failed try has counted and noticed of the document is taken back. */
export const readFresh = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentReading, (reading) => {
    const takeBack = Option.match(reading, { onNone: () => () => {}, onSome: ({ mark }) => mark() })
    return Effect.tapErrorCause(read, () => Effect.sync(takeBack))
  })

const warningAt = (place: string, mistake: TextMistake): string =>
  `${placeText(place, mistake)}: ${mistake.problem}`

/** Reads within the current document. Without one, warnings are logged, but for stray marks: a poll would repeat them. */
const withReading = <A, E>(read: (reading: Reading) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(
    CurrentReading,
    Option.match({
      onSome: read,
      onNone: () => {
        const reading = makeReading()
        return Effect.tap(read({ ...reading, noticeMarks: () => {} }), () =>
          Effect.forEach(reading.warnings(), (warning) => Effect.logWarning(warning))
        )
      }
    })
  )

/** Adds what the editors of the current document should look at. */
export const notice = (warnings: ReadonlyArray<string>): Effect.Effect<void> =>
  withReading(({ notice }) => Effect.sync(() => warnings.forEach(notice)))

/** What JSON says. A number that would lose digits is a text. `place` is what warnings are about. */
export const parseJson = (text: string, place = "JSON"): Effect.Effect<unknown, TextMistake> =>
  withReading((reading) =>
    Effect.tap(read(text, reading), () => Effect.sync(() => reading.noticeMarks(place, text)))
  )

/** The same of a page that is not held together with others: its values are counted alone. */
export const parsePage = (text: string): Effect.Effect<unknown, TextMistake> =>
  withReading((reading) => read(text, { ...reading, count: makeValueCount() }))

const read = (text: string, reading: Reading) =>
  Effect.mapError(readJson(text, reading), (error) =>
    error instanceof TooMuch ? error : jsonMistake(text, error)
  )

/** The rows of CSV, without those that have no text. `place` is what warnings are about. */
export const parseCsv = (
  text: string,
  { delimiter, place = "CSV" }: { readonly delimiter?: Delimiter | undefined; readonly place?: string } = {}
): Effect.Effect<ReadonlyArray<CsvRecord>, TextMistake> =>
  withReading((reading) =>
    parseCsvRecords(text, {
      count: reading.count,
      delimiter,
      notice: (mistake) => reading.notice(warningAt(place, mistake))
    }).pipe(Effect.tap(() => Effect.sync(() => reading.noticeMarks(place, text))))
  )

/** What asks servers for documents, with retries and limits, and reads their JSON. */
export interface Requests extends HttpRequests {
  /** The JSON that a URL answers, with where it came from. */
  readonly getJson: (
    url: string,
    headers?: Readonly<Record<string, string>>
  ) => Effect.Effect<Answer & { readonly json: unknown }, RequestFailed>
}

/** Makes what asks servers for documents. */
export const makeRequests = (
  options: RequestOptions
): Effect.Effect<Requests, never, HttpClient.HttpClient> =>
  Effect.map(make(options), (requests) => ({
    ...requests,
    getJson: (url, headers = {}) =>
      Effect.flatMap(requests.get(url, { accept: "application/json", ...headers }), (answer) =>
        Effect.map(jsonOf(answer), (json) => ({ ...answer, json }))
      )
  }))

/** The JSON of an answer. */
export const jsonOf = ({ headers, hide, text, url }: Answer): Effect.Effect<unknown, RequestFailed> =>
  Effect.mapError(parseJson(text), (mistake) => {
    const type = printableLine(hide(headers["content-type"] ?? "no type"), 100)
    return mistake instanceof TooMuch
      ? unreadable(url, mistake.problem)
      : isCut(text)
        ? unreadable(url, `this is no JSON (${type}): it ends too early`, true)
        : isMarkup(text)
          ? unreadable(url, `this is no JSON (${type}): ${markupProblem}`)
          : unreadable(
              url,
              /\S/.test(text) ? placeText(`this is no JSON (${type})`, mistake) : "the answer is empty"
            )
  })

/** For a response without a length, or a connection that ended in the middle of it. */
const isCut = (text: string): boolean => {
  const [first, last] = [text.trimStart()[0], text.trimEnd().at(-1)]
  return (first === "[" && last !== "]") || (first === "{" && last !== "}")
}

/** The rows of CSV as records. */
export const csvOf = (
  { hide, text, url }: Answer,
  delimiter?: Delimiter
): Effect.Effect<ReadonlyArray<CsvRecord>, RequestFailed> =>
  Effect.mapError(parseCsv(text, { delimiter }), (mistake) =>
    unreadable(
      url,
      mistake instanceof TooMuch
        ? mistake.problem
        : `${placeText("this is no CSV", mistake)}: ${hide(mistake.problem)}`
    )
  )

const unreadable = (url: string, detail: string, isTransient = false) =>
  new RequestFailed({ url: shownUrl(url), detail, isTransient })

/** What to do where a URL redirects to another origin, which is not sent an option of the source. */
export const redirectAdvice = (asked: string, option: string, failed: RequestFailed): string | undefined => {
  if (failed.isTransient || !URL.canParse(failed.url)) return undefined
  const from = new URL(asked).origin
  const to = new URL(failed.url).origin
  return from === to
    ? undefined
    : `${from} redirects to ${to}, which is not sent "${option}": write that into "url"`
}
