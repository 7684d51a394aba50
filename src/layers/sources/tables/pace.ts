/**
 * How often the hosted table API may be asked, how often it was, and how long it is left alone after too many requests.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { Pacer } from "../../../services/RequestPacing.ts"
import type { CallCounts, CursorExpired, TableError } from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./TableOptions.ts"

/** The pace of a base, for all its sources. The endpoint is a URL, because it can be written in several ways. */
export const baseKey = ({
  baseId,
  endpointUrl
}: Pick<AirtableClientOptions, "baseId" | "endpointUrl">): string =>
  `${new URL(`${endpointUrl}/`).href} ${baseId}`

/** Five requests a second are allowed for a base; this leaves room for what the network does to their spacing. */
export const interval = Duration.millis(215)

/** After a 429 the API rejects everything for this long. */
export const cooldown = Duration.seconds(30)

const maxCooldowns = 3

/** A try that has failed, and when to make another one. */
export class TryFailed extends Data.TaggedError("vitrine/TryFailed")<{
  readonly error: TableError | CursorExpired
  /** As in a `RequestFailed`. */
  readonly retryAfter?: Duration.Duration | undefined
  /** How long the server rejects all requests to the base, where it does. */
  readonly rejectsFor?: Duration.Duration | undefined
}> {
  override get message() {
    return this.error.message
  }
}

/** Makes the attempt again after each cooldown, in which no request starts; three times at most. */
export const withCooldowns =
  (pacer: Pacer, left = maxCooldowns) =>
  <A>(attempt: Effect.Effect<A, TryFailed>): Effect.Effect<A, TryFailed> =>
    Effect.catchAll(attempt, (failure) => {
      const { message, rejectsFor } = failure
      if (rejectsFor === undefined) return Effect.fail(failure)
      const again = Effect.zipRight(
        Effect.logWarning(`${message}. Waiting ${Duration.format(rejectsFor)} before the next request`),
        withCooldowns(pacer, left - 1)(attempt)
      )
      return Effect.zipRight(pacer.hold(rejectsFor), left === 0 ? Effect.fail(failure) : again)
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
