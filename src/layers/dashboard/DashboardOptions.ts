/**
 * The options of the dashboard.
 */
import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type DurationConfig, durationWithin } from "../../internal/duration.ts"
import { decodeOptions, optional } from "../../internal/Options.ts"
import type { HealthRules } from "../../services/Slices.ts"
import { allowedHosts, host, integer, port, token } from "../http/serverOptions.ts"

const duration = durationWithin(
  { minimum: "1 second", maximum: "365 days" },
  'a duration such as "15 minutes" or "2 days", from 1 second to 365 days'
)

/** The options of `dashboard`; all of them may be left out. */
export interface DashboardConfig {
  /** Listening port, 0 to 65535; 0 picks a free one. Default 8720. */
  readonly port?: number

  /** Interface to bind. Default `127.0.0.1`: this machine only. Elsewhere, actions need a `token`. */
  readonly host?: string

  /** A secret that actions must carry, as `Authorization: Bearer TOKEN`; others are answered with 401. Default none. */
  readonly token?: string | Redacted.Redacted

  /**
   * Names that the `Host` header may have beside addresses, `localhost` and the name of this machine, without a port;
   * others are answered with 403. Default none.
   */
  readonly allowedHosts?: ReadonlyArray<string>

  /** How long fetches may fail in a row before the controller is not healthy, 1 second to 365 days. Default 15 minutes. */
  readonly failingFor?: DurationConfig

  /** How old the last fetch may be that has succeeded, new content or not, before that. Default: any age. */
  readonly maxAge?: DurationConfig

  /** How many pages may be open at once, 1 to 1000; one more is answered with 503. Default 32. */
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
