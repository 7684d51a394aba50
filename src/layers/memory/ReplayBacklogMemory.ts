/**
 * The replay backlog of one process; lost when the process ends.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLatestEvents } from "../../internal/keptEvents.ts"
import { type RememberedEvent, ReplayBacklog } from "../../services/ReplayBacklog.ts"

/**
 * An empty backlog that keeps the last event of each name. It never fails.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<typeof ReplayBacklog.Service> = Effect.sync(() => {
  const latest = makeLatestEvents<RememberedEvent>()
  return ReplayBacklog.of({
    remember: (event) => Effect.sync(() => void latest.add(event)),
    snapshot: Effect.sync(latest.inOrder)
  })
})

/**
 * The backlog of one process, as `make` describes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ReplayBacklog> = Layer.effect(ReplayBacklog, make)
