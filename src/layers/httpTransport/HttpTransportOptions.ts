/**
 * The options of the HTTP/SSE transport (specification, section 2.1).
 */
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeOptions, expects, expectsSecret, optional } from "../../internal/Options.ts"

const integer = (minimum: number, maximum: number) =>
  expects(Schema.Int.pipe(Schema.between(minimum, maximum)), `an integer from ${minimum} to ${maximum}`)

const names = (what: string) =>
  expects(
    Schema.Array(expects(Schema.NonEmptyString, `the name of ${what}`)),
    `an array, each entry the name of ${what}`
  )

const list = (valid: (entry: string) => boolean, what: string) =>
  Schema.optionalWith(
    expects(
      Schema.Array(expects(Schema.String.pipe(Schema.filter(valid)), what)),
      `an array, each entry ${what}`
    ),
    { exact: true }
  )

/** As browsers write it: in small letters, without a path and without the default port. */
const isOrigin = (text: string): boolean =>
  text === "null" ||
  (/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(text) &&
    (!/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text)))

const isHostName = (text: string): boolean => /^(\[[\da-f:.]+\]|[a-z\d._-]+)$/.test(text)

/** What may stand in an `Authorization` header, and cannot be guessed. */
const isToken = (text: unknown): boolean => typeof text === "string" && /^[\w.~+/-]{16,}=*$/.test(text)

/** Declared as one, so that a mistake is reported once and not for each member of a union. */
const TokenInput = Schema.declare((input): input is string | Redacted.Redacted =>
  isToken(Redacted.isRedacted(input) ? Redacted.value(input) : input)
)

const Token = Schema.transform(
  expectsSecret(TokenInput, "a token: at least 16 of the characters A-Z a-z 0-9 - . _ ~ + / (is it set?)"),
  Schema.RedactedFromSelf(Schema.String),
  {
    strict: true,
    decode: (token) => (Redacted.isRedacted(token) ? token : Redacted.make(token)),
    encode: (token) => token
  }
)

export const HttpTransportOptions = Schema.Struct({
  /** Listening port, 0 to 65535; 0 picks a free one. Default 8710. */
  port: optional(integer(0, 65_535), 8710),

  /** Interface to bind. Default `127.0.0.1`: this machine only. */
  host: optional(expects(Schema.NonEmptyString, "the name or address of an interface"), "127.0.0.1"),

  /**
   * Command types that `POST /command` accepts. Any local process and any web page can send them, so only
   * commands without side effects belong here (section 5).
   * Default `content.ack` and `content.manifest.read`.
   */
  allowedCommands: optional(names("a command"), ["content.ack", "content.manifest.read"]),

  /** Names of the events to forward; an entry that ends in `*` is a prefix. Default `content:*`. */
  events: optional(names("an event"), ["content:*"]),

  /**
   * Exact names (no `*`) of the events whose last emission a new client is given first. They must pass `events`
   * too.
   * Default `content:version:promoted`.
   */
  replayEvents: optional(names("an event"), ["content:version:promoted"]),

  /** Time between two `: ping` comments, 1 to 2147483647 ms. Default 15000. */
  keepAliveMs: optional(integer(1, 2_147_483_647), 15_000),

  /** How many event streams may be open at once, 1 to 100000; one more is answered with 503. Default 32. */
  maxClients: optional(integer(1, 100_000), 32),

  /**
   * Whether each request is a span, `http.server GET` for example, but for those with a query: it may have the token.
   * Default false.
   */
  traceRequests: Schema.optionalWith(expects(Schema.Boolean, "true or false"), { exact: true }),

  /** Whether `GET /state` gives the global state away. Default false. */
  exposeState: optional(expects(Schema.Boolean, "true or false"), false),

  /**
   * Origins of the pages that may send requests and read responses, such as `http://127.0.0.1:8720`; `null` is that
   * of `file://` pages, and of every sandboxed frame. Others are answered with 403. Requests that no page sends have
   * no origin and are not affected. Default: pages of every origin may.
   */
  allowedOrigins: list(isOrigin, 'an origin as browsers send it, such as "http://127.0.0.1:8720", or "null"'),

  /**
   * Names that the `Host` header may have, without a port; others are answered with 403. It ends DNS rebinding.
   * Default: every name.
   */
  allowedHosts: list(
    isHostName,
    'a host name or an address in small letters without a port, such as "localhost" or "[::1]"'
  ),

  /** Whether `POST` without `Content-Type: application/json` is answered with 415. Default false. */
  requireJson: Schema.optionalWith(expects(Schema.Boolean, "true or false"), { exact: true }),

  /**
   * A secret that every request must carry, as `Authorization: Bearer TOKEN` or, for `GET /events`, as `?token=TOKEN`;
   * others are answered with 401. It is never shown. Default none.
   */
  token: Schema.optionalWith(Token, { exact: true })
})
export type HttpTransportOptions = typeof HttpTransportOptions.Type

/** The options as a user writes them: all of them may be left out. */
export type HttpTransportConfig = typeof HttpTransportOptions.Encoded

/** The options of the transport on somebody else's server. */
export const RoutesOptions = Schema.Struct({
  ...HttpTransportOptions.omit("host", "port", "traceRequests").fields,

  /** In front of each path: `/vitrine` for `/vitrine/events`. Default none. */
  prefix: optional(
    expects(
      Schema.String.pipe(Schema.pattern(/^(\/[\w.~-]+)*$/)),
      'a path such as "/vitrine", without a slash at its end'
    ),
    ""
  )
})
export type RoutesOptions = typeof RoutesOptions.Type
export type RoutesConfig = typeof RoutesOptions.Encoded

export const decode = decodeOptions("the options of the HTTP transport", HttpTransportOptions)

export const decodeRoutes = decodeOptions("the options of the HTTP transport", RoutesOptions)
