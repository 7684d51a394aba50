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
  /** The earliest end, in milliseconds since 1970. A wait that takes longer is reported again. */
  readonly until: number
}

export class WaitObserver extends Context.Reference<WaitObserver>()("vitrine/WaitObserver", {
  defaultValue: () => ({ waiting: (_wait: Wait): Effect.Effect<void> => Effect.void })
}) {}

/** Reports a wait that ends `millis` milliseconds from now. */
export const reportWait = (reason: WaitReason, millis: number): Effect.Effect<void> =>
  Effect.clockWith((clock) =>
    Effect.flatMap(clock.currentTimeMillis, (now) =>
      Effect.flatMap(WaitObserver, ({ waiting }) => waiting({ reason, until: Math.ceil(now + millis) }))
    )
  )
