/**
 * The pace of requests to the hosted table API, their count, and the pause after too many requests.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { Pacer } from "../../../services/RequestPacing.ts"
import type { CallCounts, CursorExpired, TableError } from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./TableSourceOptions.ts"

/**
 * The key for the pace of a base, shared by all its sources. The endpoint is normalized, because a URL can be written
 * in several ways.
 */
export const baseKey = ({
  baseId,
  endpointUrl
}: Pick<AirtableClientOptions, "baseId" | "endpointUrl">): string =>
  `${new URL(`${endpointUrl}/`).href} ${baseId}`

/** A base allows five requests a second. This interval leaves room for delays of the network. */
export const interval = Duration.millis(215)

/** After a 429 the API rejects everything for this long. */
export const cooldown = Duration.seconds(30)

const maxCooldowns = 3

/** A failed try, and when to retry. */
export class TryFailed extends Data.TaggedError("vitrine/TryFailed")<{
  readonly error: TableError | CursorExpired
  /** As in a `RequestFailed`. */
  readonly retryAfter?: Duration.Duration | undefined
  /** How long the server rejects all requests to the base, if it does. */
  readonly rejectsFor?: Duration.Duration | undefined
}> {
  override get message() {
    return this.error.message
  }
}

/** Retries after each cooldown, in which no request starts; three times at most. */
export const withCooldowns =
  (pacer: Pacer, remaining = maxCooldowns) =>
  <A>(attempt: Effect.Effect<A, TryFailed>): Effect.Effect<A, TryFailed> =>
    Effect.catchAll(attempt, (failure) => {
      const { message, rejectsFor } = failure
      if (rejectsFor === undefined) return Effect.fail(failure)
      const again = Effect.zipRight(
        Effect.logWarning(`${message}. Waiting ${Duration.format(rejectsFor)} before the next request`),
        withCooldowns(pacer, remaining - 1)(attempt)
      )
      return Effect.zipRight(pacer.hold(rejectsFor), remaining === 0 ? Effect.fail(failure) : again)
    })

/** Counts requests by days and months, in UTC. */
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
