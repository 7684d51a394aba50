import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { layer, subscriberCapacity } from "../../src/layers/EventBusMemory.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import { eventBusContract } from "../services/EventBus.contract.ts"

eventBusContract("EventBusMemory", layer)

describe("EventBusMemory", () => {
  it.scoped("keeps exactly the capacity for a subscriber that does not read", () =>
    Effect.gen(function* () {
      const bus = yield* EventBus
      const feed = yield* bus.subscribe
      for (let number = 0; number < subscriberCapacity + 10; number++) {
        yield* bus.publish("event", number)
      }
      const kept = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(feed, subscriberCapacity)))
      expect(kept[0]?.payload).toBe(10)
      expect(kept.at(-1)?.payload).toBe(subscriberCapacity + 9)
    }).pipe(Effect.provide(layer))
  )

  it.effect("ends all feeds with the layer", () =>
    Effect.gen(function* () {
      const feed = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe).pipe(Effect.provide(layer))
      expect(Chunk.toReadonlyArray(yield* Stream.runCollect(feed))).toEqual([])
    }).pipe(Effect.scoped)
  )
})
