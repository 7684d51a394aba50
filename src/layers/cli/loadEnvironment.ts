/**
 * Environment files.
 */
import { closeSync, openSync, readSync } from "node:fs"
import { parseEnv } from "node:util"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { maxBytes, tooLarge } from "../../internal/readPlainText.ts"
import { messageOf } from "../../internal/SerializedError.ts"

export class EnvironmentFileUnusable extends Schema.TaggedError<EnvironmentFileUnusable>()(
  "vitrine/EnvironmentFileUnusable",
  { path: Schema.String, detail: Schema.String }
) {
  override get message() {
    return `The environment file ${this.path} could not be read: ${this.detail}`
  }
}

/** Sets what the file says and the environment does not. */
export const loadEnvironment = (path: string | undefined) =>
  path === undefined
    ? Effect.void
    : Effect.try({
        try: () => setMissing(parseEnv(decode(read(path)))),
        catch: (error) => new EnvironmentFileUnusable({ path, detail: messageOf(error) })
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
