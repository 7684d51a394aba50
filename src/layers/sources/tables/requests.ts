/**
 * What is asked of the hosted table API: a page of a table, a record, or something about the whole base.
 */
import * as UrlParams from "@effect/platform/UrlParams"
import * as Redacted from "effect/Redacted"
import type { PageRequest, RecordRequest } from "../../../services/TableSourceClient.ts"
import type { Request as HttpRequest } from "../../httpClient/Requests.ts"
import type { AirtableClientOptions } from "./TableOptions.ts"
import { isPathSegment } from "./TableOptions.ts"

export interface BaseRequest {
  /** It is about no table. */
  readonly table: ""
  readonly method: "GET" | "POST" | "DELETE"
  /** Behind `/v0`, of the names that it has. */
  readonly path: ReadonlyArray<string>
  readonly parameters?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** What the API key needs for it, as in "the scope …". */
  readonly needs: string
}

export type Request = PageRequest | RecordRequest | BaseRequest

/** The most that the API gives at once. */
const pageSize = 100

/** Redirects are not followed: the API key is for `endpointUrl` only. */
export const httpRequest = (options: AirtableClientOptions, request: Request): HttpRequest => {
  const { baseId, endpointUrl } = options
  const path = "path" in request ? request.path : [baseId, ...segments(request)]
  const search = UrlParams.toString(UrlParams.fromInput(parameters(request)))
  const url = [`${endpointUrl}/v0`, ...path.map((part) => encodeURIComponent(part))].join("/")
  return {
    url: search === "" ? url : `${url}?${search}`,
    headers: headersOf(options),
    method: "path" in request ? request.method : "GET",
    follows: false,
    ...("path" in request && request.body !== undefined ? { body: JSON.stringify(request.body) } : {})
  }
}

export const headersOf = ({ apiKey }: Pick<AirtableClientOptions, "apiKey">) => ({
  authorization: `Bearer ${Redacted.value(apiKey)}`,
  accept: "application/json"
})

/** Whether the names in it can be in a URL. */
export const isPossible = (request: Request): boolean => segments(request).every(isPathSegment)

/** Whether a response without a body says all there is to say. */
export const mayBeEmpty = (request: Request): boolean => "path" in request && request.method === "DELETE"

/** The names in it. */
const segments = (request: Request): ReadonlyArray<string> =>
  "path" in request
    ? request.path
    : "recordId" in request
      ? [request.table, request.recordId]
      : [request.table]

const parameters = (request: Request): Readonly<Record<string, string | ReadonlyArray<string>>> =>
  "path" in request
    ? (request.parameters ?? {})
    : "recordId" in request
      ? {}
      : {
          pageSize: String(pageSize),
          "fields[]": request.fields ?? [],
          ...(request.view === null ? {} : { view: request.view }),
          ...(request.cursor === undefined ? {} : { offset: request.cursor })
        }
