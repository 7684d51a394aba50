/**
 * The configuration of the commands that run it: its environment file, where it is, what is in it, and that it stays private.
 */
import { closeSync, openSync, readSync } from "node:fs"
import { parseEnv } from "node:util"
import * as Effect from "effect/Effect"
import { withPrivate } from "../../files/privateFiles.ts"
import { maxBytes, tooLarge } from "../../files/readPlainText.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { loadConfiguration } from "../controller/loadConfiguration.ts"
import { locateConfiguration } from "../controller/locateConfiguration.ts"
import { CliError } from "./CliError.ts"
import type { Options } from "./options.ts"
import { withoutSignalHandlers } from "./processExit.ts"
import { VitrineModule } from "./VitrineModule.ts"

/** The absolute path of the file, once the environment file has been read. */
export const locate = ({ config, envFile }: Options) =>
  Effect.zipRight(loadEnvironment(envFile), locateConfiguration(config))

/** Loads the file with this Vitrine as its `vitrine`; with `again`, also if it was loaded before. */
export const load = Effect.fnUntraced(function* (file: string, again = false) {
  const library = yield* Effect.flatten(VitrineModule)
  return yield* withoutSignalHandlers(loadConfiguration(file, library, again))
})

/** While the effect runs, no folder is shown to everybody that has the configuration or its environment in it. */
export const keepPrivate = (file: string, { envFile }: Options) =>
  withPrivate(file, ...(envFile === undefined ? [] : [envFile]))

/** Sets what the file says and the environment does not. */
export const loadEnvironment = (path: string | undefined) =>
  path === undefined
    ? Effect.void
    : Effect.try({
        try: () => setMissing(parseEnv(decode(read(path)))),
        catch: (error) =>
          new CliError({ message: `The environment file ${path} could not be read: ${messageOf(error)}` })
      })

/** At most one MiB. It may be a pipe, of a program that decrypts it. */
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

/** Windows writes UTF-16, or UTF-8 with a mark, which `process.loadEnvFile` would take for a part of the first name. */
const decode = (content: Uint8Array): string => {
  const [first, second] = content
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
  // Takes the mark away.
  return new TextDecoder(encoding).decode(content)
}

const setMissing = (variables: Readonly<Record<string, string | undefined>>): void => {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] ??= value
  }
}
