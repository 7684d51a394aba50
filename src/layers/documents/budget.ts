/**
 * The budget of a fetch: what a document and a source may have at most, in any format. It is far more than exhibits
 * need, and keeps a mistake from ending the controller.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Mistake, mistake, sentenceOf } from "../../internal/mistake.ts"

/** The limits, each for a document, except the last. */
export const budget = {
  /** Records of a list. */
  records: 1_000_000,
  /** Cells, items and fields that are read. */
  read: 10_000_000,
  /** Cells, items and fields that are saved. `links` repeat records. */
  written: 20_000_000,
  /** Characters of a record or of one value as JSON. */
  characters: 128 * 1024 ** 2,
  /** Bytes of its file. */
  bytes: 2 * 1024 ** 3,
  /** Lists and objects inside each other. */
  levels: 1000,
  /** Files of a source. */
  files: 200_000
} as const

/** A mistake that code without Effect throws, such as more than the budget. */
export class Refused extends Error {
  constructor(readonly mistake: Mistake) {
    super(sentenceOf(mistake))
  }
}

/** Throws `Refused` if there is more than the limit. */
export const withinBudget = (limit: keyof typeof budget, count: number): void => {
  if (count <= budget[limit]) return
  throw new Refused(mistake("budget:limit", {}, { limit, most: budget[limit] }))
}

/** The values that a document has read so far; outside of a document, those of each text. */
export class ReadSoFar extends Context.Tag("vitrine/ReadSoFar")<ReadSoFar, { values: number }>() {}

/** The count of the document, or a new one. */
export const readSoFar = Effect.map(
  Effect.serviceOption(ReadSoFar),
  Option.getOrElse(() => ({ values: 0 }))
)

/** Counts the values that are read, from the beginning of each try. */
export const counted = <A, E, R>(reading: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(reading, ReadSoFar, { values: 0 }))

/** How many parts are visited between two turns of the event loop. */
const partsAtOnce = 1000

/** Returns the function that counts each written part of a document, and tells when it is time to pause. */
export const makeWriting = () => {
  let values = 0
  let characters = 0
  return (part: unknown, name: string, level: number): boolean => {
    values++
    // A visit begins at the first level.
    if (level === 1) characters = 0
    characters += level + name.length + (typeof part === "string" ? part.length : 4)
    if (level > budget.levels) withinBudget("levels", level)
    if (characters > budget.characters) withinBudget("characters", characters)
    if (values > budget.written) withinBudget("written", values)
    return values % partsAtOnce === 0
  }
}
