/**
 * Files of the user, of which nobody knows what they are.
 */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { text } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import { toError } from "./fileBatch.ts"

/** The most that is read of a file, in bytes. */
export const maxBytes = 1024 ** 2

/** Why a file of more is not read. */
export const tooLarge = () => new Error("It is larger than 1 MiB.")

/**
 * The text of a plain file of at most one MiB. It fails for everything else: opening a pipe would wait for whoever writes into it, and a
 * device such as `/dev/zero` has no end.
 */
export const readPlainText = (file: string): Effect.Effect<string, Error> =>
  Effect.tryPromise({
    try: async () => {
      const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
      try {
        const stats = await handle.stat()
        if (stats.isDirectory()) throw Object.assign(new Error("EISDIR"), { code: "EISDIR" })
        if (!stats.isFile()) throw new Error("This is a pipe or a device, and no plain file.")
        if (stats.size > maxBytes) throw tooLarge()
        return await text(handle.createReadStream({ autoClose: false, end: maxBytes }))
      } finally {
        await handle.close()
      }
    },
    catch: toError
  })
