import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { makeJoinCalls } from "../../src/internal/joinCalls.ts"

/** Calls that take a second each, and say how many there were before; each third fails. */
const setUp = () => {
  const join = makeJoinCalls<number, string>()
  let calls = 0
  const call = (key: string) =>
    join(
      key,
      Effect.suspend(() => {
        const number = ++calls
        return Effect.delay(number % 3 === 0 ? Effect.fail(`${number}`) : Effect.succeed(number), "1 second")
      })
    )
  return { call, count: () => calls }
}

describe("calls that are joined", () => {
  it.effect("are made once for all that come with the same key while one is under way", () =>
    Effect.gen(function* () {
      const { call, count } = setUp()
      const keys = ["a", "b", "a", "a"]
      const first = yield* Effect.fork(Effect.all(keys.map(call), { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(first)).toEqual([1, 2, 1, 1])
      const failed = yield* Effect.fork(
        Effect.all(
          keys.map((key) => Effect.exit(call(key))),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust("1 second")
      const failure = Exit.fail("3")
      expect(yield* Fiber.join(failed)).toEqual([failure, Exit.succeed(4), failure, failure])
      expect(count()).toBe(4)
    })
  )

  it.effect("are made by another where the one that makes them is interrupted", () =>
    Effect.gen(function* () {
      const { call, count } = setUp()
      const leader = yield* Effect.fork(call("a"))
      yield* TestClock.adjust(500)
      const others = yield* Effect.fork(Effect.all([call("a"), call("a")], { concurrency: "unbounded" }))
      const leaving = yield* Effect.fork(call("a"))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(leaving)
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(others)).toEqual([2, 2])
      expect(count()).toBe(2)
    })
  )
})
