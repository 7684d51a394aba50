/**
 * Turns of the event loop between the parts of long work.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { unsafeMonotonicMillis } from "./monotonicMillis.ts"

/** A turn of the event loop, in which sockets are read and written. */
export const nextTurn = Effect.async<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})

/** Work takes real time, also beside a clock of tests. */
const machine = Clock.make()

/**
 * For long work: run it between the parts. It waits for a turn of the event loop if 10 ms have passed since the last
 * turn.
 */
export const makeGiveWay = (): Effect.Effect<void> => {
  let since = unsafeMonotonicMillis(machine)
  return Effect.suspend(() =>
    unsafeMonotonicMillis(machine) - since < maxMillis
      ? Effect.void
      : Effect.map(nextTurn, () => {
          since = unsafeMonotonicMillis(machine)
        })
  )
}

/**
 * Runs work that may pause at each `yield`, in turns of the event loop, and `between` at each pause. It dies with the
 * error of the work.
 */
export const inTurns = <A, E = never, R = never>(
  work: Generator<void, A>,
  between: Effect.Effect<unknown, E, R> = Effect.void
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const giveWay = makeGiveWay()
    let step = work.next()
    while (step.done !== true) {
      yield* between
      yield* giveWay
      step = work.next()
    }
    return step.value
  })

const maxMillis = 10

/** Splits a list into parts of `size` items. `Array.chunksOf` copies the whole rest of a list for every part. */
export function* partsOf<A>(items: ReadonlyArray<A>, size: number): Generator<ReadonlyArray<A>> {
  for (let start = 0; start < items.length; start += size) {
    yield items.slice(start, start + size)
  }
}
