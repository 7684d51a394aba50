/**
 * The latest event of each name, in the order of their emission: what a replay backlog is made of.
 */
export interface LatestEvents<A> {
  /** Whether it is the latest of its name now: one of the same or a greater sequence stays. */
  readonly add: (event: A) => boolean
  /** The sequence of the latest event of the name; minus infinity where there is none. */
  readonly sequenceOf: (name: string) => number
  /** The one emitted longest ago first. The array is never changed, and is the same until an event is added. */
  readonly inOrder: () => ReadonlyArray<A>
}

export const makeLatestEvents = <A extends { readonly name: string; readonly sequence: number }>(
  events: Iterable<A> = []
): LatestEvents<A> => {
  const latest = new Map<string, A>()
  let ordered: ReadonlyArray<A> | undefined

  const sequenceOf = (name: string) => latest.get(name)?.sequence ?? Number.NEGATIVE_INFINITY

  const add = (event: A) => {
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

  return {
    add,
    sequenceOf,
    inOrder: () => {
      ordered ??= [...latest.values()].sort((one, other) => one.sequence - other.sequence)
      return ordered
    }
  }
}
