/**
 * What is asked of the hosted table API: a page of a table, or a record.
 */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { PageRequest, RecordRequest } from "../../services/TableSourceClient.ts"
import { isPathSegment } from "../tableSource/TableSourceOptions.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"

export type Request = PageRequest | RecordRequest

/** The most that the API gives at once. */
const pageSize = 100

export const httpRequest = (
  { apiKey, baseId, endpointUrl }: AirtableClientOptions,
  request: Request
): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.get(
    [`${endpointUrl}/v0`, ...[baseId, ...segments(request)].map((part) => encodeURIComponent(part))].join("/")
  ).pipe(
    HttpClientRequest.setUrlParams(parameters(request)),
    HttpClientRequest.bearerToken(apiKey),
    HttpClientRequest.acceptJson,
    HttpClientRequest.setHeader("accept-encoding", "identity")
  )

/** Whether the names in it can be in a URL. */
export const isPossible = (request: Request): boolean => segments(request).every(isPathSegment)

/** Where it is in the base. */
const segments = (request: Request): ReadonlyArray<string> =>
  "recordId" in request ? [request.table, request.recordId] : [request.table]

const parameters = (request: Request): Readonly<Record<string, string>> =>
  "recordId" in request
    ? {}
    : {
        pageSize: String(pageSize),
        ...(request.view === null ? {} : { view: request.view }),
        ...(request.cursor === undefined ? {} : { offset: request.cursor })
      }
