import { describe, expect, it } from "@effect/vitest"
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
import { somebodySleeps } from "../../support/waiting.ts"

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
  it.effect("finishes running writes within half a second when its scope ends", () =>
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
