/**
 * A folder that people work in: what is in it, whether it rests, and when it is another one than before. Polls, fetches and watching
 * share one state.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberMap from "effect/FiberMap"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { monotonicMillis } from "../../../internal/monotonicMillis.ts"
import type { SourceChanges } from "../../../services/ContentSource.ts"
import { changesSince } from "../../../services/ContentSource.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import { FolderInUse, stillWritten } from "./FolderInUse.ts"
import { isHeld } from "./folderFiles.ts"
import { type FolderFile, type FolderLook, isSame, lookAtFolder } from "./lookAtFolder.ts"

/** For so long, names, sizes and dates have to stay as they are. */
const rest = Duration.seconds(1)

/** From one look to the next while they do not: a second, and two seconds when that has gone on for ten. */
const looks = Schedule.spaced(rest).pipe(
  Schedule.upTo("10 seconds"),
  Schedule.andThen(Schedule.spaced("2 seconds"))
)

/** How long a fetch waits for those who write, at each of four tries. */
const patience = Duration.seconds(30)

/** When a fetch is tried again in which somebody has written. */
const disturbed = Schedule.intersect(Schedule.exponential("1 second"), Schedule.recurs(3))

/** How long a poll waits: what rests later is found by the next one. */
const pollPatience = Duration.seconds(3)

/** From one look to the next where the system tells of no change: it does not for shares, and may not for anything. */
const leastPause = Duration.seconds(5)

/** For each file: looking at all of them takes a fifth of a percent of it. */
const pauseForFile = Duration.millis(10)

/** These tell of changes in all folders of a folder. Of others, Node would watch each file, and may fail beyond what can be caught. */
const watchesDeep = ["darwin", "win32"].includes(process.platform)

interface State {
  /** The last look, and since when the folder is as it was seen then. */
  readonly seen?: { readonly look: FolderLook; readonly since: number; readonly changed: string }
  /** What could not be read because somebody held it. */
  readonly held?: { readonly file: FolderFile; readonly error: FolderInUse }
  /** How often such a file was free again: then the folder is another one, though it looks the same. */
  readonly freed: number
  /** What the poll before has seen, for one fetch: it looks again before anything of it is new. */
  readonly polled?: FolderLook
  /** What the last poll said: the cursor, or the message of an error. */
  readonly answered?: string
}

export interface WatchedFolder {
  /** As the `poll` of a `ContentSource`. */
  readonly poll: (cursor: Option.Option<string>) => Effect.Effect<SourceChanges, SourceError | FolderInUse>

  /**
   * Takes what is in the folder while it rests. Where somebody has written meanwhile, it is taken again, three more times, unless
   * what was taken is not new.
   */
  readonly take: <A, E, R>(
    use: (look: FolderLook) => Effect.Effect<A, E, R>,
    isNew: (taken: A) => boolean
  ) => Effect.Effect<A, E | SourceError | FolderInUse, R>

  /**
   * Emits where the folder is another one than the last poll has said. Watching makes it quick; what it misses is found every 5
   * seconds, or 10 milliseconds for each file where that is longer: 100 seconds for 10,000 files.
   */
  readonly changes: Stream.Stream<void, never, FileSystem.FileSystem>
}

