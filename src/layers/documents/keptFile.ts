/**
 * A small file that a source keeps between fetches, over restarts.
 */
import { basename, dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { removeUnfinished, replaceFile } from "../../files/durable.ts"
import { SourceFolder } from "../../services/ContentSource.ts"

/**
 * The file with this name, such as `objects.changes`. After a power failure, it has the old text or the new. Nothing is
 * kept if the controller has no folder for it, or if it cannot be written.
 */
export const keptFile = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const file = Option.map(yield* SourceFolder, (folder) => join(folder, name))
  yield* Effect.ignore(
    Effect.flatMap(file, (file) => Effect.tryPromise(() => removeUnfinished(dirname(file), basename(file))))
  )
  return {
    read: Effect.option(Effect.flatMap(file, (file) => fs.readFileString(file))),
    remove: Effect.ignore(Effect.flatMap(file, (file) => fs.remove(file, { force: true }))),
    write: (text: string) =>
      Effect.flatMap(file, (file) =>
        Effect.zipRight(fs.makeDirectory(dirname(file), { recursive: true }), replaceFile(file, text))
      ).pipe(Effect.ignore, Effect.provideService(FileSystem.FileSystem, fs))
  }
})
