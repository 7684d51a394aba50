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
import type { BusEvent, EventListener } from "../../services/EventBus.ts"

/** How many events wait for a slow subscriber before it misses the oldest. */
export const subscriberCapacity = 4096

/** How much their payloads may take up together, in bytes, about; one event alone may be larger. */
export const maxWaitingSize = 16 * 1024 * 1024

export interface Broadcast {
  /** Numbers the event and hands it to everybody. */
  readonly publish: (name: string, payload: unknown) => void
  readonly subscribe: Effect.Effect<Stream.Stream<BusEvent>, never, Scope.Scope>
  readonly listen: (listener: EventListener) => Effect.Effect<void, never, Scope.Scope>
  /** Ends everybody's events, also of those who come later. */
  readonly close: () => void
}

export const makeBroadcast = (): Broadcast => {
  const listeners = new Set<EventListener>()
  let published = 0
  let isClosed = false

  const listen = (listener: EventListener) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        if (isClosed) {
          listener.end()
        } else {
          listeners.add(listener)
        }
      }),
      () =>
        Effect.sync(() => {
          listeners.delete(listener)
          listener.end()
        })
    )

  return {
    publish: (name, payload) => {
      const event = { name, payload, sequence: ++published }
      for (const listener of listeners) {
        listener.event(event)
      }
    },
    listen,
    subscribe: Effect.suspend(() => {
      const subscriber = makeSubscriber()
      return Effect.as(listen(subscriber), subscriber.feed)
    }),
    close: () => {
      isClosed = true
      for (const { end } of listeners) {
        end()
      }
      listeners.clear()
    }
  }
}

/** Its end ends the feed; what waits is dropped. */
interface Subscriber extends EventListener {
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
    event: (event) => {
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
