/**
 * A folder that people work in: its files, whether it is quiet, and whether it has changed. Polls, fetches and
 * watching share one state.
 */

import * as FileSystem from "@effect/platform/FileSystem"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { monotonicMillis } from "../../../internal/monotonicMillis.ts"
import { folderPause, signalWithin } from "../../../internal/Schedules.ts"
import type { SourceChanges, Unknown } from "../../../services/ContentSource.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import { changesSince } from "../../documents/DocumentSource.ts"
import type { FolderCall } from "./folderCalls.ts"
import { isHeld } from "./folderFiles.ts"
import {
  type FolderFile,
  FolderInUse,
  type FolderLook,
  isSame,
  makeLook,
  stillWritten
} from "./lookAtFolder.ts"

/** A folder counts as finished when nothing has changed for this long. */
const quietTime = Duration.seconds(1)

/** The pause between two looks while the folder changes: one second, and two seconds after ten. */
const looks = Schedule.spaced(quietTime).pipe(
  Schedule.upTo("10 seconds"),
  Schedule.andThen(Schedule.spaced("2 seconds"))
)

/** How long each of four tries of a fetch waits for writers. */
const patience = Duration.seconds(30)

/** The retries of a fetch during which somebody has written. */
const disturbed = Schedule.intersect(Schedule.exponential("1 second"), Schedule.recurs(3))

/** How long a poll waits. The next poll finds later changes. */
const pollPatience = Duration.seconds(3)

/**
 * The shortest pause between two looks without a signal of the system: network shares send no signals, and other
 * folders may miss some.
 */
const leastPause = Duration.seconds(5)

/** The pause for each file, so that looking at all files takes a fifth of a percent of the time. */
const pauseForFile = Duration.millis(10)

/**
 * These systems report changes in all folders of a folder. On others, Node would watch each file, and may fail with
 * an error that cannot be caught.
 */
const watchesDeep = ["darwin", "win32"].includes(process.platform)

interface Seen {
  readonly look: FolderLook
  readonly since: number
  /** A file that differs from the look before. */
  readonly changed: string
  /** Whether files have only grown since the folder was last quiet. */
  readonly isGrowing: boolean
}

interface State {
  /** The last look, and the time since which the folder has stayed the same. */
  readonly seen?: Seen
  /** A file that could not be read because another program had it open. */
  readonly held?: { readonly file: FolderFile; readonly error: FolderInUse }
  /** How often a fetch became due although the folder looks the same. The folder then counts as changed. */
  readonly renewed: number
  /** Failed fetches in a row, and when the next fetch is due, in monotonic milliseconds. */
  readonly failed?: { readonly inRow: number; readonly retryAt: number } | undefined
  /** The last look of a poll, for one fetch. The fetch looks again before it reports new content. */
  readonly polled?: FolderLook
  /** The result of the last poll: the cursor, the message of an error, or `inUse`. */
  readonly answered?: string
}

export interface WatchedFolder {
  /** As the `poll` of a `ContentSource`. */
  readonly poll: (cursor: Option.Option<string>) => Effect.Effect<SourceChanges, SourceError | FolderInUse>

  /**
   * Reads the folder while it is quiet. If somebody has written meanwhile, it is read again, up to three times,
   * unless the result is not new.
   */
  readonly take: <A, E, R>(
    use: (look: FolderLook) => Effect.Effect<A, E, R>,
    isNew: (result: A) => boolean
  ) => Effect.Effect<A, E | SourceError | FolderInUse, R>

  /**
   * Emits if the folder differs from the last poll, and a minute after a fetch that failed; the pause doubles with
   * each failure, up to an hour. Watching makes this quick. A look finds missed changes every 5
   * seconds, or every 10 milliseconds times the number of files if this is longer: 100 seconds for 10,000 files.
   */
  readonly changes: Stream.Stream<void, never, FileSystem.FileSystem>
}

/** The folder with what is known about it. */
interface Known {
  readonly looking: ReturnType<typeof makeLook>
  readonly state: Ref.Ref<State>
}

