/**
 * Asking what has changed in the tables of a source, and when to read all of them regardless (docs/guide.md, section 8).
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { changesPause } from "../../../internal/schedules.ts"
import { makeWarnWhile } from "../../../internal/warnOnce.ts"
import type { SourceNews } from "../../../services/ContentSource.ts"
import type { Row } from "../../../services/ControllerState.ts"
import type { ChangeFeed, TableChanges, TableError } from "../../../services/TableSourceClient.ts"

/** How often all tables are read while it cannot be asked what has changed. */
const fallbackEvery = Duration.minutes(10)

/** Before it is asked again after a failure that does not pass by itself. */
const lastingPause = Duration.minutes(10)

const Mark = Schema.parseJson(
  Schema.Struct({
    /** Of the list of changes; missing where that could not be read. */
    position: Schema.optionalWith(Schema.String, { exact: true }),
    /** When all tables were read last, in milliseconds since 1970. */
    wholeAt: Schema.Number
  })
)
const decodeMark = Schema.decodeOption(Mark)
const encodeMark = Schema.encodeSync(Mark)

export const makeLook = (tables: ReadonlyArray<string>, wholeEvery: Duration.Duration, feed: ChangeFeed) => {
  const warning = makeWarnWhile(
    (detail) =>
      `It cannot be asked what has changed: ${detail}. Meanwhile all tables are read every ${Duration.format(fallbackEvery)}`
  )
  let failure: { readonly detail: string; readonly inRow: number; readonly retryAt: number } | undefined

  const failed = ({ detail, isTransient }: TableError) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const inRow = (failure?.inRow ?? 0) + 1
      const pause = isTransient ? changesPause(inRow) : lastingPause
      failure = { detail, inRow, retryAt: now + Duration.toMillis(pause) }
      return warning.fails(detail)
    })

  const worked = Effect.suspend(() => {
    const wasFailing = failure !== undefined
    failure = undefined
    return Effect.zipRight(
      warning.works,
      wasFailing ? Effect.logInfo("It can be asked again what has changed") : Effect.void
    )
  })

  /** None while it cannot be asked. */
  const ask = (position: Option.Option<string>): Effect.Effect<Option.Option<TableChanges>> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      failure !== undefined && now < failure.retryAt
        ? Effect.succeedNone
        : feed
            .since(position)
            .pipe(Effect.tapBoth({ onSuccess: () => worked, onFailure: failed }), Effect.option)
    )

  const look = Effect.fn("TableSource.look")(function* (mark: Option.Option<string>) {
    const known = Option.flatMap(mark, decodeMark)
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
      onSome: ({ changed }) => (changed === "everything" ? changed : tables.filter(changed))
    })
    const isWhole = changed === "everything" || now - wholeAt >= Duration.toMillis(longest)
    const position = Option.orElse(
      Option.map(answer, ({ position }) => position),
      () => before
    )
    return {
      mark: encodeMark({
        wholeAt: isWhole ? now : wholeAt,
        ...Option.match(position, { onNone: () => ({}), onSome: (position) => ({ position }) })
      }),
      changed: isWhole ? "everything" : changed
    } satisfies SourceNews
  })

  const row = (): Row =>
    failure === undefined
      ? { type: "kv", label: "Changes", value: "asked for at every tick", tone: "ok" }
      : {
          type: "kv",
          label: "Changes",
          value: `cannot be asked for: ${failure.detail}. All tables are read every ${Duration.format(fallbackEvery)}; asked again at ${new Date(failure.retryAt).toISOString()}`,
          tone: "warn"
        }

  /** The same as data: empty where it can be asked. */
  const data = () =>
    failure === undefined
      ? {}
      : { problem: { reason: failure.detail, retryAt: new Date(failure.retryAt).toISOString() } }

  return { look, row, data }
}
