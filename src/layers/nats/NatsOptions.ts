/**
 * The options of the connection to NATS.
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { decodeOptions, expects, expectsSecret, omittable, optional } from "../../internal/Options.ts"
import { ifUnset, secret } from "../../internal/optionSchemas.ts"

const isServer = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { hash, hostname, password, pathname, protocol, search, username } = new URL(url)
  const rest = `${username}${password}${search}${hash}${pathname.replace(/^\/$/, "")}`
  return /^(nats|tls):$/.test(protocol) && hostname !== "" && rest === ""
}

const isServers = (input: unknown): input is string | ReadonlyArray<string> => {
  const servers: ReadonlyArray<unknown> = Array.isArray(input) ? input : [input]
  return servers.length > 0 && servers.every((server) => Predicate.isString(server) && isServer(server))
}

const notEmpty = secret((text) => text !== "", `a text that is not empty ${ifUnset}`)

const nkeySeed = secret(
  (seed) => /^SU[A-Z2-7]{56}$/.test(seed),
  `the seed of a user, SU and 56 letters and digits ${ifUnset}`
)

const Path = expects(Schema.NonEmptyString, "the path of a file")

/** Files are read for each connection: they may be replaced at any time. */
const Tls = Schema.Struct({
  /** Certificates of the authorities that may sign the server's certificate, instead of those that Node knows. */
  caFile: omittable(Path),

  /** The certificate of this client and its private key, if the server requires them. */
  certFile: omittable(Path),
  keyFile: omittable(Path)
})

/** The credentials of a client; at most one kind. */
const credentials = {
  /** A token; or a user and a password; or the seed of an nkey: as text or `Redacted`. */
  token: omittable(notEmpty),
  user: omittable(expects(Schema.NonEmptyString, "the name of a user")),
  password: omittable(notEmpty),
  nkeySeed: omittable(nkeySeed),

  /** The path of a credentials file, `….creds`, with a JWT and an nkey. Read for each connection. */
  credentialsFile: omittable(Path)
}

export const NatsOptions = Schema.Struct({
  /** The server, or the servers of one cluster. Default `nats://127.0.0.1:4222`. */
  servers: optional(
    expectsSecret(
      Schema.declare(isServers),
      'a URL, or a list of URLs, without credentials or a path, such as "nats://10.0.0.5:4222" or "tls://nats.example.org"'
    ),
    "nats://127.0.0.1:4222"
  ),

  /**
   * The beginning of all subjects and streams. Controllers with the same prefix share events and commands; those with
   * different prefixes do not notice each other. Default `vitrine`.
   */
  prefix: optional(
    expects(
      Schema.String.pipe(Schema.pattern(/^[\w-]{1,64}$/)),
      "up to 64 letters, digits, underscores and hyphens"
    ),
    "vitrine"
  ),

  ...credentials,

  /**
   * Connect only with TLS, and only to a certificate for the name or IP address in the URL: with your own files, or
   * with `{}`. A server whose URL begins with `tls:` always requires TLS.
   */
  tls: omittable(expects(Tls, "an object")),

  /** How many servers of a cluster keep each event; applies when the streams are created. Default 1. */
  replicas: optional(expects(Schema.Int.pipe(Schema.between(1, 5)), "a whole number from 1 to 5"), 1)
})
export type NatsOptions = typeof NatsOptions.Type

/** The options, as a user writes them. */
export type NatsConfig = typeof NatsOptions.Encoded

const consistent = NatsOptions.pipe(
  Schema.filter(({ credentialsFile, nkeySeed, password, tls, token, user }) => {
    const given = Record.keys(
      Record.filter({ credentialsFile, nkeySeed, token, user }, Predicate.isNotUndefined)
    )
    return [
      ...(given.length > 1
        ? [{ path: [], message: `${given.join(" and ")}: only one of them can be used` }]
        : []),
      ...(password !== undefined && user === undefined
        ? [{ path: ["user"], message: "is required with a password" }]
        : []),
      ...((tls?.certFile === undefined) !== (tls?.keyFile === undefined)
        ? [{ path: ["tls"], message: "certFile and keyFile belong together" }]
        : [])
    ]
  })
)

export const decode = decodeOptions("the options of NATS", consistent)
