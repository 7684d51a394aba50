import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Subscription from "../../../src/layers/fanOut/Subscription.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"
import { eventLoopTurn, eventually, nextPause, somebodySleeps } from "../../support/waiting.ts"

/** Subscribes and reads all feeds; `history` gets the results. */
const subscribe = Effect.fnUntraced(function* (history: Array<unknown>) {
  const { feeds, problem } = yield* Subscription.make("Somebody")
  const note = (what: unknown) => Effect.sync(() => history.push(what))
  yield* Stream.runForEach(feeds, ({ events, isOpen }) =>
    Effect.gen(function* () {
      yield* isOpen ? note("open") : Effect.void
      yield* Stream.runForEach(events, ({ payload }) => note(payload))
      yield* isOpen ? note("lost") : Effect.void
    })
  ).pipe(Effect.forkScoped)
  return { problem }
})

const setUp = Effect.sync(() => {
  const lines: Array<string> = []
  const history: Array<unknown> = []
  const engine = eventEngine.make()
  const instance = engine.instance()
  return {
    engine,
    history,
    instance,
    lines,
    subscribe: subscribe(history).pipe(Effect.provideService(EventBus, instance.bus), withLog(lines))
  }
})

const isAbout = (seconds: number) => (pause: number) => pause >= 800 * seconds && pause <= 1200 * seconds