/** `directory` is absolute. */
export const make = Effect.fnUntraced(function* (
  directory: string,
  hasDocuments: boolean,
  call: FolderCall
): Effect.fn.Return<WatchedFolder> {
  const looking = makeLook(directory, hasDocuments, call)
  const folder: Known = { looking, state: yield* Ref.make<State>({ renewed: 0 }) }
  return {
    poll: (cursor) => poll(folder, cursor),
    take: (use, isNew) => take(folder, use, isNew),
    changes: Stream.unwrapScoped(changesOf(folder))
  }
})

/** Fails while another program still has a wanted file open. */
const checkHeld = Effect.fnUntraced(function* ({ state }: Known) {
  const { held } = yield* Ref.get(state)
  if (held === undefined) return
  if (yield* isHeld(held.file)) return yield* held.error
  yield* Ref.update(state, (now) => {
    const { held: waited, ...others } = now
    // Another look may have counted it already, or found another file.
    return waited === held ? { ...others, renewed: others.renewed + 1 } : now
  })
})

/** Fails if a change was seen within the last second. */
const look = Effect.fnUntraced(function* (folder: Known) {
  yield* checkHeld(folder)
  const now = yield* folder.looking
  const time = yield* monotonicMillis
  const isQuiet = (seen: Seen) => time - seen.since >= Duration.toMillis(quietTime)
  const seen = yield* Ref.modify(folder.state, (before) => {
    const seen: Seen =
      before.seen?.look.stamp === now.stamp
        ? { ...before.seen, isGrowing: before.seen.isGrowing || isQuiet(before.seen) }
        : {
            look: now,
            since: time,
            changed: changedIn(before.seen?.look, now),
            isGrowing: before.seen === undefined || (before.seen.isGrowing && hasGrown(before.seen.look, now))
          }
    return [seen, { ...before, seen }]
  })
  return isQuiet(seen) ? now : yield* stillWritten(seen.changed, seen.isGrowing)
})

const whenQuiet = (folder: Known, patience: Duration.Duration) =>
  Effect.retry(look(folder), {
    while: (error) => error._tag === "vitrine/FolderInUse",
    schedule: Schedule.upTo(looks, patience)
  })

const cursorOf = ({ state }: Known, { stamp }: FolderLook) =>
  Effect.map(Ref.get(state), ({ renewed }) => (renewed === 0 ? stamp : `${stamp}-${renewed}`))

const poll = (folder: Known, cursor: Option.Option<string>) => {
  const update = (seen: Pick<State, "answered" | "polled">) =>
    Ref.update(folder.state, (before) => ({ ...before, ...seen }))
  return whenQuiet(folder, pollPatience).pipe(
    Effect.tap((polled) => update({ polled })),
    Effect.flatMap((look) => cursorOf(folder, look)),
    Effect.map((now) => changesSince(cursor, now)),
    Effect.catchTag("vitrine/FolderInUse", (error) =>
      Option.match(cursor, {
        onNone: () => error,
        onSome: (cursor) => Effect.succeed<SourceChanges>({ cursor, changed: unknownBy(error) })
      })
    ),
    Effect.tapBoth({
      onFailure: (error) => update({ answered: answerOf(error) }),
      onSuccess: ({ changed, cursor }) => update({ answered: Predicate.isString(changed) ? cursor : inUse })
    })
  )
}

/** Reads the folder once. If somebody writes meanwhile, the result is incomplete, and a failure has no meaning. */
const takeOnce = Effect.fnUntraced(function* <A, E, R>(
  { looking, state }: Known,
  look: FolderLook,
  use: (look: FolderLook) => Effect.Effect<A, E, R>,
  isNew: (result: A) => boolean
) {
  const result = yield* Effect.either(use(look))
  if (Either.isRight(result) && !isNew(result.right)) return result.right
  const after = yield* looking
  if (after.stamp !== look.stamp) {
    return yield* new Disturbed({ by: stillWritten(changedIn(look, after)) })
  }
  const error = Either.isLeft(result) ? inUseOf(result.left) : undefined
  if (error === undefined) return yield* result
  const file = look.files.find(({ path }) => path === error.file)
  if (file !== undefined && (yield* isHeld(file))) {
    yield* Ref.update(state, (before) => ({ ...before, held: { file, error } }))
  }
  return yield* new Disturbed({ by: error })
})

