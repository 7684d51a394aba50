/**
 * Faults that the table server can be told to have, as they are written:
 *
 * ```
 * WHERE WHAT [retry-after=SECONDS] [xCOUNT] [every=NUMBER]
 * ```
 *
 * WHERE is `tables`, `attachments`, `all`, or the name or id of a table, which may have spaces. WHAT is a status from
 * 400 to 599, answered with the API's body for it and with `Retry-After` if that is given, or one of `manners`.
 * Without more, every request has the fault; `xCOUNT` gives it to so many, `every=NUMBER` to every NUMBERth request.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { InvalidFault } from "../../../services/TableServer.ts"

/** What can go wrong beside a status. */
export const manners = {
  quota: "429, the monthly quota is spent",
  iterator: "422, the offset has expired; only requests with an offset have it",
  html: "200 with a web page",
  "no-records": "200 with an empty object",
  short: "the first half of the answer as if it were all: broken JSON, a file cut off",
  cut: "the connection is closed in the middle of the answer",
  reset: "the connection is reset before an answer",
  stall: "no answer, ever",
  "stall-body": "the first half of the answer, and nothing more"
} as const

export type Manner = keyof typeof manners

const isManner = (text: string): text is Manner => Object.hasOwn(manners, text)

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
export const expected = `"WHERE WHAT [retry-after=SECONDS] [xCOUNT] [every=NUMBER]", as in "Objects 503 x2", where WHERE is "tables", "attachments", "all" or a table, and WHAT a status from 400 to 599 or ${Object.keys(manners).join(", ")}`

/** A fault from its text. */
export const FaultFromText = Schema.transformOrFail(Schema.String, Fault, {
  strict: true,
  decode: (text, _, ast) =>
    Either.mapLeft(parseFault(text), ({ message }) => new ParseResult.Type(ast, text, message)),
  encode: ({ text }) => Either.right(text)
})
