import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { keepSubscribed, type Subscriber } from "../../../src/layers/fanOut/keepSubscribed.ts"
import { subscriberCapacity } from "../../../src/layers/memory/EventBusMemory.ts"
import { type BusEvent, EventBus, type EventListener } from "../../../src/services/EventBus.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { withLog } from "../../support/logged.ts"
import { eventLoopTurn, eventually, nextPause, somebodySleeps } from "../../support/waiting.ts"

/** A subscriber that keeps what happens to it. */
const makeSubscriber = (overrides: Partial<Subscriber> = {}) => {
  const history: Array<unknown> = []
  const note = (what: string) => Effect.sync(() => void history.push(what))
  const subscriber: Subscriber = {
    name: "Somebody",
    open: note("open"),
    take: (events) => {
      history.push(...events.map(({ payload }) => payload))
      return undefined
    },
    lost: note("lost"),
    meanwhile: Effect.zipRight(note("meanwhile"), Effect.never),
    ...overrides
  }
  return { history, subscriber }
}

const setUp = Effect.gen(function* () {
  const lines: Array<string> = []
  const engine = eventEngine.make()
  const instance = engine.instance()
  const { history, subscriber } = makeSubscriber()
  const subscribe = keepSubscribed(subscriber).pipe(
    Effect.provideService(EventBus, instance.bus),
    withLog(lines)
  )
  return { engine, history, instance, lines, subscribe }
})

const isAbout = (seconds: number) => (pause: number) => pause >= 800 * seconds && pause <= 1200 * seconds

