/**
 * A folder of files that lasts as long as the test.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"

export const temporaryFolder = (files: Readonly<Record<string, string | Uint8Array>> = {}) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* fs.makeTempDirectoryScoped()
    const write = (name: string, content: string | Uint8Array) =>
      typeof content === "string"
        ? fs.writeFileString(path.join(directory, name), content)
        : fs.writeFile(path.join(directory, name), content)
    yield* Effect.forEach(Object.entries(files), ([name, content]) => write(name, content))
    return {
      directory,
      write,
      rename: (from: string, to: string) => fs.rename(path.join(directory, from), path.join(directory, to)),
      remove: (name: string) => fs.remove(path.join(directory, name))
    }
  })
