import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as Backlog from "../../../src/layers/httpTransport/Backlog.ts"
import {
  type RememberedEvent,
  ReplayBacklog,
  ReplayBacklogError
} from "../../../src/services/ReplayBacklog.ts"
import { messages } from "../../support/eventStream.ts"
import { withLog } from "../../support/logged.ts"
import { somebodySleeps } from "../../support/waiting.ts"

const event = (name: string, sequence: number, data = "null"): RememberedEvent => ({ name, data, sequence })

/** Stores in a service that does with each call what the test says, and keeps what was called and what was done. */
const remembering = Effect.gen(function* () {
  const lines: Array<string> = []
  const called: Array<string> = []
  const done: Array<string> = []
  let write: Effect.Effect<void, ReplayBacklogError> = Effect.void
  const scope = yield* Scope.make()
  const made = yield* Backlog.makeRemembering.pipe(
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
    ...made,
    called,
    close: Scope.close(scope, Exit.void),
    done,
    lines,
    writes: (how: Effect.Effect<void, ReplayBacklogError>) => {
      write = how
    }
  }
})

/** The backlog of a feed that has begun, and has been read. `stored` is what the service has. */
const setUp = (stored: Array<RememberedEvent>, first?: number) =>
  Effect.gen(function* () {
    let ends = 0
    const backlog = yield* Effect.provideService(
      Backlog.make((name) => name !== "live"),
      ReplayBacklog,
      {
        remember: () => Effect.void,
        snapshot: Effect.sync(() => [...stored])
      }
    )
    const open = backlog.open(() => ends++, first)
    yield* open
    return {
      ends: () => ends,
      open,
      take: (name: string, sequence: number) =>
        backlog.take({ name, sequence, data: name === "live" ? undefined : `${sequence}` }),
      replayed: () => messages(backlog.preamble()).map(({ data, event }) => `${event}:${data}`)
    }
  })

const next = { isNext: true, isBreak: false, missing: 0 }
const known = { isNext: false, isBreak: false, missing: 0 }

describe("Backlog", () => {
  it.scoped("has the events of the service, and then the latest of each name in order", () =>
    Effect.gen(function* () {
      const { ends, replayed, take } = yield* setUp([event("b", 1, "1"), event("a", 2, "2")])
      expect(replayed()).toEqual(["b:1", "a:2"])
      expect(ends()).toBe(1)
      expect([take("b", 3), take("live", 4)]).toEqual([next, next])
      expect(replayed()).toEqual(["a:2", "b:3"])
    })
  )

  it.scoped("does not send events that the service had when the feed began", () =>
    Effect.gen(function* () {
      const { take } = yield* setUp([event("a", 2, "2")])
      expect([take("live", 1), take("a", 2), take("live", 3)]).toEqual([known, known, next])
    })
  )

  it.scoped("ends the streams for an event that is older than those that clients were given", () =>
    Effect.gen(function* () {
      const { replayed, take } = yield* setUp([event("b", 3, "3")])
      expect(take("a", 2)).toEqual({ isNext: false, isBreak: true, missing: 0 })
      expect(replayed()).toEqual(["a:2", "b:3"])
    })
  )

  it.scoped("ends the streams at a gap, and again if the service then has more", () =>
    Effect.gen(function* () {
      const stored: Array<RememberedEvent> = []
      const { ends, replayed, take } = yield* setUp(stored)
      expect(take("live", 1)).toEqual(next)
      expect(take("live", 4)).toEqual({ isNext: true, isBreak: true, missing: 2 })
      yield* TestClock.adjust("1 second")
      expect(ends()).toBe(1)
      expect(take("live", 6)).toEqual({ isNext: true, isBreak: true, missing: 1 })
      stored.push(event("a", 5, "5"))
      yield* TestClock.adjust("1 second")
      expect(ends()).toBe(2)
      expect(replayed()).toEqual(["a:5"])
    })
  )

  it.scoped("ends the streams at a gap before the first event, if the bus tells where the feed begins", () =>
    Effect.gen(function* () {
      const { take } = yield* setUp([], 5)
      expect([take("live", 7), take("live", 8)]).toEqual([{ isNext: true, isBreak: true, missing: 2 }, next])
    })
  )

  it.scoped("knows only what the service has when a feed begins, however that is numbered", () =>
    Effect.gen(function* () {
      const stored = [event("a", 9, "9"), event("b", 8, "8")]
      const { ends, open, replayed, take } = yield* setUp(stored)
      take("a", 10)
      stored.splice(0, 2, event("b", 0, "8"))
      yield* open
      expect(ends()).toBe(2)
      expect(replayed()).toEqual(["b:8"])
      expect(take("a", 1)).toEqual(next)
      expect(replayed()).toEqual(["b:8", "a:1"])
    })
  )

  it.effect.prop(
    "sends every event once and in order, and has the latest of each name, whatever is left out",
    [FastCheck.array(FastCheck.tuple(FastCheck.constantFrom("a", "b", "live"), FastCheck.boolean()))],
    ([events]) =>
      Effect.gen(function* () {
        const { replayed, take } = yield* setUp([])
        const received = events
          .map(([name, isReceived], index) => ({ name, isReceived, sequence: index + 1 }))
          .filter(({ isReceived }) => isReceived)
        received.forEach(({ name, sequence }, index) => {
          const missing = index === 0 ? 0 : sequence - (received[index - 1]?.sequence ?? 0) - 1
          expect(take(name, sequence)).toEqual({ isNext: true, isBreak: missing > 0, missing })
        })
        const latest = received.filter(
          ({ name }, index) =>
            name !== "live" && !received.slice(index + 1).some((later) => later.name === name)
        )
        expect(replayed()).toEqual(latest.map(({ name, sequence }) => `${name}:${sequence}`))
      }).pipe(Effect.scoped),
    { fastCheck: { numRuns: 60 } }
  )
})

const fails = Effect.fail(new ReplayBacklogError({ action: "write", detail: "no engine" }))

describe("makeRemembering", () => {
  it.effect("finishes running writes within half a second when its scope ends", () =>
    Effect.gen(function* () {
      for (const [takes, expected] of [
        ["200 millis", ["a1", "b2"]],
        ["400 millis", ["a1"]]
      ] as const) {
        const { close, done, remember, writes } = yield* remembering
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
      const { close, called, remember, writes } = yield* remembering
      writes(fails)
      remember(event("a", 1))
      yield* somebodySleeps
      yield* close
      yield* TestClock.adjust("1 minute")
      expect(called).toEqual(["a1"])
    })
  )
})
