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

/** `calls` is absent where they are not counted, `polling` where it cannot be asked what has changed. */
export const makeSourceStatus = Effect.fnUntraced(function* (
  calls: Effect.Effect<CallCounts> | undefined,
  polling: Polling | undefined
) {
  /** What would have been called if all tables were read at every tick. */
  const withoutPolls = yield* makeCalendarCount
  const callsOfWhole = yield* Ref.make(0)
  const problem = polling === undefined ? Effect.succeedNone : polling.problem

  return {
    /** Counts the calls of an effect that reads all tables. */
    countWhole: <A, E, R>(fetch: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      calls === undefined
        ? fetch
        : Effect.gen(function* () {
            const before = yield* calls
            const fetched = yield* fetch
            yield* Ref.set(callsOfWhole, (yield* calls).total - before.total)
            return fetched
          }),

    polled: Effect.flatMap(Ref.get(callsOfWhole), withoutPolls.add),

    data: Effect.gen(function* () {
      const changes = Option.match(yield* problem, { onNone: () => ({}), onSome: (problem) => ({ problem }) })
      return {
        ...(calls === undefined ? {} : { calls: perPeriod(yield* calls) }),
        ...(polling === undefined
          ? {}
          : { changes, callsWithoutLooks: perPeriod(yield* withoutPolls.counts) })
      } satisfies TableSourceData
    })
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