describe("keepSubscribed", () => {
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
        expect(yield* problem).toEqual(Option.some({ reason, since: new Date(60_000) }))
        expect(history).toEqual(["open", 1, "lost", "meanwhile"])
        const warning = `WARN Somebody receives no events, and tries again until it does: ${reason}`
        expect(lines).toEqual([warning])
        yield* instance.bus.publish("a", 2)
        expect(yield* nextPause).toSatisfy(isAbout(1))
        expect(yield* problem).toEqual(Option.none())
        yield* instance.bus.publish("a", 3)
        yield* eventually(Effect.sync(() => history.length === 6))
        expect(history.slice(4)).toEqual(["open", 3])
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
          since: new Date(60_000)
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

  it.scoped("reports a feed that comes and goes once, and pauses longer and longer", () =>
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

  it.scoped("does what it does between two feeds until the next one is open", () =>
    Effect.gen(function* () {
      const engine = eventEngine.make()
      const { bus, endFeeds } = engine.instance()
      let pings = 0
      const { history, subscriber } = makeSubscriber({
        meanwhile: Effect.forever(
          Effect.delay(
            Effect.sync(() => {
              pings += 1
            }),
            "10 seconds"
          )
        )
      })
      yield* keepSubscribed(subscriber).pipe(Effect.provideService(EventBus, bus), withLog([]))
      yield* TestClock.adjust("15 seconds")
      engine.set("subscribe", "hangs")
      endFeeds("ends")
      yield* somebodySleeps
      yield* TestClock.adjust("35 seconds")
      expect(pings).toBe(3)
      engine.recover()
      yield* eventually(Effect.sync(() => history.at(-1) === "open"))
      yield* TestClock.adjust("1 minute")
      expect(pings).toBe(3)
    })
  )

  it.scoped("goes on where the first attempt fails", () =>
    Effect.gen(function* () {
      const { engine, history, lines, subscribe } = yield* setUp
      engine.set("subscribe", "fails")
      const { problem } = yield* subscribe
      expect(Option.isSome(yield* problem)).toBe(true)
      expect(lines).toEqual([expect.stringMatching(/^WARN Somebody receives no events/)])
      engine.recover()
      yield* nextPause
      expect(history).toEqual(["meanwhile", "open"])
      expect(yield* problem).toEqual(Option.none())
    })
  )

  it.scoped("goes on without a feed where the bus hangs, whether it can be interrupted or not", () =>
    Effect.gen(function* () {
      for (const hangs of [Effect.never, Effect.uninterruptible(Effect.never)]) {
        const lines: Array<string> = []
        const bus = EventBus.of({ publish: () => Effect.void, subscribe: hangs, emptied: Stream.empty })
        const subscribing = yield* keepSubscribed(makeSubscriber().subscriber).pipe(
          Effect.provideService(EventBus, bus),
          withLog(lines),
          Effect.fork
        )
        yield* somebodySleeps
        yield* TestClock.adjust("15 seconds")
        const { problem } = yield* Fiber.join(subscribing)
        expect(Option.map(yield* problem, ({ reason }) => reason)).toEqual(
          Option.some("The event bus could not be subscribed to: no feed was open after 15 seconds")
        )
        expect(lines).toHaveLength(1)
      }
    })
  )

  it.scoped("dies where the first attempt does", () =>
    Effect.gen(function* () {
      const { instance } = yield* setUp
      const exit = yield* keepSubscribed(makeSubscriber().subscriber).pipe(
        Effect.provideService(EventBus, { ...instance.bus, subscribe: Effect.dieMessage("no such thing") }),
        Effect.exit
      )
      expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
    })
  )

  it.effect("ends with its scope", () =>
    Effect.gen(function* () {
      const { history, instance, subscribe } = yield* setUp
      yield* Effect.scoped(subscribe)
      yield* instance.bus.publish("a", 1)
      instance.endFeeds("ends")
      yield* TestClock.adjust("15 seconds")
      yield* eventLoopTurn
      expect(history).toEqual(["open"])
      expect(Chunk.toReadonlyArray(yield* TestClock.sleeps())).toEqual([])
    })
  )
})

/** A bus that calls one listener, when the test does. */
const setUpListener = Effect.gen(function* () {
  const { instance } = yield* setUp
  const listeners: Array<EventListener> = []
  const bus = EventBus.of({
    ...instance.bus,
    subscribe: Object.assign(
      Effect.suspend(() => instance.bus.subscribe),
      {
        listen: (listener: EventListener) =>
          Effect.sync(() => {
            listeners.push(listener)
          })
      }
    )
  })
  const event = (number: number): BusEvent => ({ name: "a", payload: number, sequence: number })
  return {
    bus,
    call: (...numbers: ReadonlyArray<number>) => listeners.at(-1)?.events(numbers.map(event)),
    end: () => listeners.at(-1)?.end(),
    listeners
  }
})

/** One that deals with the first events until it is done, and keeps what it is given each time. */
const makeBusySubscriber = Effect.gen(function* () {
  const done = yield* Deferred.make<void>()
  const taken: Array<ReadonlyArray<unknown>> = []
  const { subscriber } = makeSubscriber({
    take: (events) => {
      taken.push(events.map(({ payload }) => payload))
      return taken.length === 1 ? Deferred.await(done) : undefined
    }
  })
  return { done, subscriber, taken }
})

describe("keepSubscribed with a listener", () => {
  it.scoped("gives events that come while it opens behind that, in order", () =>
    Effect.gen(function* () {
      const { bus, call, listeners } = yield* setUpListener
      const opened = yield* Deferred.make<void>()
      const { history, subscriber } = makeSubscriber({ open: Deferred.await(opened) })
      const starting = yield* Effect.fork(Effect.provideService(keepSubscribed(subscriber), EventBus, bus))
      yield* eventually(Effect.sync(() => listeners.length === 1))
      call(1, 2)
      call(3)
      yield* eventLoopTurn
      expect(history).toEqual([])
      yield* Deferred.succeed(opened, undefined)
      yield* Fiber.join(starting)
      expect(history).toEqual([1, 2, 3])
      call(4)
      expect(history).toEqual([1, 2, 3, 4])
    })
  )

  it.scoped("holds back later events while an Effect deals with earlier ones", () =>
    Effect.gen(function* () {
      const { bus, call } = yield* setUpListener
      const { done, subscriber, taken } = yield* makeBusySubscriber
      yield* Effect.provideService(keepSubscribed(subscriber), EventBus, bus)
      call(1)
      call(2)
      call(3, 4)
      yield* eventLoopTurn
      expect(taken).toEqual([[1]])
      yield* Deferred.succeed(done, undefined)
      yield* eventLoopTurn
      expect(taken).toEqual([[1], [2, 3, 4]])
      call(5)
      expect(taken).toEqual([[1], [2, 3, 4], [5]])
    })
  )

  it.scoped("gives up a feed with too many events before it is open", () =>
    Effect.gen(function* () {
      const { bus, call, end, listeners } = yield* setUpListener
      const opened = yield* Deferred.make<void>()
      const { history, subscriber } = makeSubscriber({ open: Deferred.await(opened) })
      const starting = yield* keepSubscribed(subscriber).pipe(
        Effect.provideService(EventBus, bus),
        withLog([]),
        Effect.fork
      )
      yield* eventually(Effect.sync(() => listeners.length === 1))
      for (let number = 0; number < 5000; number++) {
        call(number)
      }
      yield* Deferred.succeed(opened, undefined)
      const { problem } = yield* Fiber.join(starting)
      yield* somebodySleeps
      expect(Option.getOrThrow(yield* problem).reason).toContain("too many events")
      expect(history.slice(-2)).toEqual(["lost", "meanwhile"])
      yield* nextPause
      yield* eventually(Effect.map(problem, Option.isNone))
      expect(listeners).toHaveLength(2)
      end()
      yield* eventually(Effect.map(problem, Option.isSome))
      expect(Option.getOrThrow(yield* problem).reason).toBe("the bus has ended the feed")
    })
  )

  it.scoped("keeps the latest of the events that come while earlier ones are dealt with", () =>
    Effect.gen(function* () {
      const { bus, call } = yield* setUpListener
      const { done, subscriber, taken } = yield* makeBusySubscriber
      const { problem } = yield* Effect.provideService(keepSubscribed(subscriber), EventBus, bus)
      for (let number = 0; number <= subscriberCapacity + 10; number++) {
        call(number)
      }
      yield* Deferred.succeed(done, undefined)
      yield* eventually(Effect.sync(() => taken.length === 2))
      expect(taken[1]).toEqual(Array.from({ length: subscriberCapacity }, (_, index) => index + 11))
      expect(yield* problem).toEqual(Option.none())
    })
  )
})
