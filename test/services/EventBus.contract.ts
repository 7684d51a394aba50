/**
 * What every `EventBus` does, wherever it keeps its events.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type BusEvent, EventBus } from "../../src/services/EventBus.ts"

/** The first events of a feed. */
const take = (feed: Stream.Stream<BusEvent>, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(feed, count)), Chunk.toReadonlyArray)

/** Publishes events named `event` whose payloads count from `from`. */
const publishNumbers = (from: number, count: number) =>
  Effect.flatMap(EventBus, ({ publish }) =>
    Effect.forEach(
      Array.from({ length: count }, (_, index) => from + index),
      (number) => publish("event", number),
      { discard: true }
    )
  )

const payloads = (events: ReadonlyArray<BusEvent>) => events.map(({ payload }) => payload)

/** The layer gives a new bus each time it is built. */
export const eventBusContract = (name: string, layer: Layer.Layer<EventBus>) =>
  describe(`${name} as an EventBus`, () => {
    it.scoped("subscribes before it returns, so that nothing published afterwards is missed", () =>
      Effect.gen(function* () {
        const bus = yield* EventBus
        yield* bus.publish("too:early", null)
        const feed = yield* bus.subscribe
        yield* bus.publish("content:fetch:start", { timestamp: "2026-01-01T00:00:00.000Z" })
        yield* bus.publish("", ["a", 1, null])
        expect(yield* take(feed, 2)).toMatchObject([
          { name: "content:fetch:start", payload: { timestamp: "2026-01-01T00:00:00.000Z" } },
          { name: "", payload: ["a", 1, null] }
        ])
      }).pipe(Effect.provide(layer))
    )

    it.scoped("tells every subscriber everything, in one order", () =>
      Effect.gen(function* () {
        const bus = yield* EventBus
        const one = yield* bus.subscribe
        const other = yield* bus.subscribe
        yield* Effect.all(
          Array.from({ length: 5 }, (_, publisher) =>
            Effect.forEach([0, 1, 2, 3], (index) =>
              Effect.zipRight(Effect.yieldNow(), bus.publish(`publisher${publisher}`, index))
            )
          ),
          { concurrency: "unbounded" }
        )
        const seen = yield* take(one, 20)
        expect(yield* take(other, 20)).toEqual(seen)
        for (let publisher = 0; publisher < 5; publisher++) {
          const own = seen.filter(({ name }) => name === `publisher${publisher}`)
          expect(payloads(own)).toEqual([0, 1, 2, 3])
        }
      }).pipe(Effect.provide(layer))
    )

    it.scoped("lets a subscriber that falls behind miss its oldest events, and nobody else", () =>
      Effect.gen(function* () {
        const bus = yield* EventBus
        const slow = yield* bus.subscribe
        const healthy = yield* Queue.unbounded<BusEvent>()
        yield* Effect.forkScoped(
          Stream.runForEach(yield* bus.subscribe, (event) => Queue.offer(healthy, event))
        )
        const numbers = Array.from({ length: 12_000 }, (_, number) => number)
        for (let from = 0; from < numbers.length; from += 1000) {
          yield* publishNumbers(from, 1000)
          const seen = yield* Queue.takeN(healthy, 1000)
          expect(payloads(Chunk.toReadonlyArray(seen))).toEqual(numbers.slice(from, from + 1000))
        }
        yield* bus.publish("last", null)
        const late = Chunk.toReadonlyArray(
          yield* Stream.runCollect(Stream.takeWhile(slow, ({ name }) => name !== "last"))
        )
        expect(late.length).toBeGreaterThan(0)
        expect(payloads(late)).toEqual(numbers.slice(-late.length))
        const first = late[0]?.sequence ?? 0
        expect(late.map(({ sequence }) => sequence)).toEqual(late.map((_, index) => first + index))
      }).pipe(Effect.provide(layer))
    )

    it.scoped("tells by the sequence of events how many were missed between two", () =>
      Effect.gen(function* () {
        const bus = yield* EventBus
        const pull = Effect.map(yield* Stream.toPull(yield* bus.subscribe), Chunk.unsafeHead)
        yield* bus.publish("first", null)
        const first = yield* pull
        yield* publishNumbers(0, 20_000)
        const next = yield* pull
        const missed = next.sequence - first.sequence - 1
        expect(missed).toBeGreaterThan(0)
        expect(next.payload).toBe(missed)
      }).pipe(Effect.provide(layer))
    )

    it.scoped("ends a feed with the scope of its subscription", () =>
      Effect.gen(function* () {
        const bus = yield* EventBus
        const scope = yield* Scope.make()
        const feed = yield* Scope.extend(bus.subscribe, scope)
        const other = yield* bus.subscribe
        const seen = yield* Queue.unbounded<BusEvent>()
        const reader = yield* Effect.fork(Stream.runForEach(feed, (event) => Queue.offer(seen, event)))
        yield* bus.publish("before", 1)
        expect(yield* Queue.take(seen)).toMatchObject({ name: "before", payload: 1 })
        yield* Scope.close(scope, Exit.void)
        yield* Fiber.join(reader)
        yield* bus.publish("after", 2)
        expect(payloads(yield* take(other, 2))).toEqual([1, 2])
        expect(yield* Queue.size(seen)).toBe(0)
      }).pipe(Effect.provide(layer))
    )
  })
