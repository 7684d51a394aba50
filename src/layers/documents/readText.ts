/**
 * The texts of files and servers, JSON and CSV: their values, the warnings for editors, and the mistakes in them.
 *
 * The caller limits the bytes of a response. This module limits the values of a document, counted before parsing.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { english } from "../../internal/englishMistakes.ts"
import { at, type Mistake, mistakeText, sentenceOf } from "../../internal/mistake.ts"
import { excerpt, printableLine } from "../../internal/printable.ts"
import {
  type Answer,
  type Requests as HttpRequests,
  make,
  printableUrl,
  RequestFailed,
  type RequestOptions
} from "../httpClient/Requests.ts"
import { budget, Refused, readSoFar, withinBudget } from "./budget.ts"
import {
  type CsvFormat,
  type CsvRecord,
  type CsvTable,
  type Delimiter,
  parseCsvTable,
  placeOfRow
} from "./csvText.ts"
import { type FindPlace, findStrayMarks, findTwice, jsonMistake, otherMistake } from "./textMistakes.ts"
import { notice, noticeCounted, placed, warn, warningOf } from "./warnings.ts"

/** Stray marks in the pages of a list have one cause: each kind is reported once. */
const noticeMarks = (name: string | undefined, text: string, find?: FindPlace) =>
  noticeCounted(
    findStrayMarks(text, find).map((mark) => ({
      about: sentenceOf(mark),
      count: 1,
      warning: () => warningOf("", at({ name }, mark))
    }))
  )

/** Warns about numbers that became texts, once for each document. */
const noticeDigits = ({ digits: [first, ...others] }: JsonValue): Effect.Effect<void> =>
  first === undefined
    ? Effect.void
    : noticeCounted([
        {
          about: "digits",
          count: 1 + others.length,
          warning: (count) => warn("json:digits", "", { count, first })
        }
      ])

/** The value of JSON from a program. A number that would lose digits becomes a text. */
export const parsePage = (text: string): Effect.Effect<unknown, Mistake> =>
  Effect.flatMap(readSoFar, (soFar) =>
    Effect.try({
      try: () => readJson(text, soFar),
      catch: (error) => (error instanceof Refused ? error.mistake : jsonMistake(text, error))
    })
  ).pipe(
    Effect.tap(noticeDigits),
    Effect.map(({ value }) => value)
  )

/** Warns about errors beside data: GraphQL sends what it has, and `null` for the rest. Texts of servers may have secrets. */
const noticeErrors = (json: unknown): Effect.Effect<void> => {
  const { data, errors } = Predicate.isReadonlyRecord(json) ? json : {}
  const [first, ...others]: ReadonlyArray<unknown> = Array.isArray(errors) ? errors : []
  if (!Predicate.isReadonlyRecord(data) || !Predicate.hasProperty(first, "message")) return Effect.void
  const path = Predicate.hasProperty(first, "path") && Array.isArray(first.path) ? first.path.join(".") : ""
  return noticeCounted([
    {
      about: "errors",
      count: 1 + others.length,
      warning: (count) => warn("json:errors", "", { count, path: excerpt(path) })
    }
  ])
}

/** The value of JSON that an editor may have written, with warnings about stray marks. Warnings begin with `file`. */
export const parseJson = (text: string, file?: string): Effect.Effect<unknown, Mistake> =>
  parsePage(text).pipe(
    Effect.tap((value) =>
      notice(
        findTwice(text, value).map(({ name, place }) =>
          placed({ name: file, ...place })(warn("json:twice", name, { name }))
        )
      )
    ),
    Effect.tap(() => noticeMarks(file, text))
  )

interface CsvOptions extends CsvFormat {
  /** Warnings begin with it. */
  readonly file?: string
  /** Whether another part says that a cell of this column is an error of a spreadsheet. */
  readonly isSaid?: (column: string) => boolean
}

/** The rows of CSV, without the rows that have no text. */
export const parseCsv = (
  text: string,
  { file: name, isSaid = constFalse, ...format }: CsvOptions = {}
): Effect.Effect<CsvTable, Mistake> =>
  parseCsvTable(text, format).pipe(
    Effect.tap(({ warnings }) =>
      notice(
        warnings
          .filter(({ code, subject }) => code !== "cell:error" || !isSaid(subject))
          .map(placed({ name }))
      )
    ),
    Effect.tap(() => noticeMarks(name, text, placeOfRow))
  )

/**
 * Requests documents from servers, with retries and limits, and reads their JSON.
 *
 * @since 0.1.0
 * @category models
 */
