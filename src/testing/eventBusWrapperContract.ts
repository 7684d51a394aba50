/**
 * The contract of every wrapper of an `EventBus`: no event bypasses it, and it passes on everything else from the
 * inner bus.
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
import { failureOf } from "./eventBusContract.ts"
import { type Case, runCase } from "./runCase.ts"

/**
 * The layer wraps the given bus. The tests run in real time.
 *
 * @since 0.1.0
 * @category testing
 */
export const eventBusWrapperContract = (name: string, layer: Layer.Layer<EventBus, unknown, EventBus>) => {
  const scenario = (
    title: string,
    inner: Layer.Layer<EventBus>,
    test: Case<typeof EventBus.Service, EventBus>
  ) => it.live(title, () => Effect.provide(runCase(EventBus, test), Layer.provide(layer, inner)))

  describe(`${name} as a wrapper of an EventBus`, () => {
    scenario("gives a transport the same events as other subscribers", EventBusMemory.layer, function* (bus) {
      const feed = yield* bus.subscribe
      const received: Array<BusEvent> = []
      const { feeds } = yield* Subscription.make("The transport")
      yield* Stream.flatMap(feeds, ({ events }) => events).pipe(
        Stream.runForEachChunk((events) => Effect.sync(() => received.push(...events))),
        Effect.forkScoped
      )
      const seen: Array<BusEvent> = []
      yield* Effect.forkScoped(Stream.runForEach(feed, (event) => Effect.sync(() => seen.push(event))))
      yield* bus.publish("content:version:promoted", { versionId: "20261121T093000Z" })
      yield* bus.publish("", ["a", 1, null])
      yield* Effect.repeat(eventLoopTurn, {
        until: () => seen.length > 0 && seen.length === received.length
      }).pipe(Effect.timeoutOption("10 seconds"))
      expect(received).toEqual(seen)
    })

    it.scopedLive("passes on events from the moment of a subscription, with their sequence", () =>
      Effect.gen(function* () {
        const inner = yield* EventBusMemory.make
        const wrapper = yield* Effect.provide(EventBus, Layer.provide(layer, Layer.succeed(EventBus, inner)))
        yield* expectHandedOn(wrapper, inner)
      })
    )

    const emptied = Effect.runSync(Queue.unbounded<void>())
    scenario(
      "reports when the engine of the bus has lost its events",
      Layer.succeed(EventBus, { ...silent, emptied: Stream.fromQueue(emptied) }),
      function* (bus) {
        const heard = yield* Effect.fork(Stream.runHead(bus.emptied))
        yield* Queue.offer(emptied, undefined)
        expect(yield* Effect.timeout(Fiber.join(heard), "10 seconds")).toEqual(Option.some(undefined))
      }
    )

    scenario(
      "fails a feed with the feed that it wraps",
      Layer.succeed(EventBus, { ...silent, subscribe: Effect.succeed(Stream.fail(lost)) }),
      function* (bus) {
        const feed = yield* bus.subscribe
        const drained = Effect.timeout(Stream.runDrain(feed), "10 seconds")
        expect(
          yield* failureOf(drained, "The feed has ended, and must fail as the feed within does.")
        ).toBeInstanceOf(EventBusError)
      }
    )
  })
}

/** Fails with a message if a wrapper does not pass on published events to the inner bus, and from it. */
export const expectHandedOn = (wrapper: typeof EventBus.Service, inner: typeof EventBus.Service) =>
  Effect.gen(function* () {
    const innerFeed = yield* inner.subscribe
    const within = yield* listen(innerFeed)
    const feed = yield* wrapper.subscribe
    for (const versionId of ["20261121T093000Z", "20261121T093001Z"]) {
      yield* wrapper.publish("content:version:promoted", { versionId })
    }
    // The feed is read only now; a later event tells when it is being read.
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
    expect(feed.first, "A feed passes on the `first` number of the bus within, with `EventBus.feed`").toBe(
      innerFeed.first
    )
  })

const listen = (feed: Stream.Stream<BusEvent, EventBusError>) => {
  const seen: Array<BusEvent> = []
  return Effect.as(
    Effect.forkScoped(Stream.runForEach(feed, (event) => Effect.sync(() => seen.push(event)))),
    seen
  )
}

/** Turns of the event loop in which an event of this process arrives. */
const maxTurns = 1000

/** A bus without events. */
const silent = EventBus.of({
  publish: () => Effect.void,
  subscribe: Effect.succeed(Stream.never),
  emptied: Stream.empty
})

const lost = new EventBusError({ action: "receive", detail: "events were lost" })
