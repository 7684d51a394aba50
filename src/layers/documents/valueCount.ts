/**
 * How much is made of texts from outside: a short text may say more objects than a memory holds.
 */

/** The most values in a document, or in a text that belongs to none: 100,000 records of 30 fields have three million. */
export const maxValues = 5_000_000

/** Counts values: objects, rows, lists, and what is in them. */
export interface ValueCount {
  /** It throws `TooMuch` above the limit. */
  readonly add: (values: number) => void
  /** Gives what takes back all that is added from now on. */
  readonly mark: () => () => void
}

/** It can be read, but is more than any content. */
export class TooMuch extends Error {
  /** With the limit. */
  readonly problem: string

  constructor(problem: string) {
    super(problem)
    this.problem = problem
  }
}

export const makeValueCount = (): ValueCount => {
  // Added to for each value of a text: a `Ref` takes longer than what is counted.
  let counted = 0
  return {
    add: (values) => {
      counted += values
      if (counted > maxValues) {
        throw new TooMuch(
          `it has more than ${maxValues.toLocaleString("en")} values, more than are held in memory. Split it, or ask for less.`
        )
      }
    },
    mark: () => {
      const before = counted
      return () => {
        counted = before
      }
    }
  }
}