export interface Requests extends HttpRequests {
  /** The JSON of a URL, with its response. */
  readonly getJson: (
    url: string,
    headers?: Readonly<Record<string, string>>
  ) => Effect.Effect<Answer & { readonly json: unknown }, RequestFailed>
}

/**
 * Makes the requests for documents.
 *
 * @since 0.1.0
 * @category constructors
 */
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

/** The JSON of a response. */
export const jsonOf = ({ headers, text, url }: Answer): Effect.Effect<unknown, RequestFailed> =>
  Effect.mapError(Effect.tap(parseJson(text), noticeErrors), (mistake) => {
    const type = printableLine(headers["content-type"] ?? "no type", 100)
    const name = `this is no JSON (${type})`
    return mistake.code === "budget:limit"
      ? unreadable(url, sentenceOf(mistake))
      : isCut(text)
        ? unreadable(url, `${name}: it ends too early`, true)
        : otherMistake(text) !== undefined
          ? unreadable(url, `${name}: ${sentenceOf(mistake)}`)
          : unreadable(
              url,
              /\S/.test(text) ? english.place({ ...mistake.place, name }) : "the answer is empty"
            )
  })

/** For a response without a length, or a connection that broke off. */
const isCut = (text: string): boolean => {
  const [first, last] = [text.trimStart()[0], text.trimEnd().at(-1)]
  return (first === "[" && last !== "]") || (first === "{" && last !== "}")
}

/** The rows of CSV as records. */
export const csvOf = (
  { text, url }: Answer,
  delimiter?: Delimiter
): Effect.Effect<ReadonlyArray<CsvRecord>, RequestFailed> =>
  parseCsv(text, { delimiter }).pipe(
    Effect.map(({ records }) => records),
    Effect.mapError((mistake) => unreadable(url, mistakeText(at({ name: "this is no CSV" }, mistake))))
  )

const unreadable = (url: string, detail: string, isTransient = false) =>
  new RequestFailed({ url: printableUrl(url), detail, isTransient })

/** The advice if a URL redirects to another origin, which does not get an option of the source. */
export const redirectAdvice = (asked: string, option: string, failed: RequestFailed): string | undefined => {
  if (failed.isTransient || !URL.canParse(failed.url)) return undefined
  const from = new URL(asked).origin
  const to = new URL(failed.url).origin
  return from === to
    ? undefined
    : `${from} redirects to ${to}, which is not sent "${option}": write that into "url"`
}

export interface JsonValue {
  readonly value: unknown
  /** The numbers that became texts, because a double cannot store them. */
  readonly digits: ReadonlyArray<string>
}

/**
 * The value of a text. Throws `SyntaxError` if the text is no JSON, and `Refused` if it has more values than the budget
 * of its document, of which `soFar` are read.
 */
export const readJson = (text: string, soFar = { values: 0 }): JsonValue => {
  countValues(text, soFar)
  const digits: Array<string> = []
  let isInString = false
  const exact = mayBeInexact.test(text)
    ? text.replace(tokens, (found) => {
        if (found === '"') isInString = !isInString
        if (isInString || !isInexact(found)) return found
        digits.push(found)
        return JSON.stringify(found)
      })
    : text
  return { value: JSON.parse(exact), digits }
}

/** A long or large number where a value begins: ids in texts have such digits too. */
const mayBeInexact = /(?:^|[[,:\s])-?(?:\d{16}|[\d.]+[eE]\+?\d{3})/

/** Escapes, quotes and long numbers. A pattern for whole strings would need a stack as deep as the longest string. */
const tokens = /\\.|"|-?\d[\d.eE+-]{3,}/gs

/**
 * Whether the text is an integer that is not the text of any double, or a number beyond all doubles. Integers that
 * JavaScript programs write are exact: zeros replace the digits that a double does not have.
 */
export const isInexact = (text: string): boolean => {
  const value = Number(text)
  if (/^-?\d{16,}$/.test(text) && Number.isFinite(value)) {
    return String(value) !== text && BigInt(value) !== BigInt(text)
  }
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && !Number.isFinite(value)
}

/** Each value comes behind one of these, except the first. */
const marks = [",", "[", "{"]

/** Counts the values before parsing: parsed, they need far more memory than the text. */
const countValues = (text: string, soFar: { values: number }): void => {
  for (const mark of marks) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
      soFar.values++
      if (soFar.values > budget.read) withinBudget("read", soFar.values)
    }
  }
}
