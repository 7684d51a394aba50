/**
 * A queue that is bounded by number and by size: where there is too much in it, the oldest go.
 */

export interface SlidingQueue<A> extends Iterable<A> {
  /** Puts it in behind all others, and drops the oldest of those that are too many or too large, but never it. */
  readonly offer: (item: A, size: number) => void
}

export interface Options<A> {
  readonly maxLength: number
  /** In the unit of the sizes that are given. */
  readonly maxSize: number
  readonly onDropped: (item: A) => void
}

interface Entry<A> {
  readonly item: A
  readonly size: number
}

export const makeSlidingQueue = <A>({ maxLength, maxSize, onDropped }: Options<A>): SlidingQueue<A> => {
  /** Nothing stands where something was taken: it would be kept alive. */
  let entries: Array<Entry<A> | undefined> = []
  let first = 0
  let totalSize = 0

  const length = () => entries.length - first

  const takeFirst = () => {
    const entry = entries[first]
    if (entry === undefined) {
      return undefined
    }
    entries[first] = undefined
    first += 1
    totalSize -= entry.size
    if (first === entries.length || first > maxLength) {
      entries = entries.slice(first)
      first = 0
    }
    return entry.item
  }

  const iterate = function* () {
    for (let index = first; index < entries.length; index++) {
      const entry = entries[index]
      if (entry !== undefined) {
        yield entry.item
      }
    }
  }

  return {
    offer: (item, size) => {
      entries.push({ item, size })
      totalSize += size
      while (length() > maxLength || (totalSize > maxSize && length() > 1)) {
        const dropped = takeFirst()
        if (dropped !== undefined) {
          onDropped(dropped)
        }
      }
    },
    [Symbol.iterator]: iterate
  }
}
