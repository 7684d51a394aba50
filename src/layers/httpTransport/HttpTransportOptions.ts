/**
 * The schemas of the options of the HTTP/SSE transport (docs/wire.md, section 2.1); `HttpTransportConfig.ts` documents
 * their meaning.
 */
import { constUndefined } from "effect/Function"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeOptions, expects, omittable, optional, type PlacedIssue } from "../../internal/Options.ts"
import {
  allowedHosts,
  durationWithin,
  host,
  integer,
  list,
  port,
  token
} from "../../internal/optionSchemas.ts"
import { printableLine } from "../../internal/printable.ts"
import { matching, unframeable, unsendable } from "./EventEncoder.ts"
import type * as Config from "./HttpTransportConfig.ts"

const names = (what: string, refuse: (name: string) => string | undefined = constUndefined) =>
  expects(
    Schema.Array(expects(Schema.NonEmptyString, `the name of ${what}`).pipe(Schema.filter(refuse))),
    `an array, each entry the name of ${what}`
  )

/**
 * Commands only for the dashboard and the controller's own socket, in every configuration: pages use this transport. The
 * routes refuse these commands of other contents, whose names are known later.
 */
const isForOwner = (command: string): boolean =>
  /^(content\.(accept|screen)|problem\.(mute|unmute))$/.test(command)

export const forOwner = (command: string) =>
  `${JSON.stringify(command)} is for the dashboard and the controller's own socket only`

const commands = names("a command", (command) => (isForOwner(command) ? forOwner(command) : undefined))

/** An origin as browsers write it: in small letters, without a path and without the default port. */
const isOrigin = (text: string): boolean =>
  text === "null" ||
  (/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(text) &&
    (!/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text)))

export const defaultName = "http-transport"

const defaultReplayed = ["content:version:promoted"]

/** Entries of `events` and `replayEvents` that have no effect, except for the default. */
export const withoutEffect = ({
  events,
  replayEvents
}: Pick<HttpTransportOptions, "events" | "replayEvents">): ReadonlyArray<PlacedIssue> => {
  const matches = matching(events)
  const issue = (path: string, name: string, reason: string | undefined) =>
    reason === undefined
      ? []
      : [{ path, message: printableLine(`clients never get ${JSON.stringify(name)}: ${reason}`, 300) }]
  return [
    ...events.flatMap((name, index) =>
      issue(`events[${index}]`, name, name.endsWith("*") ? unframeable(name) : unsendable(name))
    ),
    ...replayEvents.flatMap((name, index) => {
      const reason = matches(name) ? unsendable(name) : 'no entry of "events" includes it'
      const isPattern = name.endsWith("*")
      return issue(
        `replayEvents[${index}]`,
        name,
        isPattern ? "an exact name is needed" : defaultReplayed.includes(name) ? undefined : reason
      )
    })
  ]
}

export const HttpTransportOptions = Schema.Struct({
  port: port(8710),
  name: optional(
    expects(
      Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9-]*$/)),
      'a name such as "screens", of small letters, digits and hyphens'
    ),
    defaultName
  ),
  host,
  allowedCommands: optional(commands, ["content.ack", "content.manifest.read"]),
  events: optional(names("an event"), ["content:*"]),
  replayEvents: optional(names("an event"), defaultReplayed),
  keepAliveMs: optional(
    durationWithin(
      { minimum: "1 milli", maximum: "2147483647 millis" },
      'milliseconds, or a duration such as "15 seconds", from 1 to 2147483647 milliseconds'
    ),
    15_000
  ),
  maxClients: optional(integer(1, 100_000), 32),
  traceRequests: omittable(expects(Schema.Boolean, "true or false")),
  exposeState: optional(expects(Schema.Boolean, "true or false"), false),
  allowedOrigins: list(isOrigin, 'an origin as browsers send it, such as "http://127.0.0.1:8730", or "null"'),
  allowedHosts,
  requireJson: omittable(expects(Schema.Boolean, "true or false")),
  token: omittable(token)
})
export type HttpTransportOptions = typeof HttpTransportOptions.Type

/**
 * The options as a user writes them.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpTransportConfig extends Config.HttpTransportConfig<string | Redacted.Redacted> {
  // The compiler has no name for options without own members.
  readonly port?: number | undefined
}

/** The options of the transport on another server. */
const RoutesOptions = Schema.Struct({
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
/** The options of `HttpTransport.routes`: the options of the transport without its port, and a prefix of its paths. */
export interface RoutesConfig extends Schema.Schema.Encoded<typeof RoutesOptions> {}

export const decode = decodeOptions("the options of the HTTP transport", HttpTransportOptions)

export const decodeRoutes = decodeOptions("the options of the HTTP transport", RoutesOptions)
