/**
 * Pictures of screens, in memory. It is bounded: 64 pictures, for an hour each, and 256 screens that are watched or wanted.
 */
import { randomBytes } from "node:crypto"
import * as Array from "effect/Array"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as Iterable from "effect/Iterable"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { monotonicMillis, now } from "../../internal/monotonicMillis.ts"
import {
  NoPicture,
  NotWanted,
  type ScreenPicture,
  ScreenPictures,
  type ScreenPicturesService,
  type WantedPicture
} from "../../services/ScreenPictures.ts"

/** All times are in milliseconds. */
const askAgainMs = 5000
const wantedForMs = 90_000
const waitMs = 50_000
const keptForMs = 60 * 60_000

/** A watcher that has not asked for so long is not there. */
const unseenAfterMs = 60_000
/** After the start, watchers ask again within seconds. */
const startMs = 30_000

const maxPictures = 64
const maxScreens = 256

interface Kept extends ScreenPicture {
  /** Monotonic time. */
  readonly until: number
}

interface Want extends WantedPicture {
  /** Monotonic time. */
  readonly at: number
  readonly outcome: Deferred.Deferred<ScreenPicture, NoPicture>
  isAnswered: boolean
}

/** Adds an entry as the newest, and removes the oldest beyond the limit. */
const put = <A>(map: Map<string, A>, key: string, value: A, max: number): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) {
    map.delete(Iterable.unsafeHead(map.keys()))
  }
}

/** Each function reads and changes the maps in one synchronous step. */
export const make = Effect.map(monotonicMillis, (startedAt): ScreenPicturesService => {
  const opened = new Set<ReadonlyArray<string>>()
  /** When a watcher of the screen has last asked. */
  const seen = new Map<string, number>()
  const wants = new Map<string, Want>()
  const pictures = new Map<string, Kept>()
  let bell = makeBell()

  /** Wakes up the watchers that wait. */
  const ring = () => {
    Deferred.unsafeDone(bell, Effect.void)
    bell = makeBell()
  }

  const open: ScreenPicturesService["open"] = (forbidden) =>
    Effect.sync(() => {
      const handle = [...forbidden]
      opened.add(handle)
      return Effect.sync(() => {
        opened.delete(handle)
        ring()
      })
    })

  const obstacleAt = (screen: string, now: number): Option.Option<NoPicture> => {
    const isOwn = !screen.includes("/")
    if (isOwn && opened.size === 0) {
      return Option.some(new NoPicture({ screen, reason: "off" }))
    }
    if (isOwn && [...opened].some((forbidden) => forbidden.includes(screen))) {
      return Option.some(new NoPicture({ screen, reason: "forbidden" }))
    }
    return isSeen(seen.get(screen) ?? startedAt + startMs - unseenAfterMs, now)
      ? Option.none()
      : Option.some(new NoPicture({ screen, reason: "unseen" }))
  }

  const isLate = (screen: string) =>
    Effect.flatten(
      step((now) =>
        Option.getOrElse(obstacleAt(screen, now), () => new NoPicture({ screen, reason: "late" }))
      )
    )

  const ask: ScreenPicturesService["ask"] = (screen) =>
    step((now) =>
      Option.match(obstacleAt(screen, now), {
        onSome: (obstacle) => obstacle,
        onNone: () => {
          const before = wants.get(screen)
          const want = before !== undefined && isCurrent(before, now) ? before : makeWant(screen, now)
          if (want !== before) {
            put(wants, screen, want, maxScreens)
            ring()
          }
          return Deferred.await(want.outcome).pipe(
            Effect.timeoutOption(want.at + wantedForMs - now),
            Effect.flatMap(Option.match({ onNone: () => isLate(screen), onSome: Effect.succeed }))
          )
        }
      })
    ).pipe(Effect.flatten)

  const keptAt = (now: number): ReadonlyMap<string, Kept> => {
    for (const [screen, { until }] of pictures) {
      if (now >= until) pictures.delete(screen)
    }
    return pictures
  }

  const wantAt = (screen: string, now: number): Option.Option<WantedPicture> =>
    Option.filter(Option.fromNullable(wants.get(screen)), (want) => isOpen(want, now))

  const waitFor = (screen: string): Effect.Effect<Option.Option<WantedPicture>> =>
    step((now) => {
      const want = wantAt(screen, now)
      return Option.isSome(want) || opened.size === 0
        ? Effect.succeed(want)
        : Effect.zipRight(
            Deferred.await(bell),
            Effect.suspend(() => waitFor(screen))
          )
    }).pipe(Effect.flatten)

  const see = (screens: ReadonlyArray<string>) =>
    step((now) => {
      for (const screen of screens) put(seen, screen, now, maxScreens)
      return now
    })

  const answer: ScreenPicturesService["answer"] = ({ number, screen }, answer) =>
    Effect.flatMap(now, ({ monotonic, wall }) => {
      const want = wants.get(screen)
      if (want === undefined || want.number !== number || !isOpen(want, monotonic)) {
        return new NotWanted()
      }
      want.isAnswered = true
      return Either.match(answer, {
        onLeft: (detail) => Deferred.fail(want.outcome, new NoPicture({ screen, reason: "refused", detail })),
        onRight: (jpeg) => {
          const takenAt = new Date(wall).toISOString()
          put(pictures, screen, { takenAt, jpeg, until: monotonic + keptForMs }, maxPictures)
          return Deferred.succeed(want.outcome, { takenAt, jpeg })
        }
      })
    })

  return {
    open,
    ask,
    last: (screen) => step((now) => Option.fromNullable(keptAt(now).get(screen))),
    times: step((now) => Array.map([...keptAt(now)], ([screen, { takenAt }]) => ({ screen, takenAt }))),
    obstacle: (screen) => step((now) => obstacleAt(screen, now)),
    watched: step((now) => [...seen].filter(([, at]) => isSeen(at, now)).map(([screen]) => screen)),
    wanted: (screen) =>
      Effect.zipRight(see([screen]), waitFor(screen)).pipe(
        Effect.timeoutOption(waitMs),
        Effect.map(Option.flatten)
      ),
    wantedNow: (screens) =>
      Effect.map(see(screens), (now) => Array.filterMap(screens, (screen) => wantAt(screen, now))),
    answer
  }
})

export const layer = Layer.effect(ScreenPictures, make)

const step = <A>(f: (now: number) => A) => Effect.map(monotonicMillis, f)

const makeBell = () => Deferred.unsafeMake<void>(FiberId.none)

const makeWant = (screen: string, at: number): Want => ({
  screen,
  number: randomBytes(16).toString("hex"),
  at,
  outcome: Deferred.unsafeMake(FiberId.none),
  isAnswered: false
})

const isSeen = (at: number, now: number): boolean => now - at < unseenAfterMs

const isOpen = ({ at, isAnswered }: Want, now: number): boolean => !isAnswered && now - at < wantedForMs

/** Whether callers get the outcome of this want, and no new picture is taken. */
const isCurrent = (want: Want, now: number): boolean => isOpen(want, now) || now - want.at < askAgainMs
