/**
 * Events in memory: the latest by their sequence, for subscribers, and the latest of each name, for a backlog.
 */
import * as Option from "effect/Option"

/** How many events are kept. */
export const maxEvents = 4096

/** The total size of their payloads in bytes, about. A single event may be larger. */
export const maxEventsSize = 16 * 1024 * 1024

/** The latest events. Beyond the bounds, the oldest are dropped. */
export const makeEventRing = <
  A extends { readonly name: string; readonly payload: unknown; readonly sequence: number }
>() => {
  /** In the order in which they were added. */
  const kept = new Map<number, { readonly event: A; readonly size: number }>()
  let totalSize = 0

  const isFull = () => kept.size > maxEvents || (totalSize > maxEventsSize && kept.size > 1)

  return {
    add: (event: A): void => {
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
    /** `None` if the event was dropped. */
    get: (sequence: number) => Option.map(Option.fromNullable(kept.get(sequence)), ({ event }) => event)
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

/** The latest event of each name: the content of a replay backlog. */
export const makeLatestEvents = <A extends { readonly name: string; readonly sequence: number }>(
  events: Iterable<A> = []
) => {
  const latest = new Map<string, A>()
  let ordered: ReadonlyArray<A> | undefined

  /** The sequence of the latest event of the name; minus infinity if there is none. */
  const sequenceOf = (name: string) => latest.get(name)?.sequence ?? Number.NEGATIVE_INFINITY

  /**
   * Adds an event. Returns whether it is now the latest of its name: an event of the same or a greater sequence
   * stays.
   */
  const add = (event: A): boolean => {
    if (sequenceOf(event.name) >= event.sequence) {
      return false
    }
    latest.set(event.name, event)
    ordered = undefined
    return true
  }
  for (const event of events) {
    add(event)
  }

  /** The oldest first. The array never changes, and is the same until an event is added. */
  const inOrder = (): ReadonlyArray<A> => {
    ordered ??= [...latest.values()].sort((one, other) => one.sequence - other.sequence)
    return ordered
  }

  return { add, inOrder }
}
