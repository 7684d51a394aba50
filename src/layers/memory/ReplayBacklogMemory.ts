/**
 * The replay backlog of one process: gone when the process ends.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type RememberedEvent, ReplayBacklog } from "../../services/ReplayBacklog.ts"

export const make = Effect.sync(() => {
  const latest = new Map<string, RememberedEvent>()
  return ReplayBacklog.of({
    remember: (event) =>
      Effect.sync(() => {
        // A Map keeps the place of a key that is set again; only a new key goes to the end.
        latest.delete(event.name)
        latest.set(event.name, event)
      }),
    snapshot: Effect.sync(() => [...latest.values()])
  })
})

export const layer: Layer.Layer<ReplayBacklog> = Layer.effect(ReplayBacklog, make)
