/**
 * The options of the dashboard.
 */
import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeOptions, optional } from "../../internal/Options.ts"
import { type DurationConfig, durationWithin } from "../../internal/optionSchemas.ts"
import type { HealthRules } from "../../services/Slices.ts"
import { allowedHosts, host, integer, port, token } from "../http/serverOptions.ts"

const duration = durationWithin(
  { minimum: "1 second", maximum: "365 days" },
  'a duration such as "15 minutes" or "2 days", from 1 second to 365 days'
)

/** The options of `dashboard`; all of them may be left out. */
export interface DashboardConfig {
  /** Port, 0 to 65535; 0 picks a free one. Default `8720`. */
  readonly port?: number

  /**
   * Interface to bind; on any other than this machine alone, actions need a `token`. Default
   * `"127.0.0.1"` (this machine only).
   */
  readonly host?: string

  /** A secret that actions must carry, as `Authorization: Bearer TOKEN`; others get 401. Default none. */
  readonly token?: string | Redacted.Redacted

  /**
   * Names that the `Host` header may have, in addition to addresses, `localhost` and the name of this
   * machine; others get 403. Default none.
   */
  readonly allowedHosts?: ReadonlyArray<string>

  /**
   * How long fetches may fail before the controller is not healthy, 1 second to 365 days. Default `"15
   * minutes"`.
   */
  readonly failingFor?: DurationConfig

  /** How old the last successful fetch may be before the controller is not healthy. Default any. */
  readonly maxAge?: DurationConfig

  /** Pages at once, 1 to 1000; one more gets 503. Default `32`. */
  readonly maxClients?: number
}

export const DashboardOptions = Schema.Struct({
  port: port(8720),
  host,
  token: Schema.optionalWith(token, { exact: true }),
  allowedHosts,
  failingFor: optional(duration, "15 minutes"),
  maxAge: Schema.optionalWith(duration, { exact: true }),
  maxClients: optional(integer(1, 1000), 32)
})
export type DashboardOptions = typeof DashboardOptions.Type

export const decode = decodeOptions("the options of the dashboard", DashboardOptions)

export const rulesOf = ({
  failingFor,
  maxAge
}: Pick<DashboardOptions, "failingFor" | "maxAge">): HealthRules => ({
  failingForMs: Duration.toMillis(failingFor),
  ...(maxAge === undefined ? {} : { maxAgeMs: Duration.toMillis(maxAge) })
})
