/**
 * Waiting until nobody writes in a folder any more.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { monotonicMillis } from "../../../internal/monotonicMillis.ts"
import { printableLine } from "../../../internal/printable.ts"
import { type FolderFailed, StillWritten } from "./FolderFailed.ts"
import type { FolderFile, FolderLook } from "./lookAtFolder.ts"

/** For so long, names, sizes and dates have to stay as they are. */
const rest = Duration.seconds(1)

/** From one look to the next while they do not. */
const pause = Duration.millis(500)

export interface Resting {
  /** Looks once: fails where something has changed within the last second, as far as that has been seen. */
  readonly look: Effect.Effect<FolderLook, FolderFailed | StillWritten>
  /** Looks until nothing has changed for a second, for as long as `patience`. */
  readonly wait: (patience: Duration.DurationInput) => Effect.Effect<FolderLook, FolderFailed | StillWritten>
}

export const makeResting = (looking: Effect.Effect<FolderLook, FolderFailed>): Resting => {
  /** Shared by all who look. Looks at the same time see the same, or the folder is changing. */
  let seen: { readonly look: FolderLook; readonly since: number; readonly changed: string } | undefined

  const look = Effect.gen(function* () {
    const now = yield* looking
    const time = yield* monotonicMillis
    if (seen?.look.stamp !== now.stamp) {
      seen = { look: now, since: time, changed: changedIn(seen?.look, now) }
    }
    return time - seen.since >= Duration.toMillis(rest)
      ? now
      : yield* new StillWritten({ file: printableLine(seen.changed, 200) })
  })

  return {
    look,
    wait: (patience) =>
      Effect.retry(look, {
        while: (error) => error._tag === "vitrine/StillWritten",
        schedule: Schedule.spaced(pause).pipe(Schedule.upTo(patience))
      })
  }
}

/** The first file that is not the same in both. */
const changedIn = (before: FolderLook | undefined, now: FolderLook): string => {
  const known = new Map(before?.files.map((file) => [file.path, file]))
  const isSame = ({ modified, path, size }: FolderFile) => {
    const other = known.get(path)
    return other?.size === size && other.modified === modified
  }
  const paths = new Set(now.files.map(({ path }) => path))
  const changed =
    now.files.find((file) => !isSame(file)) ?? before?.files.find(({ path }) => !paths.has(path))
  return changed?.path ?? ""
}
