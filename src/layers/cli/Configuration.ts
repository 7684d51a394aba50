/**
 * Finds and loads the configuration for the commands that run it, with its environment file, and keeps it private.
 */
import { closeSync, openSync, readSync } from "node:fs"
import { parseEnv } from "node:util"
import * as Effect from "effect/Effect"
import { withPrivate } from "../../files/privateFiles.ts"
import { maxBytes, tooLarge } from "../../files/readPlainText.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { loadConfiguration } from "../controller/loadConfiguration.ts"
import { locateConfiguration } from "../controller/locateConfiguration.ts"
import { CliError, VitrineModule } from "./command.ts"
import { withoutSignalHandlers } from "./processExit.ts"
import type { Options } from "./program.ts"

/** Reads the environment file, then returns the absolute path of the configuration. */
export const locate = ({ config, envFile }: Options) =>
  Effect.zipRight(loadEnvironment(envFile), locateConfiguration(config))

/** Loads the file, and gives it this Vitrine as its `vitrine`; with `again`, also if it was loaded before. */
export const load = Effect.fnUntraced(function* (file: string, again = false) {
  const library = yield* Effect.flatten(VitrineModule)
  return yield* withoutSignalHandlers(loadConfiguration(file, library, again))
})

/** While the effect runs, no folder with the configuration or its environment file may be published. */
export const keepPrivate = (file: string, { envFile, privateFile }: Options) =>
  withPrivate(...[file, envFile, privateFile].filter((path) => path !== undefined))

/** Sets the variables of the file that the environment does not have. */
export const loadEnvironment = (path: string | undefined) =>
  path === undefined
    ? Effect.void
    : Effect.try({
        try: () => setMissing(parseEnv(decode(read(path)))),
        catch: (error) =>
          new CliError({ message: `The environment file ${path} could not be read: ${messageOf(error)}` })
      })

/** Reads at most 1 MiB. The file may be a pipe, for example of a program that decrypts it. */
const read = (path: string): Uint8Array => {
  const content = new Uint8Array(maxBytes + 1)
  const file = openSync(path, "r")
  try {
    let length = 0
    for (let more = -1; more !== 0; length += more) {
      more = readSync(file, content, length, content.length - length, null)
    }
    if (length > maxBytes) throw tooLarge()
    return content.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Windows writes UTF-16, or UTF-8 with a byte order mark, which `process.loadEnvFile` would add to the first name. */
const decode = (content: Uint8Array): string => {
  const [first, second] = content
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
  // Removes the byte order mark.
  return new TextDecoder(encoding).decode(content)
}

const setMissing = (variables: Readonly<Record<string, string | undefined>>): void => {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] ??= value
  }
}
