/**
 * Events to the subscribers of one process, each with a bounded buffer of its own, without a fiber in between.
 */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeSlidingQueue } from "../../internal/slidingQueue.ts"
import { valueSize } from "../../internal/valueSize.ts"
import type { BusEvent } from "../../services/EventBus.ts"

/** How many events wait for a slow subscriber before it misses the oldest. */
export const subscriberCapacity = 4096

/** How much their payloads may take up together, in bytes, about; one event alone may be larger. */
export const maxWaitingSize = 16 * 1024 * 1024

export interface Broadcast {
  /** Numbers the event and hands it to every subscriber. */
  readonly publish: (name: string, payload: unknown) => void
  readonly subscribe: Effect.Effect<Stream.Stream<BusEvent>, never, Scope.Scope>
  /** Ends all feeds, and those that come. */
  readonly close: () => void
}

export const makeBroadcast = (): Broadcast => {
  const subscribers = new Set<Subscriber>()
  let published = 0
  let isClosed = false
  return {
    publish: (name, payload) => {
      const event = { name, payload, sequence: ++published }
      for (const { offer } of subscribers) {
        offer(event)
      }
    },
    subscribe: Effect.acquireRelease(
      Effect.sync(() => {
        const subscriber = makeSubscriber()
        if (isClosed) {
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
    ).pipe(Effect.map(({ feed }) => feed)),
    close: () => {
      isClosed = true
      for (const { end } of subscribers) {
        end()
      }
      subscribers.clear()
    }
  }
}

interface Subscriber {
  readonly offer: (event: BusEvent) => void
  /** Ends the feed; what waits is dropped. */
  readonly end: () => void
  readonly feed: Stream.Stream<BusEvent>
}

type Events = Chunk.Chunk<BusEvent>

const makeSubscriber = (): Subscriber => {
  const waiting = makeSlidingQueue<BusEvent>({
    maxLength: subscriberCapacity,
    maxSize: maxWaitingSize,
    // The next event shows it by its sequence.
    onDropped: () => {}
  })
  let isEnded = false
  let reader: Deferred.Deferred<Events, Option.Option<never>> | undefined

  const resume = (events: Effect.Effect<Events, Option.Option<never>>) => {
    const asked = reader
    reader = undefined
    if (asked !== undefined) {
      Deferred.unsafeDone(asked, events)
    }
    return asked !== undefined
  }

  const take = Effect.suspend((): Effect.Effect<Events, Option.Option<never>> => {
    if (isEnded) {
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
    offer: (event) => {
      if (!resume(Effect.succeed(Chunk.of(event)))) {
        waiting.offer(event, event.name.length + valueSize(event.payload))
      }
    },
    end: () => {
      isEnded = true
      waiting.takeAll()
      resume(Effect.fail(Option.none()))
    },
    feed: Stream.repeatEffectChunkOption(take)
  }
}
