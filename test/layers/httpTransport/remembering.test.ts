import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { makeRemembering } from "../../../src/layers/httpTransport/remembering.ts"
import {
  type RememberedEvent,
  ReplayBacklog,
  ReplayBacklogError
} from "../../../src/services/ReplayBacklog.ts"
import { withLog } from "../../support/logged.ts"
import { eventLoopTurn, nextPause, somebodySleeps } from "../../support/waiting.ts"

const event = (name: string, sequence: number): RememberedEvent => ({ name, data: "null", sequence })

/** A backlog that does with each call what the test says, and keeps what was called and what was done. */
const setUp = Effect.gen(function* () {
  const lines: Array<string> = []
  const called: Array<string> = []
  const done: Array<string> = []
  let write: Effect.Effect<void, ReplayBacklogError> = Effect.void
  const scope = yield* Scope.make()
  const remembering = yield* makeRemembering.pipe(
    Effect.provideService(ReplayBacklog, {
      remember: ({ name, sequence }) =>
        Effect.suspend(() => {
          called.push(`${name}${sequence}`)
          return Effect.map(write, () => void done.push(`${name}${sequence}`))
        }),
      snapshot: Effect.succeed([])
    }),
    Scope.extend(scope),
    withLog(lines)
  )
  return {
    ...remembering,
    called,
    close: Scope.close(scope, Exit.void),
    done,
    lines,
    writes: (how: Effect.Effect<void, ReplayBacklogError>) => {
      write = how
    }
  }
})

const fails = Effect.fail(new ReplayBacklogError({ action: "write", detail: "no engine" }))

describe("makeRemembering", () => {
  it.effect("remembers one after the other, and never an older one after a newer one of its name", () =>
    Effect.gen(function* () {
      const { called, close, done, remember, writes } = yield* setUp
      writes(Effect.sleep("1 second"))
      remember(event("a", 1))
      yield* somebodySleeps
      for (let sequence = 2; sequence <= 1000; sequence += 2) {
        remember(event("b", sequence))
        remember(event("a", sequence + 1))
      }
      yield* eventLoopTurn
      expect(called).toEqual(["a1"])
      yield* TestClock.adjust("10 seconds")
      expect(done).toEqual(["a1", "b1000", "a1001"])
      expect(called).toEqual(done)
      remember(event("a", 1002))
      yield* TestClock.adjust("1 second")
      expect(done).toHaveLength(4)
      yield* close
    })
  )

  it.effect("tries again after pauses that grow, with the latest, and reports that once", () =>
    Effect.gen(function* () {
      const { called, close, done, lines, remember, writes } = yield* setUp
      writes(fails)
      remember(event("a", 1))
      for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
        const pause = yield* nextPause
        expect(pause).toBeGreaterThanOrEqual(800 * seconds)
        expect(pause).toBeLessThanOrEqual(1200 * seconds)
      }
      expect(called).toHaveLength(8)
      remember(event("a", 2))
      yield* eventLoopTurn
      expect(called).toHaveLength(8)
      expect(lines).toEqual([
        "WARN The replay backlog fails, and clients that connect later may miss events: The replay backlog could not be written: no engine"
      ])
      writes(Effect.void)
      yield* nextPause
      yield* eventLoopTurn
      expect(done).toEqual(["a2"])
      expect(Chunk.toReadonlyArray(yield* TestClock.sleeps())).toEqual([])
      writes(fails)
      remember(event("a", 3))
      yield* somebodySleeps
      expect(lines).toHaveLength(2)
      yield* close
    })
  )

  it.effect("forgets what could not be remembered, and goes on with what comes next", () =>
    Effect.gen(function* () {
      const { called, close, done, forget, remember, writes } = yield* setUp
      writes(fails)
      remember(event("a", 100))
      remember(event("b", 101))
      yield* somebodySleeps
      yield* forget
      yield* TestClock.adjust("1 minute")
      writes(Effect.void)
      remember(event("b", 1))
      yield* eventLoopTurn
      expect(called).toEqual(["a100", "b1"])
      expect(done).toEqual(["b1"])
      yield* close
    })
  )

  it.effect("finishes what is under way when its scope ends, within half a second", () =>
    Effect.gen(function* () {
      for (const [takes, expected] of [
        ["200 millis", ["a1", "b2"]],
        ["400 millis", ["a1"]]
      ] as const) {
        const { close, done, remember, writes } = yield* setUp
        writes(Effect.sleep(takes))
        remember(event("a", 1))
        remember(event("b", 2))
        yield* somebodySleeps
        const closing = yield* Effect.fork(close)
        yield* TestClock.adjust("500 millis")
        yield* Fiber.join(closing)
        yield* TestClock.adjust("1 minute")
        expect(done).toEqual(expected)
      }
    })
  )

  it.effect("ends at once while the backlog fails", () =>
    Effect.gen(function* () {
      const { close, called, remember, writes } = yield* setUp
      writes(fails)
      remember(event("a", 1))
      yield* somebodySleeps
      yield* close
      yield* TestClock.adjust("1 minute")
      expect(called).toEqual(["a1"])
    })
  )
})
