/**
 * Files that are taken over from another folder.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** The size of a file in bytes; `None` if it does not exist, is no file, or is not of the size that it should have. */
export const sizeOfWhole = (file: string, size: Option.Option<number>) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    Effect.match(fileSystem.stat(file), {
      onFailure: () => Option.none<number>(),
      onSuccess: ({ size: found, type }) => {
        const bytes = Number(found)
        return type === "File" && Option.getOrElse(size, () => bytes) === bytes
          ? Option.some(bytes)
          : Option.none()
      }
    })
  )

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

/** As `linkOrCopy`, for files of a folder, by their paths in it. */
export const linkOrCopyAll = Effect.fnUntraced(function* (
  files: ReadonlyArray<string>,
  from: string,
  to: string
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folders = new Set([to, ...files.map((file) => path.dirname(path.join(to, file)))])
  for (const folder of folders) {
    yield* fileSystem.makeDirectory(folder, { recursive: true })
  }
  yield* Effect.forEach(files, (file) => linkOrCopy(path.join(from, file), path.join(to, file)), {
    concurrency: 8,
    discard: true
  })
})
