/**
 * A client of the hosted table API over HTTP.
 *
 * It owns one page: the request, its place among the others, its retries, and what the answer means.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { RequestPacing } from "../../services/RequestPacing.ts"
import {
  CursorExpired,
  type Page,
  type PageRequest,
  TableError,
  TableSourceClient
} from "../../services/TableSourceClient.ts"
import { type ErrorAnswer, readErrorAnswer } from "./ErrorAnswer.ts"
import { isPathSegment, type TableSourceOptions } from "./TableSourceOptions.ts"

/** Where the base is, how to get in, and how long one request may take (milliseconds). */
export type TableSourceClientHttpOptions = Pick<
  TableSourceOptions,
  "endpointUrl" | "baseId" | "apiKey" | "maxTimeout"
>

/** The most that the API gives at once. */
const pageSize = 100

/** A page of a hundred records is far smaller; more than this is no page. */
const maxBodyBytes = 32 * 1024 * 1024

/** After a 429 the API refuses everything for this long. */
const penalty = Duration.seconds(30)

/** However long the server asks to be left alone. */
const longestPause = Duration.minutes(5)

const maxPenalties = 3

/** Before each further try where the server, or the way to it, failed. */
const pauses = [Duration.seconds(1), Duration.seconds(2), Duration.seconds(4)]

export const make = Effect.fnUntraced(function* ({
  apiKey,
  baseId,
  endpointUrl,
  maxTimeout
}: TableSourceClientHttpOptions) {
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }))
  )
  const pacing = yield* RequestPacing
  const pacer = yield* pacing.pacer(`${endpointUrl} ${baseId}`)

  /** Text from elsewhere, fit for a message: short, on one line, and without the key should it be echoed. */
  const quote = (text: string): string => {
    const line = text
      .replaceAll(Redacted.value(apiKey), "<apiKey>")
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim()
    return line.length > 300 ? `${line.slice(0, 300)}…` : line
  }

  const send = Effect.fnUntraced(function* (request: PageRequest) {
    const response = yield* client
      .execute(pageRequest(request))
      .pipe(Effect.mapError(({ cause }) => new TryAgain({ error: unreachable(request, cause) })))
    return response.status >= 200 && response.status < 300
      ? yield* readPage(request, response)
      : yield* refuse(request, response)
  })

  const pageRequest = ({ cursor, table, view }: PageRequest) =>
    HttpClientRequest.get(
      `${endpointUrl}/v0/${encodeURIComponent(baseId)}/${encodeURIComponent(table)}`
    ).pipe(
      HttpClientRequest.setUrlParams({
        pageSize: String(pageSize),
        ...(view === null ? {} : { view }),
        ...(cursor === undefined ? {} : { offset: cursor })
      }),
      HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.acceptJson
    )

  const unreachable = ({ table }: PageRequest, cause: unknown) =>
    new TableError({
      table,
      reason: "Unreachable",
      detail: `the connection to ${endpointUrl} failed: ${quote(deepestMessage(cause))}`
    })

  const readPage = Effect.fnUntraced(function* (
    request: PageRequest,
    response: HttpClientResponse.HttpClientResponse
  ) {
    const unexpected = (detail: string) =>
      new TableError({
        table: request.table,
        reason: "UnexpectedAnswer",
        detail: `${endpointUrl} does not answer like the table API: ${detail}`,
        status: response.status
      })
    const body = yield* readBody(response).pipe(
      Effect.catchTags({
        BodyTooLong: () => Effect.fail(unexpected(`the answer has more than ${maxBodyBytes} bytes`)),
        ResponseError: ({ cause }) => Effect.fail(new TryAgain({ error: unreachable(request, cause) }))
      })
    )
    const { offset, records } = yield* Either.mapLeft(decodePage(body), (error) =>
      unexpected(quote(firstIssue(error)))
    )
    if (offset === undefined || offset === null || offset === "") {
      return { records }
    }
    if (offset === request.cursor) {
      return yield* unexpected(`the list does not go on after the offset ${quote(JSON.stringify(offset))}`)
    }
    return { records, next: offset }
  })

  const refuse = Effect.fnUntraced(function* (
    request: PageRequest,
    response: HttpClientResponse.HttpClientResponse
  ) {
    const answer = yield* readBody(response).pipe(
      Effect.orElseSucceed(() => ""),
      Effect.map(readErrorAnswer)
    )
    if (answer.type === "LIST_RECORDS_ITERATOR_NOT_AVAILABLE") {
      return yield* new CursorExpired({ table: request.table })
    }
    const { advice, reason } = verdict(request, response, answer)
    const words = quote(answer.words)
    const error = new TableError({
      table: request.table,
      reason,
      detail: `${advice} (${words === "" ? `HTTP ${response.status}` : `HTTP ${response.status}, ${words}`})`,
      status: response.status
    })
    const asked = yield* askedPause(response)
    if (response.status >= 500) {
      return yield* new TryAgain({ error, asked })
    }
    if (response.status === 429 && answer.type !== quotaSpent) {
      return yield* new Penalised({ error, pause: Duration.max(penalty, asked) })
    }
    return yield* error
  })

  /** One try, in its turn and within its time. */
  const attempt = (request: PageRequest) =>
    Effect.zipRight(
      pacer.take,
      Effect.timeoutFail(send(request), {
        duration: maxTimeout,
        onTimeout: () =>
          new TryAgain({
            error: new TableError({
              table: request.table,
              reason: "Timeout",
              detail: `no complete answer from ${endpointUrl} within ${maxTimeout} ms ("maxTimeout")`
            })
          })
      })
    )

  const withRetries = (
    request: PageRequest,
    [pause, ...later]: ReadonlyArray<Duration.Duration> = pauses
  ): Effect.Effect<Page, TableError | CursorExpired | Penalised> =>
    Effect.catchTag(attempt(request), "TryAgain", ({ asked = Duration.zero, error }) => {
      if (pause === undefined) {
        return Effect.fail(error)
      }
      const longer = Duration.max(pause, asked)
      return Effect.logDebug(`${error.message}. Trying again in ${Duration.format(longer)}`).pipe(
        Effect.zipRight(Effect.sleep(longer)),
        Effect.zipRight(withRetries(request, later))
      )
    })

  const withPenalties = (
    request: PageRequest,
    left = maxPenalties
  ): Effect.Effect<Page, TableError | CursorExpired> =>
    Effect.catchTag(withRetries(request), "Penalised", ({ error, pause }) =>
      Effect.zipRight(
        pacer.hold(pause),
        left === 0
          ? Effect.fail(error)
          : Effect.zipRight(
              Effect.logWarning(
                `${error.message}. Waiting ${Duration.format(pause)} before the next request`
              ),
              withPenalties(request, left - 1)
            )
      )
    )

  return TableSourceClient.of({
    listPage: Effect.fn("TableSourceClient.listPage")((request) =>
      isPathSegment(request.table)
        ? withPenalties(request)
        : new TableError({ table: request.table, reason: "Refused", detail: "no table can have this name" })
    )
  })
})

