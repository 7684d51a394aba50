/**
 * Asking servers for documents: retries, limits, and answers that have not changed since they were asked for last.
 *
 * What an answer means, and what to do about a refusal, is said by the source.
 */
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Delimiter } from "../../internal/csvHeader.ts"
import type { CsvRecord } from "../../internal/csvText.ts"
import { placeText } from "../../internal/editedText.ts"
import { excerpt, printableLine } from "../../internal/printable.ts"
import { OptionalErrorChain } from "../../internal/SerializedError.ts"
import { TooMuch } from "../../internal/valueCount.ts"
import * as Body from "../httpClient/Body.ts"
import type { DownloadFailed } from "../httpClient/DownloadFailed.ts"
import type { DownloadPace } from "../httpClient/DownloadPace.ts"
import * as Get from "../httpClient/Get.ts"
import { Retryable, retryAfter, withRetries } from "../httpClient/HttpFailure.ts"
import { naming } from "../httpClient/localAddress.ts"
import * as outsideText from "./outsideText.ts"
import { makeRememberedAnswers } from "./rememberedAnswers.ts"

/** What a server answered. */
export interface Answer {
  /** Where it came from, to the end of all redirects. */
  readonly url: string
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A request that was given up. */
export class RequestFailed extends Schema.TaggedError<RequestFailed>()("vitrine/RequestFailed", {
  /** Without its query and its credentials, which may be secrets. */
  url: Schema.String,
  detail: Schema.String,
  /** HTTP status, where that is what is wrong. */
  status: Schema.optional(Schema.Number),
  /** What the server answered with that status, of 64 KiB at most. Not for messages as it is. */
  body: Schema.optional(Schema.String),
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.Boolean,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `${this.url}: ${this.detail}`
  }
}

/** The limits of requests. */
export interface RequestOptions {
  /** Milliseconds for each response to begin, and for every pause in it. */
  readonly maxTimeout: number
  /** The URLs that the configuration names: their hosts may be local ones. Default those that the caller names (`naming`). */
  readonly urls?: ReadonlyArray<string>
  /** The most that a response may have, compressed and decompressed, in bytes. */
  readonly maxBytes: number
}

type Failed = RequestFailed | DownloadFailed

/** What asks servers, with retries and limits. */
export type Requests = Effect.Effect.Success<ReturnType<typeof make>>

/**
 * Requests through the proxy of the environment: `get`, `getJson` and `post`, which fail with `RequestFailed`. A try that may succeed
 * later is made again, three times at most. What has not changed since it was asked for last is not sent again.
 */
export const make = Effect.fnUntraced(function* ({ maxBytes, maxTimeout, urls }: RequestOptions) {
  const requested = yield* Get.make(maxTimeout)
  const send: Get.Get = (...request) =>
    urls === undefined ? requested(...request) : naming(...urls)(requested(...request))
  const remembered = makeRememberedAnswers()

  /** What a URL answers now. `headers` go to its origin only. */
  const get = (url: string, headers: Get.Headers = {}): Effect.Effect<Answer, RequestFailed> => {
    const before = remembered.find(url, headers)
    return settled(
      url,
      send(url, { ...headers, ...before?.conditions, "accept-encoding": "gzip" }, (response, pace) =>
        response.status === 304 && before !== undefined
          ? Effect.succeed(before.answer)
          : Effect.tap(read(response, pace, maxBytes), (answer) =>
              Effect.sync(() => remembered.add(url, headers, answer))
            )
      )
    )
  }

  /** What a URL answers to JSON, for questions that are too long for a URL. Nothing is remembered. */
  const post = (url: string, headers: Get.Headers, body: unknown): Effect.Effect<Answer, RequestFailed> =>
    settled(
      url,
      send(
        url,
        { ...headers, "accept-encoding": "gzip" },
        (response, pace) => read(response, pace, maxBytes),
        JSON.stringify(body)
      )
    )

  /** The JSON that a URL answers, with where it came from. */
  const getJson = (url: string, headers: Get.Headers = {}) =>
    Effect.flatMap(get(url, { accept: "application/json", ...headers }), (answer) =>
      Effect.map(parseJson(answer), (json) => ({ ...answer, json }))
    )

  return { get, getJson, post }
})

/** After all tries. */
const settled = (url: string, attempt: Effect.Effect<Answer, Failed | Retryable<Failed>>) =>
  Effect.mapError(withRetries<Answer, Failed, Failed, never>(attempt), (error) =>
    error instanceof RequestFailed
      ? error
      : new RequestFailed({
          url: shownUrl(url),
          detail: error.detail,
          isTransient: error.isTransient,
          cause: error
        })
  )

const read = (response: HttpClientResponse.HttpClientResponse, pace: DownloadPace, maxBytes: number) =>
  Effect.gen(function* () {
    const { headers, request, status } = response
    if (status < 200 || status > 299) {
      const body = yield* Effect.orElseSucceed(Body.readText(response, pace, maxErrorBytes), () => "")
      const isTransient = status === 429 || status >= 500
      const failed = new RequestFailed({
        url: shownUrl(request.url),
        detail: `the server responds with HTTP ${status}${wordsOf(request, body)}`,
        status,
        body,
        isTransient
      })
      return yield* Effect.fail(isTransient ? new Retryable(failed, yield* retryAfter(response)) : failed)
    }
    yield* Body.accept(response, "gzip", new Set([status]))
    const text = yield* Body.readText(response, pace, maxBytes, "maxBytes")
    return { url: request.url, headers, text: text.replace(/^\ufeff/, "") } satisfies Answer
  })

/** Of what a server says to an error. */
const maxErrorBytes = 64 * 1024

/** What the server says in JSON, in its own words; nothing where these repeat what may be a secret. */
const wordsOf = ({ headers, url }: HttpClientRequest.HttpClientRequest, body: string): string => {
  const words = Option.match(decodeRefusal(body), {
    onNone: () => "",
    onSome: (refusal) => ("message" in refusal ? refusal.message : refusal.error.message)
  })
  const { password, searchParams } = new URL(url)
  const sent = [
    ...Object.values(headers).flatMap((value) => value.split(" ")),
    ...searchParams.values(),
    password
  ]
  const secrets = sent.filter(({ length }) => length >= leastSecret)
  return words === "" || secrets.some((secret) => words.includes(secret)) ? "" : `: "${excerpt(words)}"`
}

const decodeRefusal = Schema.decodeOption(
  Schema.parseJson(
    Schema.Union(
      Schema.Struct({ message: Schema.String }),
      Schema.Struct({ error: Schema.Struct({ message: Schema.String }) })
    )
  )
)

/** What is shorter can be guessed: a number of a page, a language. */
const leastSecret = 8

/** The JSON of an answer. */
export const parseJson = ({ headers, text, url }: Answer): Effect.Effect<unknown, RequestFailed> =>
  Effect.mapError(outsideText.parseJson(text), (mistake) => {
    const type = printableLine(headers["content-type"] ?? "no type", 100)
    const isPage = /^\s*</.test(text)
    return unreadable(
      url,
      mistake instanceof TooMuch
        ? mistake.problem
        : `this is no JSON (${type})${isPage ? ": it looks like a web page, perhaps one to log in" : ""}`
    )
  })

/** The rows of CSV as records. */
export const parseCsv = (
  { text, url }: Answer,
  delimiter?: Delimiter
): Effect.Effect<ReadonlyArray<CsvRecord>, RequestFailed> =>
  /^\s*<(!doctype|html)/i.test(text)
    ? unreadable(url, "this is no CSV: it looks like a web page, perhaps one to log in")
    : Effect.mapError(outsideText.parseCsv(text, delimiter), (mistake) =>
        unreadable(
          url,
          mistake instanceof TooMuch
            ? mistake.problem
            : `${placeText("this is no CSV", mistake)}: ${mistake.problem}`
        )
      )

const unreadable = (url: string, detail: string) =>
  new RequestFailed({ url: shownUrl(url), detail, isTransient: false })

/** Without what may be secret in it. */
const shownUrl = (address: string): string => {
  if (!URL.canParse(address)) return "an address that is none"
  const { origin, pathname } = new URL(address)
  return printableLine(`${origin}${pathname}`, 200)
}
