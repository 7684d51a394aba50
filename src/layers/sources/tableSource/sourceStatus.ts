/**
 * What the status says of a table source beside its fetches: whether it can be asked what has changed, and how many API calls
 * it has made.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeCalendarCount } from "../../../internal/calendarCount.ts"
import type { Row } from "../../../services/ControllerState.ts"
import type { CallCounts } from "../../../services/TableSourceClient.ts"
import { fallbackEvery, type Polling } from "./pollChanges.ts"

/** `calls` is absent where they are not counted, `polling` where it cannot be asked what has changed. */
export const makeSourceStatus = (
  calls: Effect.Effect<CallCounts> | undefined,
  polling: Polling | undefined
) => {
  /** What would have been called if all tables were read at every tick. */
  const withoutPolls = makeCalendarCount()
  let callsOfWhole = 0
  const problem = polling === undefined ? Effect.succeedNone : polling.problem

  return {
    /** Counts the calls of an effect that reads all tables. */
    countWhole: <A, E, R>(fetch: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      calls === undefined
        ? fetch
        : Effect.gen(function* () {
            const before = yield* calls
            const fetched = yield* fetch
            callsOfWhole = (yield* calls).total - before.total
            return fetched
          }),

    polled: Effect.suspend(() => withoutPolls.add(callsOfWhole)),

    rows: Effect.gen(function* () {
      const without = polling === undefined ? undefined : yield* withoutPolls.counts
      return [
        ...(polling === undefined ? [] : [changesRow(yield* problem)]),
        ...(calls === undefined ? [] : [callsRow(yield* calls, without)])
      ]
    }),

    data: Effect.gen(function* () {
      const changes = Option.match(yield* problem, { onNone: () => ({}), onSome: (problem) => ({ problem }) })
      return {
        ...(calls === undefined ? {} : { calls: perPeriod(yield* calls) }),
        ...(polling === undefined
          ? {}
          : { changes, callsWithoutLooks: perPeriod(yield* withoutPolls.counts) })
      }
    })
  }
}

const changesRow = (problem: Option.Option<{ readonly reason: string; readonly retryAt: string }>): Row => ({
  type: "kv",
  label: "Changes",
  ...Option.match(problem, {
    onNone: () => ({ value: "asked for at every tick", tone: "ok" as const }),
    onSome: ({ reason, retryAt }) => ({
      value: `cannot be asked for: ${reason}. All tables are read every ${Duration.format(fallbackEvery)}; asked again at ${retryAt}`,
      tone: "warn" as const
    })
  })
})

const callsRow = (calls: CallCounts, without: CallCounts | undefined): Row => ({
  type: "kv",
  label: "API calls",
  value: `${perDayAndMonth(calls)}${
    without === undefined ? "" : `; ${perDayAndMonth(without)} if all tables were read at every tick`
  } (UTC, since the start)`
})

/** As data. */
const perPeriod = ({ month, today }: CallCounts) => ({ today, month })

const perDayAndMonth = ({ month, today }: CallCounts): string =>
  `${today.toLocaleString("en")} today, ${month.toLocaleString("en")} this month`