describe("a subscription to the event bus", () => {
  for (const [how, reason] of [
    ["ends", "the bus has ended the feed"],
    ["fails", "The event bus could not deliver events: no engine"],
    ["dies", "a defect"]
  ] as const) {
    it.scoped(`reports a feed that ${how}, and subscribes again after a pause`, () =>
      Effect.gen(function* () {
        const { history, instance, lines, subscribe } = yield* setUp
        const { problem } = yield* subscribe
        yield* instance.bus.publish("a", 1)
        yield* eventually(Effect.sync(() => history.length === 2))
        expect(yield* problem).toEqual(Option.none())
        yield* TestClock.adjust("1 minute")
        instance.endFeeds(how)
        yield* somebodySleeps
        expect(yield* problem).toEqual(Option.some({ reason, since: new Date(60_000).toISOString() }))
        expect(history).toEqual(["open", 1, "lost"])
        const warning = `WARN Somebody receives no events, and tries again until it does: ${reason}`
        expect(lines).toEqual([warning])
        yield* instance.bus.publish("a", 2)
        expect(yield* nextPause).toSatisfy(isAbout(1))
        expect(yield* problem).toEqual(Option.none())
        yield* instance.bus.publish("a", 3)
        yield* eventually(Effect.sync(() => history.length === 5))
        expect(history.slice(3)).toEqual(["open", 3])
        expect(lines).toEqual([warning])
        yield* TestClock.adjust("30 seconds")
        expect(lines).toEqual([warning, "INFO Somebody receives events again"])
      })
    )
  }

  it.scoped("tries again after pauses that grow to half a minute, and reports that once", () =>
    Effect.gen(function* () {
      const { engine, history, instance, lines, subscribe } = yield* setUp
      const { problem } = yield* subscribe
      yield* TestClock.adjust("1 minute")
      engine.set("subscribe", "fails")
      instance.endFeeds("ends")
      let offBeat = 0
      for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
        const pause = yield* nextPause
        expect(pause).toSatisfy(isAbout(seconds))
        offBeat += pause === seconds * 1000 ? 0 : 1
      }
      expect(offBeat).toBeGreaterThan(0)
      expect(history.filter((what) => what === "lost")).toHaveLength(1)
      expect(lines).toHaveLength(1)
      expect(yield* problem).toEqual(
        Option.some({
          reason: "The event bus could not be subscribed to: no engine",
          since: new Date(60_000).toISOString()
        })
      )
      engine.recover()
      yield* nextPause
      expect(yield* problem).toEqual(Option.none())
      expect(history.at(-1)).toBe("open")
      yield* TestClock.adjust("30 seconds")
      expect(lines.slice(1)).toEqual(["INFO Somebody receives events again"])
    })
  )

  it.scoped("reports a feed that opens and ends repeatedly once, with growing pauses", () =>
    Effect.gen(function* () {
      const { history, instance, lines, subscribe } = yield* setUp
      yield* subscribe
      yield* TestClock.adjust("15 seconds")
      for (const seconds of [1, 2, 4, 8]) {
        instance.endFeeds("fails")
        expect(yield* nextPause).toSatisfy(isAbout(seconds))
        expect(history.at(-1)).toBe("open")
      }
      expect(lines).toEqual([expect.stringMatching(/^WARN Somebody receives no events/)])
      yield* TestClock.adjust("30 seconds")
      expect(lines.slice(1)).toEqual(["INFO Somebody receives events again"])
      instance.endFeeds("fails")
      expect(yield* nextPause).toSatisfy(isAbout(1))
      expect(lines).toHaveLength(3)
    })
  )

  it.scoped("lets the pauses grow while feeds end at once, although somebody sets the clock", () =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      yield* withJumpingClock(({ adjust, set }) =>
        Effect.gen(function* () {
          const { instance, subscribe } = yield* setUp
          yield* subscribe
          yield* adjust("15 seconds")
          for (const seconds of [1, 2, 4]) {
            yield* set(3_600_000)
            instance.endFeeds("fails")
            expect(yield* Effect.withClock(nextPause, clock)).toSatisfy(isAbout(seconds))
          }
        })
      )
    })
  )

  it.scoped("continues if the first attempt fails", () =>
    Effect.gen(function* () {
      const { engine, history, lines, subscribe } = yield* setUp
      engine.set("subscribe", "fails")
      const { problem } = yield* subscribe
      expect(Option.isSome(yield* problem)).toBe(true)
      expect(lines).toEqual([expect.stringMatching(/^WARN Somebody receives no events/)])
      engine.recover()
      yield* TestClock.adjust("2 seconds")
      yield* eventually(Effect.sync(() => history.length > 0))
      expect(history).toEqual(["open"])
      expect(yield* problem).toEqual(Option.none())
    })
  )

  it.scoped("lets the start go on after a second if the bus hangs, interruptible or not", () =>
    Effect.gen(function* () {
      for (const hangs of [Effect.never, Effect.uninterruptible(Effect.never)]) {
        const lines: Array<string> = []
        const bus = EventBus.of({ publish: () => Effect.void, subscribe: hangs, emptied: Stream.empty })
        const subscribing = yield* subscribe([]).pipe(
          Effect.provideService(EventBus, bus),
          withLog(lines),
          Effect.fork
        )
        yield* somebodySleeps
        yield* TestClock.adjust("1 second")
        const { problem } = yield* Fiber.join(subscribing)
        yield* TestClock.adjust("14 seconds")
        yield* eventually(Effect.map(problem, Option.isSome))
        expect(Option.map(yield* problem, ({ reason }) => reason)).toEqual(
          Option.some("The event bus could not be subscribed to: no feed was open after 15 seconds")
        )
        expect(lines).toHaveLength(1)
      }
    })
  )

  it.scoped("closes a feed that comes after its attempt was given up", () =>
    Effect.gen(function* () {
      const { history, instance } = yield* setUp
      let [attempts, closed] = [0, 0]
      const late = Effect.acquireRelease(Effect.sleep("20 seconds"), () => Effect.sync(() => closed++))
      const bus = EventBus.of({
        ...instance.bus,
        subscribe: Effect.suspend(() =>
          attempts++ === 0 ? Effect.as(late, Stream.never) : instance.bus.subscribe
        )
      })
      const subscribing = yield* subscribe(history).pipe(
        Effect.provideService(EventBus, bus),
        withLog([]),
        Effect.fork
      )
      for (let second = 0; second < 21; second++) {
        yield* somebodySleeps
        yield* TestClock.adjust("1 second")
        yield* eventLoopTurn
      }
      yield* Fiber.join(subscribing)
      yield* eventually(Effect.sync(() => closed === 1))
      expect(history).toEqual(["open"])
    })
  )

  it.scoped("continues if the first attempt dies", () =>
    Effect.gen(function* () {
      const { instance, lines } = yield* setUp
      const { problem } = yield* subscribe([]).pipe(
        Effect.provideService(EventBus, { ...instance.bus, subscribe: Effect.dieMessage("no such thing") }),
        withLog(lines)
      )
      expect(Option.map(yield* problem, ({ reason }) => reason)).toEqual(Option.some("no such thing"))
      expect(lines).toHaveLength(1)
    })
  )

  it.effect("ends with its scope", () =>
    Effect.gen(function* () {
      const { history, instance, subscribe } = yield* setUp
      yield* Effect.scoped(Effect.zipRight(subscribe, eventually(Effect.sync(() => history.length > 0))))
      yield* instance.bus.publish("a", 1)
      instance.endFeeds("ends")
      yield* TestClock.adjust("15 seconds")
      yield* eventLoopTurn
      expect(history).toEqual(["open"])
      expect(Chunk.toReadonlyArray(yield* TestClock.sleeps())).toEqual([])
    })
  )
})
