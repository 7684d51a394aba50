/**
 * Leaves out records that do not meet the expectations, before anything else is done with them, as long as there are
 * few.
 *
 * Records are checked one by one here, before links are resolved. The expectations about the whole table are checked
 * on the remaining records.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { makeGiveWay, partsOf } from "../../../internal/nextTurn.ts"
import { countText } from "../../../internal/readable.ts"
import { defaultKey, recordId } from "../../../internal/recordKey.ts"
import { type Document, Records, Value } from "../Document.ts"
import type { JsonObject } from "../jsonValues.ts"
import { textPlaceOf } from "../recordPlace.ts"
import { notice } from "../warnings.ts"
import type { Problem } from "./fieldProblems.ts"
import { placeOf, recordText, type TableCheck } from "./TableCheck.ts"

/** How many records are named in warnings. */
const maxNamed = 100

/** More records fail the check than may be left out. */
export interface TooManyLeftOut {
  readonly check: TableCheck
  /** The number of these records. */
  readonly count: number
  /** The number of all records. */
  readonly total: number
}

/** How records of a table are left out. */
export interface LeavingOut {
  /** The largest share of the records, from 0 to 1. */
  readonly share: number
  readonly begin: () => TableCheck
  readonly fieldsOf: (record: JsonObject) => JsonObject
  /** Called at the end of each read; `None` if few enough records are left out. */
  readonly ended: (tooMany: Option.Option<TooManyLeftOut>) => void
}

/** The document without the records that fail the check. A document that is one value stays as it is. */
export const leavingOut = <E>(document: Document<E>, options: LeavingOut): Document<E> => {
  const { content } = document
  switch (content._tag) {
    case "Keys":
      return document
    case "Records":
      return {
        ...document,
        content: Records({
          pages: Stream.suspend(() => {
            const { end, keep } = begin(document, options)
            return Stream.concat(Stream.map(content.pages, keep), Stream.execute(end))
          })
        })
      }
    case "Value":
      return {
        ...document,
        content: Value({
          value: Effect.flatMap(content.value, (value) =>
            Array.isArray(value) ? keepIn(value, begin(document, options)) : Effect.succeed(value)
          )
        })
      }
  }
}

const pageSize = 100

const keepIn = Effect.fnUntraced(function* (
  records: ReadonlyArray<unknown>,
  { end, keep }: ReturnType<typeof begin>
) {
  const giveWay = makeGiveWay()
  const kept: Array<unknown> = []
  for (const page of partsOf(records, pageSize)) {
    for (const record of keep(page)) kept.push(record)
    yield* giveWay
  }
  yield* end
  return kept
})

const begin = ({ key }: Document<unknown>, { begin, ended, fieldsOf, share }: LeavingOut) => {
  const check = begin()
  const idOf = recordId(key ?? defaultKey)
  const warnings: Array<string> = []
  let total = 0
  let count = 0

  const isKept = (record: unknown): boolean => {
    total++
    const place = { id: Option.getOrUndefined(idOf(record)), text: textPlaceOf(record) }
    const problems = check.add(Predicate.isReadonlyRecord(record) ? fieldsOf(record) : {}, () => place)
    if (problems.length === 0) return true
    count++
    if (warnings.length < maxNamed) {
      warnings.push(`${recordText(place)}, is left out: ${problems.map(problemText).join("; ")}`)
    }
    return false
  }

  return {
    keep: (page: ReadonlyArray<unknown>) => page.filter(isKept),
    end: Effect.suspend(() => {
      const isTooMany = count > mostOf(share, total)
      ended(isTooMany ? Option.some({ check, count, total }) : Option.none())
      if (isTooMany) return Effect.void
      return notice(
        count > maxNamed ? [...warnings, `${countText(count - maxNamed, "more record")} left out`] : warnings
      )
    })
  }
}

/** How many records may be left out. The small addend is needed because 0.29 of 100 as doubles is less than 29. */
export const mostOf = (share: number, total: number): number => Math.floor(share * total + 1e-9)

const problemText = ({ expected, found, path }: Problem): string => {
  const field = placeOf(path)
  return `${field === "" ? "" : `${JSON.stringify(field)}: `}expected ${expected}, found ${found}`
}
