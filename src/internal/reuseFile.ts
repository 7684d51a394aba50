/**
 * A file that is taken over from another folder.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

/** Links a file, or copies it: gives whether it is a link. Where neither can be done, nothing is left of it. */
export const linkOrCopy = (from: string, to: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    Effect.catchAll(Effect.as(fileSystem.link(from, to), true), () =>
      fileSystem.copyFile(from, to).pipe(
        Effect.tapError(() => Effect.ignore(fileSystem.remove(to, { force: true }))),
        Effect.as(false)
      )
    )
  )
