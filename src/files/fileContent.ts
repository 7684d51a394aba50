/**
 * What files contain: the text of a plain file, and SHA-256 digests as 64 lower-case hexadecimal digits.
 */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { text } from "node:stream/consumers"
import * as FileSystem from "@effect/platform/FileSystem"
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

export const sha256OfText = (text: string): string => createHash("sha256").update(text).digest("hex")

export const sha256OfFile = (file: string) => Effect.map(hashFile(file), ({ hash }) => hash.digest("hex"))

/**
 * Hashes a file. Returns the hash, which can go on, and the number of bytes. It reads part by part into one buffer,
 * because streams of chunks take twice the processor time.
 */
export const hashFile = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const handle = yield* fs.open(file, { flag: "r" })
    const { size } = yield* handle.stat
    const buffer = new Uint8Array(Math.max(1, Math.min(Number(size), partSize)))
    const hash = createHash("sha256")
    let bytes = 0
    while (true) {
      const read = Number(yield* handle.read(buffer))
      if (read === 0) {
        return { bytes, hash }
      }
      hash.update(buffer.subarray(0, read))
      bytes += read
    }
  }).pipe(Effect.scoped)

/** In bytes. Hashing a part takes about a millisecond, in which nothing else can run. */
const partSize = 256 * 1024
