/**
 * The options of the dashboard.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { omittable, optional } from "../../internal/Options.ts"
import { allowedHosts, host, integer, port, token } from "../../internal/optionSchemas.ts"

/**
 * The options of `dashboard`. All are optional.
 *
 * @since 0.1.0
 * @category models
 */
export interface DashboardConfig {
  /** Port, 0 to 65535; 0 picks a free one. Default `8720`. */
  readonly port?: number | undefined

  /**
   * Interface to bind; if other machines can reach it, actions need a `token`. Default
   * `"127.0.0.1"` (this machine only).
   */
  readonly host?: string | undefined

  /** A secret that actions must carry, as `Authorization: Bearer TOKEN`; others get 401. Default none. */
  readonly token?: string | Redacted.Redacted | undefined

  /**
   * Names that the `Host` header may have, in addition to addresses, `localhost` and the name of this
   * machine; others get 403. Default none.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined

  /** Pages at once, 1 to 1000; further pages get 503. Default `32`. */
  readonly maxClients?: number | undefined
}

/** @internal */
export const DashboardOptions = Schema.Struct({
  port: port(8720),
  host,
  token: omittable(token),
  allowedHosts,
  maxClients: optional(integer(1, 1000), 32)
})
/** @internal */
export type DashboardOptions = typeof DashboardOptions.Type
