/**
 * The dashboard for other parts: where it listens.
 */
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import type * as Option from "effect/Option"

export class Dashboard extends Context.Tag("vitrine/Dashboard")<
  Dashboard,
  {
    /** Where it listens; `None` in task mode. */
    readonly address: Option.Option<AddressInfo>
  }
>() {}
