/**
 * The version that was swept last, kept as the folder of the next copy: what that has in common with the latest version need
 * not be linked file by file.
 *
 * It has none but files of the latest version, which are links: it takes no room for their content. It is one folder at most,
 * in `.staging`, and known in memory only: after a crash it is removed with whatever else is there.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SourceFile } from "../../services/ContentSource.ts"
import { removeOthers } from "./folderEntries.ts"
import type { Trash } from "./Trash.ts"

/** By paths with forward slashes in the folder of a version. */
type Files = ReadonlyMap<string, SourceFile>

export interface SpareFolder {
  readonly folder: string
  /** What is in it. */
  readonly files: Files
  /** The folders in it, by their paths, out of which something was removed: that is not durable yet. */
  readonly touched: ReadonlySet<string>
}

export interface Spare {
  /** Gives it away. From the first time on there is to be one. */
  readonly take: Effect.Effect<Option.Option<SpareFolder>>
  /** Takes a folder of the trash with the files of a version that was swept, in the place of the one before. */
  readonly keep: (folder: string, files: Files, latest: Files) => Effect.Effect<void>
  /** Leaves it to the trash. */
  readonly discard: Effect.Effect<void>
}

export const make = (trash: Trash): Spare => {
  let isWanted = false
  let kept = Option.none<SpareFolder>()

  const discard = Effect.sync(() => {
    if (Option.isSome(kept)) trash.add(kept.value.folder)
    kept = Option.none()
  })

  return {
    take: Effect.sync(() => {
      const taken = kept
      kept = Option.none()
      isWanted = true
      return taken
    }),
    keep: Effect.fnUntraced(function* (folder, files, latest) {
      const common = new Map([...files].filter(([name, { sha256 }]) => latest.get(name)?.sha256 === sha256))
      if (!isWanted || common.size === 0) {
        return
      }
      const touched = yield* removeOthers(folder, common)
      yield* discard
      trash.takeBack(folder)
      kept = Option.some({ folder, files: common, touched })
    }, Effect.ignore),
    discard
  }
}
