/**
 * The latest event of each name, in the order of their emission: the content of a replay backlog.
 */
export interface LatestEvents<A> {
  /**
   * Adds an event. Returns whether it is now the latest of its name: an event of the same or a greater sequence
   * stays.
   */
  readonly add: (event: A) => boolean
  /** The sequence of the latest event of the name; minus infinity if there is none. */
  readonly sequenceOf: (name: string) => number
  /** The oldest first. The array never changes, and is the same until an event is added. */
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
