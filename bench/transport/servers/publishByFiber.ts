/**
 * How Effect programs publish: from a fiber that sleeps in between.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { liveEvent, livePayload } from "../protocol.ts"
import type { Server } from "./serve.ts"

export const publishByFiber =
  (
    publish: (name: string, payload: unknown) => Effect.Effect<void, unknown>
  ): NonNullable<Server["publishAll"]> =>
  ({ events, intervalMs }) => {
    const from = performance.now()
    const publishInTime = (index: number) =>
      Effect.suspend(() => {
        const wait = from + index * intervalMs - performance.now()
        const publishNow = Effect.suspend(() => publish(liveEvent, livePayload()))
        return wait > 0 ? Effect.zipRight(Effect.sleep(wait), publishNow) : publishNow
      })
    return Effect.runPromise(Effect.forEach(Array.range(0, events - 1), publishInTime, { discard: true }))
  }
