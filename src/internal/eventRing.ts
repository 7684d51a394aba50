/**
 * The latest events by their sequence, bounded by number and by size: of more, the oldest are dropped.
 */
import * as Option from "effect/Option"
import { valueSize } from "./valueSize.ts"

/** How many events are kept. */
export const maxEvents = 4096

/** How much their payloads may take up together, in bytes, about; one event alone may be larger. */
export const maxEventsSize = 16 * 1024 * 1024

export interface EventRing<A> {
  readonly add: (event: A) => void
  /** None if it was dropped. */
  readonly get: (sequence: number) => Option.Option<A>
}

export const makeEventRing = <
  A extends { readonly name: string; readonly payload: unknown; readonly sequence: number }
>(): EventRing<A> => {
  /** In the order in which they were added. */
  const kept = new Map<number, { readonly event: A; readonly size: number }>()
  let totalSize = 0

  const isFull = () => kept.size > maxEvents || (totalSize > maxEventsSize && kept.size > 1)

  return {
    add: (event) => {
      const size = event.name.length + valueSize(event.payload)
      kept.set(event.sequence, { event, size })
      totalSize += size
      for (const [sequence, oldest] of kept) {
        if (!isFull()) {
          break
        }
        kept.delete(sequence)
        totalSize -= oldest.size
      }
    },
    get: (sequence) => Option.map(Option.fromNullable(kept.get(sequence)), ({ event }) => event)
  }
}
