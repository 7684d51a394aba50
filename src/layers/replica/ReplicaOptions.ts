/**
 * The options of the replica plugin.
 */
import * as Array from "effect/Array"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeOptions, expects, expectsSecret, optional } from "../../internal/Options.ts"
import { ContentOptions, duration } from "../content/ContentOptions.ts"

/** Where a copy of a downloads folder is served. */
export interface Address {
  /** With a slash at its end, and without credentials: it may be shown. */
  readonly url: string
  /** The value of the header `Authorization`, where the address has credentials. */
  readonly authorization: Redacted.Redacted | undefined
}

const isAddress = (text: string): boolean =>
  !/[\s?#]/.test(text) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const addressOf = (text: string): Address => {
  const { origin, password, pathname, username } = new URL(text)
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    url: `${origin}${pathname.replace(/\/*$/, "/")}`,
    authorization:
      credentials === ":" ? undefined : Redacted.make(`Basic ${Buffer.from(credentials).toString("base64")}`)
  }
}

const address = expectsSecret(
  Schema.String.pipe(Schema.filter(isAddress)),
  'the address of a hub: an http or https URL without query or fragment, such as "http://hub:8730"'
)

const addresses = Schema.NonEmptyArray(address).pipe(
  Schema.filter((addresses) =>
    addresses.flatMap((text, index) =>
      addresses.findIndex((other) => addressOf(other).url === addressOf(text).url) < index
        ? [{ path: [index], message: "is the same address as one before" }]
        : []
    )
  )
)

const { ackLease, commands, downloadPath, keepVersions, name } = ContentOptions.fields

const FollowingOptions = Schema.Struct({
  /** As of the content plugin. */
  name,
  commands,
  /**
   * Where the hub serves its downloads folder, or where a copy of that is: one address or several, in the order of
   * preference. `http://user:password@hub:8730` has the credentials of basic authentication.
   */
  from: expectsSecret(Schema.Union(address, addresses), "the address of a hub, or an array of addresses"),
  /** Time from one look for a new version to the next, up to a fifth shorter or longer. Default 5 seconds. */
  pollEvery: optional(duration, "5 seconds"),
  /** Milliseconds for a response to begin, and for every pause in it. Default 30000. */
  maxTimeout: optional(
    expects(Schema.Int.pipe(Schema.between(1, 600_000)), "an integer from 1 to 600000 (milliseconds)"),
    30_000
  )
})

export const ReplicaOptions = Schema.Struct({
  ...FollowingOptions.fields,
  /** As of the content plugin. */
  downloadPath,
  keepVersions,
  ackLease
})
export type ReplicaOptions = typeof ReplicaOptions.Type

/** The options as a user writes them. */
export type ReplicaConfig = typeof ReplicaOptions.Encoded

export const decode = decodeOptions("the options of the replica plugin", ReplicaOptions)

const ReplicaLayerOptions = Schema.Struct({
  ...FollowingOptions.fields,
  /** The downloads folder of the store of versions: unfinished downloads are kept in it over restarts, in `.partial`. */
  directory: downloadPath.from
})
export type ReplicaLayerOptions = typeof ReplicaLayerOptions.Type
export type ReplicaLayerConfig = typeof ReplicaLayerOptions.Encoded

/** As `decode`, of what is no matter of the store of versions. */
export const decodeLayer = decodeOptions("the options of the replica", ReplicaLayerOptions)

export const addressesOf = (from: ReplicaOptions["from"]): Array.NonEmptyReadonlyArray<Address> =>
  Array.map(typeof from === "string" ? Array.of(from) : from, addressOf)