/** `directory` is absolute. */
export const make = Effect.fnUntraced(function* (
  directory: string,
  hasDocuments: boolean
): Effect.fn.Return<WatchedFolder> {
  const state = yield* Ref.make<State>({ freed: 0 })
  const looking = lookAtFolder(directory, hasDocuments)

  /** Fails while somebody still holds a file that was wanted. */
  const checkHeld = Effect.gen(function* () {
    const { held } = yield* Ref.get(state)
    if (held === undefined) return
    if (yield* isHeld(held.file)) return yield* held.error
    yield* Ref.update(state, ({ held: _, ...before }) => ({ ...before, freed: before.freed + 1 }))
  })

  /** Fails where something has changed within the last second, as far as that has been seen. */
  const look = Effect.gen(function* () {
    yield* checkHeld
    const now = yield* looking
    const time = yield* monotonicMillis
    const seen = yield* Ref.modify(state, (before) => {
      const seen =
        before.seen?.look.stamp === now.stamp
          ? before.seen
          : { look: now, since: time, changed: changedIn(before.seen?.look, now) }
      return [seen, { ...before, seen }]
    })
    return time - seen.since >= Duration.toMillis(rest) ? now : yield* stillWritten(seen.changed)
  })

  const rested = (patience: Duration.Duration) =>
    Effect.retry(look, {
      while: (error) => error._tag === "vitrine/FolderInUse",
      schedule: Duration.isFinite(patience) ? Schedule.upTo(looks, patience) : looks
    })

  const cursorOf = ({ stamp }: FolderLook) =>
    Effect.map(Ref.get(state), ({ freed }) => (freed === 0 ? stamp : `${stamp}-${freed}`))

  const answer = (answered: string) => Ref.update(state, (before) => ({ ...before, answered }))

  const poll: WatchedFolder["poll"] = (cursor) =>
    rested(pollPatience).pipe(
      Effect.tap((polled) => Ref.update(state, (before) => ({ ...before, polled }))),
      Effect.flatMap(cursorOf),
      Effect.map((now) => changesSince(cursor, now)),
      Effect.catchTag("vitrine/FolderInUse", (error) =>
        Option.match(cursor, {
          onNone: () => error,
          onSome: (cursor) => Effect.succeed<SourceChanges>({ cursor, changed: "nothing" })
        })
      ),
      Effect.tapBoth({
        onFailure: ({ message }) => answer(message),
        onSuccess: ({ cursor }) => answer(cursor)
      })
    )

  /** Takes it once: what fails while somebody writes is half of something. */
  const takeOnce =
    <A, E, R>(use: (look: FolderLook) => Effect.Effect<A, E, R>, isNew: (taken: A) => boolean) =>
    (look: FolderLook) =>
      Effect.gen(function* () {
        const taken = yield* Effect.either(use(look))
        if (Either.isRight(taken) && !isNew(taken.right)) return taken.right
        const after = yield* looking
        if (after.stamp !== look.stamp) {
          return yield* new Disturbed({ by: stillWritten(changedIn(look, after)) })
        }
        const error = Either.isLeft(taken) ? inUseOf(taken.left) : undefined
        if (error === undefined) return yield* taken
        const file = look.files.find(({ path }) => path === error.file)
        if (file !== undefined && (yield* isHeld(file))) {
          yield* Ref.update(state, (before) => ({ ...before, held: { file, error } }))
        }
        return yield* new Disturbed({ by: error })
      })

  const take: WatchedFolder["take"] = (use, isNew) =>
    Ref.modify(state, ({ polled, ...before }) => [polled, before] as const).pipe(
      Effect.flatMap((polled) => (polled === undefined ? rested(patience) : Effect.succeed(polled))),
      Effect.flatMap(takeOnce(use, isNew)),
      Effect.retry({ while: (error) => error instanceof Disturbed, schedule: disturbed }),
      Effect.mapError((error) => (error instanceof Disturbed ? error.by : error))
    )

  /** Watches the folders of a look: a folder that is gone may come again under its name, and its watcher would not notice. */
  const makeFollow = Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const told = yield* Queue.sliding<void>(1)
    const watchers = yield* FiberMap.make<string>()

    const watch = (folder: string) =>
      FiberMap.run(
        watchers,
        folder,
        fileSystem.watch(folder, { recursive: watchesDeep }).pipe(
          Stream.runForEach(() => Queue.offer(told, undefined)),
          Effect.ignore,
          // Node throws where it cannot watch at all.
          Effect.catchAllDefect(() => Effect.void)
        ),
        { onlyIfMissing: true }
      )

    const follow = Effect.fnUntraced(function* ({ folders }: FolderLook) {
      const wanted = new Set(watchesDeep ? folders.slice(0, 1) : folders)
      for (const [folder] of [...watchers]) {
        if (!wanted.has(folder)) yield* FiberMap.remove(watchers, folder)
      }
      yield* Effect.forEach(wanted, watch, { discard: true })
    })
    return { follow, told: Queue.take(told) }
  })

  const changes: WatchedFolder["changes"] = Stream.unwrapScoped(
    Effect.gen(function* () {
      const { follow, told } = yield* makeFollow

      const next = rested(Duration.infinity).pipe(
        Effect.tap(follow),
        Effect.flatMap((look) =>
          Effect.map(cursorOf(look), (answer) => ({
            answer,
            pause: Duration.max(leastPause, Duration.times(pauseForFile, look.files.length))
          }))
        ),
        Effect.catchAll(({ message }) => Effect.succeed({ answer: message, pause: leastPause }))
      )

      return Stream.paginateEffect(Duration.zero, (pause) =>
        Effect.gen(function* () {
          yield* Effect.timeoutOption(told, pause)
          const now = yield* next
          const { answered } = yield* Ref.get(state)
          return [answered !== undefined && answered !== now.answer, Option.some(now.pause)] as const
        })
      ).pipe(
        Stream.filter((isNew) => isNew),
        Stream.map(constVoid)
      )
    })
  )

  return { poll, take, changes }
})

/** Somebody has written while the folder was read. */
class Disturbed extends Data.TaggedError("vitrine/Disturbed")<{ readonly by: FolderInUse }> {}

/** The failure itself, or a cause of it. */
const inUseOf = (error: unknown): FolderInUse | undefined =>
  error instanceof FolderInUse
    ? error
    : Predicate.hasProperty(error, "cause")
      ? inUseOf(error.cause)
      : undefined

/** The first file that is not the same in both. */
const changedIn = (before: FolderLook | undefined, now: FolderLook): string => {
  const known = new Map(before?.files.map((file) => [file.path, file]))
  const paths = new Set(now.files.map(({ path }) => path))
  const changed =
    now.files.find((file) => {
      const other = known.get(file.path)
      return other === undefined || !isSame(file, other)
    }) ?? before?.files.find(({ path }) => !paths.has(path))
  return changed?.path ?? ""
}
