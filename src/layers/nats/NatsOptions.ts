/**
 * The options of the connection to NATS.
 */
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeOptions, expects, expectsSecret, optional } from "../../internal/Options.ts"

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

const isSecret = (input: unknown): input is string | Redacted.Redacted => {
  const secret = Redacted.isRedacted(input) ? Redacted.value(input) : input
  return Predicate.isString(secret) && secret !== ""
}

const Secret = expectsSecret(
  Schema.transform(Schema.declare(isSecret), Schema.RedactedFromSelf(Schema.String), {
    strict: true,
    decode: (secret) => (Redacted.isRedacted(secret) ? secret : Redacted.make(secret)),
    encode: (secret) => secret
  }),
  "a text that is not empty (is the environment variable set?)"
)

const Path = expects(Schema.NonEmptyString, "the path of a file")

const Tls = Schema.Struct({
  /** Certificates of who may have signed the server's, instead of those that Node knows. */
  caFile: Schema.optionalWith(Path, { exact: true }),

  /** The certificate of this client, and its private key, where the server asks for one. */
  certFile: Schema.optionalWith(Path, { exact: true }),
  keyFile: Schema.optionalWith(Path, { exact: true })
})

export const NatsOptions = Schema.Struct({
  /** Where the servers are: one, or those of one cluster. Default `nats://127.0.0.1:4222`. */
  servers: optional(
    expectsSecret(
      Schema.declare(isServers),
      'a URL, or a list of URLs, without credentials or a path, such as "nats://10.0.0.5:4222" or "tls://nats.example.org"'
    ),
    "nats://127.0.0.1:4222"
  ),

  /**
   * What all subjects and streams begin with. Controllers with the same prefix are one, with different prefixes they do
   * not notice each other. Default `vitrine`.
   */
  prefix: optional(
    expects(
      Schema.String.pipe(Schema.pattern(/^[\w-]{1,64}$/)),
      "up to 64 letters, digits, underscores and hyphens"
    ),
    "vitrine"
  ),

  /** A token, or a user and a password, as text or `Redacted`; or the path of a credentials file (`.creds`). */
  token: Schema.optionalWith(Secret, { exact: true }),
  user: Schema.optionalWith(expects(Schema.NonEmptyString, "the name of a user"), { exact: true }),
  password: Schema.optionalWith(Secret, { exact: true }),
  credentialsFile: Schema.optionalWith(Path, { exact: true }),

  /**
   * Connect by TLS only. A server that offers TLS is connected to by TLS without this, too. Its certificate has to be
   * for the name in its URL: one that is for an IP address alone is not accepted.
   */
  tls: Schema.optionalWith(expects(Tls, "an object"), { exact: true }),

  /** How many servers of a cluster keep each event; counts when the streams are created. Default 1. */
  replicas: optional(expects(Schema.Int.pipe(Schema.between(1, 5)), "a whole number from 1 to 5"), 1)
})
export type NatsOptions = typeof NatsOptions.Type

/** The options as a user writes them. */
export type NatsConfig = typeof NatsOptions.Encoded

export const decode = decodeOptions("the options of NATS", NatsOptions)
