/**
 * Finds the configuration file.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { configurationNames } from "../../internal/configurationNames.ts"
import { OptionalErrorChain } from "../../internal/SerializedError.ts"

export class ConfigurationUnusable extends Schema.TaggedError<ConfigurationUnusable>()(
  "vitrine/ConfigurationUnusable",
  {
    /** The file, or the folder without a file. */
    path: Schema.String,
    detail: Schema.String,
    cause: OptionalErrorChain
  }
) {
  override get message() {
    return `${this.path}: ${this.detail}`
  }
}

/** The absolute path of the named file, or of the file in the current folder. */
export const locateConfiguration = Effect.fn("locateConfiguration")(function* (named: string | undefined) {
  const path = yield* Path.Path
  return yield* named === undefined ? findFile(path.resolve()) : existing(path.resolve(named))
})

const existing = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const { type } = yield* Effect.mapError(
    fs.stat(file),
    () => new ConfigurationUnusable({ path: file, detail: "there is no such file." })
  )
  if (type === "Directory") {
    return yield* new ConfigurationUnusable({
      path: file,
      detail: "this is a folder. Name the configuration file in it with --config FILE."
    })
  }
  if (type !== "File") {
    return yield* new ConfigurationUnusable({
      path: file,
      detail: "this is a pipe or a device. A configuration is a plain file."
    })
  }
  return file
})

const findFile = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  return yield* Effect.firstSuccessOf(
    configurationNames.map((name) => existing(path.join(folder, name)))
  ).pipe(
    Effect.mapError(
      () =>
        new ConfigurationUnusable({
          path: folder,
          detail: `there is no ${configurationNames.join(", ")} here. Begin a project with "npx vitrine init", or name a configuration file with --config FILE.`
        })
    )
  )
})
