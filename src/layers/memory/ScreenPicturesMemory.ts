/**
 * Pictures of screens, in memory. Memory is bounded: 64 pictures, for an hour each, and a few words for each screen
 * that is watched, wanted or refused.
 */
import { randomBytes } from "node:crypto"
import * as Array from "effect/Array"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as FiberMap from "effect/FiberMap"
import * as Iterable from "effect/Iterable"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { fileKey } from "../../files/fileName.ts"
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

/** A watcher that has not asked for so long is not there. */
const unseenAfterMs = 60_000
/** After the start, watchers ask again within seconds. */
const startMs = 30_000

const maxPictures = 64
/** The most screens with a picture that is wanted, and the most with a refusal. */
const maxWanted = 256
/** The most screens with a watcher: the screens of all players of a hub. */
const maxWatched = 65_536

/** An event, by its monotonic time. */
interface At {
  readonly at: number
}

interface Want extends WantedPicture, At {
  readonly outcome: Deferred.Deferred<ScreenPicture, NoPicture>
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
export const make = Effect.gen(function* () {
  const startedAt = yield* monotonicMillis
  const opened = new Set<ReadonlyArray<string>>()
  /** When a watcher of the screen has last asked, or answered. */
  const seen = new Map<string, number>()
  const wants = new Map<string, Want>()
  const pictures = new Map<string, ScreenPicture & At>()
  const refusals = new Map<string, At & { readonly refusal: NoPicture }>()
  const forgetting = yield* FiberMap.make<string>()
  let bell = makeBell()

  /** Wakes up the watchers that wait. */
  const ring = () => {
    Deferred.unsafeDone(bell, Effect.void)
    bell = makeBell()
  }

  const open: ScreenPicturesService["open"] = (forbidden) =>
    Effect.sync(() => {
      const handle = forbidden.map(fileKey)
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
    if (isOwn && [...opened].some((forbidden) => forbidden.includes(fileKey(screen)))) {
      return Option.some(new NoPicture({ screen, reason: "forbidden" }))
    }
    return isSeen(seen.get(screen) ?? startedAt + startMs - unseenAfterMs, now)
      ? Option.none()
      : Option.some(new NoPicture({ screen, reason: "unseen" }))
  }

  const failLate = (screen: string) =>
    Effect.flatten(
      step((now) =>
        Option.getOrElse(obstacleAt(screen, now), () => new NoPicture({ screen, reason: "late" }))
      )
    )

  const join = ({ at, outcome, screen }: Want, now: number) =>
    Deferred.await(outcome).pipe(
      Effect.timeoutOption(at + wantedForMs - now),
      Effect.flatMap(Option.match({ onNone: () => failLate(screen), onSome: Effect.succeed }))
    )

  const begin = (screen: string, now: number) => {
    const want = makeWant(screen, now)
    put(wants, screen, want, maxWanted)
    ring()
    return want
  }

  const ask: ScreenPicturesService["ask"] = (screen) =>
    Effect.flatten(
      step((now): Effect.Effect<ScreenPicture, NoPicture> => {
        const obstacle = obstacleAt(screen, now)
        if (Option.isSome(obstacle)) return obstacle.value
        const picture = pictures.get(screen)
        if (isRecent(picture, now)) return Effect.succeed(picture)
        const refused = refusals.get(screen)
        if (isRecent(refused, now)) return refused.refusal
        const want = Option.getOrElse(wantAt(screen, now), () => begin(screen, now))
        return join(want, now)
      })
    )

  const wantAt = (screen: string, now: number): Option.Option<Want> =>
    Option.filter(Option.fromNullable(wants.get(screen)), ({ at }) => now - at < wantedForMs)

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
      for (const screen of screens) put(seen, screen, now, maxWatched)
      return now
    })

  const keep = (screen: string, picture: ScreenPicture & At) => {
    put(pictures, screen, picture, maxPictures)
    const forget = Effect.sync(() => pictures.delete(screen))
    return FiberMap.run(forgetting, screen, Effect.delay(forget, "1 hour"))
  }

  const answer: ScreenPicturesService["answer"] = ({ number, screen }, answer) =>
    Effect.flatMap(now, ({ monotonic: at, wall }) => {
      const want = Option.filter(wantAt(screen, at), (want) => want.number === number)
      if (Option.isNone(want)) return new NotWanted()
      wants.delete(screen)
      put(seen, screen, at, maxWatched)
      const { outcome } = want.value
      return Either.match(answer, {
        onLeft: (detail) => {
          const refusal = new NoPicture({ screen, reason: "refused", detail })
          put(refusals, screen, { at, refusal }, maxWanted)
          return Deferred.fail(outcome, refusal)
        },
        onRight: (jpeg) => {
          const picture = { at, takenAt: new Date(wall).toISOString(), jpeg }
          return Effect.zipRight(keep(screen, picture), Deferred.succeed(outcome, picture))
        }
      })
    }).pipe(Effect.uninterruptible)

  return {
    open,
    ask,
    last: (screen) => Effect.sync(() => Option.fromNullable(pictures.get(screen))),
    times: Effect.sync(() => Array.map([...pictures], ([screen, { takenAt }]) => ({ screen, takenAt }))),
    watched: step((now) => [...seen].filter(([, at]) => isSeen(at, now)).map(([screen]) => screen)),
    wanted: (screen) =>
      Effect.zipRight(see([screen]), waitFor(screen)).pipe(
        Effect.timeoutOption(waitMs),
        Effect.map(Option.flatten)
      ),
    wantedNow: (screens) =>
      Effect.map(see(screens), (now) => Array.filterMap(screens, (screen) => wantAt(screen, now))),
    answer
  } satisfies ScreenPicturesService
})

export const layer = Layer.scoped(ScreenPictures, make)

const step = <A>(f: (now: number) => A) => Effect.map(monotonicMillis, f)

const makeBell = () => Deferred.unsafeMake<void>(FiberId.none)

const makeWant = (screen: string, at: number): Want => ({
  screen,
  number: randomBytes(16).toString("hex"),
  at,
  outcome: Deferred.unsafeMake(FiberId.none)
})

const isSeen = (at: number, now: number): boolean => now - at < unseenAfterMs

/** Whether it counts as the answer to a new question. */
const isRecent = <A extends At>(last: A | undefined, now: number): last is A =>
  last !== undefined && now - last.at < askAgainMs
