/**
 * How many calls a source makes, and how many it would make if all tables were read at every tick.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeCalendarCount } from "../../../internal/calendarCount.ts"
import type { Row } from "../../../services/ControllerState.ts"
import type { CallCounts } from "../../../services/TableSourceClient.ts"

/** Counts what would have been called if all tables were read at every look. */
export const makeSavings = () => {
  const would = makeCalendarCount()
  let whole = 0
  return {
    /** How many calls it took to read all tables. */
    wholeRead: (calls: number): void => {
      whole = calls
    },
    look: Effect.suspend(() => would.add(whole)),
    counts: would.counts
  }
}

export const callsRow = (calls: CallCounts, without: Option.Option<CallCounts>): Row => ({
  type: "kv",
  label: "API calls",
  value: `${perDayAndMonth(calls)}${Option.match(without, {
    onNone: () => "",
    onSome: (without) => `; ${perDayAndMonth(without)} if all tables were read at every tick`
  })} (UTC, since the start)`
})

/** As data. */
export const perPeriod = ({ month, today }: CallCounts) => ({ today, month })

const perDayAndMonth = ({ month, today }: CallCounts): string =>
  `${today.toLocaleString("en")} today, ${month.toLocaleString("en")} this month`
