/**
 * Folders that nobody needs any more. One that another program has open is tried again at the next sweep.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import type { VersionStoreError } from "../../services/VersionStore.ts"
import { mapDiskError } from "./diskError.ts"

export interface Trash {
  readonly add: (folder: string) => void
  /** Removes what can be removed. */
  readonly empty: Effect.Effect<void>
  /** Says once that something could not be removed. */
  readonly warn: (error: VersionStoreError) => Effect.Effect<void>
}

export const make: Effect.Effect<Trash, never, FileSystem.FileSystem> = Effect.map(
  FileSystem.FileSystem,
  (fs) => {
    const folders = new Set<string>()
    const warnOnce = makeWarnOnce((message) => `${message} It is tried again after the next fetch.`)
    const warn = ({ message }: VersionStoreError) => warnOnce(message)
    return {
      add: (folder) => {
        folders.add(folder)
      },
      empty: Effect.suspend(() =>
        Effect.forEach(
          [...folders],
          (folder) =>
            fs.remove(folder, { recursive: true, force: true }).pipe(
              mapDiskError("remove", folder),
              Effect.tap(() => folders.delete(folder)),
              Effect.catchAll(warn)
            ),
          { discard: true }
        )
      ),
      warn
    }
  }
)
