/**
 * One subscriber of an event bus: a bounded buffer, and the feed that reads it.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { makeWaitingEvents } from "../../internal/waitingEvents.ts"
import type { BusEvent } from "../../services/EventBus.ts"

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

  const waiting = makeWaitingEvents<BusEvent>()
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
        waiting.offer(event)
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
