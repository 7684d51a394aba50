/**
 * The options of the replica plugin.
 */
import * as Schema from "effect/Schema"
import type { DurationConfig } from "../../internal/DurationConfig.ts"
import { decodeOptions, omittable, optional } from "../../internal/Options.ts"
import { duration, maxTimeout } from "../../internal/optionSchemas.ts"
import { type ContentConfig, ContentOptions } from "../fetching/ContentOptions.ts"
import { type ReportConfig, ReportOptions } from "../fleet/PostReport.ts"
import { Address } from "./Hub.ts"

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
  from: Address,
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
