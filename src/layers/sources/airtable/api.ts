/**
 * Requests to the hosted table API: their place among the others, their retries, and what the responses mean.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import { RequestPacing } from "../../../services/RequestPacing.ts"
import { CursorExpired, type TableError } from "../../../services/TableSourceClient.ts"
import {
  isCertificateProblem,
  Retryable,
  retryAfter,
  withRetries,
  withTimeout
} from "../../httpClient/HttpFailure.ts"
import { naming } from "../../httpClient/localAddress.ts"
import { makeCalendarCount } from "../tableSource/calendarCount.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import { baseKey, cooldown, interval, RateLimited, withCooldowns } from "./pace.ts"
import { after, makeErrors, quotaSpent } from "./requestErrors.ts"
import { httpRequest, isPossible, mayBeEmpty, type Request } from "./requests.ts"
import { type Decode, firstIssue, maxBodyBytes, parseJson, readBody } from "./responses.ts"

/** The status says enough: what the server says about it is not waited for any longer. */
const maxWordsMillis = 5000

export interface Api extends Effect.Effect.Success<ReturnType<typeof makeApi>> {}

/** Of decoded options. Its requests take their turn in the pacing of the process. */
export const makeApi = Effect.fnUntraced(function* (options: AirtableClientOptions) {
  const { maxTimeout } = options
  const errors = makeErrors(options)
  const { quote } = errors
  const calls = makeCalendarCount()
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })),
    HttpClient.withScope
  )
  const pacing = yield* RequestPacing
  const pacer = yield* pacing.pacer(baseKey(options), interval)

  const send = Effect.fnUntraced(function* <A>(request: Request, decode: Decode<A>) {
    const response = yield* client.execute(httpRequest(options, request)).pipe(
      naming(options.endpointUrl),
      Effect.mapError(({ cause }) =>
        isCertificateProblem(cause)
          ? errors.untrusted(request, cause)
          : new Retryable(errors.unreachable(request, cause))
      )
    )
    return response.status >= 200 && response.status < 300
      ? yield* readResponse(request, response, decode)
      : yield* reject(request, response)
  })

  const readResponse = Effect.fnUntraced(function* <A>(
    request: Request,
    response: HttpClientResponse.HttpClientResponse,
    decode: Decode<A>
  ) {
    const { headers, status } = response
    const encoding = headers["content-encoding"] ?? "identity"
    if (encoding !== "identity") {
      return yield* errors.unexpected(
        request,
        `the answer is compressed (${quote(encoding)}), though it was not asked to be`,
        status
      )
    }
    const bytes = yield* readBody(response).pipe(
      Effect.catchTags({
        "vitrine/BodyTooLong": () =>
          errors.unexpected(request, `the answer has more than ${maxBodyBytes} bytes`, status),
        ResponseError: ({ cause }) => Effect.fail(new Retryable(errors.unreachable(request, cause)))
      })
    )
    const isNothing = bytes.length === 0 && mayBeEmpty(request)
    const json = yield* Option.match(isNothing ? Option.some(undefined) : parseJson(bytes), {
      onNone: () =>
        errors.unexpected(
          request,
          `the answer is no JSON${after(": ", quote(errors.readErrorResponse(bytes).words))}`,
          status
        ),
      onSome: Effect.succeed
    })
    return yield* Either.mapLeft(decode(json), (error) =>
      errors.unexpected(request, firstIssue(error), status)
    )
  })

  const reject = Effect.fnUntraced(function* (
    request: Request,
    response: HttpClientResponse.HttpClientResponse
  ) {
    const answer = yield* readBody(response).pipe(
      withTimeout(Math.min(maxWordsMillis, maxTimeout / 2), () => "TooLate" as const),
      Effect.orElseSucceed(() => Buffer.of()),
      Effect.map(errors.readErrorResponse)
    )
    if (answer.type === "LIST_RECORDS_ITERATOR_NOT_AVAILABLE") {
      return yield* new CursorExpired({ table: request.table })
    }
    const error = errors.rejected(request, response, answer)
    const asked = yield* retryAfter(response)
    if (response.status >= 500) {
      return yield* Effect.fail(new Retryable(error, asked))
    }
    if (response.status === 429 && answer.type !== quotaSpent) {
      return yield* new RateLimited({ error, pause: Duration.max(cooldown, asked) })
    }
    return yield* error
  })

  /** One try, in its turn and within its time. */
  const attempt = <A>(request: Request, decode: Decode<A>) =>
    Effect.zipRight(
      Effect.zipRight(pacer.take, calls.add(1)),
      send(request, decode).pipe(
        withTimeout(maxTimeout, () => new Retryable(errors.timeout(request))),
        Effect.scoped
      )
    )

  const ask = <A>(request: Request, decode: Decode<A>): Effect.Effect<A, TableError | CursorExpired> =>
    isPossible(request)
      ? withCooldowns(pacer, withRetries(attempt(request, decode)))
      : errors.impossible(request)

  return {
    /** Asks for a page, and decodes it. It ends within a bounded time. */
    ask,

    /** As `ask`, for what is no page of a list. */
    askForOne: <A>(request: Request, decode: Decode<A>): Effect.Effect<A, TableError> =>
      Effect.catchTag(ask(request, decode), "vitrine/CursorExpired", ({ message }) =>
        errors.unexpected(request, message)
      ),

    errors,
    calls: calls.counts
  }
})
