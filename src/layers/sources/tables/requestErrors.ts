/**
 * What is requested of the hosted table API, and the errors of requests: the reason, and the option to check. The client decides whether to
 * retry.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { type PageRequest, type RecordRequest, TableError } from "../../../services/TableSourceClient.ts"
import { property, textOf } from "../../documents/jsonValues.ts"
import { passes } from "../../httpClient/httpFailure.ts"
import type { RequestFailed } from "../../httpClient/Requests.ts"

export interface BaseRequest {
  /** Empty: it is not about a table. */
  readonly table: ""
  readonly method: "GET" | "POST" | "DELETE"
  /** The path behind `/v0`, as its names. */
  readonly path: ReadonlyArray<string>
  readonly parameters?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The permission that the API key needs for it, as in "the scope …". */
  readonly needs: string
}

export type Request = PageRequest | RecordRequest | BaseRequest

/** The error of a failed request. `hide` removes the API key from text. */
export const tableError = (
  request: Request,
  failure: RequestFailed,
  hide: (text: string) => string
): TableError => {
  const { table } = request
  const { detail, isTransient, status } = failure
  if (status === undefined) {
    const reason = failure.reason === "Timeout" ? failure.reason : "Unreachable"
    return new TableError({ table, reason, detail, isLasting: !isTransient })
  }
  const { type, words } = readErrorResponse(failure.body)
  const { advice, reason } = meaningOf(request, failure, status, type)
  return new TableError({
    table,
    reason,
    detail: hide(`${advice} (HTTP ${status}${after(", ", excerpt(words))})`),
    status,
    isLasting: type === quotaSpent
  })
}

/** The error type if the server has forgotten the list that was being read. */
export const notAvailable = "LIST_RECORDS_ITERATOR_NOT_AVAILABLE"

/** The error type if the API calls of the plan are spent. */
const quotaSpent = "PUBLIC_API_BILLING_LIMIT_EXCEEDED"

/** The text with a lead before it; empty if the text is empty. */
export const after = (lead: string, words: string): string => (words === "" ? "" : `${lead}${words}`)

/** The meaning of a status, and what to do about it. */
interface Meaning {
  readonly reason: TableError["reason"]
  readonly advice: string
}

const meaningOf = (
  request: Request,
  { redirectsTo }: RequestFailed,
  status: number,
  type: string
): Meaning => {
  if (type === "VIEW_NAME_NOT_FOUND" && "view" in request) {
    return notFound(
      `there is no view ${JSON.stringify(request.view)}. It was probably renamed: set "defaultView" to its new name, or to null to read the whole table`
    )
  }
  if (type === "UNKNOWN_FIELD_NAME" && "view" in request) {
    const names = (request.fields ?? []).map((field) => JSON.stringify(field)).join(" or ")
    return notFound(
      `there is no field ${names}. It was probably renamed: set "fields" and "links" to its new name`
    )
  }
  if (type === quotaSpent) {
    return { reason: "RateLimited", advice: "the API calls that the plan allows for this month are spent" }
  }
  switch (status) {
    case 401:
      return { reason: "Unauthorized", advice: 'the server does not accept the API key. Check "apiKey"' }
    case 403:
    case 404:
      return notFound(missing(request, status))
    case 429:
      return { reason: "RateLimited", advice: "the server has had too many requests to this base" }
  }
  if (passes(status)) return { reason: "ServerError", advice: "the server failed" }
  if (status >= 400) return { reason: "Refused", advice: "the server refused the request" }
  return {
    reason: "UnexpectedAnswer",
    advice:
      redirectsTo === undefined
        ? "the server does not answer like the table API"
        : `the server redirects to ${redirectsTo}, which is not followed, because the API key is for "endpointUrl" only. Set "endpointUrl" to the right address`
  }
}

const notFound = (advice: string): Meaning => ({ reason: "NotFound", advice })

const missing = (request: Request, status: 403 | 404): string => {
  const name = JSON.stringify(request.table)
  return "recordId" in request
    ? `the record ${excerpt(request.recordId)} no longer exists, or the API key may not read it`
    : "path" in request
      ? `it does not exist, or the API key may not do this: the key needs ${request.needs}`
      : status === 403
        ? `there is no such table, or the API key may not read it. Check "baseId", the name ${name} and the permissions of the API key`
        : `there is no such base or table. Check "baseId", the name ${name} and "endpointUrl"`
}

export interface ErrorResponse {
  /** The API's name for the error, such as `NOT_FOUND`; empty if there is none. */
  readonly type: string
  /** The complete text as received: of any length, may be empty. */
  readonly words: string
}

/**
 * Reads the body of a refusal: `{"error":"TYPE"}`, `{"error":{"type","message"}}` with either left out,
 * `{"errors":[{"error","message"}]}`, a page of HTML, plain text, or nothing at all. Only the beginning of a text is
 * read.
 */
export const readErrorResponse = (body = ""): ErrorResponse =>
  Option.match(parseJson(body), {
    onNone: () => ({ type: "", words: readText(body.slice(0, maxText)) }),
    onSome: readJson
  })

const parseJson = Schema.decodeOption(Schema.parseJson())

const readJson = (json: unknown): ErrorResponse => {
  const errors = property(json, "errors")
  const error = property(json, "error") ?? (Array.isArray(errors) ? errors[0] : undefined)
  const type = textOf(error) || textOf(property(error, "type")) || textOf(property(error, "error"))
  const message = textOf(property(error, "message")) || textOf(property(json, "message")) || textOf(json)
  return { type, words: [type, message].filter((part) => part !== "").join(": ") }
}

/** In characters. The message is at the beginning, and these patterns are slow for a long text. */
const maxText = 4096

const readText = (text: string): string =>
  /<title[^>]*>(.*?)<\/title/is.exec(text)?.[1] ?? text.replaceAll(/<[^>]*>/g, " ")