const take = <A, E, R>(
  folder: Known,
  use: (look: FolderLook) => Effect.Effect<A, E, R>,
  isNew: (result: A) => boolean
) =>
  Ref.modify(folder.state, ({ polled, ...before }) => [polled, before] as const).pipe(
    Effect.flatMap((polled) => (polled === undefined ? whenQuiet(folder, patience) : Effect.succeed(polled))),
    Effect.flatMap((look) => takeOnce(folder, look, use, isNew)),
    Effect.retry({ while: (error) => error instanceof Disturbed, schedule: disturbed }),
    Effect.mapError((error) => (error instanceof Disturbed ? error.by : error)),
    Effect.tapBoth({
      onFailure: () =>
        Effect.flatMap(monotonicMillis, (now) =>
          Ref.update(folder.state, (before) => {
            const inRow = 1 + (before.failed?.inRow ?? 0)
            return { ...before, failed: { inRow, retryAt: now + Duration.toMillis(folderPause(inRow)) } }
          })
        ),
      onSuccess: () => Ref.update(folder.state, ({ failed, ...before }) => before)
    })
  )

/** What made a fetch fail may be mended outside of the folder, or have passed. */
const renewIfDue = ({ state }: Known) =>
  Effect.flatMap(monotonicMillis, (now) =>
    Ref.update(state, ({ failed, renewed, ...before }) =>
      failed !== undefined && now >= failed.retryAt
        ? { ...before, renewed: renewed + 1, failed: { ...failed, retryAt: Number.POSITIVE_INFINITY } }
        : { ...before, renewed, failed }
    )
  )

/**
 * Watches the folders of a look. A removed folder may come back under its name, and its old watcher would not
 * notice.
 */
const makeFollow = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const signal = yield* Queue.sliding<void>(1)
  const watchers = yield* FiberMap.make<string>()

  const watch = (folder: string) =>
    FiberMap.run(
      watchers,
      folder,
      fileSystem.watch(folder, { recursive: watchesDeep }).pipe(
        Stream.runForEach(() => Queue.offer(signal, undefined)),
        Effect.ignore,
        // Node throws if it cannot watch at all.
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
  return { follow, signal }
})

const changesOf = Effect.fnUntraced(function* (folder: Known) {
  const { follow, signal } = yield* makeFollow

  const next = whenQuiet(folder, patience).pipe(
    Effect.tap(follow),
    Effect.zipLeft(renewIfDue(folder)),
    Effect.flatMap((look) =>
      Effect.map(cursorOf(folder, look), (answer) => ({
        answer,
        pause: Duration.max(leastPause, Duration.times(pauseForFile, look.files.length))
      }))
    ),
    Effect.catchAll((error) => Effect.succeed({ answer: answerOf(error), pause: leastPause }))
  )

  let pause: Duration.DurationInput = Duration.zero
  // Not a Stream of all looks: that takes more steps than the looks.
  const untilNew = Effect.gen(function* () {
    for (;;) {
      yield* signalWithin(signal, pause)
      const now = yield* next
      pause = now.pause
      const { answered } = yield* Ref.get(folder.state)
      if (answered !== undefined && answered !== now.answer) return
    }
  })
  return Stream.repeatEffect(untilNew)
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

/** The result of a poll while somebody writes. */
const inUse = "in use"

const answerOf = (error: SourceError | FolderInUse): string =>
  error instanceof FolderInUse ? inUse : error.message

const unknownBy = ({ isGrowing, message }: FolderInUse): Unknown => ({
  reason: `${message} A file that is always being written, such as a log, belongs outside of the folder`,
  isGrowing
})

/** Whether the looks differ in new and longer files only. */
const hasGrown = (before: FolderLook, now: FolderLook): boolean => {
  const known = new Map(now.files.map((file) => [file.path, file]))
  return before.files.every((file) => {
    const later = known.get(file.path)
    return (
      later !== undefined && (isSame(file, later) || (later.inode === file.inode && later.size > file.size))
    )
  })
}

/** The first file that differs between two looks. */
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
