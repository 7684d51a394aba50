/**
 * Requests to the hosted table API: their pace, their count, the pause after too many requests, their addresses for a
 * page, a record or the whole base, and the decoding of responses.
 */
import * as UrlParams from "@effect/platform/UrlParams"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { sentenceOf } from "../../../internal/mistake.ts"
import { excerpt } from "../../../internal/printable.ts"
import { optional } from "../../../internal/schemas.ts"
import { type Pacer, RequestPacing } from "../../../services/RequestPacing.ts"
import {
  type CallCounts,
  CursorExpired,
  TableError,
  type TableRecord
} from "../../../services/TableSourceClient.ts"
import { parsePage } from "../../documents/readText.ts"
import { withRetries } from "../../httpClient/httpFailure.ts"
import type { Request as HttpRequest } from "../../httpClient/Requests.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { hideSecrets } from "../../httpClient/secrets.ts"
import { after, notAvailable, type Request, readErrorResponse, tableError } from "./requestErrors.ts"
import { type AirtableClientOptions, isPathSegment } from "./TableSourceOptions.ts"

/** The hosted table API. No failure contains the API key, even if the server has repeated it. */
export type Api = Effect.Effect.Success<ReturnType<typeof makeApi>>

/** Makes the API from decoded options. Its requests wait for the pacing of the process. */
export const makeApi = Effect.fnUntraced(function* (options: AirtableClientOptions) {
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

  /** Text of the server for a message, without the key. */
  const quote = (text: string) => excerpt(hide(text))

  /** The failure for a response that the API would not send. */
  const unexpected = ({ table }: Pick<Request, "table">, detail: string) =>
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
    const makesSomething = "method" in request && request.method === "POST"
    return Effect.zipRight(Effect.zipRight(pacer.take, calls.add(1)), send).pipe(
      // The server may have done what was asked, though its answer was lost.
      makesSomething ? identity : withRetries,
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
            mistake.code === "budget:limit"
              ? sentenceOf(mistake)
              : `the answer is no JSON${after(": ", quote(readErrorResponse(text).words))}`
          )
        )

  /** Requests a page, and decodes it. It ends within a bounded time. */
  const ask = Effect.fnUntraced(function* <A>(request: Request, decode: Decode<A>) {
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
    /** As `ask`, for a response that is no page of a list. */
    askForOne: <A>(request: Request, decode: Decode<A>) =>
      Effect.catchTag(ask(request, decode), "vitrine/CursorExpired", ({ message }) =>
        unexpected(request, message)
      ),
    unexpected,
    quote,
    /** The number of sent requests. */
    calls: calls.counts
  }
})

/** The largest page of the API. */
const pageSize = 100

/** Redirects are not followed: the API key is for `endpointUrl` only. */
export const httpRequest = (options: AirtableClientOptions, request: Request): HttpRequest => {
  const { baseId, endpointUrl } = options
  const path = "path" in request ? request.path : [baseId, ...segments(request)]
  const search = UrlParams.toString(UrlParams.fromInput(parameters(request)))
  const url = [`${endpointUrl}/v0`, ...path.map((part) => encodeURIComponent(part))].join("/")
  return {
    url: search === "" ? url : `${url}?${search}`,
    headers: headersOf(options),
    method: "path" in request ? request.method : "GET",
    follows: false,
    body: "path" in request && request.body !== undefined ? JSON.stringify(request.body) : undefined
  }
}

export const headersOf = ({ apiKey }: Pick<AirtableClientOptions, "apiKey">) => ({
  authorization: `Bearer ${Redacted.value(apiKey)}`,
  accept: "application/json"
})

/** Whether the names in the request can be in a URL. */
export const isPossible = (request: Request): boolean => segments(request).every(isPathSegment)

/** Whether a response without a body is complete. */
export const mayBeEmpty = (request: Request): boolean => "path" in request && request.method === "DELETE"

/** The names in the path of a request. */
const segments = (request: Request): ReadonlyArray<string> =>
  "path" in request
    ? request.path
    : "recordId" in request
      ? [request.table, request.recordId]
      : [request.table]

const parameters = (
  request: Request
): Readonly<Record<string, string | ReadonlyArray<string> | undefined>> =>
  "path" in request
    ? (request.parameters ?? {})
    : "recordId" in request
      ? {}
      : {
          pageSize: String(pageSize),
          "fields[]": request.fields ?? [],
          view: request.view ?? undefined,
          offset: request.cursor
        }

