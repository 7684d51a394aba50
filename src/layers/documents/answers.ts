/**
 * What the answers of servers say: JSON, and CSV.
 */
import * as Effect from "effect/Effect"
import type { Delimiter } from "../../internal/csvHeader.ts"
import type { CsvRecord } from "../../internal/csvText.ts"
import { isMarkup, markupProblem, placeText } from "../../internal/editedText.ts"
import { printableLine } from "../../internal/printable.ts"
import { TooMuch } from "../../internal/valueCount.ts"
import { type Answer, make, RequestFailed, type RequestOptions, shownUrl } from "../httpClient/Requests.ts"
import * as outsideText from "./outsideText.ts"

/** What asks servers for documents, with retries and limits. */
export type Requests = Effect.Effect.Success<ReturnType<typeof makeRequests>>

/** What asks servers for documents, as `Requests`, and reads their JSON. */
export const makeRequests = (options: RequestOptions) =>
  Effect.map(make(options), (requests) => ({
    ...requests,

    /** The JSON that a URL answers, with where it came from. */
    getJson: (url: string, headers: Readonly<Record<string, string>> = {}) =>
      Effect.flatMap(requests.get(url, { accept: "application/json", ...headers }), (answer) =>
        Effect.map(parseJson(answer), (json) => ({ ...answer, json }))
      )
  }))

/** The JSON of an answer. */
export const parseJson = ({ headers, hide, text, url }: Answer): Effect.Effect<unknown, RequestFailed> =>
  Effect.mapError(outsideText.parseJson(text), (mistake) => {
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
export const parseCsv = (
  { hide, text, url }: Answer,
  delimiter?: Delimiter
): Effect.Effect<ReadonlyArray<CsvRecord>, RequestFailed> =>
  Effect.mapError(outsideText.parseCsv(text, { delimiter }), (mistake) =>
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
