/**
 * Faults that the table server can be told to have, as they are written:
 *
 * ```
 * WHERE WHAT [retry-after=SECONDS] [xCOUNT] [every=NUMBER]
 * ```
 *
 * WHERE is one of `places`, or the name or id of a table, which may have spaces. WHAT is a status from
 * 400 to 599, answered with the API's body for it and with `Retry-After` if that is given, or one of `manners`.
 * Without more, every request has the fault; `xCOUNT` gives it to so many, `every=NUMBER` to every NUMBERth request.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { InvalidFault } from "../../../services/TableServer.ts"

/** What can go wrong with every response, beside a status. */
const anyResponse = {
  quota: "429, the monthly quota is spent",
  html: "200 with a web page",
  "no-records": "200 with an empty object",
  short: "the first half of the answer as if it were all: broken JSON, a file cut off",
  cut: "the connection is closed in the middle of the answer",
  reset: "the connection is reset before an answer",
  slow: "the answer after ten seconds",
  stall: "no answer, ever",
  "stall-body": "the first half of the answer, and nothing more"
} as const

/** What can go wrong with some calls; no other call has it. */
const someCalls = {
  iterator: "422, the offset has expired: of requests with an offset",
  "no-creator": "403, the token may not: of requests to create, refresh and remove a webhook",
  disabled: "the webhooks of the base have expired: of requests about webhooks",
  deleted: "the webhooks of the base are gone: of requests about webhooks",
  "invalid-filters": "a payload with the error INVALID_FILTERS: of listings of payloads, as are all below",
  "invalid-hook": "a payload with the error INVALID_HOOK",
  "internal-error": "a payload with the error INTERNAL_ERROR",
  "unknown-error": "a payload with an error that no client knows",
  dropped: "the payloads are dropped as after a week, one at least",
  endless: "more payloads than the page has, every time"
} as const

export const manners = { ...anyResponse, ...someCalls }

export type CallManner = keyof typeof someCalls

type Manner = keyof typeof manners

const isManner = (text: string): text is Manner => Object.hasOwn(manners, text)

/** What a fault can be about, beside the name or id of a table. `webhooks` has `payloads` in it. */
export const places = ["tables", "attachments", "webhooks", "payloads", "schema", "all"] as const

export const Fault = Schema.Struct({
  /** As it was written. */
  text: Schema.String,
  where: Schema.String,
  what: Schema.Union(
    Schema.Number,
    Schema.declare((value): value is Manner => isManner(String(value)))
  ),
  /** In seconds. */
  retryAfter: Schema.optionalWith(Schema.Number, { exact: true }),
  /** How many requests have it at most. */
  count: Schema.Number,
  /** Every nth request has the fault. */
  every: Schema.Number
})
export type Fault = typeof Fault.Type

/** A fault that every response can have. */
export type ResponseFault = Fault & { readonly what: number | keyof typeof anyResponse }

export const isOfResponse = (fault: Fault): fault is ResponseFault =>
  typeof fault.what === "number" || Object.hasOwn(anyResponse, fault.what)

export const parseFault = (text: string): Either.Either<Fault, InvalidFault> => {
  const { count, every, retryAfter, what = "", where = "" } = form.exec(text)?.groups ?? {}
  const isStatus = /^[45]\d\d$/.test(what)
  return where !== "" && (isStatus || (isManner(what) && retryAfter === undefined))
    ? Either.right({
        text,
        where: where.normalize(),
        what: isManner(what) ? what : Number(what),
        ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }),
        count: count === undefined ? Number.POSITIVE_INFINITY : Number(count),
        every: every === undefined ? 1 : Number(every)
      })
    : Either.left(new InvalidFault({ text, expected }))
}

const form =
  /^\s*(?<where>\S.*?)\s+(?<what>[a-z0-9-]+)(?:\s+retry-after=(?<retryAfter>\d{1,6}))?(?:\s+x(?<count>[1-9]\d{0,8}))?(?:\s+every=(?<every>[1-9]\d{0,8}))?\s*$/

/** What a text must be to be a fault. */
export const expected = `"WHERE WHAT [retry-after=SECONDS] [xCOUNT] [every=NUMBER]", as in "Objects 503 x2", where WHERE is ${places.join(", ")} or a table, and WHAT a status from 400 to 599 or ${Object.keys(manners).join(", ")}`

/** A fault from its text. */
export const FaultFromText = Schema.transformOrFail(Schema.String, Fault, {
  strict: true,
  decode: (text, _, ast) =>
    Either.mapLeft(parseFault(text), ({ message }) => new ParseResult.Type(ast, text, message)),
  encode: ({ text }) => Either.right(text)
})
