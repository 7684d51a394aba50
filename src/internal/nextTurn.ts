/**
 * Turns of the event loop between the parts of long work.
 */
import * as Effect from "effect/Effect"

/** A turn of the event loop, in which sockets are read and written. */
export const nextTurn = Effect.async<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})

/** Runs between the parts of some work: it waits for a turn of the event loop when 10 ms have passed since the last one. */
export const makeGiveWay = (): Effect.Effect<void> => {
  let since = performance.now()
  return Effect.suspend(() =>
    performance.now() - since < maxMillis
      ? Effect.void
      : Effect.map(nextTurn, () => {
          since = performance.now()
        })
  )
}

const maxMillis = 10
