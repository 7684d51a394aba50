/**
 * Requests, including all redirects. The caller decides what a response means.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import { constTrue, identity } from "effect/Function"
import * as Record from "effect/Record"
import * as Scope from "effect/Scope"
import { drop, end, isWholeRead, type Response } from "./Body.ts"
import { type Headers, readHeader } from "./headers.ts"
import { connectionFailed, DownloadFailed, failed, notWhole, silent } from "./httpFailure.ts"
import { hideSecrets } from "./secrets.ts"
import { makeInTime, within } from "./waits.ts"

export interface RequestOptions {
  /** Default `GET`, or `POST` if there is a body. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  /** JSON, unless the headers have another `content-type`. It is also sent to redirects, except after a 303, whose address is only read. */
  readonly body?: string | Uint8Array | undefined
  /** Whether redirects are followed. Default true. */
  readonly follows?: boolean
}

/**
 * Headers that may be secrets are sent only to the origin of the first address, and are in no error. Bodies are
 * requested without compression, unless the headers say otherwise. The request fails if the server is silent for too
 * long.
 */
export type Get = <A, E>(
  address: string,
  headers: Headers,
  use: (response: Response) => Effect.Effect<A, E>,
  options?: RequestOptions
) => Effect.Effect<A, E | DownloadFailed>

const maxRedirects = 5

/** The first request, or a request after a redirect. */
interface Hop {
  readonly address: string
  readonly headers: Headers
  readonly options: RequestOptions
}

/** Requests without changes: redirects are not followed, and trace headers are not sent. */
const plainRequests = (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })),
    HttpClient.withScope
  )

/** Milliseconds. */
export interface Limits {
  /** For the begin of each response, redirects included, and for every pause in its body. */
  readonly maxTimeout: number
  /** Whether `maxTimeout` is for the whole response. Default false. */
  readonly isWhole?: boolean
  /** For every pause in the body. Default `maxTimeout`. */
  readonly maxSilence?: number
}

export const make = ({
  isWhole = false,
  maxTimeout,
  maxSilence = isWhole ? Number.POSITIVE_INFINITY : maxTimeout
}: Limits): Effect.Effect<Get, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const http = plainRequests(client)
    const inTime = makeInTime(maxTimeout)
    const bodyInTime = makeInTime(maxSilence)
    const option = maxSilence === maxTimeout ? "maxTimeout" : undefined

    const ask = (url: URL, { headers, options }: Hop): Effect.Effect<Response, DownloadFailed, Scope.Scope> =>
      http.execute(requestOf(url, { "accept-encoding": "identity", ...headers }, options)).pipe(
        Effect.mapError(({ cause }) => connectionFailed(url, cause)),
        isWhole ? identity : within(inTime, () => silent(url, maxTimeout, "maxTimeout")),
        Effect.map((source) => {
          const { headers, status } = source
          const inTime: Response["inTime"] = (begin) =>
            bodyInTime(begin, () => silent(url, maxSilence, option))
          return { url, status, headers, source, inTime }
        })
      )

    return (address, headers, use, options = {}) =>
      Effect.suspend(() => {
        let asked = address
        let isRead: () => boolean = () => false
        const dropped: Array<Response> = []
        const follow = Effect.gen(function* () {
          let hop: Hop = { address, headers, options }
          for (;;) {
            const url = httpUrl(hop.address)
            if (url === undefined) return yield* failed("its link is no http or https address")
            asked = hop.address
            const response = yield* ask(url, hop)
            const next = nextHop(response, hop)
            if (next === undefined) return response
            dropped.push(response)
            drop(response)
            if (dropped.length > maxRedirects) {
              return yield* failed(`${url.origin} redirects more than ${maxRedirects} times`)
            }
            hop = next
          }
        })
        const request = Effect.acquireUseRelease(
          Scope.make(),
          (scope) =>
            follow.pipe(
              Effect.flatMap((response) => {
                isRead = () => response.status === 304 || isWholeRead(response)
                return use(response)
              }),
              Effect.provideService(Scope.Scope, scope)
            ),
          (scope, exit) => {
            dropped.forEach(end)
            // A body that was read to its end needs no abort, and closing the scope is slow.
            return isRead() ? Effect.void : Scope.close(scope, exit)
          }
        )
        return request.pipe(
          isWhole ? within(inTime, () => notWhole(new URL(asked), maxTimeout)) : identity,
          Effect.mapError((error) => withoutSecrets(error, address, headers))
        )
      })
  })

/** A `DownloadFailed` without the sent secrets: servers may repeat them. */
const withoutSecrets = <E>(error: E | DownloadFailed, address: string, headers: Headers) => {
  if (!(error instanceof DownloadFailed)) return error
  const detail = hideSecrets(address, headers)(error.detail)
  return detail === error.detail ? error : new DownloadFailed({ ...error, detail, cause: undefined })
}

/** The headers that say which bytes are requested, and how. */
const isForAll: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "range"
])

const requestOf = ({ href }: URL, headers: Headers, { body, method }: RequestOptions) => {
  const request = HttpClientRequest.make(method ?? (body === undefined ? "GET" : "POST"))(href, { headers })
  return body === undefined
    ? request
    : HttpClientRequest.bodyUint8Array(
        request,
        typeof body === "string" ? Buffer.from(body) : body,
        headers["content-type"] ?? "application/json"
      )
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/** The request after a redirect; `undefined` if the response is none, or is not followed. */
const nextHop = (
  { headers: received, status, url }: Response,
  { headers, options }: Hop
): Hop | undefined => {
  if (!isRedirect(status) || received.location === undefined || options.follows === false) return undefined
  const location = readHeader(received.location)
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined
  return {
    address: target?.href ?? location,
    headers:
      target?.origin === url.origin ? headers : Record.filter(headers, (_, name) => isForAll.has(name)),
    options: status === 303 ? {} : options
  }
}

/** Without its fragment, which servers must not get. */
const httpUrl = (address: string): URL | undefined => {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  url.hash = ""
  return /^https?:$/.test(url.protocol) ? url : undefined
}
