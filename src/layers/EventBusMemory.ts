/**
 * The event bus of one process.
 */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type BusEvent, EventBus } from "../services/EventBus.ts"
import { makeSlidingQueue } from "./slidingQueue.ts"
import { valueSize } from "./valueSize.ts"

/** How many events wait for a slow subscriber before it misses the oldest. */
export const subscriberCapacity = 4096

/** How much their payloads may take up together, in bytes, about; one event alone may be larger. */
export const maxWaitingSize = 16 * 1024 * 1024

export const make = Effect.gen(function* () {
  const subscribers = new Set<Subscriber>()
  let published = 0
  let closed = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      for (const { end } of subscribers) {
        end()
      }
      subscribers.clear()
    })
  )
  return EventBus.of({
    publish: (name, payload) =>
      Effect.sync(() => {
        const event = { name, payload, sequence: ++published }
        if (subscribers.size > 0) {
          const size = name.length + valueSize(payload)
          for (const { offer } of subscribers) {
            offer(event, size)
          }
        }
      }),
    subscribe: Effect.acquireRelease(
      Effect.sync(() => {
        const subscriber = makeSubscriber()
        if (closed) {
          subscriber.end()
        } else {
          subscribers.add(subscriber)
        }
        return subscriber
      }),
      (subscriber) =>
        Effect.sync(() => {
          subscribers.delete(subscriber)
          subscriber.end()
        })
    ).pipe(Effect.map(({ feed }) => feed))
  })
})

export const layer: Layer.Layer<EventBus> = Layer.scoped(EventBus, make)

interface Subscriber {
  readonly offer: (event: BusEvent, size: number) => void
  /** Ends the feed; what waits is dropped. */
  readonly end: () => void
  readonly feed: Stream.Stream<BusEvent>
}

type Events = Chunk.Chunk<BusEvent>

const makeSubscriber = (): Subscriber => {
  const waiting = makeSlidingQueue<BusEvent>({
    maxLength: subscriberCapacity,
    maxSize: maxWaitingSize,
    // The next event tells by its sequence.
    onDropped: () => {}
  })
  let ended = false
  let reader: Deferred.Deferred<Events, Option.Option<never>> | undefined

  const answerReader = (events: Effect.Effect<Events, Option.Option<never>>) => {
    const asked = reader
    reader = undefined
    if (asked !== undefined) {
      Deferred.unsafeDone(asked, events)
    }
    return asked !== undefined
  }

  const take = Effect.suspend((): Effect.Effect<Events, Option.Option<never>> => {
    if (ended) {
      return Effect.fail(Option.none())
    }
    if (waiting.length() > 0) {
      return Effect.succeed(Chunk.unsafeFromArray(waiting.takeAll()))
    }
    reader ??= Deferred.unsafeMake(FiberId.none)
    return Deferred.await(reader)
  })

  return {
    // Whoever waits is given it at once: it would not know of what was dropped in front of the first that it sees.
    offer: (event, size) => {
      if (!answerReader(Effect.succeed(Chunk.of(event)))) {
        waiting.offer(event, size)
      }
    },
    end: () => {
      ended = true
      waiting.takeAll()
      answerReader(Effect.fail(Option.none()))
    },
    feed: Stream.repeatEffectChunkOption(take)
  }
}
