/**
 * Schemas of options that several folders use: secrets, durations, days, addresses, and those that servers
 * have in common.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, expectsSecret, omittable, optional } from "./Options.ts"

/** The text of a secret; `None` if it was wiped, or made with another copy of Effect. */
const textOf = Option.liftThrowable((input: unknown) =>
  Redacted.isRedacted(input) ? Redacted.value(input) : input
)

/** One declaration, so that a mistake is reported once and not for each member of a union. */
const readable = (valid: (text: string) => boolean) =>
  Schema.declare((input): input is string | Redacted.Redacted =>
    Option.exists(textOf(input), (text) => Predicate.isString(text) && valid(text))
  )

/** How to set a variable, for messages about secrets, which usually come from the environment. */
export const envFileHint = "--env-file .env reads a file"

export const ifUnset = `(is the environment variable set? ${envFileHint})`

/** A valid secret. The message of a mistake says what is expected, and shows nothing of the secret. */
export const secret = (valid: (text: string) => boolean, what: string) =>
  Schema.transform(expectsSecret(readable(valid), what), Schema.RedactedFromSelf(Schema.String), {
    strict: true,
    decode: (secret) => (Redacted.isRedacted(secret) ? secret : Redacted.make(secret)),
    encode: (secret) => secret
  })

/** Whether the text is an existing day, such as `2026-11-21`. `Date` alone would turn 30 February into 2 March. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  Option.exists(DateTime.make(text), (date) => DateTime.formatIsoDateUtc(date) === text)

type Bounds = { readonly minimum: Duration.DurationInput; readonly maximum: Duration.DurationInput }

const isWithin = (value: unknown, bounds: Bounds): boolean =>
  Option.exists(Duration.decodeUnknown(value), Duration.between(bounds))

/** `"10 minutes"`, milliseconds, or a `Duration`. `what` says in the message what it must be. */
export const durationWithin = (bounds: Bounds, what: string) =>
  expects(
    Schema.declare(
      (value): value is Duration.DurationInput =>
        (isPlain(value) || Duration.isDuration(value)) && isWithin(value, bounds)
    ),
    what
  )

const isPlain = (value: unknown): value is string | number =>
  Predicate.isString(value) || Predicate.isNumber(value)

const usual: Bounds = { minimum: "1 second", maximum: "24 days" }
const usualText = 'a duration such as "10 minutes" or "30 seconds", from 1 second to 24 days'

export const duration = durationWithin(usual, usualText)

/** As `duration`, for programs without Effect. */
export const plainDuration = expects(
  Schema.declare((value): value is string | number => isPlain(value) && isWithin(value, usual)),
  usualText
)

/** The duration of such an option. */
export const ofPlain = (value: string | number): Duration.Duration =>
  Option.getOrThrow(Duration.decodeUnknown(value))

/** Whether it is an http or https URL without credentials. */
export const isHttpUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { password, protocol, username } = new URL(text)
  return /^https?:$/.test(protocol) && username === "" && password === ""
}

/** As `isHttpUrl`, for an address that other addresses begin with: without query, fragment or white space. */
export const isHttpBase = (text: string): boolean => !/[\s?#]/.test(text) && isHttpUrl(text)

/** The longest wait for the begin of a response, and for each pause in it, in milliseconds. */
export const maxTimeout = (usual = 60_000) =>
  optional(
    expects(Schema.Int.pipe(Schema.between(1, 600_000)), "an integer from 1 to 600000 (milliseconds)"),
    usual
  )

export const integer = (minimum: number, maximum: number) =>
  expects(Schema.Int.pipe(Schema.between(minimum, maximum)), `an integer from ${minimum} to ${maximum}`)

/** An optional list; each entry is checked separately. */
export const list = (valid: (entry: string) => boolean, what: string) =>
  omittable(
    expects(
      Schema.Array(expects(Schema.String.pipe(Schema.filter(valid)), what)),
      `an array, each entry ${what}`
    )
  )

export const port = (defaultPort: number) => optional(integer(0, 65_535), defaultPort)

/** Accepts an IPv6 address with the brackets of a URL, too. */
export const host = optional(
  Schema.transform(expects(Schema.NonEmptyString, "the name or address of an interface"), Schema.String, {
    strict: true,
    decode: (host) => host.replace(/^\[(.+)\]$/, "$1"),
    encode: (host) => host
  }),
  "127.0.0.1"
)

const isHostName = (text: string): boolean => /^(\[[\da-f:.]+\]|[a-z\d._-]+)$/.test(text)

export const allowedHosts = list(
  isHostName,
  'a host name or an address in small letters without a port, such as "localhost" or "[::1]"'
)

/** Characters that an `Authorization` header may contain, and enough of them to prevent guessing. */
const isToken = (text: string): boolean => /^[\w.~+/-]{16,}=*$/.test(text)

export const token = secret(
  isToken,
  `a token: at least 16 of the characters A-Z a-z 0-9 - . _ ~ + / (is it set? ${envFileHint})`
)
