/**
 * Events to the subscribers of one process, each with a bounded buffer of its own, without a fiber in between.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
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
type Taken = Effect.Effect<Events, Option.Option<never>>

const ended: Taken = Effect.fail(Option.none())

const makeSubscriber = (): Subscriber => {
  const waiting = makeSlidingQueue<BusEvent>({
    maxLength: subscriberCapacity,
    maxSize: maxWaitingSize,
    // The next event shows it by its sequence.
    onDropped: () => {}
  })
  let isEnded = false
  let reader: ((events: Taken) => void) | undefined

  const resume = (events: Taken) => {
    const asked = reader
    reader = undefined
    asked?.(events)
    return asked !== undefined
  }

  const noReader = Effect.sync(() => {
    reader = undefined
  })

  // A Deferred in its place was measured to cost a lone event a third more.
  const take = Effect.async<Events, Option.Option<never>>((resume) => {
    if (isEnded) {
      resume(ended)
    } else if (waiting.length() > 0) {
      resume(Effect.succeed(Chunk.unsafeFromArray(waiting.takeAll())))
    } else {
      reader = resume
    }
    return noReader
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
      resume(ended)
    },
    feed: Stream.repeatEffectChunkOption(take)
  }
}
