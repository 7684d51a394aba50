/**
 * Sends queries in GROQ to Sanity.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import type { SourceError } from "../../../services/SourceError.ts"
import { credentials } from "../../documents/Cms.ts"
import { jsonOf } from "../../documents/readText.ts"
import type { Headers } from "../../httpClient/headers.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { type Question, requestFailed, unexpected } from "./requestErrors.ts"
import type { SanityOptions } from "./SanityOptions.ts"

export interface Query extends Question {
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Default the perspective of the options. */
  readonly perspective?: SanityOptions["perspective"] | undefined
}

export interface Api {
  /** Gives the result of the query. Nothing found is an empty array or `null`. */
  readonly ask: (query: Query) => Effect.Effect<unknown, SourceError>
}

export const makeApi = Effect.fnUntraced(function* (
  options: SanityOptions
): Effect.fn.Return<Api, never, HttpClient.HttpClient> {
  const { apiVersion, dataset } = options
  const origin = originOf(options)
  const requests = yield* Requests.make({ ...options, urls: [origin] })
  const headers = headersOf(options)

  const send = ({ groq, params = {}, perspective = options.perspective }: Query) => {
    const url = new URL(`${origin}/v${apiVersion}/data/query/${dataset}`)
    url.searchParams.set("perspective", [perspective].flat().join(","))
    url.searchParams.set("returnQuery", "false")
    const short = new URL(url)
    short.searchParams.set("query", groq)
    for (const [name, value] of Object.entries(params)) {
      short.searchParams.set(`$${name}`, JSON.stringify(value))
    }
    return short.search.length <= longestSearch
      ? requests.get(short.href, headers)
      : requests.ask({ url: url.href, headers, body: JSON.stringify({ query: groq, params }) })
  }

  return {
    ask: (query) =>
      send(query).pipe(
        Effect.flatMap((answer) => Effect.filterOrFail(jsonOf(answer), hasNoError, refusedIn(answer))),
        Effect.mapError((error) => requestFailed(query, error, options)),
        Effect.filterOrFail(isAnswer, () => unexpected(query.name, `${origin} does not answer like Sanity`)),
        Effect.map(({ result }) => result)
      )
  }
})

const hasNoError = (json: unknown): boolean =>
  !Predicate.hasProperty(json, "error") || Predicate.isNullable(json.error)

/** If an error comes after the beginning of the response, its status is 200. */
const refusedIn =
  ({ status, url }: Requests.Answer) =>
  (json: unknown) =>
    new Requests.RequestFailed({
      url: Requests.shownUrl(url),
      detail: "the answer is an error",
      status,
      body: JSON.stringify(json),
      isTransient: false
    })

/** In characters. A longer query is sent by POST. */
const longestSearch = 11_000

const isAnswer = (json: unknown): json is { readonly result: unknown } =>
  Predicate.hasProperty(json, "result") && json.result !== undefined

/** The address of the API, without a slash at its end. */
export const originOf = ({
  endpointUrl,
  projectId,
  useCdn
}: Pick<SanityOptions, "endpointUrl" | "projectId" | "useCdn">): string =>
  endpointUrl?.replace(/\/+$/, "") ?? `https://${projectId}.${useCdn ? "apicdn" : "api"}.sanity.io`

/** With a custom `endpointUrl`, the project is not in the host. */
export const headersOf = ({ endpointUrl, projectId, token }: SanityOptions): Headers => ({
  accept: "application/json",
  ...(endpointUrl === undefined ? {} : { "x-sanity-project-id": projectId }),
  ...Record.map(credentials(token), Redacted.value)
})
