/**
 * An observer of work that waits.
 *
 * The code that runs the work may provide it; the code that waits reports to it. By default nothing is reported.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * Why there is a wait. `pacing`: to stay below the API's limit of requests. `penalty`: after too many requests, the
 * API refuses all requests for this time. `retry`: the pause before a retry.
 */
export const WaitReason = Schema.Literal("pacing", "penalty", "retry")
export type WaitReason = typeof WaitReason.Type

export interface Wait {
  readonly reason: WaitReason
  /** How long it takes at least, in milliseconds. A wait that takes longer is reported again. */
  readonly millis: number
}

export class WaitObserver extends Context.Reference<WaitObserver>()("vitrine/WaitObserver", {
  defaultValue: () => ({ waiting: (_wait: Wait): Effect.Effect<void> => Effect.void })
}) {}
