/**
 * Events that wait for one subscriber, bounded: of more than these, it misses the oldest.
 */
import { makeSlidingQueue } from "./slidingQueue.ts"
import { valueSize } from "./valueSize.ts"

/** How many events wait for a slow subscriber before it misses the oldest. */
export const subscriberCapacity = 4096

/** How much their payloads may take up together, in bytes, about; one event alone may be larger. */
export const maxWaitingSize = 16 * 1024 * 1024

/** That some were dropped, the next one shows by its sequence. */
export const makeWaitingEvents = <A extends { readonly name: string; readonly payload: unknown }>(
  maxLength = subscriberCapacity
) => {
  const { length, offer, takeAll } = makeSlidingQueue<A>({
    maxLength,
    maxSize: maxWaitingSize,
    onDropped: () => {}
  })
  return {
    length,
    takeAll,
    offer: (event: A) => offer(event, event.name.length + valueSize(event.payload))
  }
}
