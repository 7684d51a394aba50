/**
 * A client of the hosted table API over HTTP.
 *
 * It owns one question, for a page or for a record: the request, its place among the others, its retries, and what the answer means.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type { ResponseError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { InvalidOptions } from "../../services/Options.ts"
import { RequestPacing } from "../../services/RequestPacing.ts"
import {
  CursorExpired,
  type PageRequest,
  type RecordRequest,
  TableError,
  type TableRecord,
  TableSourceClient
} from "../../services/TableSourceClient.ts"
import { certificateAdvice, isCertificateProblem, isNotYetValid } from "./certificateProblem.ts"
import { type ErrorAnswer, readErrorAnswer } from "./ErrorAnswer.ts"
import {
  askedPause,
  deepestMessage,
  oneLine,
  originOf,
  TryAgain,
  within,
  withRetries
} from "./HttpFailure.ts"
import { hideSecret } from "./hideSecret.ts"
import {
  decodeClient,
  isPathSegment,
  type TableClientConfig,
  type TableSourceOptions
} from "./TableSourceOptions.ts"

/** Where the base is, how to get in, and how long one request may take (milliseconds). */
export type TableSourceClientHttpOptions = Pick<
  TableSourceOptions,
  "endpointUrl" | "baseId" | "apiKey" | "maxTimeout"
>

/** The most that the API gives at once. */
const pageSize = 100

/** A page of a hundred records is far smaller; more than this is no page. */
const maxBodyBytes = 32 * 1024 * 1024

/** The status says enough: what the server says about it is not waited for any longer. */
const maxWordsMillis = 5000

/** After a 429 the API refuses everything for this long. */
const penalty = Duration.seconds(30)

const maxPenalties = 3

/** The client of the hosted table API. Its requests take their turn in the pacing of the process. */
export const layer = (
  config: TableClientConfig
): Layer.Layer<TableSourceClient, InvalidOptions, HttpClient.HttpClient | RequestPacing> =>
  Layer.effect(TableSourceClient, Effect.flatMap(decodeClient(config), make))

