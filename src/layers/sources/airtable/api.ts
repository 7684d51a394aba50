/**
 * Requests to the hosted table API: their place among the others, and what the responses mean.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { RequestPacing } from "../../../services/RequestPacing.ts"
import { CursorExpired, type TableError } from "../../../services/TableSourceClient.ts"
import { parsePage } from "../../documents/readText.ts"
import { TooMuch } from "../../documents/valueCount.ts"
import { Retryable, withRetries } from "../../httpClient/HttpFailure.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { makeCalendarCount } from "../tableSource/sourceStatus.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import { baseKey, cooldown, interval, RateLimited, withCooldowns } from "./pace.ts"
import { after, makeErrors, quotaSpent, readErrorResponse } from "./requestErrors.ts"
import { httpRequest, isPossible, mayBeEmpty, type Request } from "./requests.ts"
import { type Decode, firstIssue, maxBodyBytes } from "./responses.ts"

export interface Api extends Effect.Effect.Success<ReturnType<typeof makeApi>> {}

/** From decoded options. Its requests wait for the pacing of the process. */
export const makeApi = Effect.fnUntraced(function* (options: AirtableClientOptions) {
  const { endpointUrl, maxTimeout } = options
  const errors = makeErrors(options)
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

  const read = <A>(request: Request, { text }: Requests.Answer, decode: Decode<A>) =>
    Effect.flatMap(
      text === "" && mayBeEmpty(request)
        ? Effect.succeed(undefined)
        : Effect.mapError(parsePage(text), (mistake) =>
            errors.unexpected(
              request,
              mistake instanceof TooMuch
                ? mistake.problem
                : `the answer is no JSON${after(": ", errors.quote(readErrorResponse(text).words))}`
            )
          ),
      (json) => Either.mapLeft(decode(json), (error) => errors.unexpected(request, firstIssue(error)))
    )

  const reject = (request: Request, given: Requests.Failure) => {
    const failure = given instanceof Retryable ? given.error : given
    const asked = given instanceof Retryable ? given.asked : Duration.zero
    const { body = "", redirectsTo, status } = failure
    const answer = readErrorResponse(body)
    if (answer.type === "LIST_RECORDS_ITERATOR_NOT_AVAILABLE") {
      return new CursorExpired({ table: request.table })
    }
    const error =
      status === undefined
        ? errors.failed(request, failure)
        : errors.rejected(request, { redirectsTo, status }, answer)
    if (status === 429) {
      return answer.type === quotaSpent
        ? error
        : new RateLimited({ error, pause: Duration.max(cooldown, asked) })
    }
    return given instanceof Retryable ? new Retryable(error, asked) : error
  }

  /** One try, in its turn and within its time. */
  const attempt = <A>(
    request: Request,
    send: Effect.Effect<Requests.Answer, Requests.Failure>,
    decode: Decode<A>
  ) =>
    Effect.zipRight(
      Effect.zipRight(pacer.take, calls.add(1)),
      Effect.mapError(send, (failure) => reject(request, failure))
    ).pipe(Effect.flatMap((answer) => read(request, answer, decode)))

  const ask = <A>(request: Request, decode: Decode<A>): Effect.Effect<A, TableError | CursorExpired> => {
    if (!isPossible(request)) return errors.impossible(request)
    const send = requests.attempt(httpRequest(options, request))
    return withCooldowns(pacer, withRetries(attempt(request, send, decode)))
  }

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
