/**
 * Counting by days and months, in UTC.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface CalendarCounts {
  readonly today: number
  readonly month: number
  /** Since the counting began. */
  readonly total: number
}

export const makeCalendarCount = () => {
  let date = ""
  let counts: CalendarCounts = { today: 0, month: 0, total: 0 }

  const add = (amount: number): Effect.Effect<CalendarCounts> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const newDate = new Date(now).toISOString().slice(0, "2026-11-22".length)
      const isSameMonth = newDate.startsWith(date.slice(0, "2026-11".length))
      counts = {
        today: (newDate === date ? counts.today : 0) + amount,
        month: (isSameMonth ? counts.month : 0) + amount,
        total: counts.total + amount
      }
      date = newDate
      return counts
    })

  return { add, counts: add(0) }
}
