/**
 * What every wrapper of an `EventBus` does, whatever it makes of events: nothing gets around it, and what the bus within
 * says besides events is handed on.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Subscription from "../layers/fanOut/Subscription.ts"
import * as EventBusMemory from "../layers/memory/EventBusMemory.ts"
import { type BusEvent, EventBus, EventBusError } from "../services/EventBus.ts"
import { eventLoopTurn } from "./advancingClock.ts"
import { type Case, runCase } from "./runCase.ts"

/** The layer wraps the bus that it is given. The tests run in real time. */
export const eventBusWrapperContract = (name: string, layer: Layer.Layer<EventBus, unknown, EventBus>) => {
  const scenario = (
    title: string,
    inner: Layer.Layer<EventBus>,
    test: Case<typeof EventBus.Service, EventBus>
  ) => it.live(title, () => Effect.provide(runCase(EventBus, test), Layer.provide(layer, inner)))

  describe(`${name} as a wrapper of an EventBus`, () => {
    scenario(
      "gives a transport the events that it gives to everybody",
      EventBusMemory.layer,
      function* (bus) {
        const feed = yield* bus.subscribe
        const taken: Array<BusEvent> = []
        const { feeds } = yield* Subscription.make("The transport")
        yield* Stream.flatMap(feeds, ({ events }) => events).pipe(
          Stream.runForEachChunk((events) => Effect.sync(() => taken.push(...events))),
          Effect.forkScoped
        )
        const seen: Array<BusEvent> = []
        yield* Effect.forkScoped(Stream.runForEach(feed, (event) => Effect.sync(() => seen.push(event))))
        yield* bus.publish("content:version:promoted", { versionId: "20261121T093000Z" })
        yield* bus.publish("", ["a", 1, null])
        yield* Effect.repeat(eventLoopTurn, {
          until: () => seen.length > 0 && seen.length === taken.length
        }).pipe(Effect.timeoutOption("10 seconds"))
        expect(taken).toEqual(seen)
      }
    )

    it.scopedLive("hands on what is published, from the moment of a subscription and with its numbers", () =>
      Effect.gen(function* () {
        const inner = yield* EventBusMemory.make
        const wrapper = yield* Effect.provide(EventBus, Layer.provide(layer, Layer.succeed(EventBus, inner)))
        yield* expectHandedOn(wrapper, inner)
      })
    )

    const emptied = Effect.runSync(Queue.unbounded<void>())
    scenario(
      "says when the engine of the bus has lost what was published",
      Layer.succeed(EventBus, { ...silent, emptied: Stream.fromQueue(emptied) }),
      function* (bus) {
        const heard = yield* Effect.fork(Stream.runHead(bus.emptied))
        yield* Queue.offer(emptied, undefined)
        expect(yield* Effect.timeout(Fiber.join(heard), "10 seconds")).toEqual(Option.some(undefined))
      }
    )

    scenario(
      "fails a feed with the one that it wraps",
      Layer.succeed(EventBus, { ...silent, subscribe: Effect.succeed(Stream.fail(lost)) }),
      function* (bus) {
        const feed = yield* bus.subscribe
        expect(yield* Effect.flip(Effect.timeout(Stream.runDrain(feed), "10 seconds"))).toBeInstanceOf(
          EventBusError
        )
      }
    )
  })
}

/** Fails in words if a wrapper does not hand on what is published through it to the bus within, and from there. */
export const expectHandedOn = (wrapper: typeof EventBus.Service, inner: typeof EventBus.Service) =>
  Effect.gen(function* () {
    const within = yield* listen(yield* inner.subscribe)
    const feed = yield* wrapper.subscribe
    for (const versionId of ["20261121T093000Z", "20261121T093001Z"]) {
      yield* wrapper.publish("content:version:promoted", { versionId })
    }
    // The feed is read only now, and what comes later tells that it is read.
    const seen = yield* listen(feed)
    yield* inner
      .publish("content:version:promoted", { versionId: "20261121T093002Z" })
      .pipe(Effect.zipRight(eventLoopTurn), Effect.repeat({ until: () => seen.length > 2, times: maxTurns }))
    const numbers = within.slice(0, 2).map(({ sequence }) => sequence)
    expect(within[1]?.payload, "What is published through the wrapper reaches the bus within").toEqual({
      versionId: "20261121T093001Z"
    })
    expect(
      seen.slice(0, 2).map(({ sequence }) => sequence),
      "A subscription has the events since `subscribe` returned, with their numbers on the bus within"
    ).toEqual(numbers)
  })

const listen = (feed: Stream.Stream<BusEvent, EventBusError>) => {
  const seen: Array<BusEvent> = []
  return Effect.as(
    Effect.forkScoped(Stream.runForEach(feed, (event) => Effect.sync(() => seen.push(event)))),
    seen
  )
}

/** Turns of the event loop in which an event of this process comes. */
const maxTurns = 1000

/** A bus without events. */
const silent = EventBus.of({
  publish: () => Effect.void,
  subscribe: Effect.succeed(Stream.never),
  emptied: Stream.empty
})

const lost = new EventBusError({ action: "receive", detail: "events were lost" })
