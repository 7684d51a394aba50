/**
 * Asks whether anything has changed in the tables of a source, and reads all tables from time to time in any case
 * (docs/content.md, Airtable).
 *
 * The position of the last call is in memory. The used list of changes is on disk, so that the next start ends it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { makeWarnWhile } from "../../../internal/warnOnce.ts"
import type { SourceChanges } from "../../../services/ContentSource.ts"
import type { ChangeFeed } from "../../../services/TableSourceClient.ts"
import type { KeptFile } from "../../documents/KeptFile.ts"

const Cursor = Schema.parseJson(
  Schema.Struct({
    /** Position in the list of changes; missing if the list could not be read. */
    position: Schema.optional(Schema.String),
    /** When all tables were last read, in milliseconds since 1970. */
    wholeAt: Schema.Number
  })
)
const decodeCursor = Schema.decodeOption(Cursor)
const encodeCursor = Schema.encodeSync(Cursor)

export const makePolling = Effect.fnUntraced(function* (wholeEvery: Duration.Duration, feed: ChangeFeed) {
  const problem = yield* Ref.make(Option.none<string>())
  const warning = makeWarnWhile(
    (detail) => `Changes cannot be listed, so all tables are read at each tick: ${detail}`
  )

  /**
   * The list of the last run would stay for a week, and a base has room for few. It may be gone, or no longer belong
   * to this controller.
   */
  const endKept = Effect.fnUntraced(function* (kept: KeptFile) {
    const { changes } = yield* kept.read
    if (changes === undefined) return
    yield* Effect.catchIf(
      feed.end(changes),
      ({ isTransient }) => !isTransient,
      () => Effect.void
    )
    yield* kept.change({ changes: undefined })
  })

  const ask = (position: Option.Option<string>, kept: KeptFile) =>
    Effect.tapBoth(
      Effect.zipRight(
        Effect.when(endKept(kept), () => Option.isNone(position)),
        feed.since(position)
      ),
      {
        onSuccess: ({ changed, position }) =>
          Effect.all([
            Ref.set(problem, Option.none()),
            warning.works,
            changed === "everything" ? kept.change({ changes: position }) : Effect.void
          ]),
        onFailure: ({ detail }) =>
          Effect.zipRight(Ref.set(problem, Option.some(detail)), warning.fails(detail))
      }
    )

  return {
    /** As the `poll` of a `ContentSource`. If the list of changes cannot be read, everything may have changed. */
    poll: Effect.fn("TableSource.poll")(function* (cursor: Option.Option<string>, kept: KeptFile) {
      const known = Option.flatMap(cursor, decodeCursor)
      const before = Option.flatMapNullable(known, ({ position }) => position)
      const answer = yield* Effect.either(ask(before, kept))
      const now = yield* Clock.currentTimeMillis
      const isDue = Option.match(known, {
        onNone: () => true,
        onSome: ({ wholeAt }) => now - wholeAt >= Duration.toMillis(wholeEvery)
      })
      const isWhole = isDue || Either.isLeft(answer) || answer.right.changed === "everything"
      const position = Either.isRight(answer)
        ? answer.right.position
        : answer.left.isTransient
          ? Option.getOrUndefined(before)
          : undefined
      const wholeAt = Option.match(known, {
        onNone: () => now,
        onSome: ({ wholeAt }) => (isWhole ? now : wholeAt)
      })
      return {
        cursor: encodeCursor({ position, wholeAt }),
        changed: isWhole ? "everything" : "nothing"
      } satisfies SourceChanges
    }),

    /** Why the list of changes cannot be read. */
    problem: Ref.get(problem)
  }
})

export type Polling = Effect.Effect.Success<ReturnType<typeof makePolling>>
