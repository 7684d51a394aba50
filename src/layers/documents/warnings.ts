/**
 * What the editors of documents should look at: said once, and counted beyond a number.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import { countText } from "../../internal/readable.ts"
import type { FetchedSource, PreviousContent } from "../../services/ContentSource.ts"

/** So many of them, and how many more there are. */
const firstOf = (warnings: ReadonlyArray<string>, most: number): ReadonlyArray<string> =>
  warnings.length > most
    ? [...warnings.slice(0, most), `There are ${countText(warnings.length - most, "more warning")}.`]
    : warnings

/** The warnings of a fetch. */
export const listed = (warnings: ReadonlyArray<string>): Pick<FetchedSource, "warnings"> =>
  warnings.length === 0 ? {} : { warnings: firstOf(warnings, 100) }

/** Logs the warnings that the fetch before did not have. */
export const makeSayWarnings = () => {
  const said = Ref.unsafeMake<ReadonlySet<string>>(new Set())
  return (warnings: ReadonlyArray<string>): Effect.Effect<void> =>
    Effect.flatMap(Ref.getAndSet(said, new Set(warnings)), (before) =>
      Effect.forEach(
        firstOf(
          warnings.filter((warning) => !before.has(warning)),
          10
        ),
        (warning) => Effect.logWarning(warning),
        { discard: true }
      )
    )
}

/** `[]` or `{}`, and a line break. */
const emptyBytes = 3

/** Whether a file of the version before has more in it than an empty list or object. */
export const hadRecords = (previous: Option.Option<PreviousContent>, name: string): boolean =>
  Option.exists(
    Option.flatMap(previous, ({ files }) => Record.get(files, name)),
    ({ size }) => size > emptyBytes
  )

export const emptiedText =
  'it is empty, and had records before; with "minRecords" in "expect", such a version is not shown'
