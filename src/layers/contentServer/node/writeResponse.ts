/**
 * The edge: how resources and errors become HTTP responses.
 */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import { closedUnlessStalled } from "../../http/stallTimeout.ts"
import type { RequestError } from "../errors.ts"
import type { TextResource } from "../resources.ts"

/** What every response has: content is public, and shown by the type that it is said to be of. */
export const everyResponse = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Accept-Ranges, Content-Length, Content-Range, ETag",
  "X-Content-Type-Options": "nosniff"
}

const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
  "Access-Control-Allow-Headers":
    "Cache-Control, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range",
  "Access-Control-Max-Age": "86400"
}

export const writePreflight = (response: ServerResponse) => write(response, 204, preflightHeaders)

export const writeRedirect = (response: ServerResponse, location: string) =>
  write(response, 301, { Location: location, "Cache-Control": "no-cache" })

export const writeText = (response: ServerResponse, { body, headers }: TextResource) =>
  isKnown(response.req.headers["if-none-match"], headers.ETag)
    ? write(response, 304, {
        ETag: headers.ETag,
        "Cache-Control": headers["Cache-Control"],
        ...(headers.Vary === undefined ? {} : { Vary: headers.Vary })
      })
    : write(response, 200, headers, body)

/** By RFC 9110, section 13.1.2: a weak tag matches the strong one. */
const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? "").split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()))

/** In the place of a file, whose headers may stand there already. */
export const writeError = (response: ServerResponse, error: RequestError) => {
  const contentRange = response.getHeader("Content-Range")
  for (const name of response.getHeaderNames()) {
    response.removeHeader(name)
  }
  const { headers = {}, status } = statusOf(error)
  return write(
    response,
    status,
    {
      ...headers,
      ...(status === 416 ? { "Content-Range": contentRange } : {}),
      "Content-Type": "application/json",
      "Cache-Control": "no-store"
    },
    Buffer.from(JSON.stringify(bodyOf(error)))
  )
}

export const bodyOf = ({ message }: { readonly message: string }) => ({ error: { message } })

const write = (
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body?: Buffer
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const length = body === undefined ? {} : { "Content-Length": body.length }
    response.writeHead(status, { ...everyResponse, ...headers, ...length })
    response.end(response.req.method === "HEAD" ? undefined : body)
    return closedUnlessStalled(response)
  })

const statusOf = (
  error: RequestError
): { readonly status: number; readonly headers?: OutgoingHttpHeaders } => {
  switch (error._tag) {
    case "vitrine/BadContentRequest":
      return { status: 400 }
    case "vitrine/HostNotAllowed":
      return { status: 403 }
    case "vitrine/ContentNotFound":
      return { status: 404 }
    case "vitrine/MethodNotAllowed":
      return { status: 405, headers: { Allow: "GET, HEAD, OPTIONS" } }
    case "vitrine/PreconditionFailed":
      return { status: 412 }
    case "vitrine/RangeNotSatisfiable":
      return { status: 416 }
    case "vitrine/ContentUnreadable":
      return { status: 500 }
    case "vitrine/TooManyConnections":
      return { status: 503, headers: { Connection: "close", "Retry-After": "1" } }
  }
}
