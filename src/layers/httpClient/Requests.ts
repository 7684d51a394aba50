/**
 * Asking servers: where requests may lead, credentials, retries, limits, and answers that have not changed since they were asked for last.
 *
 * The caller decides what to request, what a response means, and what to do about an error status.
 *
 * Answers that a server can say of that they have not changed, in memory: 16 MiB of text, those that were used last.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { excerpt, printableLine } from "../../internal/printable.ts"
import { causeWithoutSecrets, OptionalErrorChain } from "../../internal/SerializedError.ts"
import * as Body from "./Body.ts"
import * as Get from "./Get.ts"
import { type Headers, mayChangeUnseen, readHeaders } from "./headers.ts"
import {
  DownloadFailed,
  originOf,
  passes,
  RetryAfter,
  retryAfter,
  withRetries,
  withTimeout
} from "./httpFailure.ts"
import { naming } from "./localAddress.ts"
import { hideSecrets, SentSecrets } from "./secrets.ts"

/** What a server answered. */
export interface Answer {
  /** Where it came from, to the end of all redirects. */
  readonly url: string
  readonly status: number
  /** Names in small letters; of an answer that has not changed, as the server gives them now. */
  readonly headers: Headers
  readonly text: string
}

/** A request that was given up. None of the secrets that were sent is in it. */
export class RequestFailed extends Schema.TaggedError<RequestFailed>()("vitrine/RequestFailed", {
  /** Without its query and its credentials, which may be secrets. */
  url: Schema.String,
  detail: Schema.String,
  /** HTTP status, where that is what is wrong. */
  status: Schema.optional(Schema.Number),
  /** What the server answered with that status, of 64 KiB at most. Not for messages as it is. */
  body: Schema.optional(Schema.String),
  /** The origin that it redirects to, where that is not followed. */
  redirectsTo: Schema.optional(Schema.String),
  /** Whether there was an answer, or the server was too slow for that. Default neither. */
  reason: Schema.optional(Schema.Literal("Answer", "Timeout")),
  /** Whether another try may succeed later without anybody doing something. */
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

/** The limits of requests, and where they may lead. */
export interface RequestOptions extends Get.Limits {
  /** The most that a response may have, compressed and decompressed, in bytes. */
  readonly maxBytes: number
  /** What the user calls that limit. Default `maxBytes`; none where it is empty. */
  readonly maxBytesOption?: string
  /** The URLs that the configuration names: their hosts may be local ones. Default each that is asked for. */
  readonly urls?: ReadonlyArray<string>
}

/** What is asked. */
export interface Request<E = never> extends Get.RequestOptions {
  readonly url: string
  /** Whether an answer that the server says has not changed is the one from before. Default false. */
  readonly remembers?: boolean
  /** Whether the status is all that counts: the body is not read. Default false. */
  readonly isStatusOnly?: boolean
  /**
   * For an answer that comes for as long as the connection lasts: told of it when it begins, and gives what is done with its text while that
   * comes. The answer has none then, and no limit of its size.
   */
  readonly listen?: (
    begun: Omit<Answer, "text">
  ) => Effect.Effect<(text: string) => Effect.Effect<void, E>, E>
  /** Go to the origin of the URL only. */
  readonly headers?: Headers
}

/** What asks servers, with retries and limits. */
export interface Requests {
  /** One try each time it runs. What could not be unpacked is asked for without a coding at the next. */
  readonly attempt: <E = never>(request: Request<E>) => Effect.Effect<Answer, RequestFailed | E>

  /** A try that may succeed later is made again, three times at most. */
  readonly ask: (request: Request) => Effect.Effect<Answer, RequestFailed>

  /** What a URL answers now. What has not changed since it was asked for last is not sent again. */
  readonly get: (url: string, headers?: Headers) => Effect.Effect<Answer, RequestFailed>
}

/** Requests through the proxy of the environment, which fail with `RequestFailed`. */
export const make = Effect.fnUntraced(function* ({
  maxBytes,
  maxBytesOption = "maxBytes",
  urls,
  ...limits
}: RequestOptions): Effect.fn.Return<Requests, never, HttpClient.HttpClient> {
  const { maxTimeout } = limits
  const requested = yield* Get.make(limits)
  const remembered = makeRememberedAnswers()
  const option = maxBytesOption === "" ? undefined : maxBytesOption

  const attempt: Requests["attempt"] = <E = never>({
    headers = {},
    isStatusOnly = false,
    listen,
    remembers = false,
    url,
    ...options
  }: Request<E>) => {
    let coding = "gzip"
    let isAnswered = false
    let before: ReturnType<typeof remembered.find>
    const isRead = (options.method ?? "GET") === "GET" && options.body === undefined

    const read = Effect.fnUntraced(function* (
      response: Body.Response
    ): Effect.fn.Return<Answer, RequestFailed | DownloadFailed | E> {
      const {
        status,
        url: { href }
      } = response
      const headers = readHeaders(response.headers)
      if (status === 304 && before !== undefined) return renewed(before.answer, headers)
      isAnswered = true
      const isNotReady = status === 202 && isRead
      if (status >= 200 && status <= 299 && !isNotReady) {
        const begun = { url: href, status, headers }
        if (listen !== undefined) {
          const use = yield* listen(begun)
          yield* Body.forEachText(response, use)
        }
        if (isStatusOnly || listen !== undefined) return { ...begun, text: "" }
        const text = yield* Effect.tapError(Body.readText(response, maxBytes, option), () =>
          Effect.sync(() => {
            coding = "identity"
          })
        )
        return { ...begun, text: text.replace(/^\s*\ufeff/, "") }
      }
      const body = isStatusOnly
        ? ""
        : yield* Body.readText(response, maxErrorBytes).pipe(
            withTimeout(Math.min(maxWordsMillis, maxTimeout / 2), () => "TooLate" as const),
            Effect.orElseSucceed(() => ""),
            Effect.map(plainJson)
          )
      const words = wordsOf(body)
      const isTransient = passes(status)
      return yield* new RequestFailed({
        url: shownUrl(href),
        detail: `the server responds with HTTP ${status}${words === "" ? "" : `: "${excerpt(words)}"`}`,
        status,
        body,
        redirectsTo: headers.location === undefined ? undefined : originOf(headers.location),
        reason: "Answer",
        isTransient,
        retryAfter: isTransient ? yield* retryAfter(response) : undefined
      })
    })

    const settled = <E>(error: DownloadFailed | RequestFailed | E) =>
      withoutSecrets(
        error instanceof DownloadFailed
          ? new RequestFailed({
              url: shownUrl(url),
              detail: error.detail,
              reason: error.isTimeout ? "Timeout" : isAnswered ? "Answer" : undefined,
              isTransient: error.isTransient,
              retryAfter: error.retryAfter,
              cause: error
            })
          : error,
        hideSecrets(url, headers)
      )

    const send = Effect.flatMap(SentSecrets, (sent) => {
      isAnswered = false
      sent.add(headers, urls ?? [])
      before = remembers ? remembered.find(url, headers) : undefined
      return requested(url, { "accept-encoding": coding, ...headers, ...before?.conditions }, read, options)
    })
    return send.pipe(
      naming(...(urls ?? [url])),
      Effect.mapBoth({
        onFailure: settled,
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

/** The failure without what was sent: servers may repeat it. */
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

/** The status says enough: what the server says about it is not waited for any longer. */
const maxWordsMillis = 5000

/** The longest text of a server in an error. */
const maxErrorBytes = 64 * 1024

/** JSON in which no letter is written as its number, as a secret might be; another text as it is. */
const plainJson = (text: string): string =>
  Option.getOrElse(
    Option.flatMap(
      parse(text),
      Option.liftThrowable((json) => JSON.stringify(json))
    ),
    () => text
  )

/** What the server says in JSON, in its own words. */
const wordsOf = (body: string): string =>
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

/** Without what may be secret in it. */
export const shownUrl = (address: string): string => {
  if (!URL.canParse(address)) return "an address that is none"
  const { origin, pathname } = new URL(address)
  return printableLine(`${origin}${pathname}`, 200)
}

const maxCharacters = 16 * 1024 * 1024

export const makeRememberedAnswers = () => {
  /** The one that was used last comes last. */
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
    /** With the headers that ask whether it is still the same. */
    find: (url: string, headers: Headers) => {
      const answer = answers.get(keyOf(url, headers))
      if (answer === undefined) return undefined
      const { etag, "last-modified": modified } = answer.headers
      const conditions: Headers =
        etag === undefined ? { "if-modified-since": modified ?? "" } : { "if-none-match": etag }
      return { answer, conditions }
    },

    add: (url: string, headers: Headers, answer: Answer): void => {
      const key = keyOf(url, headers)
      remove(key)
      const { etag, "last-modified": modified } = answer.headers
      const isProvable = (etag ?? modified) !== undefined && !mayChangeUnseen(answer.headers)
      if (!isProvable || key.length + answer.text.length > maxCharacters) return
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
 * An answer that has not changed, with the headers that now say so; those about its body stay, its tag and its date among them. Under those
 * of a body that did not come, this one would not change any more.
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
