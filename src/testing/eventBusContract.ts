/**
 * The contract of every `EventBus`.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { jsonText } from "../internal/jsonText.ts"
import { type BusEvent, EventBus, EventBusError } from "../services/EventBus.ts"
import { eventLoopTurn } from "./advancingClock.ts"
import { type Case, runCase } from "./runCase.ts"

/**
 * The abilities of an event bus.
 *
 * @since 0.1.0
 * @category models
 */
export interface EventBusTraits {
  /**
   * How many events wait for a subscriber that does not read, before it misses the oldest. Left out: no event is ever
   * missed.
   */
  readonly capacity?: number | undefined

  /** Two buses of one engine: both deliver the events of either. Left out: each bus is on its own. */
  readonly pair?:
    | Effect.Effect<readonly [typeof EventBus.Service, typeof EventBus.Service], unknown, Scope.Scope>
    | undefined

  /**
   * A bus whose engine `restart` restarts, with an empty state and numbers from the start. Left out: its engine
   * cannot restart, for example an engine in this process.
   */
  readonly restartable?:
    | Effect.Effect<
        { readonly bus: typeof EventBus.Service; readonly restart: Effect.Effect<void, unknown> },
        unknown,
        Scope.Scope
      >
    | undefined
}

/** How long a feed may go on after its engine has restarted. */
const failsWithin = "10 seconds"

/**
 * The layer gives a new bus each time it is built. The tests run in real time.
 *
 * @since 0.1.0
 * @category testing
 */
