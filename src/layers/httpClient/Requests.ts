/**
 * Requests to servers: allowed hosts, credentials, retries, limits, and a cache of responses.
 *
 * The caller decides what to request, what a response means, and what to do about an error status.
 *
 * The cache holds responses that a server can confirm as unchanged: in memory, 16 MiB of text, the most recently
 * used.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { excerpt, printableLine } from "../../internal/printable.ts"
import { withTimeout } from "../../internal/Schedules.ts"
import { causeWithoutSecrets, OptionalErrorChain } from "../../internal/SerializedError.ts"
import { ByHand } from "../../services/ByHand.ts"
import * as Body from "./Body.ts"
import * as Get from "./Get.ts"
import { conditionsOf, type Headers, readHeaders, validatorsOf } from "./headers.ts"
import { DownloadFailed, originOf, passes, RetryAfter, retryAfter, withRetries } from "./httpFailure.ts"
import { naming } from "./localAddress.ts"
import { hideSecrets, SentSecrets } from "./secrets.ts"

/**
 * The response of a server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer {
  /** The address of the response, after all redirects. */
  readonly url: string
  readonly status: number
  /** Names in small letters. For an unchanged response, the current headers of the server. */
  readonly headers: Headers
  readonly text: string
}

/**
 * A request that was given up. It contains none of the sent secrets.
 *
 * @since 0.1.0
 * @category errors
 */
export class RequestFailed extends Schema.TaggedError<RequestFailed>()("vitrine/RequestFailed", {
  /** Without query and credentials, which may be secrets. */
  url: Schema.String,
  detail: Schema.String,
  /** HTTP status, if the status is the problem. */
  status: Schema.optional(Schema.Number),
  /** The body of the response with this status, at most 64 KiB. Not for messages as it is. */
  body: Schema.optional(Schema.String),
  /** The origin that it redirects to, if redirects are not followed. */
  redirectsTo: Schema.optional(Schema.String),
  /** `Answer`: there was a response. `Timeout`: the server was too slow. Default neither. */
  reason: Schema.optional(Schema.Literal("Answer", "Timeout")),
  /** Whether a later try may succeed without anybody doing something. */
  isTransient: Schema.Boolean,
  retryAfter: RetryAfter,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `${this.url}: ${this.detail}`
  }

  /** The JSON of the response; `undefined` if it is not JSON. */
  get said(): unknown {
    return Option.getOrUndefined(parse(this.body ?? ""))
  }
}

const parse = Schema.decodeOption(Schema.parseJson())

/**
 * The limits of requests, and their allowed hosts.
 *
 * @since 0.1.0
 * @category models
 */
export interface RequestOptions extends Get.Limits {
  /** The most bytes of a response, compressed and decompressed. */
  readonly maxBytes: number
  /** The name of this limit in the configuration. Default `maxBytes`; no name if it is empty. */
  readonly maxBytesOption?: string
  /** The URLs in the configuration: their hosts may be local. Default the URL of each request. */
  readonly urls?: ReadonlyArray<string>
}

/** A request. */
export interface Request<E = never> extends Get.RequestOptions {
  readonly url: string
  /** Whether the cached response is returned if the server says that nothing has changed. Default false. */
  readonly remembers?: boolean
  /**
   * Whether only the status counts: of a successful response, the text is what comes in time, at most 64 KiB; it may be
   * empty. The text of any other response is not read. Default false.
   */
  readonly isStatusOnly?: boolean
  /**
   * For a response that lasts as long as the connection. Called when the response begins; returns the function that
   * gets the text while it arrives. The returned response has no text, and its size has no limit.
   */
  readonly listen?: (
    begun: Omit<Answer, "text">
  ) => Effect.Effect<(text: string) => Effect.Effect<void, E>, E>
  /** Sent only to the origin of the URL. */
  readonly headers?: Headers
}

/** Sends requests, with retries and limits. */
export interface Requests {
  /** One try each time it runs. If the body could not be decoded, the next try requests it without a coding. */
  readonly attempt: <E = never>(request: Request<E>) => Effect.Effect<Answer, RequestFailed | E>