/** The same without a layer, of decoded options. */
export const make = Effect.fnUntraced(function* ({
  apiKey,
  baseId,
  endpointUrl,
  maxTimeout
}: TableSourceClientHttpOptions) {
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.withTracerDisabledWhen(constTrue),
    HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })),
    HttpClient.withScope
  )
  const pacing = yield* RequestPacing
  // As a URL, because the same endpoint can be written in several ways.
  const pacer = yield* pacing.pacer(`${new URL(`${endpointUrl}/`).href} ${baseId}`)

  const withoutKey = hideSecret(apiKey)

  /** Text from elsewhere, fit for a message, and without the key should it be echoed. */
  const quote = (text: string): string => oneLine(withoutKey(text))

  const send = Effect.fnUntraced(function* <A>(request: Request, decode: Decode<A>) {
    const response = yield* client
      .execute(httpRequest(request))
      .pipe(
        Effect.mapError(({ cause }) =>
          isCertificateProblem(cause) ? untrusted(request, cause) : new TryAgain(unreachable(request, cause))
        )
      )
    return response.status >= 200 && response.status < 300
      ? yield* readAnswer(request, response, decode)
      : yield* refuse(request, response)
  })

  const httpRequest = (request: Request) =>
    HttpClientRequest.get(
      [`${endpointUrl}/v0`, ...[baseId, ...segments(request)].map(encodeURIComponent)].join("/")
    ).pipe(
      HttpClientRequest.setUrlParams(parameters(request)),
      HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.acceptJson,
      HttpClientRequest.setHeader("accept-encoding", "identity")
    )

  const unreachable = ({ table }: Request, cause: unknown) =>
    new TableError({
      table,
      reason: "Unreachable",
      detail: `the connection to ${endpointUrl} failed: ${quote(deepestMessage(cause))}`
    })

  const untrusted = ({ table }: Request, cause: unknown) =>
    new TableError({
      table,
      reason: "Unreachable",
      detail: `the certificate of ${endpointUrl} is not accepted: ${quote(deepestMessage(cause))}. Check "endpointUrl", ${certificateAdvice}`,
      isLasting: !isNotYetValid(cause)
    })

  const unexpected = ({ table }: Request, detail: string, status = 200) =>
    new TableError({
      table,
      reason: "UnexpectedAnswer",
      detail: `${endpointUrl} does not answer like the table API: ${detail}`,
      status
    })

  const readAnswer = Effect.fnUntraced(function* <A>(
    request: Request,
    response: HttpClientResponse.HttpClientResponse,
    decode: Decode<A>
  ) {
    const { headers, status } = response
    const encoding = headers["content-encoding"] ?? "identity"
    if (encoding !== "identity") {
      return yield* unexpected(
        request,
        `the answer is compressed (${quote(encoding)}), though it was not asked to be`,
        status
      )
    }
    const bytes = yield* readBody(response).pipe(
      Effect.catchTags({
        BodyTooLong: () => unexpected(request, `the answer has more than ${maxBodyBytes} bytes`, status),
        ResponseError: ({ cause }) => Effect.fail(new TryAgain(unreachable(request, cause)))
      })
    )
    const json = yield* Option.match(parseJson(bytes), {
      onNone: () =>
        unexpected(request, `the answer is no JSON${after(": ", quote(errorAnswerOf(bytes).words))}`, status),
      onSome: Effect.succeed
    })
    return yield* Either.mapLeft(decode(json), (error) => unexpected(request, firstIssue(error), status))
  })

  const errorAnswerOf = (bytes: Uint8Array): ErrorAnswer =>
    readErrorAnswer(new TextDecoder().decode(bytes), withoutKey)

  const refuse = Effect.fnUntraced(function* (
    request: Request,
    response: HttpClientResponse.HttpClientResponse
  ) {
    const answer = yield* readBody(response).pipe(
      within(Math.min(maxWordsMillis, maxTimeout / 2), () => "TooLate" as const),
      Effect.orElseSucceed(() => Buffer.of()),
      Effect.map(errorAnswerOf)
    )
    if (answer.type === "LIST_RECORDS_ITERATOR_NOT_AVAILABLE") {
      return yield* new CursorExpired({ table: request.table })
    }
    const { advice, reason } = verdict(request, response, answer, withoutKey)
    const error = new TableError({
      table: request.table,
      reason,
      detail: `${advice} (HTTP ${response.status}${after(", ", quote(answer.words))})`,
      status: response.status,
      isLasting: answer.type === quotaSpent
    })
    const asked = yield* askedPause(response)
    if (response.status >= 500) {
      return yield* Effect.fail(new TryAgain(error, asked))
    }
    if (response.status === 429 && answer.type !== quotaSpent) {
      return yield* new Penalised({ error, pause: Duration.max(penalty, asked) })
    }
    return yield* error
  })

  /** One try, in its turn and within its time. */
  const attempt = <A>(request: Request, decode: Decode<A>) =>
    Effect.zipRight(
      pacer.take,
      send(request, decode).pipe(
        within(
          maxTimeout,
          () =>
            new TryAgain(
              new TableError({
                table: request.table,
                reason: "Timeout",
                detail: `no complete answer from ${endpointUrl} within ${maxTimeout} ms ("maxTimeout")`
              })
            )
        ),
        Effect.scoped
      )
    )

  const withPenalties = <A>(
    effect: Effect.Effect<A, TableError | CursorExpired | Penalised>,
    left = maxPenalties
  ): Effect.Effect<A, TableError | CursorExpired> =>
    Effect.catchTag(effect, "Penalised", ({ error, pause }) =>
      Effect.zipRight(
        pacer.hold(pause),
        left === 0
          ? Effect.fail(error)
          : Effect.zipRight(
              Effect.logWarning(
                `${error.message}. Waiting ${Duration.format(pause)} before the next request`
              ),
              withPenalties(effect, left - 1)
            )
      )
    )

  const ask = <A>(request: Request, decode: Decode<A>): Effect.Effect<A, TableError | CursorExpired> =>
    segments(request).every(isPathSegment)
      ? withPenalties(withRetries(attempt(request, decode)))
      : new TableError({
          table: request.table,
          reason: "Refused",
          detail: "no table and no record can have this name"
        })

  // Not `Effect.fn`: its stack traces take a tenth of the time of a page.
  const listPage = Effect.fnUntraced(
    function* (request: PageRequest) {
      const page = yield* ask(request, decodePage)
      const { offset } = page
      const records = page.records.map(({ fields, id }) => ({ id, fields }))
      if (offset === undefined || offset === null || offset === "") {
        return { records }
      }
      if (offset === request.cursor) {
        const quoted = quote(JSON.stringify(offset))
        return yield* unexpected(request, `the list does not go on after the offset ${quoted}`)
      }
      return { records, next: offset }
    },
    Effect.withSpan("TableSourceClient.listPage", { captureStackTrace: false })
  )

  const readRecord = Effect.fn("TableSourceClient.readRecord")(
    function* (request: RecordRequest) {
      const record = yield* ask(request, decodeRecord)
      return record.id === request.recordId
        ? record
        : yield* unexpected(
            request,
            `asked for the record ${quote(request.recordId)}, it gave ${quote(record.id)}`
          )
    },
    (effect, request) =>
      Effect.catchTag(effect, "CursorExpired", ({ message }) => unexpected(request, message))
  )

  return TableSourceClient.of({ listPage, readRecord })
})