/** In bytes. A page of a hundred records is far smaller. */
export const maxBodyBytes = 32 * 1024 * 1024

/**
 * A value, or a description of the mistake and its place. The received value is not printed, because it may be nested
 * too deeply.
 */
export type Decode<A> = (json: unknown) => Either.Either<A, string>

/** Decodes a response; mistakes are described by the messages of the schema. */
const decodeAs = <A, I>(schema: Schema.Schema<A, I>): Decode<A> => {
  const decode = Schema.decodeUnknownEither(schema)
  return (json) => Either.mapLeft(decode(json), firstIssue)
}

const says = (message: string) => ({ message: () => ({ message, override: true }) })

const RecordResponse = Schema.Struct({
  id: Schema.NonEmptyString.annotations(says("expected a text")),
  // Not copied: a copy would lose a field with the name `__proto__`.
  fields: Schema.declare(Predicate.isReadonlyRecord).annotations(says("expected an object"))
}).annotations({ message: () => "expected a record" })

const PageResponse = Schema.Struct({
  records: Schema.Array(RecordResponse).annotations({ message: () => "expected an array" }),
  offset: optional(Schema.NullOr(Schema.String).annotations(says("expected a text")))
}).annotations({ message: () => "expected a page" })

export const decodeRecord: Decode<TableRecord> = decodeAs(RecordResponse)

export const decodePage = decodeAs(PageResponse)

/** Decodes a response that is smaller than a page. */
export const decodeOther = <A, I>(schema: Schema.Schema<A, I>, what: string): Decode<A> =>
  decodeAs(schema.annotations(says(`expected ${what}`)))

/** The first mistake and its place, as text. */
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

/**
 * The key for the pace of a base, shared by all its sources. The endpoint is normalized, because a URL can be written
 * in several ways.
 */
export const baseKey = ({
  baseId,
  endpointUrl
}: Pick<AirtableClientOptions, "baseId" | "endpointUrl">): string =>
  `${new URL(`${endpointUrl}/`).href} ${baseId}`

/** A base allows five requests a second. This interval leaves room for delays of the network. */
export const interval = Duration.millis(215)

/** After a 429 the API rejects everything for this long. */
export const cooldown = Duration.seconds(30)

const maxCooldowns = 3

/** A failed try, and when to retry. */
export class TryFailed extends Data.TaggedError("vitrine/TryFailed")<{
  readonly error: TableError | CursorExpired
  /** As in a `RequestFailed`. */
  readonly retryAfter?: Duration.Duration | undefined
  /** How long the server rejects all requests to the base, if it does. */
  readonly rejectsFor?: Duration.Duration | undefined
}> {
  override get message() {
    return this.error.message
  }
}

/** Retries after each cooldown, in which no request starts; three times at most. */
export const withCooldowns =
  (pacer: Pacer, remaining = maxCooldowns) =>
  <A>(attempt: Effect.Effect<A, TryFailed>): Effect.Effect<A, TryFailed> =>
    Effect.catchAll(attempt, (failure) => {
      const { message, rejectsFor } = failure
      if (rejectsFor === undefined) return Effect.fail(failure)
      const again = Effect.zipRight(
        Effect.logWarning(`${message}. Waiting ${Duration.format(rejectsFor)} before the next request`),
        withCooldowns(pacer, remaining - 1)(attempt)
      )
      return Effect.zipRight(pacer.hold(rejectsFor), remaining === 0 ? Effect.fail(failure) : again)
    })

/** Counts requests by days and months, in UTC. */
export const makeCalendarCount = Effect.map(
  Ref.make({ date: "", today: 0, month: 0, total: 0 }),
  (counts) => {
    const add = (amount: number): Effect.Effect<CallCounts> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Ref.updateAndGet(counts, (before) => {
          const date = new Date(now).toISOString().slice(0, "2026-11-22".length)
          const isSameMonth = date.startsWith(before.date.slice(0, "2026-11".length))
          return {
            date,
            today: (date === before.date ? before.today : 0) + amount,
            month: (isSameMonth ? before.month : 0) + amount,
            total: before.total + amount
          }
        })
      )
    return { add, counts: add(0) }
  }
)
