/**
 * The content server as others see it: where it listens and what it has done.
 */
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

export class ContentServer extends Context.Tag("vitrine/ContentServer")<
  ContentServer,
  {
    /** Where it listens; nowhere in task mode. */
    readonly address: Option.Option<AddressInfo>

    /** What it has done since it was started. */
    readonly statistics: Effect.Effect<ContentServerStatistics>
  }
>() {}

/** Whether a dev server has the page: then no build of it is served or needed. */
export class HasDevServer extends Context.Reference<HasDevServer>()("vitrine/HasDevServer", {
  defaultValue: (): boolean => false
}) {}

/** The counts of a content server, since its start where they do not say otherwise. */
export interface ContentServerStatistics {
  /** Connections open now. */
  readonly connections: number
  /** Responses being sent now. */
  readonly openResponses: number
  readonly requests: number
  /** Bytes of the responses that have ended, heads included. */
  readonly bytes: number
}