/** The server refuses all requests to the base for a while. */
class Penalised extends Data.TaggedError("Penalised")<{
  readonly error: TableError
  readonly pause: Duration.Duration
}> {}

type Request = PageRequest | RecordRequest

/** Where it is in the base. */
const segments = (request: Request): ReadonlyArray<string> =>
  "recordId" in request ? [request.table, request.recordId] : [request.table]

const parameters = (request: Request): Readonly<Record<string, string>> =>
  "recordId" in request
    ? {}
    : {
        pageSize: String(pageSize),
        ...(request.view === null ? {} : { view: request.view }),
        ...(request.cursor === undefined ? {} : { offset: request.cursor })
      }

class BodyTooLong extends Data.TaggedError("BodyTooLong") {}

const quotaSpent = "PUBLIC_API_BILLING_LIMIT_EXCEEDED"

/** The words, if there are any, after something that leads to them. */
const after = (lead: string, words: string): string => (words === "" ? "" : `${lead}${words}`)

type Body = Effect.Effect<Uint8Array, BodyTooLong | ResponseError>

/** A body that says its length is taken in one step, which is cheaper. */
const readBody = (response: HttpClientResponse.HttpClientResponse): Body => {
  const length = response.headers["content-length"]
  if (length === undefined) {
    return readChunks(response)
  }
  return Number(length) <= maxBodyBytes
    ? Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))
    : new BodyTooLong()
}

const readChunks = (response: HttpClientResponse.HttpClientResponse): Body =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return response.stream.pipe(
      Stream.runForEach((chunk) => {
        size += chunk.length
        chunks.push(chunk)
        return size > maxBodyBytes ? new BodyTooLong() : Effect.void
      }),
      Effect.map(() => Buffer.concat(chunks))
    )
  })

const utf8 = new TextDecoder("utf-8", { fatal: true })

const parseJson = Option.liftThrowable((bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes)))

/**
 * Told apart without being printed: what came instead may be nested deeper than anything can print. Cells stay the
 * object that was parsed, because building it anew would lose a field named `__proto__`.
 */
const expected = <A>(what: string, is: (input: unknown) => input is A) =>
  Schema.declare(is, { message: () => `expected ${what}` })

