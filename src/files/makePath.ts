/**
 * Makes folders with their missing parents.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { errorCode } from "../internal/serializeError.ts"

/**
 * Makes the folder and its missing parents.
 *
 * Node's recursive `mkdir` never ends below `/proc`, where a folder is missing and cannot be made: this function
 * fails with `ENOENT` there.
 */
export const makePath = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const makeOne = (folder: string) =>
    Effect.catchAll(fs.makeDirectory(folder), (error) =>
      Effect.flatMap(isFolder(folder), (isThere) => (isThere ? Effect.void : Effect.fail(error)))
    )

  const isFolder = (folder: string) =>
    fs.stat(folder).pipe(
      Effect.map(({ type }) => type === "Directory"),
      Effect.orElseSucceed(() => false)
    )

  const make = (folder: string): Effect.Effect<void, PlatformError> =>
    Effect.catchIf(
      makeOne(folder),
      (error) => errorCode(error) === "ENOENT" && path.dirname(folder) !== folder,
      () => Effect.zipRight(make(path.dirname(folder)), makeOne(folder))
    )

  yield* make(path.resolve(folder))
})