  /** A transient failure is retried, three times at most. */
  readonly ask: (request: Request) => Effect.Effect<Answer, RequestFailed>

  /** The current response of a URL. If it has not changed since the last call, it is not transferred again. */
  readonly get: (url: string, headers?: Headers) => Effect.Effect<Answer, RequestFailed>
}

/** Requests through the proxy of the environment. They fail with `RequestFailed`. */
export const make = Effect.fnUntraced(function* (
  options: RequestOptions
): Effect.fn.Return<Requests, never, HttpClient.HttpClient> {
  const send = yield* Get.make(options)
  const remembered = makeRememberedAnswers()

  const attempt: Requests["attempt"] = <E = never>(request: Request<E>) => {
    const { headers = {}, remembers = false, url } = request
    const { urls = [url] } = options
    const tries: Tries = { coding: "gzip", isAnswered: false, before: undefined }
    return Effect.flatMap(Effect.all([SentSecrets, ByHand]), ([sent, byHand]) => {
      sent.add(headers, options.urls ?? [])
      tries.isAnswered = false
      tries.before = remembers ? remembered.find(url, headers, byHand) : undefined
      const all = { "accept-encoding": tries.coding, ...headers, ...tries.before?.conditions }
      return send(url, all, (response) => readAnswer(response, request, options, tries), request)
    }).pipe(
      naming(...urls),
      Effect.mapBoth({
        onFailure: (error) =>
          withoutSecrets(failureOf(error, url, tries.isAnswered), hideSecrets(url, headers)),
        onSuccess: (answer) => {
          if (remembers) remembered.add(url, headers, answer)
          return answer
        }
      })
    )
  }

  const ask: Requests["ask"] = (request) => withRetries(attempt(request))
  return { attempt, ask, get: (url, headers = {}) => ask({ url, headers, remembers: true }) }
})

/** The tries of a request. */
interface Tries {
  /** The coding that the next try accepts. */
  coding: "gzip" | "identity"
  /** Whether the last try got a response. */
  isAnswered: boolean
  /** The cached response that the last try asked about. */
  before: ReturnType<ReturnType<typeof makeRememberedAnswers>["find"]>
}

/** Reads a response. A status that is no success is a failure. */
const readAnswer = Effect.fnUntraced(function* <E>(
  response: Body.Response,
  { body, isStatusOnly = false, listen, method = "GET" }: Request<E>,
  { maxBytes, maxBytesOption = "maxBytes", maxTimeout }: RequestOptions,
  tries: Tries
): Effect.fn.Return<Answer, RequestFailed | DownloadFailed | E> {
  const { status, url } = response
  const headers = readHeaders(response.headers)
  if (status === 304 && tries.before !== undefined) return renewed(tries.before.answer, headers)
  tries.isAnswered = true
  const isNotReady = status === 202 && method === "GET" && body === undefined
  const inTime = Body.readText(response, maxErrorBytes).pipe(
    withTimeout(Math.min(maxTextMillis, maxTimeout / 2), () => "TooLate" as const),
    Effect.orElseSucceed(() => "")
  )
  if (status < 200 || status > 299 || isNotReady) {
    return yield* refused(response, isStatusOnly ? "" : plainJson(yield* inTime))
  }
  const begun = { url: url.href, status, headers }
  if (listen !== undefined) {
    yield* Body.forEachText(response, yield* listen(begun))
    return { ...begun, text: "" }
  }
  if (isStatusOnly) return { ...begun, text: yield* inTime }
  const text = yield* Effect.tapError(Body.readText(response, maxBytes, maxBytesOption || undefined), () =>
    Effect.sync(() => {
      tries.coding = "identity"
    })
  )
  return { ...begun, text: text.replace(/^\s*\ufeff/, "") }
})

/** The failure for a status that is no success. */
const refused = Effect.fnUntraced(function* (response: Body.Response, body: string) {
  const { status, url } = response
  const { location } = readHeaders(response.headers)
  const message = serverMessage(body)
  const isTransient = passes(status)
  return yield* new RequestFailed({
    url: printableUrl(url.href),
    detail: `the server responds with HTTP ${status}${message === "" ? "" : `: "${excerpt(message)}"`}`,
    status,
    body,
    redirectsTo: location === undefined ? undefined : originOf(location),
    reason: "Answer",
    isTransient,
    retryAfter: isTransient ? yield* retryAfter(response) : undefined
  })
})

