/**
 * SHA-256 digests of texts and files, as 64 lower-case hexadecimal digits.
 */
import { createHash } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

export const sha256OfText = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Equal only for equal names, as hexadecimal digits. Lone surrogates count too. */
export const hashOfName = (name: string, digits: number): string =>
  createHash("sha256").update(name, "utf16le").digest("hex").slice(0, digits)

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
