/**
 * The latest events by their sequence, bounded by number and by size: beyond the bound, the oldest are dropped.
 */
import * as Option from "effect/Option"

/** How many events are kept. */
export const maxEvents = 4096

/** The total size of their payloads in bytes, about. A single event may be larger. */
export const maxEventsSize = 16 * 1024 * 1024

export interface EventRing<A> {
  readonly add: (event: A) => void
  /** `None` if the event was dropped. */
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

/** The cost of each value beside its text, and of each member of an object. */
const overhead = 16

/**
 * The size of the data that `JSON.stringify` would visit, in bytes; a character counts as one byte. An object that
 * occurs twice counts once. It never throws; unreadable values count as little.
 */
export const valueSize = (value: unknown): number => {
  const pending: Array<unknown> = [value]
  let seen: Set<object> | undefined
  let size = 0
  while (pending.length > 0) {
    const next = pending.pop()
    size += overhead
    if (typeof next === "string") {
      size += next.length
    } else if (typeof next === "object" && next !== null) {
      seen ??= new Set()
      if (!seen.has(next)) {
        seen.add(next)
        size += ArrayBuffer.isView(next) ? next.byteLength : lookInto(next, pending)
      }
    }
  }
  return size
}

/** Adds the members to the pending values, and returns the size of their names. */
const lookInto = (holder: object, members: Array<unknown>): number => {
  let size = 0
  try {
    if (Array.isArray(holder)) {
      for (const member of holder) {
        members.push(member)
      }
    } else {
      for (const [name, member] of Object.entries(holder)) {
        size += name.length
        members.push(member)
      }
    }
  } catch {
    // A getter or a proxy that throws: the code that encodes the value later reports the error.
  }
  return size
}
