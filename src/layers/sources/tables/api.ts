/**
 * Requests to the hosted table API: their place among the others, and what the responses mean.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { excerpt } from "../../../internal/printable.ts"
import { RequestPacing } from "../../../services/RequestPacing.ts"
import { type CallCounts, CursorExpired, TableError } from "../../../services/TableSourceClient.ts"
import { TooMuch } from "../../documents/readJson.ts"
import { parsePage } from "../../documents/readText.ts"
import { withRetries } from "../../httpClient/HttpFailure.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { hideSecrets } from "../../httpClient/secrets.ts"
import { baseKey, cooldown, interval, makeCalendarCount, TryFailed, withCooldowns } from "./pace.ts"
import { after, notAvailable, readErrorResponse, tableError } from "./requestErrors.ts"
import { headersOf, httpRequest, isPossible, mayBeEmpty, type Request } from "./requests.ts"
import { type Decode, maxBodyBytes } from "./responses.ts"
import type { AirtableClientOptions } from "./TableOptions.ts"

/** The hosted table API. No failure has the API key in it, though the server may have repeated that. */
export interface Api {
  /** Asks for a page, and decodes it. It ends within a bounded time. */
  readonly ask: <A>(request: Request, decode: Decode<A>) => Effect.Effect<A, TableError | CursorExpired>

  /** As `ask`, for what is no page of a list. */
  readonly askForOne: <A>(request: Request, decode: Decode<A>) => Effect.Effect<A, TableError>

  /** The failure for an answer that the API would not give. */
  readonly unexpected: (request: Pick<Request, "table">, detail: string) => TableError

  /** Text of the server, for a message: without the key should it be repeated. */
  readonly quote: (text: string) => string

  /** How many requests were sent. */
  readonly calls: Effect.Effect<CallCounts>
}

/** From decoded options. Its requests wait for the pacing of the process. */
export const makeApi = Effect.fnUntraced(function* (
  options: AirtableClientOptions
): Effect.fn.Return<Api, never, HttpClient.HttpClient | RequestPacing> {
  const { endpointUrl, maxTimeout } = options
  const calls = yield* makeCalendarCount
  const requests = yield* Requests.make({
    maxBytes: maxBodyBytes,
    maxBytesOption: "",
    maxTimeout,
    isWhole: true,
    urls: [endpointUrl]
  })
  const pacing = yield* RequestPacing
  const pacer = yield* pacing.pacer(baseKey(options), interval)
  const hide = hideSecrets(endpointUrl, headersOf(options))
  const quote: Api["quote"] = (text) => excerpt(hide(text))

  const unexpected: Api["unexpected"] = ({ table }, detail) =>
    new TableError({
      table,
      reason: "UnexpectedAnswer",
      detail: `${endpointUrl} does not answer like the table API: ${quote(detail)}`,
      status: 200
    })

  const errorOf = (request: Request, failure: Requests.RequestFailed) =>
    readErrorResponse(failure.body).type === notAvailable
      ? new CursorExpired({ table: request.table })
      : failure.status === undefined && failure.reason === "Answer" && !failure.isTransient
        ? unexpected(request, failure.detail)
        : tableError(request, failure, hide)

  const tryFailed = (request: Request) => (failure: Requests.RequestFailed) => {
    const error = errorOf(request, failure)
    if (error instanceof CursorExpired) return new TryFailed({ error })
    const { retryAfter = Duration.zero, status } = failure
    return status !== 429
      ? new TryFailed({ error, retryAfter: failure.retryAfter })
      : new TryFailed({
          error,
          rejectsFor: error.isTransient ? Duration.max(cooldown, retryAfter) : undefined
        })
  }

  const answerTo = (request: Request) => {
    const send = Effect.mapError(requests.attempt(httpRequest(options, request)), tryFailed(request))
    return Effect.zipRight(Effect.zipRight(pacer.take, calls.add(1)), send).pipe(
      withRetries,
      withCooldowns(pacer),
      Effect.mapError(({ error }) => error)
    )
  }

  const jsonOf = (request: Request, text: string) =>
    text === "" && mayBeEmpty(request)
      ? Effect.succeed(undefined)
      : Effect.mapError(parsePage(text), (mistake) =>
          unexpected(
            request,
            mistake instanceof TooMuch
              ? mistake.problem
              : `the answer is no JSON${after(": ", quote(readErrorResponse(text).words))}`
          )
        )

  const ask: Api["ask"] = Effect.fnUntraced(function* (request, decode) {
    if (!isPossible(request)) {
      const detail = "no table and no record can have this name"
      return yield* new TableError({ table: request.table, reason: "Refused", detail })
    }
    const { text } = yield* answerTo(request)
    const json = yield* jsonOf(request, text)
    return yield* Either.mapLeft(decode(json), (mistake) => unexpected(request, mistake))
  })

  return {
    ask,
    askForOne: (request, decode) =>
      Effect.catchTag(ask(request, decode), "vitrine/CursorExpired", ({ message }) =>
        unexpected(request, message)
      ),
    unexpected,
    quote,
    calls: calls.counts
  }
})
