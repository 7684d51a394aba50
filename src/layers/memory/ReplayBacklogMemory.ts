/**
 * The replay backlog of one process: gone when the process ends.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLatestEvents } from "../../internal/latestEvents.ts"
import { type RememberedEvent, ReplayBacklog } from "../../services/ReplayBacklog.ts"

/** An empty backlog with the last event of each name. It never fails, and its events end with the process. */
export const make = Effect.sync(() => {
  const latest = makeLatestEvents<RememberedEvent>()
  return ReplayBacklog.of({
    remember: (event) => Effect.sync(() => void latest.add(event)),
    snapshot: Effect.sync(latest.inOrder)
  })
})

/** The backlog of one process, as `make` says. */
export const layer: Layer.Layer<ReplayBacklog> = Layer.effect(ReplayBacklog, make)
