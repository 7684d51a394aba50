/**
 * The content server for other parts: where it listens, and its statistics.
 */
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

export class ContentServer extends Context.Tag("vitrine/ContentServer")<
  ContentServer,
  {
    /** Where it listens; `None` in task mode. */
    readonly address: Option.Option<AddressInfo>

    /** Counts since its start. */
    readonly statistics: Effect.Effect<ContentServerStatistics>
  }
>() {}

/** Whether a dev server serves the page: then no build of the page is served or needed. */
export class HasDevServer extends Context.Reference<HasDevServer>()("vitrine/HasDevServer", {
  defaultValue: (): boolean => false
}) {}

/**
 * The counts of a content server, since its start unless stated otherwise.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContentServerStatistics {
  /** Connections open now. */
  readonly connections: number
  /** Responses being sent now. */
  readonly openResponses: number
  readonly requests: number
  /** Bytes of the responses that have ended, heads included. */
  readonly bytes: number
}