const failureOf = <E>(error: DownloadFailed | E, url: string, isAnswered: boolean) =>
  error instanceof DownloadFailed
    ? new RequestFailed({
        url: printableUrl(url),
        detail: error.detail,
        reason: error.isTimeout ? "Timeout" : isAnswered ? "Answer" : undefined,
        isTransient: error.isTransient,
        retryAfter: error.retryAfter,
        cause: error
      })
    : error

/** The failure without the sent secrets: servers may repeat them. */
const withoutSecrets = <E>(error: E, hide: (text: string) => string) =>
  error instanceof RequestFailed
    ? new RequestFailed({
        ...error,
        url: hide(error.url),
        detail: hide(error.detail),
        body: error.body && hide(error.body),
        redirectsTo: error.redirectsTo && hide(error.redirectsTo),
        cause: causeWithoutSecrets(error.cause, hide)
      })
    : error

/** In milliseconds. The status says enough, so the text of the server is not waited for any longer. */
const maxTextMillis = 5000

/** In bytes: the longest text of a server in an error. */
const maxErrorBytes = 64 * 1024

/** JSON without escaped letters, which could hide a secret; any other text stays as it is. */
const plainJson = (text: string): string =>
  Option.getOrElse(
    Option.flatMap(
      parse(text),
      Option.liftThrowable((json) => JSON.stringify(json))
    ),
    () => text
  )

/** The message of the server, from its JSON. */
const serverMessage = (body: string): string =>
  Option.match(decodeRefusal(body), {
    onNone: () => "",
    onSome: ({ detail, error, message }) =>
      message ?? (Predicate.isString(error) ? error : error?.message) ?? detail ?? ""
  })

const decodeRefusal = Schema.decodeOption(
  Schema.parseJson(
    Schema.Struct({
      message: Schema.optional(Schema.String),
      error: Schema.optional(Schema.Union(Schema.String, Schema.Struct({ message: Schema.String }))),
      detail: Schema.optional(Schema.String)
    })
  )
)

/** The address without the parts that may be secret. */
export const printableUrl = (address: string): string => {
  if (!URL.canParse(address)) return "an invalid address"
  const { origin, pathname } = new URL(address)
  return printableLine(`${origin}${pathname}`, 200)
}

const maxCharacters = 16 * 1024 * 1024

export const makeRememberedAnswers = () => {
  /** The most recently used response comes last. */
  const answers = new Map<string, Answer>()
  let characters = 0

  const keyOf = (url: string, headers: Headers): string => JSON.stringify([url, headers])

  const remove = (key: string): void => {
    const answer = answers.get(key)
    if (answer === undefined) return
    characters -= key.length + answer.text.length
    answers.delete(key)
  }

  return {
    /** The response, with the headers that ask whether it has changed. */
    find: (url: string, headers: Headers, byHand: boolean) => {
      const answer = answers.get(keyOf(url, headers))
      if (answer === undefined) return undefined
      const conditions = conditionsOf(validatorsOf(answer.headers), byHand)
      return Record.isEmptyRecord(conditions) ? undefined : { answer, conditions }
    },

    add: (url: string, headers: Headers, answer: Answer): void => {
      const key = keyOf(url, headers)
      remove(key)
      const { etag, lastModified } = validatorsOf(answer.headers)
      if ((etag ?? lastModified) === undefined || key.length + answer.text.length > maxCharacters) return
      answers.set(key, answer)
      characters += key.length + answer.text.length
      for (const [oldest] of answers) {
        if (characters <= maxCharacters) break
        remove(oldest)
      }
    }
  }
}

/**
 * An unchanged response with its current headers. Headers about the body stay. Keeps the old ETag and date: the new
 * ones, stored without their body, would hide the change.
 */
export const renewed = (answer: Answer, headers: Headers): Answer => ({
  ...answer,
  headers: {
    ...answer.headers,
    ...Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) => !/^(?:content-.*|transfer-encoding|etag|last-modified)$/.test(name)
      )
    )
  }
})
