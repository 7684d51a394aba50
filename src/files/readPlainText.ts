import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { text } from "node:stream/consumers"
import * as Effect from "effect/Effect"
import { toError } from "./fileBatch.ts"

/** The most that is read of a file, in bytes. */
export const maxBytes = 1024 ** 2

/** Why a larger file is not read. */
export const tooLarge = (most = maxBytes) => new Error(`It is larger than ${most / maxBytes} MiB.`)

/**
 * The text of a plain file of at most `most` bytes, by default 1 MiB. Fails for everything else: opening a pipe would
 * wait for its writer, and a device such as `/dev/zero` has no end.
 */
export const readPlainText = (file: string, most = maxBytes): Effect.Effect<string, Error> =>
  Effect.tryPromise({
    try: async () => {
      const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
      try {
        const stats = await handle.stat()
        if (stats.isDirectory()) throw Object.assign(new Error("EISDIR"), { code: "EISDIR" })
        if (!stats.isFile()) throw new Error("This is a pipe or a device, and no plain file.")
        if (stats.size > most) throw tooLarge(most)
        return await text(handle.createReadStream({ autoClose: false, end: most }))
      } finally {
        await handle.close()
      }
    },
    catch: toError
  })
