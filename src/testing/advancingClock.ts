/**
 * Time that passes as fast as the network allows: the test clock jumps from one wait to the next, and stands still
 * while requests or files are in progress.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"

let held = 0

/** Counts a connection that stays silent until it is released, so that time passes in spite of it. */
export const holdConnection = (): (() => void) => {
  held++
  return () => {
    held--
  }
}

/**
 * The number of waits in this process that are not for the clock. Node does not report zlib: a test that decompresses
 * much needs the real clock.
 */
const underway = (): number =>
  process.getActiveResourcesInfo().filter((name) => /^(TCPSocket|TCPConnect|GetAddrInfo|FSReq)/.test(name))
    .length

/** A connection has two ends. */
const isQuiet = (): boolean => underway() <= 2 * held

/** Everything that is due now gets its turn: sockets, files, fibers. */
export const eventLoopTurn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** The last input gets its turn before time goes on. */
const quietTurns = 4

/** Leaves the processor to the awaited work; turns of the event loop would use it up. */
const aMoment = Effect.async<void>((resume) => {
  setTimeout(() => resume(Effect.void), 1)
})

const quiet = Effect.gen(function* () {
  for (let turns = 0; turns < quietTurns; turns = isQuiet() ? turns + 1 : 0) {
    yield* isQuiet() ? eventLoopTurn : aMoment
  }
})

const jump = Effect.gen(function* () {
  const next = Math.min(...(yield* TestClock.sleeps()))
  if (next !== Number.POSITIVE_INFINITY) {
    yield* TestClock.setTime(next)
  }
})

/**
 * Runs the effect to its end, and returns its duration in milliseconds of the test clock.
 *
 * @since 0.1.0
 * @category testing
 */
export const withAdvancingClock = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly value: A; readonly took: number }, E, R> =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.fork(effect)
    yield* quiet
    while (Option.isNone(yield* Fiber.poll(fiber))) {
      yield* jump
      yield* quiet
    }
    return { value: yield* Fiber.join(fiber), took: (yield* Clock.currentTimeMillis) - start }
  })
