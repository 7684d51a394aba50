/**
 * Asking what has changed in the tables of a source, and when to read all of them regardless (docs/content.md, Airtable).
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { makeLastFailure } from "../../../internal/lastFailure.ts"
import { monotonicMillis } from "../../../internal/monotonicMillis.ts"
import { changesPause } from "../../../internal/schedules.ts"
import { makeWarnWhile } from "../../../internal/warnOnce.ts"
import type { SourceChanges } from "../../../services/ContentSource.ts"
import type { ChangeFeed, TableChanges, TableError } from "../../../services/TableSourceClient.ts"

/** How often all tables are read while it cannot be asked what has changed. */
const fallbackEvery = Duration.minutes(10)

/** Before it is asked again after a failure that does not pass by itself. */
const lastingPause = Duration.minutes(10)

const Cursor = Schema.parseJson(
  Schema.Struct({
    /** Position in the list of changes; missing if that could not be read. */
    position: Schema.optionalWith(Schema.String, { exact: true }),
    /** When all tables were read last, in milliseconds since 1970. */
    wholeAt: Schema.Number
  })
)
const decodeCursor = Schema.decodeOption(Cursor)
const encodeCursor = Schema.encodeSync(Cursor)

/** Asks what has changed in the tables of a source. */
export interface Polling {
  /** As the `poll` of a `ContentSource`. */
  readonly poll: (cursor: Option.Option<string>) => Effect.Effect<SourceChanges>

  /** Why it cannot be asked, and when it is asked again (ISO 8601, UTC). */
  readonly problem: Effect.Effect<Option.Option<{ readonly reason: string; readonly retryAt: string }>>
}

export const makePolling = (
  tables: ReadonlyArray<string>,
  wholeEvery: Duration.Duration,
  feed: ChangeFeed,
  /** The tables that the records of one are made of. Default itself alone. */
  tablesIn: (table: string) => ReadonlyArray<string> = Array.of
): Polling => {
  const warning = makeWarnWhile(
    (detail) =>
      `It cannot be asked what has changed: ${detail}. Until it can, all tables are read every ${Duration.format(fallbackEvery)}`
  )
  const lastFailure = makeLastFailure<TableError>((inRow) =>
    inRow === 0 ? lastingPause : changesPause(inRow)
  )

  const failed = (error: TableError) =>
    Effect.zipRight(lastFailure.failed(error, !error.isTransient), warning.fails(error.detail))

  const worked = Effect.gen(function* () {
    if (Option.isSome(yield* lastFailure.get)) {
      yield* Effect.logInfo("Changes can be read again")
    }
    yield* lastFailure.worked
    yield* warning.works
  })

  /** None while it cannot be asked. */
  const ask = (position: Option.Option<string>): Effect.Effect<Option.Option<TableChanges>> =>
    Effect.flatMap(
      lastFailure.resting,
      Option.match({
        onNone: () =>
          Effect.option(Effect.tapBoth(feed.since(position), { onSuccess: () => worked, onFailure: failed })),
        onSome: () => Effect.succeedNone
      })
    )

  return {
    poll: Effect.fn("TableSource.poll")(function* (cursor: Option.Option<string>) {
      const known = Option.flatMap(cursor, decodeCursor)
      const before = Option.flatMapNullable(known, ({ position }) => position)
      const answer = yield* ask(before)
      const now = yield* Clock.currentTimeMillis
      const wholeAt = Option.match(known, {
        onNone: () => Number.NEGATIVE_INFINITY,
        onSome: ({ wholeAt }) => wholeAt
      })
      const longest = Option.isSome(answer) ? wholeEvery : Duration.min(wholeEvery, fallbackEvery)
      const changed = Option.match(answer, {
        onNone: () => [],
        onSome: ({ changed }) =>
          changed === "everything" ? changed : tables.filter((table) => tablesIn(table).some(changed))
      })
      const isWhole = changed === "everything" || now - wholeAt >= Duration.toMillis(longest)
      const position = Option.match(answer, {
        onNone: () => before,
        onSome: ({ position }) => Option.some(position)
      })
      return {
        cursor: encodeCursor({
          wholeAt: isWhole ? now : wholeAt,
          ...Option.match(position, { onNone: () => ({}), onSome: (position) => ({ position }) })
        }),
        changed: isWhole ? "everything" : changed
      } satisfies SourceChanges
    }),

    problem: Effect.map(
      Effect.all([lastFailure.get, monotonicMillis, Clock.currentTimeMillis]),
      ([failure, monotonic, now]) =>
        Option.map(failure, ({ error, retryAt }) => ({
          reason: error.detail,
          retryAt: new Date(now + retryAt - monotonic).toISOString()
        }))
    )
  }
}
