/**
 * Events to everybody who listens in one process, without a fiber in between.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { makeWaitingEvents, subscriberCapacity } from "../../internal/waitingEvents.ts"
import type { BusEvent, EventListener } from "../../services/EventBus.ts"
import { makeSubscriber } from "./subscriber.ts"

export interface Broadcast {
  /** Numbers the event and hands it to everybody. */
  readonly publish: (name: string, payload: unknown) => void
  readonly subscribe: Effect.Effect<Stream.Stream<BusEvent>, never, Scope.Scope>
  readonly listen: (listener: EventListener) => Effect.Effect<void, never, Scope.Scope>
  /** Ends everybody's events, also of those who come later. */
  readonly close: () => void
}

/** Where the events for one go. */
interface Receiver {
  readonly offer: (event: BusEvent) => void
  /** What waits is dropped. */
  readonly end: () => void
}

export const makeBroadcast = (): Broadcast => {
  const receivers = new Set<Receiver>()
  let published = 0
  let isClosed = false

  const receive = (receiver: Receiver) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        if (isClosed) {
          receiver.end()
        } else {
          receivers.add(receiver)
        }
      }),
      () =>
        Effect.sync(() => {
          receivers.delete(receiver)
          receiver.end()
        })
    )

  return {
    publish: (name, payload) => {
      const event = { name, payload, sequence: ++published }
      for (const receiver of receivers) {
        receiver.offer(event)
      }
    },
    subscribe: Effect.suspend(() => {
      const subscriber = makeSubscriber<never>()
      return Effect.as(receive(subscriber), subscriber.feed)
    }),
    listen: (listener) => receive(makeReceiver(listener)),
    close: () => {
      isClosed = true
      for (const { end } of receivers) {
        end()
      }
      receivers.clear()
    }
  }
}

/**
 * What is published in one turn of the event loop comes together, in its microtasks. The first is never dropped: nobody
 * would know of what was dropped in front of the first that it sees.
 */
const makeReceiver = (listener: EventListener): Receiver => {
  let first: BusEvent | undefined
  const others = makeWaitingEvents<BusEvent>(subscriberCapacity - 1)

  const deliver = () => {
    if (first !== undefined) {
      const events = [first, ...others.takeAll()]
      first = undefined
      listener.events(events)
    }
  }

  return {
    offer: (event) => {
      if (first === undefined) {
        first = event
        queueMicrotask(deliver)
      } else {
        others.offer(event)
      }
    },
    end: () => {
      first = undefined
      others.takeAll()
      listener.end()
    }
  }
}
