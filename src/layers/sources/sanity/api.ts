/**
 * Asking Sanity in GROQ.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type CmsError, credentials } from "../../documents/Cms.ts"
import { jsonOf } from "../../documents/readText.ts"
import type { Headers } from "../../httpClient/headers.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { type Question, requestFailed, unexpected } from "./requestErrors.ts"
import type { SanityOptions } from "./SanityOptions.ts"

export interface Answer {
  /** Whatever the query makes; nothing found is an empty array or `null`. */
  readonly result: unknown
  /** What live events name when this answer may be another one; missing where the API says none. */
  readonly syncTags?: ReadonlyArray<string>
}

export interface Query extends Question {
  readonly params?: Readonly<Record<string, unknown>>
  /** The last change that was heard of: the cache is not to answer with what was there before it. */
  readonly lastLiveEventId?: string
}

export interface Api {
  /** `useCdn` asks the cache. */
  readonly ask: (query: Query, useCdn: boolean) => Effect.Effect<Answer, CmsError>
}

export const makeApi = Effect.fnUntraced(function* (options: SanityOptions) {
  const { apiVersion, dataset } = options
  const requests = yield* Requests.make({
    ...options,
    urls: [originOf(options, false), originOf(options, true)]
  })
  const headers = headersOf(options)
  const perspective = [options.perspective].flat().join(",")

  const send = ({ groq, lastLiveEventId, params = {} }: Query, useCdn: boolean) => {
    const url = new URL(`${originOf(options, useCdn)}/v${apiVersion}/data/query/${dataset}`)
    url.searchParams.set("perspective", perspective)
    url.searchParams.set("returnQuery", "false")
    if (lastLiveEventId !== undefined) url.searchParams.set("lastLiveEventId", lastLiveEventId)
    const short = new URL(url)
    short.searchParams.set("query", groq)
    for (const [name, value] of Object.entries(params)) {
      short.searchParams.set(`$${name}`, JSON.stringify(value))
    }
    return short.search.length <= longestSearch
      ? requests.get(short.href, headers)
      : requests.ask({ url: url.href, headers, body: JSON.stringify({ query: groq, params }) })
  }

  const api: Api = {
    ask: (query, useCdn) =>
      send(query, useCdn).pipe(
        Effect.flatMap((answer) => Effect.filterOrFail(jsonOf(answer), hasNoError, refusedIn(answer))),
        Effect.mapError((error) => requestFailed(query, error, options)),
        Effect.flatMap((json) =>
          Option.match(decodeAnswer(json), {
            onNone: () => unexpected(query.name, `${originOf(options, useCdn)} does not answer like Sanity`),
            onSome: (answer) => Effect.succeed<Answer>(answer)
          })
        )
      )
  }
  return api
})

const hasNoError = (json: unknown): boolean =>
  !Predicate.hasProperty(json, "error") || Predicate.isNullable(json.error)

/** An error comes with HTTP 200 where a part of the answer was under way before. */
const refusedIn =
  ({ hide, status, url }: Requests.Answer) =>
  (json: unknown) =>
    new Requests.RequestFailed({
      url: Requests.shownUrl(url),
      detail: "the answer is an error",
      status,
      body: hide(JSON.stringify(json)),
      isTransient: false
    })

/** In characters; what is longer is posted. */
const longestSearch = 11_000

const decodeAnswer = Schema.decodeUnknownOption(
  Schema.Struct({
    result: Schema.Unknown.pipe(Schema.filter(Predicate.isNotUndefined)),
    syncTags: Schema.optionalWith(Schema.Array(Schema.String), { exact: true })
  })
)

/** Where requests go, without a slash at its end. */
export const originOf = (
  { endpointUrl, projectId }: Pick<SanityOptions, "endpointUrl" | "projectId">,
  useCdn: boolean
): string => endpointUrl?.replace(/\/+$/, "") ?? `https://${projectId}.${useCdn ? "apicdn" : "api"}.sanity.io`

/** With a custom `endpointUrl`, the project is not in the host. */
export const headersOf = ({ endpointUrl, projectId, token }: SanityOptions): Headers => ({
  accept: "application/json",
  ...(endpointUrl === undefined ? {} : { "x-sanity-project-id": projectId }),
  ...Record.map(credentials(token), Redacted.value)
})
