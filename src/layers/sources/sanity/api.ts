/**
 * Sends queries in GROQ to Sanity. Its errors have the reason, the message of Sanity, and what to do.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { credentials, refusalText } from "../../documents/cms.ts"
import { jsonOf } from "../../documents/readText.ts"
import type { Headers } from "../../httpClient/headers.ts"
import { passes } from "../../httpClient/httpFailure.ts"
import type { RequestFailed } from "../../httpClient/Requests.ts"
import * as Requests from "../../httpClient/Requests.ts"
import type { SanityOptions } from "./SanityOptions.ts"

export interface Query {
  /** Its name in messages. Default none. */
  readonly name?: string
  readonly groq: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Default the perspective of the options. */
  readonly perspective?: SanityOptions["perspective"] | undefined
}

/** Returns the result of the query: an empty array or `null` if nothing is found. */
export type Ask = (query: Query) => Effect.Effect<unknown, SourceError>

export const makeAsk = Effect.fnUntraced(function* (
  options: SanityOptions
): Effect.fn.Return<Ask, never, HttpClient.HttpClient> {
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

  return (query) =>
    send(query).pipe(
      Effect.flatMap((answer) => Effect.filterOrFail(jsonOf(answer), hasNoError, refusedIn(answer))),
      Effect.mapError((error) => requestFailed(query, error, options)),
      Effect.filterOrFail(isAnswer, () => unexpected(query.name, `${origin} does not answer like Sanity`)),
      Effect.map(({ result }) => result)
    )
})

const hasNoError = (json: unknown): boolean =>
  !Predicate.hasProperty(json, "error") || Predicate.isNullable(json.error)

/** If an error occurs after the beginning of the response, the status is 200. */
const refusedIn =
  ({ status, url }: Requests.Answer) =>
  (json: unknown) =>
    new Requests.RequestFailed({
      url: Requests.printableUrl(url),
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
  endpointUrl?.replace(/(?<!\/)\/+$/, "") ?? `https://${projectId}.${useCdn ? "apicdn" : "api"}.sanity.io`

/** With a custom `endpointUrl`, the project is not in the host. */
export const headersOf = ({ endpointUrl, projectId, token }: SanityOptions): Headers => ({
  accept: "application/json",
  ...(endpointUrl === undefined ? {} : { "x-sanity-project-id": projectId }),
  ...Record.map(credentials(token), Redacted.value)
})

type Access = Pick<SanityOptions, "dataset" | "projectId" | "token">

/** The meaning of a status, and what to do. */
const adviceOf = (status: number, { dataset, projectId, token }: Access): string => {
  switch (status) {
    case 401:
    case 403:
      return token === undefined
        ? `Sanity does not let anyone read the dataset "${dataset}" without a token. Set "token" to a token with the role Viewer: ${tokens}`
        : `the token may not read the dataset "${dataset}". Check "token", and that it belongs to the project ${projectId}: ${tokens}`
    case 404:
      return `there is no project ${projectId}, or no dataset "${dataset}" in it. Check "projectId" and "dataset": manage.sanity.io shows both`
    case 429:
      return "Sanity has had too many requests"
    default:
      return passes(status) ? "Sanity failed" : "Sanity refuses the request"
  }
}

/** Why there is no response. */
export const failureText = ({ detail, said, status }: RequestFailed, place: Access): string =>
  status === undefined ? excerpt(detail) : refusalText(adviceOf(status, place), status, messageIn(said))

const requestFailed = ({ groq, name }: Query, error: RequestFailed, place: Access) =>
  new SourceError({
    detail: `${questionText(name)}${Option.match(decodeParseError(error.said), {
      onNone: () => failureText(error, place),
      onSome: ({ error: { description, start } }) => `${placeText(groq, start)}: ${excerpt(description)}`
    })}`,
    status: error.status,
    isTransient: error.isTransient
  })

const unexpected = (name: string | undefined, detail: string) =>
  new SourceError({ detail: `${questionText(name)}${detail}` })

const questionText = (name: string | undefined) => (name === undefined ? "" : `Query "${name}": `)

const tokens = "in Sanity, manage.sanity.io, the project, API, Tokens"

/** The message of an error, in each of the three forms of the API. */
const messageIn = (body: unknown): string => {
  if (!Predicate.isReadonlyRecord(body)) return ""
  const { error, message } = body
  return Predicate.isReadonlyRecord(error)
    ? ([error.description, error.type].find(Predicate.isString) ?? "")
    : [error, message].filter(Predicate.isString).join(": ")
}

const decodeParseError = Schema.decodeUnknownOption(
  Schema.Struct({
    error: Schema.Struct({
      type: Schema.Literal("queryParseError"),
      description: Schema.String,
      /** In characters from the beginning of the query. */
      start: Schema.NonNegativeInt
    })
  })
)

/** The place of a mistake in GROQ, with the text there. */
const placeText = (groq: string, start: number): string => {
  const lines = groq.slice(0, start).split(/\r\n|\r|\n/)
  const rest = groq.slice(start)
  return `the GROQ cannot be read at line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1} (${
    rest.trim() === "" ? "its end" : `"${excerpt(rest.slice(0, 40))}"`
  })`
}
