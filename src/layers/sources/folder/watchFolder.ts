/**
 * Telling when the files of a folder have changed, and have come to rest again.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import type { FolderLook } from "./lookAtFolder.ts"
import type { Resting } from "./resting.ts"

/** From one look to the next where the system tells of no change: it does not for shares, and may not for anything. */
const leastPause = Duration.seconds(5)

/** For each file: large folders are looked at less often. */
const pauseForFile = Duration.millis(2)

/** These tell of changes in all folders of a folder. Of others, Node would watch each file, and may fail beyond what can be caught. */
const watchesDeep = ["darwin", "win32"].includes(process.platform)

/**
 * Emits where the folder is another one than what a question was `answered` with last: its stamp, or the message of an error.
 * Watching makes it quick; what it misses is found every 5 seconds,
 * or 2 milliseconds for each file where that is longer.
 */
export const folderChanges = (
  resting: Resting,
  answered: Ref.Ref<Option.Option<string>>
): Stream.Stream<void, never, FileSystem.FileSystem> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
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

      /** A folder that is gone may come again under its name: its watcher would not notice. */
      const follow = Effect.fnUntraced(function* ({ folders }: FolderLook) {
        const wanted = new Set(watchesDeep ? folders.slice(0, 1) : folders)
        const gone = [...watchers].flatMap(([folder]) => (wanted.has(folder) ? [] : [folder]))
        yield* Effect.forEach(gone, (folder) => FiberMap.remove(watchers, folder), { discard: true })
        yield* Effect.forEach(wanted, watch, { discard: true })
      })

      const look = resting.wait(Duration.infinity).pipe(
        Effect.tap(follow),
        Effect.match({
          onFailure: ({ message }) => ({ answer: message, pause: leastPause }),
          onSuccess: ({ files, stamp }) => ({
            answer: stamp,
            pause: Duration.max(leastPause, Duration.times(pauseForFile, files.length))
          })
        })
      )

      return Stream.paginateEffect(Duration.zero, (pause) =>
        Effect.gen(function* () {
          yield* Effect.timeoutOption(Queue.take(told), pause)
          const now = yield* look
          const isNew = Option.exists(yield* Ref.get(answered), (answer) => answer !== now.answer)
          return [isNew, Option.some(now.pause)] as const
        })
      ).pipe(
        Stream.filter((isNew) => isNew),
        Stream.map(constVoid)
      )
    })
  )