const isText = (input: unknown): input is string => Predicate.isString(input) && input !== ""

const isFields = (input: unknown): input is TableRecord["fields"] => Predicate.isReadonlyRecord(input)

const isOffset = (input: unknown): input is string | null => input === null || Predicate.isString(input)

const RecordAnswer = Schema.Struct({
  id: expected("a text", isText),
  fields: expected("an object", isFields)
}).annotations({ message: () => "expected a record" })

const PageAnswer = Schema.Struct({
  records: Schema.Array(RecordAnswer).annotations({ message: () => "expected an array" }),
  offset: Schema.optionalWith(expected("a text", isOffset), { exact: true })
}).annotations({ message: () => "expected a page" })

type Decode<A> = (json: unknown) => Either.Either<A, ParseResult.ParseError>

const decodeRecord: Decode<TableRecord> = Schema.decodeUnknownEither(RecordAnswer)

/** The schema takes ten times as long, so it is asked only for what is wrong. */
const decodePage: Decode<typeof PageAnswer.Type> = (json) =>
  isPage(json) ? Either.right(json) : Schema.decodeUnknownEither(PageAnswer)(json)

const isPage = (json: unknown): json is typeof PageAnswer.Type =>
  Predicate.isReadonlyRecord(json) &&
  Array.isArray(json.records) &&
  json.records.every(isRecord) &&
  (!Object.hasOwn(json, "offset") || isOffset(json.offset))

const isRecord = (input: unknown): input is TableRecord =>
  Predicate.isReadonlyRecord(input) && isText(input.id) && isFields(input.fields)

const firstIssue = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  if (issue === undefined) {
    return error.message
  }
  const place = issue.path.join(".")
  return issue._tag === "Missing"
    ? `"${place}" is missing`
    : `${issue.message} at ${place === "" ? "its beginning" : place}`
}

/** What a refusal means, and what to do about it. */
const verdict = (
  request: Request,
  { headers, status }: HttpClientResponse.HttpClientResponse,
  { type }: ErrorAnswer,
  withoutKey: (text: string) => string
): { readonly reason: TableError["reason"]; readonly advice: string } => {
  const name = JSON.stringify(request.table)
  if (type === "VIEW_NAME_NOT_FOUND" && "view" in request) {
    return {
      reason: "NotFound",
      advice: `there is no view ${JSON.stringify(request.view)}. It was probably renamed: set "defaultView" to its new name, or to null to read the whole table`
    }
  }
  if (type === quotaSpent) {
    return { reason: "RateLimited", advice: "the API calls that the plan allows for this month are spent" }
  }
  if (status >= 500) {
    return { reason: "ServerError", advice: "the server failed" }
  }
  if ("recordId" in request && (status === 403 || status === 404)) {
    return {
      reason: "NotFound",
      advice: `the record ${oneLine(withoutKey(request.recordId))} is not there any more, or the API key may not read it`
    }
  }
  switch (status) {
    case 401:
      return { reason: "Unauthorized", advice: 'the server does not accept the API key. Check "apiKey"' }
    case 403:
      return {
        reason: "NotFound",
        advice: `there is no such table, or the API key may not read it. Check "baseId", the name ${name} and the permissions of the API key`
      }
    case 404:
      return {
        reason: "NotFound",
        advice: `there is no such base or table. Check "baseId", the name ${name} and "endpointUrl"`
      }
    case 429:
      return { reason: "RateLimited", advice: "the server has had too many requests to this base" }
  }
  if (status >= 400) {
    return { reason: "Refused", advice: "the server refused the request" }
  }
  return {
    reason: "UnexpectedAnswer",
    advice:
      headers.location === undefined
        ? "the server does not answer like the table API"
        : `the server redirects to ${withoutKey(originOf(headers.location))}, which is not followed, because the API key is for "endpointUrl" only. Set that to the right address`
  }
}
