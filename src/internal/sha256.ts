/**
 * SHA-256 digests of texts and files, as 64 lower-case hexadecimal digits.
 */
import { createHash } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

export const Sha256 = Schema.String.pipe(
  Schema.pattern(/^[0-9a-f]{64}$/, { message: () => "must be 64 lower-case hexadecimal digits" })
)

export const sha256OfText = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Reads the file part by part. */
export const sha256OfFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  yield* Stream.runForEach(fs.stream(file, { chunkSize }), (part) => Effect.sync(() => hash.update(part)))
  return hash.digest("hex")
})

/** In bytes: hashing so many takes less than a millisecond, in which nothing else can run. */
const chunkSize = 256 * 1024
