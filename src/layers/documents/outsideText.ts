/**
 * What texts from outside say, JSON and CSV: how much is made of them, and what is noticed about them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Delimiter } from "../../internal/csvHeader.ts"
import { type CsvRecord, parseCsvRecords } from "../../internal/csvText.ts"
import { jsonMistake, placeText, type TextMistake } from "../../internal/editedText.ts"
import { readJson } from "../../internal/jsonValue.ts"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { makeValueCount, TooMuch, type ValueCount } from "../../internal/valueCount.ts"

/** What is read of texts: one for all texts of a document. */
interface Reading {
  readonly count: ValueCount
  readonly keepDigits: (digits: string) => void
  readonly notice: (warning: string) => void
  readonly warnings: () => ReadonlyArray<string>
}

class CurrentReading extends Context.Reference<CurrentReading>()("vitrine/CurrentReading", {
  defaultValue: () => Option.none<Reading>()
}) {}

const makeReading = (): Reading => {
  let kept = 0
  let first = ""
  const noticed: Array<string> = []
  return {
    count: makeValueCount(),
    keepDigits: (digits) => {
      if (kept++ === 0) first = excerpt(digits)
    },
    notice: (warning) => noticed.push(warning),
    warnings: () =>
      kept === 0
        ? noticed
        : [
            ...noticed,
            `${countText(kept, "number")} saved as text, to lose no digit: ${first}${kept === 1 ? "" : " first"}`
          ]
  }
}

/**
 * Reads a document: all its texts together have `maxValues` values at most, and beside what is read is what its editors should look at.
 */
export const withWarnings = <A, E, R>(
  read: Effect.Effect<A, E, R>
): Effect.Effect<readonly [A, ReadonlyArray<string>], E, R> =>
  Effect.suspend(() => {
    const reading = makeReading()
    return read.pipe(
      Effect.provideService(CurrentReading, Option.some(reading)),
      Effect.map((value) => [value, reading.warnings()] as const)
    )
  })

/** Reads within the current document. Without one, warnings are logged. */
const withReading = <A, E>(read: (reading: Reading) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(
    CurrentReading,
    Option.match({
      onSome: read,
      onNone: () => {
        const reading = makeReading()
        return Effect.tap(read(reading), () =>
          Effect.forEach(reading.warnings(), (warning) => Effect.logWarning(warning))
        )
      }
    })
  )

/** What JSON says. A number that would lose digits is a text. */
export const parseJson = (text: string): Effect.Effect<unknown, TextMistake> =>
  withReading((reading) => read(text, reading))

/** The same of a page that is not held together with others: its values are counted alone. */
export const parsePage = (text: string): Effect.Effect<unknown, TextMistake> =>
  withReading((reading) => read(text, { ...reading, count: makeValueCount() }))

const read = (text: string, reading: Reading) =>
  Effect.mapError(readJson(text, reading), (error) =>
    error instanceof TooMuch ? error : jsonMistake(text, error)
  )

/** The rows of CSV, without those that have no text. `place` is what warnings are about. */
export const parseCsv = (
  text: string,
  { delimiter, place = "CSV" }: { readonly delimiter?: Delimiter | undefined; readonly place?: string } = {}
): Effect.Effect<ReadonlyArray<CsvRecord>, TextMistake> =>
  withReading(({ count, notice }) =>
    parseCsvRecords(text, {
      count,
      delimiter,
      notice: (mistake) => notice(`${placeText(place, mistake)}: ${mistake.problem}`)
    })
  )
