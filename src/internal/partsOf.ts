/** Splits a list into parts of `size` items. `Array.chunksOf` copies the whole rest of a list for every part. */
export function* partsOf<A>(items: ReadonlyArray<A>, size: number): Generator<ReadonlyArray<A>> {
  for (let start = 0; start < items.length; start += size) {
    yield items.slice(start, start + size)
  }
}