export const eventBusContract = (
  name: string,
  layer: Layer.Layer<EventBus, unknown>,
  { capacity, pair, restartable }: EventBusTraits = {}
) => {
  /** How many events a feed has room for before it is read. */
  const room = capacity ?? Number.POSITIVE_INFINITY
  const run = (test: Case<typeof EventBus.Service>) => Effect.provide(runCase(EventBus, test), layer)
  const scenario = (title: string, test: Case<typeof EventBus.Service>) => it.live(title, () => run(test))

  describe(`${name} as an EventBus`, () => {
    scenario("subscribes before it returns, so that nothing published afterwards is missed", function* (bus) {
      yield* bus.publish("too:early", null)
      const feed = yield* bus.subscribe
      yield* bus.publish("content:fetch:start", { timestamp: "2026-01-01T00:00:00.000Z" })
      expect(yield* take(feed, 1)).toMatchObject([
        { name: "content:fetch:start", payload: { timestamp: "2026-01-01T00:00:00.000Z" } }
      ])
    })

    scenario("tells the sequence at which a feed begins", function* (bus) {
      yield* bus.publish("before", null)
      const feed = yield* bus.subscribe
      yield* bus.publish("", null)
      const [event] = yield* take(feed, 1)
      expect(feed.first, "`first` of a feed is the sequence of its first event: use `EventBus.feed`").toBe(
        event?.sequence
      )
    })

    it.effect.prop(
      "delivers everything to every subscriber, in the order of the sequence",
      [turns],
      ([maxOps]) =>
        run(function* (bus) {
          const one = yield* bus.subscribe
          const other = yield* bus.subscribe
          yield* Effect.withMaxOpsBeforeYield(publishFromSeveral([bus], room), maxOps)
          expectNumbered(yield* sawFromSeveral(room, one, other))
        }),
      { fastCheck: { numRuns: 20 } }
    )

    it.effect.prop(
      "leaves no gap in the sequence if a publisher is interrupted",
      [turns, FastCheck.integer({ min: 0, max: 8 })],
      ([maxOps, waited]) =>
        run(function* (bus) {
          const feed = yield* bus.subscribe
          const publisher = yield* Effect.fork(
            Effect.withMaxOpsBeforeYield(publishNumbers(bus, 0, Math.min(20, room - 1)), maxOps)
          )
          yield* Effect.repeatN(Effect.yieldNow(), waited)
          yield* Fiber.interrupt(publisher)
          yield* bus.publish("last", null)
          const seen = yield* Stream.runCollect(Stream.takeUntil(feed, ({ name }) => name === "last"))
          expectNumbered(Chunk.toReadonlyArray(seen))
        }),
      { fastCheck: { numRuns: 20 } }
    )

    scenario("numbers events without a gap, if none is missed", function* (bus) {
      const feed = yield* bus.subscribe
      const count = Math.min(100, room)
      yield* publishNumbers(bus, 0, count)
      const seen = yield* take(feed, count)
      expect(payloads(seen)).toEqual(numbersFrom(0, count))
      expectNumbered(seen)
    })

    scenario("delivers the payload, or its copy through JSON", function* (bus) {
      const feed = yield* bus.subscribe
      const values = [
        { deep: [{ er: { est: [[], {}, null, "ü\n\u2028", -0.5e-7] } }] },
        { absent: undefined, present: 1 },
        [undefined, Number.NaN, new Date(0)],
        { toJSON: () => "written by itself" },
        undefined
      ]
      const pull = Effect.map(yield* Stream.toPull(feed), Chunk.unsafeHead)
      for (const value of values) {
        yield* bus.publish("event", value)
        expect(jsonText((yield* pull).payload)).toBe(jsonText(value))
      }
    })

    if (capacity === undefined) {
      scenario(
        "keeps every event for a subscriber that does not read, and holds up no other",
        function* (bus) {
          const slow = yield* bus.subscribe
          const healthy = yield* bus.subscribe
          const numbers = numbersFrom(0, 6000)
          for (let from = 0; from < numbers.length; from += 1000) {
            yield* publishNumbers(bus, from, 1000)
            expect(payloads(yield* take(healthy, 1000))).toEqual(numbers.slice(from, from + 1000))
          }
          expect(payloads(yield* take(slow, numbers.length))).toEqual(numbers)
        }
      )
    } else {
      scenario("lets a subscriber that falls behind miss its oldest events, and no other", function* (bus) {
        const slow = yield* bus.subscribe
        const healthy = yield* Queue.unbounded<BusEvent>()
        yield* Effect.forkScoped(
          Stream.runForEach(yield* bus.subscribe, (event) => Queue.offer(healthy, event))
        )
        const numbers = numbersFrom(0, 3 * capacity)
        const batch = Math.min(capacity, 1000)
        for (let from = 0; from < numbers.length; from += batch) {
          const expected = numbers.slice(from, from + batch)
          yield* publishNumbers(bus, from, expected.length)
          const seen = yield* Queue.takeN(healthy, expected.length)
          expect(payloads(Chunk.toReadonlyArray(seen))).toEqual(expected)
        }
        yield* bus.publish("last", null)
        const late = Chunk.toReadonlyArray(
          yield* Stream.runCollect(Stream.takeWhile(slow, ({ name }) => name !== "last"))
        )
        // The event "last" is in the place of one event.
        expect(late.length, "As many events wait as `capacity` says").toBeGreaterThanOrEqual(capacity - 1)
        expect(payloads(late)).toEqual(numbers.slice(numbers.length - late.length))
        const first = late[0]?.sequence ?? 0
        if (late.length > 0) {
          expect(first - (slow.first ?? 0), "`first` reveals events missed at the beginning").toBe(
            late[0]?.payload
          )
        }
        expect(late.map(({ sequence }) => sequence)).toEqual(late.map((_, index) => first + index))
      })

      scenario("shows by the sequence of events how many were missed between two", function* (bus) {
        const pull = Effect.map(yield* Stream.toPull(yield* bus.subscribe), Chunk.unsafeHead)
        yield* bus.publish("first", null)
        const first = yield* pull
        yield* publishNumbers(bus, 0, 4 * capacity)
        const next = yield* pull
        const missed = next.sequence - first.sequence - 1
        expect(missed).toBeGreaterThan(0)
        expect(next.payload).toBe(missed)
      })
    }

    scenario("ends a feed with the scope of its subscription", function* (bus) {
      const scope = yield* Scope.make()
      const feed = yield* Scope.extend(bus.subscribe, scope)
      const other = yield* bus.subscribe
      const seen = yield* Queue.unbounded<BusEvent>()
      const reader = yield* Effect.fork(Stream.runForEach(feed, (event) => Queue.offer(seen, event)))
      yield* bus.publish("before", 1)
      expect(yield* Queue.take(seen)).toMatchObject({ name: "before", payload: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* endsInTime(Fiber.join(reader))
      yield* bus.publish("after", 2)
      const count = Math.min(2, room)
      expect(payloads(yield* take(other, count))).toEqual([1, 2].slice(-count))
      expect(yield* Queue.size(seen)).toBe(0)
    })

    if (pair !== undefined) {
      it.live("delivers the events of another instance, in one order", () =>
        runCase(pair, function* ([one, other]) {
          const feed = yield* one.subscribe
          const otherFeed = yield* other.subscribe
          yield* publishFromSeveral([one, other], room)
          expectNumbered(yield* sawFromSeveral(room, feed, otherFeed))
        })
      )
    }

    if (restartable !== undefined) {
      it.live("fails a feed when the engine starts again, says so, and can be subscribed to again", () =>
        runCase(restartable, function* ({ bus, restart }) {
          const feed = yield* bus.subscribe
          const heard = yield* Queue.unbounded<BusEvent>()
          const reader = yield* Effect.fork(Stream.runForEach(feed, (event) => Queue.offer(heard, event)))
          yield* bus.publish("event", 1)
          yield* Queue.take(heard)
          const emptied = yield* Effect.fork(Stream.runHead(bus.emptied))
          // A Stream subscribes some turns after it is run.
          yield* Effect.repeatN(eventLoopTurn, 20)
          yield* bus.publish("event", 1)
          yield* Queue.take(heard)
          yield* restart
          expect(yield* Effect.timeout(Fiber.join(emptied), failsWithin)).toEqual(Option.some(undefined))
          const error = yield* failureOf(
            Effect.timeout(Fiber.join(reader), failsWithin),
            "The feed has ended, and must fail when its engine has started again."
          )
          expect(error).toBeInstanceOf(EventBusError)
          const later = yield* bus.subscribe
          yield* bus.publish("event", 2)
          expect(payloads(yield* take(later, 1))).toEqual([2])
        })
      )
    }
  })
}

/** Fails with a message before the time limit of most test runners. */
export const endsInTime = Effect.timeoutFail({
  duration: "4 seconds",
  onTimeout: () =>
    new Error("The feed goes on although the scope of its subscription has ended. It must end with it.")
})

/** The failure of the effect. Fails with the message if the effect succeeds. */
export const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>, message: string) =>
  Effect.matchEffect(effect, {
    onFailure: Effect.succeed<E>,
    onSuccess: () => Effect.fail(new Error(message))
  })

/** After how many steps a fiber waits for its next turn: at any point, also within `publish`. */
const turns = FastCheck.integer({ min: 10, max: 40 })

/** The first events of a feed. Fails with the number of the missing event before the time limit of most test runners. */
const take = (feed: Stream.Stream<BusEvent, EventBusError>, count: number) =>
  Effect.suspend(() => {
    const seen: Array<BusEvent> = []
    const missing = () => {
      const last = seen.at(-1)
      const after = last === undefined ? "" : ` It comes after "${last.name}" with ${jsonText(last.payload)}.`
      return new Error(
        `Event ${seen.length + 1} of ${count} of the feed has not arrived within 4 seconds.${after}`
      )
    }
    return Stream.take(feed, count).pipe(
      Stream.runForEach((event) => Effect.sync(() => seen.push(event))),
      Effect.timeoutFail({ duration: "4 seconds", onTimeout: missing }),
      Effect.withClock(Clock.make()),
      Effect.as(seen)
    )
  })

const numbersFrom = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

/** Publishes events named `event` whose payloads count from `from`. */
const publishNumbers = ({ publish }: typeof EventBus.Service, from: number, count: number) =>
  Effect.forEach(numbersFrom(from, count), (number) => publish("event", number), { discard: true })

/** How many publishers at the same time, and how many events each, so that all events fit. */
const severalIn = (room: number) => {
  const publishers = Math.min(5, room)
  return { publishers, each: Math.min(4, Math.floor(room / publishers)) }
}

/** Several publishers at the same time, by turns on each of the buses, with some events each. */
const publishFromSeveral = (buses: ReadonlyArray<typeof EventBus.Service>, room: number) => {
  const { each, publishers } = severalIn(room)
  return Effect.forEach(
    numbersFrom(0, publishers).flatMap((publisher) => buses.slice(publisher % buses.length).slice(0, 1)),
    ({ publish }, publisher) =>
      Effect.forEach(numbersFrom(0, each), (index) => publish(`publisher${publisher}`, index)),
    { concurrency: "unbounded", discard: true }
  )
}

/** Both feeds have all published events in one order, and each publisher's events in its order. */
const sawFromSeveral = (
  room: number,
  one: Stream.Stream<BusEvent, EventBusError>,
  other: Stream.Stream<BusEvent, EventBusError>
) =>
  Effect.gen(function* () {
    const { each, publishers } = severalIn(room)
    const seen = yield* take(one, publishers * each)
    expect(yield* take(other, publishers * each)).toEqual(seen)
    for (const publisher of numbersFrom(0, publishers)) {
      const own = seen.filter(({ name }) => name === `publisher${publisher}`)
      expect(payloads(own)).toEqual(numbersFrom(0, each))
    }
    return seen
  })

/** The sequence of each event is one more than the sequence before. */
const expectNumbered = (events: ReadonlyArray<BusEvent>) => {
  const sequences = events.map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.map((_, index) => (sequences[0] ?? 0) + index))
}

const payloads = (events: ReadonlyArray<BusEvent>) => events.map(({ payload }) => payload)
