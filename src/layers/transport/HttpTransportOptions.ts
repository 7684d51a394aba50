/**
 * The options of the HTTP/SSE transport (specification, section 2.1).
 */
import * as Schema from "effect/Schema"
import { decodeOptions, expects, optional } from "../../services/Options.ts"

const integer = (minimum: number, maximum: number) =>
  expects(Schema.Int.pipe(Schema.between(minimum, maximum)), `an integer from ${minimum} to ${maximum}`)

const names = (what: string) =>
  expects(
    Schema.Array(expects(Schema.NonEmptyString, `the name of ${what}`)),
    `an array, each entry the name of ${what}`
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

  /** Whether `GET /state` gives the global state away. Default false. */
  exposeState: optional(expects(Schema.Boolean, "true or false"), false)
})
export type HttpTransportOptions = typeof HttpTransportOptions.Type

/** The options as a user writes them: all of them may be left out. */
export type HttpTransportConfig = typeof HttpTransportOptions.Encoded

export const decode = decodeOptions("the options of the HTTP transport", HttpTransportOptions)
