/**
 * Requests, to the end of all redirects.
 *
 * What a response means is decided by the caller.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Record from "effect/Record"
import type * as Scope from "effect/Scope"
import { connectionFailed, type Failure, failed, tooSlow } from "./DownloadFailed.ts"
import * as DownloadPace from "./DownloadPace.ts"

/** Names in small letters. Those that may be secrets go to the origin of the first address only. */
export type Headers = Readonly<Record<string, string>>

/**
 * Bodies are asked for as they are, not compressed, unless the headers say otherwise. `use` is interrupted, and the request
 * fails, when the server is silent for too long or too slow.
 */
export type Get = <A, E>(
  address: string,
  headers: Headers,
  use: (
    response: HttpClientResponse.HttpClientResponse,
    pace: DownloadPace.DownloadPace
  ) => Effect.Effect<A, E>,
  /** JSON, which is posted. Redirects are given it, too. Without it the request is a GET. */
  body?: string
) => Effect.Effect<A, E | Failure>

const maxRedirects = 5

/** Requests as they are: redirects are not followed, and whose traces they belong to is not sent. */
export const plainRequests = (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })),
    HttpClient.withScope
  )

/** `maxTimeout` are the milliseconds for each response to begin, redirects included, and for every pause in its body. */
export const make = (maxTimeout: number): Effect.Effect<Get, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const http = plainRequests(client)

    const follow = (
      address: string,
      headers: Headers,
      redirects: number,
      asks: (address: string) => void,
      body: string | undefined
    ): Effect.Effect<HttpClientResponse.HttpClientResponse, Failure, Scope.Scope> =>
      Effect.gen(function* () {
        const url = httpUrl(address)
        if (url === undefined) {
          return yield* failed("its link is no http or https address")
        }
        asks(address)
        const response = yield* Effect.mapError(
          http.execute(requestOf(url, { "accept-encoding": "identity", ...headers }, body)),
          ({ cause }) => connectionFailed(url, cause)
        )
        const { location } = response.headers
        if (!isRedirect(response.status) || location === undefined) {
          return response
        }
        if (redirects === 0) {
          return yield* failed(`${url.origin} redirects more than ${maxRedirects} times`)
        }
        const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined
        return yield* follow(
          target?.href ?? location,
          target?.origin === url.origin ? headers : Record.filter(headers, (_, name) => isForAll.has(name)),
          redirects - 1,
          asks,
          body
        )
      })

    return (address, headers, use, body) =>
      Effect.flatMap(DownloadPace.make(maxTimeout), (pace) => {
        let asked = address
        const asks = (address: string) => {
          asked = address
          pace.waits()
        }
        // Not `Effect.timeoutFail`: see `withTimeout`.
        return Effect.raceFirst(
          follow(address, headers, maxRedirects, asks, body).pipe(
            Effect.tap(() => Effect.sync(pace.waits)),
            Effect.flatMap((response) => use(response, pace)),
            Effect.scoped
          ),
          Effect.mapError(pace.watch, (slow) => tooSlow(new URL(asked), slow))
        )
      })
  })

/** What says which bytes are asked for, and how. */
const isForAll: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "range"
])

const requestOf = ({ href }: URL, headers: Headers, body: string | undefined) =>
  body === undefined
    ? HttpClientRequest.get(href, { headers })
    : HttpClientRequest.post(href, { headers }).pipe(HttpClientRequest.bodyText(body, "application/json"))

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/** Without its fragment, which is not for servers. */
const httpUrl = (address: string): URL | undefined => {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  url.hash = ""
  return /^https?:$/.test(url.protocol) ? url : undefined
}
