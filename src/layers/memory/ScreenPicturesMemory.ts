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
import type * as Scope from "effect/Scope"
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

/** Each function below reads and changes the state in one synchronous step. */
interface State {
  readonly startedAt: number
  /** The forbidden screens of each content server with pictures. */
  readonly opened: Set<ReadonlyArray<string>>
  /** When a watcher of the screen has last asked, or answered. */
  readonly seen: Map<string, number>
  readonly wants: Map<string, Want>
  readonly pictures: Map<string, ScreenPicture & At>
  readonly refusals: Map<string, At & { readonly refusal: NoPicture }>
  /** Forgets each picture after an hour. */
  readonly forgetting: FiberMap.FiberMap<string>
  /** Wakes up the watchers that wait. */
  bell: Deferred.Deferred<void>
}

export const make: Effect.Effect<typeof ScreenPictures.Service, never, Scope.Scope> = Effect.gen(
  function* () {
    const state: State = {
      startedAt: yield* monotonicMillis,
      opened: new Set(),
      seen: new Map(),
      wants: new Map(),
      pictures: new Map(),
      refusals: new Map(),
      forgetting: yield* FiberMap.make<string>(),
      bell: makeBell()
    }
    const { pictures, seen } = state
    return {
      open: (forbidden) => open(state, forbidden),
      ask: (screen) => ask(state, screen),
      last: (screen) => Effect.sync(() => Option.fromNullable(pictures.get(screen))),
      times: Effect.sync(() => Array.map([...pictures], ([screen, { takenAt }]) => ({ screen, takenAt }))),
      watched: step((now) => [...seen].filter(([, at]) => isSeen(at, now)).map(([screen]) => screen)),
      wanted: (screen) =>
        Effect.zipRight(see(state, [screen]), waitFor(state, screen)).pipe(
          Effect.timeoutOption(waitMs),
          Effect.map(Option.flatten)
        ),
      wantedNow: (screens) =>
        Effect.map(see(state, screens), (now) =>
          Array.filterMap(screens, (screen) => wantAt(state, screen, now))
        ),
      answer: (wanted, given) => answer(state, wanted, given)
    } satisfies ScreenPicturesService
  }
)

export const layer: Layer.Layer<ScreenPictures> = Layer.scoped(ScreenPictures, make)

const open = (state: State, forbidden: ReadonlyArray<string>) =>
  Effect.sync(() => {
    const handle = forbidden.map(fileKey)
    state.opened.add(handle)
    return Effect.sync(() => {
      state.opened.delete(handle)
      ring(state)
    })
  })

const ask = (state: State, screen: string) =>
  Effect.flatten(
    step((now): Effect.Effect<ScreenPicture, NoPicture> => {
      const obstacle = obstacleAt(state, screen, now)
      if (Option.isSome(obstacle)) return obstacle.value
      const picture = state.pictures.get(screen)
      if (isRecent(picture, now)) return Effect.succeed(picture)
      const refused = state.refusals.get(screen)
      if (isRecent(refused, now)) return refused.refusal
      return join(
        state,
        Option.getOrElse(wantAt(state, screen, now), () => begin(state, screen, now)),
        now
      )
    })
  )

const obstacleAt = ({ opened, seen, startedAt }: State, screen: string, now: number) => {
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

const wantAt = ({ wants }: State, screen: string, now: number): Option.Option<Want> =>
  Option.filter(Option.fromNullable(wants.get(screen)), ({ at }) => now - at < wantedForMs)

const begin = (state: State, screen: string, at: number): Want => {
  const number = randomBytes(16).toString("hex")
  const want = { screen, number, at, outcome: Deferred.unsafeMake<ScreenPicture, NoPicture>(FiberId.none) }
  put(state.wants, screen, want, maxWanted)
  ring(state)
  return want
}

const join = (state: State, { at, outcome, screen }: Want, now: number) =>
  Deferred.await(outcome).pipe(
    Effect.timeoutOption(at + wantedForMs - now),
    Effect.flatMap(Option.match({ onNone: () => failLate(state, screen), onSome: Effect.succeed }))
  )

const failLate = (state: State, screen: string) =>
  Effect.flatten(
    step((now) =>
      Option.getOrElse(obstacleAt(state, screen, now), () => new NoPicture({ screen, reason: "late" }))
    )
  )

const see = ({ seen }: State, screens: ReadonlyArray<string>) =>
  step((now) => {
    for (const screen of screens) put(seen, screen, now, maxWatched)
    return now
  })

const waitFor = (state: State, screen: string): Effect.Effect<Option.Option<WantedPicture>> =>
  Effect.flatten(
    step((now) => {
      const want = wantAt(state, screen, now)
      return Option.isSome(want) || state.opened.size === 0
        ? Effect.succeed(want)
        : Effect.zipRight(
            Deferred.await(state.bell),
            Effect.suspend(() => waitFor(state, screen))
          )
    })
  )

const answer = (
  state: State,
  { number, screen }: WantedPicture,
  given: Either.Either<Uint8Array, string>
): Effect.Effect<void, NotWanted> =>
  Effect.flatMap(now, ({ monotonic: at, wall }) => {
    const want = Option.filter(wantAt(state, screen, at), (want) => want.number === number)
    if (Option.isNone(want)) return new NotWanted()
    state.wants.delete(screen)
    put(state.seen, screen, at, maxWatched)
    const { outcome } = want.value
    return Either.match(given, {
      onLeft: (detail) => {
        const refusal = new NoPicture({ screen, reason: "refused", detail })
        put(state.refusals, screen, { at, refusal }, maxWanted)
        return Deferred.fail(outcome, refusal)
      },
      onRight: (jpeg) => {
        const picture = { at, takenAt: new Date(wall).toISOString(), jpeg }
        return Effect.zipRight(keep(state, screen, picture), Deferred.succeed(outcome, picture))
      }
    })
  }).pipe(Effect.uninterruptible)

const keep = ({ forgetting, pictures }: State, screen: string, picture: ScreenPicture & At) => {
  put(pictures, screen, picture, maxPictures)
  const forget = Effect.sync(() => pictures.delete(screen))
  return FiberMap.run(forgetting, screen, Effect.delay(forget, "1 hour"))
}

const ring = (state: State) => {
  Deferred.unsafeDone(state.bell, Effect.void)
  state.bell = makeBell()
}

const makeBell = () => Deferred.unsafeMake<void>(FiberId.none)

const step = <A>(f: (now: number) => A) => Effect.map(monotonicMillis, f)

/** Adds an entry as the newest, and removes the oldest beyond the limit. */
const put = <A>(map: Map<string, A>, key: string, value: A, max: number): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) {
    map.delete(Iterable.unsafeHead(map.keys()))
  }
}

const isSeen = (at: number, now: number): boolean => now - at < unseenAfterMs

/** Whether it counts as the answer to a new question. */
const isRecent = <A extends At>(last: A | undefined, now: number): last is A =>
  last !== undefined && now - last.at < askAgainMs
