/**
 * What the status says of a table source beside its fetches: whether it can be asked what has changed, and how many API calls
 * it has made.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { TableSourceData } from "../../../services/Slices.ts"
import type { CallCounts } from "../../../services/TableSourceClient.ts"
import type { Polling } from "./pollChanges.ts"

/** `calls` is absent where they are not counted, `changes` where it cannot be asked what has changed. */
export const sourceStatus = (
  calls: Effect.Effect<CallCounts> | undefined,
  polling: Polling | undefined
): Effect.Effect<TableSourceData> =>
  Effect.gen(function* () {
    return {
      calls: calls === undefined ? undefined : perPeriod(yield* calls),
      changes: polling === undefined ? undefined : { problem: Option.getOrUndefined(yield* polling.problem) }
    }
  })

/** As data. */
const perPeriod = ({ month, today }: CallCounts) => ({ today, month })

/** Counts by days and months, in UTC. */
export const makeCalendarCount = Effect.map(
  Ref.make({ date: "", today: 0, month: 0, total: 0 }),
  (counts) => {
    const add = (amount: number): Effect.Effect<CallCounts> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Ref.updateAndGet(counts, (before) => {
          const date = new Date(now).toISOString().slice(0, "2026-11-22".length)
          const isSameMonth = date.startsWith(before.date.slice(0, "2026-11".length))
          return {
            date,
            today: (date === before.date ? before.today : 0) + amount,
            month: (isSameMonth ? before.month : 0) + amount,
            total: before.total + amount
          }
        })
      )
    return { add, counts: add(0) }
  }
)