export const layer = (options: TableSourceClientHttpOptions) => Layer.effect(TableSourceClient, make(options))

/** The server, or the way to it, failed: another try may succeed. */
class TryAgain extends Data.TaggedError("TryAgain")<{
  readonly error: TableError
  /** How long the server asked to be left alone. */
  readonly asked?: Duration.Duration
}> {}

/** The server refuses all requests to the base for a while. */
class Penalised extends Data.TaggedError("Penalised")<{
  readonly error: TableError
  readonly pause: Duration.Duration
}> {}

class BodyTooLong extends Data.TaggedError("BodyTooLong") {}

const quotaSpent = "PUBLIC_API_BILLING_LIMIT_EXCEEDED"

const readBody = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return response.stream.pipe(
      Stream.runForEach((chunk) => {
        size += chunk.length
        chunks.push(chunk)
        return size > maxBodyBytes ? new BodyTooLong() : Effect.void
      }),
      Effect.map(() => new TextDecoder().decode(Buffer.concat(chunks)))
    )
  })

/** The cells stay the object that was parsed: building it anew would lose a field named `__proto__`. */
const Fields = Schema.declare(
  (input): input is Readonly<Record<string, unknown>> => Predicate.isReadonlyRecord(input),
  { message: () => "expected an object" }
)

const PageAnswer = Schema.Struct({
  records: Schema.Array(Schema.Struct({ id: Schema.NonEmptyString, fields: Fields })),
  offset: Schema.optional(Schema.NullOr(Schema.String))
})

const decodePage = Schema.decodeUnknownEither(Schema.parseJson(PageAnswer))

const firstIssue = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  return issue === undefined
    ? error.message
    : `${issue.message} at ${issue.path.join(".") || "its beginning"}`
}

/** What a refusal means, and what to do about it. */
const verdict = (
  { table, view }: PageRequest,
  { headers, status }: HttpClientResponse.HttpClientResponse,
  { type }: ErrorAnswer
): { readonly reason: TableError["reason"]; readonly advice: string } => {
  if (type === "VIEW_NAME_NOT_FOUND") {
    return {
      reason: "NotFound",
      advice: `there is no view ${JSON.stringify(view)}. It was probably renamed: set "defaultView" to its new name, or to null to read the whole table`
    }
  }
  if (type === quotaSpent) {
    return { reason: "RateLimited", advice: "the API calls that the plan allows for this month are spent" }
  }
  if (status >= 500) {
    return { reason: "ServerError", advice: "the server failed" }
  }
  switch (status) {
    case 401:
      return { reason: "Unauthorized", advice: 'the server does not accept the API key. Check "apiKey"' }
    case 403:
      return {
        reason: "NotFound",
        advice: `there is no such table, or the API key may not read it. Check "baseId", the name ${JSON.stringify(table)} and the permissions of the API key`
      }
    case 404:
      return {
        reason: "NotFound",
        advice: `there is no such base or table. Check "baseId", the name ${JSON.stringify(table)} and "endpointUrl"`
      }
    case 429:
      return { reason: "RateLimited", advice: "the server has had too many requests to this base" }
  }
  return status >= 300 && status < 400
    ? {
        reason: "UnexpectedAnswer",
        advice: `the server redirects to ${originOf(headers.location)}, which is not followed, because the API key is for "endpointUrl" only. Set that to the right address`
      }
    : { reason: "Refused", advice: "the server refused the request" }
}

/** No more of an address than whose it is: the rest may hold secrets. */
const originOf = (location: string | undefined): string =>
  location !== undefined && URL.canParse(location) ? new URL(location).origin : "another address"

/** What `Retry-After` says, in seconds or as a date, within reason; nothing where it says nothing. */
const askedPause = ({ headers }: HttpClientResponse.HttpClientResponse) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const text = headers["retry-after"] ?? ""
    const millis = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
    return Number.isNaN(millis) ? Duration.zero : Duration.min(Duration.millis(millis), longestPause)
  })

/** The words nearest to what happened: those of the outer errors are "fetch failed" and the like. */
const deepestMessage = (error: unknown): string => {
  let deepest = error
  for (let depth = 0; depth < 8 && deepest instanceof Error && deepest.cause instanceof Error; depth++) {
    deepest = deepest.cause
  }
  if (!(deepest instanceof Error)) return String(deepest)
  return deepest.message === "" && "code" in deepest ? String(deepest.code) : deepest.message
}
