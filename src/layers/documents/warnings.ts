/**
 * What the editors of documents should look at: said once, and counted beyond a number.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { countText } from "../../internal/readable.ts"
import type { FetchedSource, PreviousContent } from "../../services/ContentSource.ts"

/** More of them are counted only. */
const maxWarnings = 100

/** Those of a fetch. */
export const listed = (warnings: ReadonlyArray<string>): Pick<FetchedSource, "warnings"> => {
  const rest = warnings.length - maxWarnings
  const first = warnings.slice(0, maxWarnings)
  return warnings.length === 0
    ? {}
    : { warnings: rest > 0 ? [...first, `There are ${countText(rest, "more warning")}.`] : first }
}

/** In a log. */
const maxLines = 10

/** Logs the warnings that the previous fetch did not have. */
export const makeSayWarnings = () => {
  let before: ReadonlySet<string> = new Set()
  return (warnings: ReadonlyArray<string>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const fresh = warnings.filter((warning) => !before.has(warning))
      before = new Set(warnings)
      const rest = fresh.length - maxLines
      return Effect.forEach(
        rest > 0 ? [...fresh.slice(0, maxLines), `There are ${countText(rest, "more warning")}.`] : fresh,
        (warning) => Effect.logWarning(warning),
        { discard: true }
      )
    })
}

/** `[]` or `{}`, and a line break. */
const emptyBytes = 3

/**
 * Documents that have become empty: a warning, until they have records again. It remembers, in memory, what has become empty: at
 * the next fetch, the version before is empty too.
 */
export const makeEmptied = () => {
  const emptied = new Set<string>()
  /** `name` is that of the file. */
  return (
    name: string,
    isEmpty: boolean,
    previous: Option.Option<PreviousContent>
  ): ReadonlyArray<string> => {
    const hadRecords = Option.exists(
      Option.flatMap(previous, ({ files }) => Record.get(files, name)),
      ({ size }) => size > emptyBytes
    )
    if (!isEmpty) {
      emptied.delete(name)
    } else if (hadRecords) {
      emptied.add(name)
    }
    return emptied.has(name)
      ? ['it is empty, and had records before; with "minRecords" in "expect", such a version is not shown']
      : []
  }
}
