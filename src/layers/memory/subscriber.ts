/**
 * One subscriber of an event bus: a bounded buffer, and the feed that reads it.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { makeSlidingQueue } from "../../internal/slidingQueue.ts"
import { valueSize } from "../../internal/valueSize.ts"
import type { BusEvent } from "../../services/EventBus.ts"

/** How many events wait for a slow subscriber before it misses the oldest. */
export const subscriberCapacity = 4096

/** How much their payloads may take up together, in bytes, about; one event alone may be larger. */
export const maxWaitingSize = 16 * 1024 * 1024

/** A buffer of one subscriber. That events were dropped, the next one shows by its sequence. */
export const makeWaitingEvents = () =>
  makeSlidingQueue<BusEvent>({
    maxLength: subscriberCapacity,
    maxSize: maxWaitingSize,
    onDropped: () => {}
  })

export interface Subscriber<E> {
  readonly offer: (event: BusEvent) => void
  /** Ends the feed; what waits is dropped. */
  readonly end: () => void
  /** Fails the feed, behind what waits. */
  readonly fail: (error: E) => void
  readonly feed: Stream.Stream<BusEvent, E>
}

type Events = Chunk.Chunk<BusEvent>

export const makeSubscriber = <E>(): Subscriber<E> => {
  type Taken = Effect.Effect<Events, Option.Option<E>>

  const waiting = makeWaitingEvents()
  let ending: Taken | undefined
  let reader: ((events: Taken) => void) | undefined

  const resume = (events: Taken) => {
    const asked = reader
    reader = undefined
    asked?.(events)
    return asked !== undefined
  }

  const close = (how: Taken) => {
    ending ??= how
    resume(ending)
  }

  const noReader = Effect.sync(() => {
    reader = undefined
  })

  // A Deferred in its place was measured to cost a lone event a third more.
  const take = Effect.async<Events, Option.Option<E>>((resume) => {
    if (waiting.length() > 0) {
      resume(Effect.succeed(Chunk.unsafeFromArray(waiting.takeAll())))
    } else if (ending !== undefined) {
      resume(ending)
    } else {
      reader = resume
    }
    return noReader
  })

  return {
    // Whoever waits is given it at once: it would not know of what was dropped in front of the first that it sees.
    offer: (event) => {
      if (ending === undefined && !resume(Effect.succeed(Chunk.of(event)))) {
        waiting.offer(event, event.name.length + valueSize(event.payload))
      }
    },
    end: () => {
      waiting.takeAll()
      close(Effect.fail(Option.none()))
    },
    fail: (error) => close(Effect.fail(Option.some(error))),
    feed: Stream.repeatEffectChunkOption(take)
  }
}
