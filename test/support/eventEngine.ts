/**
 * An engine that several instances of an event bus and a replay backlog share, and whose failures a test controls.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Take from "effect/Take"
import { makeLatestEvents } from "../../src/internal/keptEvents.ts"
import { feed as feedFrom } from "../../src/layers/memory/definedEvents.ts"
import { type BusEvent, EventBus, EventBusError } from "../../src/services/EventBus.ts"
import { type RememberedEvent, ReplayBacklog, ReplayBacklogError } from "../../src/services/ReplayBacklog.ts"

export const parts = ["publish", "subscribe", "read", "write"] as const
export type Part = (typeof parts)[number]

/** What becomes of calls: those that hang go on with the next recovery. */
export type Condition = "works" | "fails" | "hangs"

export type FeedEnd = "ends" | "fails" | "dies"

export interface Instance {
  readonly bus: typeof EventBus.Service
  readonly layer: Layer.Layer<EventBus | ReplayBacklog>
  /** So many of the events that are published next do not reach its feeds. */
  readonly lose: (events: number) => void
  /** Its feeds end, behind what waits in them. */
  readonly endFeeds: (how: FeedEnd) => void
}

export const make = () => {
  const emitted: Array<BusEvent> = []
  const instances: Array<{ readonly deliver: (event: BusEvent) => void; readonly abort: () => void }> = []
  const conditions = new Map<Part, Condition>()
  let store = makeLatestEvents<RememberedEvent>()
  let epoch = 0
  let sequence = 0
  const beginnings = Effect.runSync(PubSub.unbounded<void>())
  let recovery = Deferred.unsafeMake<void>(FiberId.none)

  const recover = () => {
    conditions.clear()
    Deferred.unsafeDone(recovery, Effect.void)
    recovery = Deferred.unsafeMake<void>(FiberId.none)
  }

  const call = <A, E>(part: Part, error: E, run: () => A): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const calledIn = epoch
      switch (conditions.get(part)) {
        case "fails":
          return Effect.fail(error)
        case "hangs":
          return Effect.flatMap(Deferred.await(recovery), () =>
            calledIn === epoch ? Effect.sync(run) : Effect.fail(error)
          )
        default:
          return Effect.sync(run)
      }
    })

  const publish = (name: string, payload: unknown) =>
    call("publish", new EventBusError({ action: "publish", detail: "no engine" }), () => {
      const event = { name, payload, sequence: ++sequence }
      emitted.push(event)
      for (const { deliver } of instances) {
        deliver(event)
      }
    })

  const backlog = ReplayBacklog.of({
    remember: (event) =>
      call("write", new ReplayBacklogError({ action: "write", detail: "no engine" }), () => {
        store.add(event)
      }),
    snapshot: call("read", new ReplayBacklogError({ action: "read", detail: "no engine" }), () =>
      store.inOrder()
    )
  })

  const instance = (): Instance => {
    const feeds = new Set<Queue.Queue<Take.Take<BusEvent, EventBusError>>>()
    let toLose = 0

    const offer = (take: Take.Take<BusEvent, EventBusError>) => {
      for (const feed of feeds) {
        feed.unsafeOffer(take)
      }
    }
    const failed = (detail: string) => Take.fail(new EventBusError({ action: "receive", detail }))

    const subscribe = Effect.gen(function* () {
      const feed = yield* Queue.unbounded<Take.Take<BusEvent, EventBusError>>()
      yield* call("subscribe", new EventBusError({ action: "subscribe", detail: "no engine" }), () => {})
      const first = yield* Effect.acquireRelease(
        Effect.sync(() => {
          feeds.add(feed)
          return sequence + 1
        }),
        () =>
          Effect.sync(() => {
            feeds.delete(feed)
            feed.unsafeOffer(Take.end)
          })
      )
      return feedFrom(Stream.flattenTake(Stream.fromQueue(feed)), first)
    })

    instances.push({
      deliver: (event) => {
        if (toLose > 0) {
          toLose -= 1
        } else {
          offer(Take.of(event))
        }
      },
      abort: () => {
        for (const feed of feeds) {
          Effect.runSync(Queue.takeAll(feed))
        }
        offer(failed("the numbering begins anew"))
      }
    })

    const bus = EventBus.of({ publish, subscribe, emptied: Stream.fromPubSub(beginnings) })
    return {
      bus,
      layer: Layer.merge(Layer.succeed(EventBus, bus), Layer.succeed(ReplayBacklog, backlog)),
      lose: (events) => {
        toLose = events
      },
      endFeeds: (how) =>
        offer(how === "ends" ? Take.end : how === "fails" ? failed("no engine") : Take.dieMessage("a defect"))
    }
  }

  return {
    instance,
    /** All that was ever published, in one order, also before it began anew. */
    emitted: (): ReadonlyArray<BusEvent> => emitted,
    remembered: () => store.inOrder(),
    set: (part: Part, condition: Condition) => {
      conditions.set(part, condition)
    },
    recover,
    /** It starts again with nothing: what waits in feeds is lost, and feeds fail, as calls do that hang. */
    beginAnew: () => {
      epoch += 1
      sequence = 0
      store = makeLatestEvents()
      for (const { abort } of instances) {
        abort()
      }
      recover()
      beginnings.unsafeOffer()
    }
  }
}
