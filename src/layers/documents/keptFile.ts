/**
 * A small file that a source keeps between fetches, over restarts.
 */
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { SourceFolder } from "../../services/ContentSource.ts"

/**
 * The file with this name, such as `objects.changes`. Nothing is kept if the controller has no folder for it, or if it
 * cannot be written.
 */
export const keptFile = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const file = Option.map(yield* SourceFolder, (folder) => join(folder, name))
  return {
    read: Effect.option(Effect.flatMap(file, (file) => fs.readFileString(file))),
    remove: Effect.ignore(Effect.flatMap(file, (file) => fs.remove(file, { force: true }))),
    write: (text: string) =>
      Effect.flatMap(file, (file) =>
        Effect.zipRight(fs.makeDirectory(dirname(file), { recursive: true }), fs.writeFileString(file, text))
      ).pipe(Effect.ignore)
  }
})
