import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { maxEvents, maxEventsSize } from "../../../src/internal/keptEvents.ts"
import { layer } from "../../../src/layers/memory/EventBusMemory.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { endsInTime } from "../../../src/testing/eventBusContract.ts"
import { eventBusContract } from "../../../src/testing.ts"

eventBusContract("EventBusMemory", layer, { capacity: maxEvents })

describe("the contract", () => {
  it.effect("detects a feed that does not end with its scope", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.fork(Effect.flip(endsInTime(Effect.never)))
      yield* TestClock.adjust("4 seconds")
      expect((yield* Fiber.join(waiting)).message).toContain("must end with it")
    })
  )
})

describe("EventBusMemory", () => {
  it.scoped("keeps exactly the capacity for a subscriber that does not read", () =>
    Effect.gen(function* () {
      const bus = yield* EventBus
      const feed = yield* bus.subscribe
      for (let number = 0; number < maxEvents + 10; number++) {
        yield* bus.publish("event", number)
      }
      const kept = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(feed, maxEvents)))
      expect(kept[0]?.payload).toBe(10)
      expect(kept.at(-1)?.payload).toBe(maxEvents + 9)
    }).pipe(Effect.provide(layer))
  )

  it.scoped("keeps events up to a size for a subscriber that does not read, or one event of any size", () =>
    Effect.gen(function* () {
      const bus = yield* EventBus
      const pull = yield* Stream.toPull(yield* bus.subscribe)
      const text = "x".repeat(maxEventsSize / 4)
      for (const payload of [text, [text], { text }, { deep: [{ text }] }, Buffer.from(text)]) {
        yield* bus.publish("event", payload)
      }
      expect(Chunk.toReadonlyArray(yield* pull).map(({ sequence }) => sequence)).toEqual([3, 4, 5])
      yield* bus.publish("event", "small")
      yield* bus.publish("event", text.repeat(5))
      expect(Chunk.toReadonlyArray(yield* pull).map(({ sequence }) => sequence)).toEqual([7])
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets a publisher go on after the layer has ended", () =>
    Effect.gen(function* () {
      const bus = yield* Effect.provide(EventBus, layer)
      expect(yield* Effect.exit(bus.publish("late", null))).toEqual(Exit.void)
    })
  )

  it.effect("ends all feeds with the layer", () =>
    Effect.gen(function* () {
      const feed = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe).pipe(Effect.provide(layer))
      expect(Chunk.toReadonlyArray(yield* Stream.runCollect(feed))).toEqual([])
    }).pipe(Effect.scoped)
  )
})
