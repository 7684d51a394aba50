import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { maxEvents } from "../../../src/internal/keptEvents.ts"
import { makeEventBus } from "../../../src/layers/plain/plainServices.ts"
import { type BusEvent, EventBus, type EventBusError } from "../../../src/services/EventBus.ts"
import { eventBusContract } from "../../../src/testing.ts"
import { makePlainController } from "../../support/plainController.ts"

eventBusContract(
  "EventBusPlain",
  Layer.scoped(
    EventBus,
    Effect.suspend(() => makeEventBus(makePlainController().contextOf("test")))
  ),
  { capacity: maxEvents }
)

const setUp = Effect.suspend(() => {
  const controller = makePlainController()
  return Effect.map(makeEventBus(controller.contextOf("test")), (bus) => ({ bus, controller }))
})

const take = (feed: Stream.Stream<BusEvent, EventBusError>, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(feed, count)), (events) =>
    Chunk.toReadonlyArray(events).map(({ name, payload }) => [name, payload])
  )

describe("EventBusPlain", () => {
  it.scoped("receives emitted events, and emits published ones", () =>
    Effect.gen(function* () {
      const { bus, controller } = yield* setUp
      const heard: Array<unknown> = []
      controller.contextOf("other").eventBus.onAny((name, payload) => heard.push([name, payload]))
      const feed = yield* bus.subscribe
      controller.emit("emitted", 1)
      yield* bus.publish("published", 2)
      expect(yield* take(feed, 2)).toEqual([
        ["emitted", 1],
        ["published", 2]
      ])
      expect(heard).toEqual([
        ["emitted", 1],
        ["published", 2]
      ])
    })
  )

  it.scoped("registers one handler for all subscriptions, and numbers events in one order", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { bus, controller } = yield* Scope.extend(setUp, scope)
      const early = yield* bus.subscribe
      controller.emit("a", 1)
      const late = yield* bus.subscribe
      controller.emit("b", 2)
      expect(controller.handlers()).toHaveLength(1)
      const seen = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(early, 2)))
      expect(Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(late, 1)))).toEqual(seen.slice(1))
      yield* Scope.close(scope, Exit.void)
      expect(controller.handlers()).toHaveLength(0)
    })
  )

  it.scoped("keeps the order of events that are emitted within a handler", () =>
    Effect.gen(function* () {
      const { bus, controller } = yield* setUp
      const feed = yield* bus.subscribe
      controller.contextOf("other").eventBus.onAny((name, payload) => {
        if (typeof payload === "number" && payload < 3) {
          controller.emit(`${name}.${payload}`, payload + 1)
        }
      })
      controller.emit("a", 1)
      controller.emit("b", 3)
      expect(yield* take(feed, 4)).toEqual([
        ["a", 1],
        ["a.1", 2],
        ["a.1.2", 3],
        ["b", 3]
      ])
    })
  )

  it.scoped("receives events that an Effect emits while it runs", () =>
    Effect.gen(function* () {
      const { bus, controller } = yield* setUp
      const feed = yield* bus.subscribe
      yield* Effect.sync(() => controller.emit("a", 1)).pipe(Effect.repeatN(2))
      expect(yield* take(feed, 3)).toHaveLength(3)
    })
  )
})
