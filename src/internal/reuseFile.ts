/**
 * Files that are taken over from another folder.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** The size of a file in bytes; none where it is not there, no file, or not of the size that it should have. */
export const sizeOfWhole = Effect.fnUntraced(function* (file: string, size: Option.Option<number>) {
  const fileSystem = yield* FileSystem.FileSystem
  return yield* fileSystem.stat(file).pipe(
    Effect.map((stats) => ({ bytes: Number(stats.size), isFile: stats.type === "File" })),
    Effect.option,
    Effect.map(
      Option.filterMap(({ bytes, isFile }) =>
        isFile && Option.getOrElse(size, () => bytes) === bytes ? Option.some(bytes) : Option.none()
      )
    )
  )
})

/** Links a file, or copies it. Where neither can be done, nothing is left of it. */
export const linkOrCopy = Effect.fnUntraced(function* (from: string, to: string) {
  const fileSystem = yield* FileSystem.FileSystem
  yield* Effect.catchAll(fileSystem.link(from, to), () =>
    Effect.tapError(fileSystem.copyFile(from, to), () =>
      Effect.ignore(fileSystem.remove(to, { force: true }))
    )
  )
})
