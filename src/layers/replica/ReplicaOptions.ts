/**
 * The options of the replica plugin.
 */
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeOptions, expectsSecret, omittable, optional } from "../../internal/Options.ts"
import { type DurationConfig, duration, maxTimeout } from "../../internal/optionSchemas.ts"
import { type ContentConfig, ContentOptions } from "../fetching/ContentOptions.ts"
import { type ReportConfig, ReportOptions } from "../fleet/PostReport.ts"

/** The address of a copy of a downloads folder. */
export interface Address {
  /** With a slash at the end and without credentials; safe to display. */
  readonly url: string
  /** The value of the header `Authorization`, if the address has credentials. */
  readonly authorization: Redacted.Redacted | undefined
}

/** `None` if the text is not an address. */
const addressOf = (text: unknown): Option.Option<Address> =>
  Predicate.isString(text) && !/[\s?#]/.test(text) ? parse(text) : Option.none()

const parse = (text: string): Option.Option<Address> =>
  Option.liftThrowable(() => {
    const { origin, password, pathname, protocol, username } = new URL(text)
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    return {
      isHttp: /^https?:$/.test(protocol),
      url: `${origin}${pathname.replace(/\/*$/, "/")}`,
      authorization:
        credentials === ":"
          ? undefined
          : Redacted.make(`Basic ${Buffer.from(credentials).toString("base64")}`)
    }
  })().pipe(Option.filter(({ isHttp }) => isHttp))

/** A wrong value is not displayed: it may have a password. */
const from = Schema.transformOrFail(
  expectsSecret(
    Schema.declare((input): input is string => Option.isSome(addressOf(input))),
    'the address of a hub: an http or https URL without query or fragment, such as "http://hub:8730"'
  ),
  Schema.declare((input): input is Address => Predicate.hasProperty(input, "url")),
  {
    strict: true,
    decode: (from, _, ast) =>
      Option.match(addressOf(from), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, from)),
        onSome: ParseResult.succeed
      }),
    encode: ({ url }) => ParseResult.succeed(url)
  }
)

const { ackLease, commands, downloadPath, failingFor, keepVersions, maxAge, name } = ContentOptions.fields

/** The options for the origin of versions, without those for the place where they are kept. */
export interface ReplicaLayerConfig
  extends Pick<ContentConfig, "name" | "commands" | "failingFor" | "maxAge"> {
  /**
   * Address of the hub's `contentServer`, such as `"http://hub:8730"`. `http://user:password@hub:8730` uses
   * basic authentication.
   */
  readonly from: string

  /**
   * Pause before the hub is asked again, shortened by up to a fifth. Grows to a minute while the hub is away. Default
   * `"5 seconds"`.
   */
  readonly pollEvery?: DurationConfig | undefined

  /** The longest wait for the beginning of a response, and for each pause in it, in milliseconds. Default `30000`. */
  readonly maxTimeout?: number | undefined

  /** Address of the `contentServer` of a hub, and the token of its `reports`. Default none. */
  readonly report?: ReportConfig | undefined
}

/**
 * The options of `replica`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReplicaConfig
  extends ReplicaLayerConfig,
    Pick<ContentConfig, "downloadPath" | "keepVersions" | "ackLease"> {
  // Without an own member, the compiler would not name this type in messages.
  readonly from: string
}

export const FollowingOptions = Schema.Struct({
  name,
  commands,
  failingFor,
  maxAge,
  from,
  pollEvery: optional(duration, "5 seconds"),
  maxTimeout: maxTimeout(30_000),
  report: omittable(ReportOptions)
})
export type FollowingOptions = typeof FollowingOptions.Type

export const ReplicaOptions = Schema.Struct({
  ...FollowingOptions.fields,
  downloadPath,
  keepVersions,
  ackLease
})
export type ReplicaOptions = typeof ReplicaOptions.Type

export const decode = decodeOptions("the options of the replica plugin", ReplicaOptions)

/** As `decode`, without the options of the store of versions. */
export const decodeLayer = decodeOptions("the options of the replica", FollowingOptions)
