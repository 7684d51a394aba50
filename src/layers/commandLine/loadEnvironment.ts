/**
 * Environment files.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { messageOf } from "../../services/ErrorDescription.ts"

export class EnvironmentFileUnusable extends Schema.TaggedError<EnvironmentFileUnusable>()(
  "EnvironmentFileUnusable",
  { path: Schema.String, detail: Schema.String }
) {
  override get message() {
    return `The environment file ${this.path} could not be read: ${this.detail}`
  }
}

/** Sets what the file says and the environment does not. */
export const loadEnvironment = (file: Option.Option<string>) =>
  Option.match(file, {
    onNone: () => Effect.void,
    onSome: (path) =>
      Effect.try({
        try: () => process.loadEnvFile(path),
        catch: (error) => new EnvironmentFileUnusable({ path, detail: messageOf(error) })
      })
  })
