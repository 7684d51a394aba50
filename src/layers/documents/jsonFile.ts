/**
 * Writing JSON files, and digesting them on the way.
 *
 * In an array, each item that is an object begins and ends on a line of its own, so that one can be read at a time.
 */
import { createHash, type Hash } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { savedText } from "./sortedJson.ts"

/** A JSON file as it was written. */
export interface WrittenFile {
  /** Its size. */
  readonly bytes: number
  /** Equal for equal content, whatever is volatile in it. */
  readonly digest: string
  /** Of its bytes. */
  readonly sha256: string
}

/** Less than this is not worth a write. */
const fewBytes = 512 * 1024

/**
 * Opens a file for an array that is written some items at a time, so that a long one takes no more memory than a short one. A file that is
 * there is replaced. It is closed with the scope.
 */
export const openArray = Effect.fnUntraced(function* (path: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const file = yield* fileSystem.open(path, { flag: "w" })
  const written = createHash("sha256")
  /** Of what lasts, once that is something else. */
  let digest: Hash | undefined
  let isBegun = false
  let bytes = 0
  let unwritten: Array<Uint8Array> = []
  let unwrittenBytes = 0

  const append = (encoded: Uint8Array) => {
    unwritten.push(encoded)
    unwrittenBytes += encoded.length
    bytes += encoded.length
    written.update(encoded)
  }

  const flush = Effect.suspend(() => {
    const encoded = Buffer.concat(unwritten)
    unwritten = []
    unwrittenBytes = 0
    return file.writeAll(encoded)
  })

  /** A part of the array, without its end. */
  const partOf = (items: ReadonlyArray<unknown>): Uint8Array => {
    const encoded = Buffer.from(savedText(items)).subarray(0, -"\n]".length)
    if (isBegun) encoded.write(",")
    return encoded
  }

  return {
    /** Adds items. `lasting` are the same without what is volatile. It throws where they cannot be written as JSON. */
    add: (items: ReadonlyArray<unknown>, lasting = items): void => {
      if (items.length === 0) return
      if (lasting !== items) digest ??= written.copy()
      digest?.update(partOf(lasting))
      append(partOf(items))
      isBegun = true
    },

    /** Writes what was added, if it is worth it. */
    flush: Effect.suspend(() => (unwrittenBytes < fewBytes ? Effect.void : flush)),

    /** Writes the rest. */
    end: Effect.suspend((): Effect.Effect<WrittenFile, PlatformError> => {
      const end = Buffer.from(isBegun ? "\n]\n" : "[]\n")
      append(end)
      return Effect.map(flush, () => {
        const sha256 = written.digest("hex")
        return { bytes, digest: digest?.update(end).digest("hex") ?? sha256, sha256 }
      })
    })
  }
})

/** The text of a file with one value, which `lasting` is without what is volatile. It throws where that cannot be written as JSON. */
export const encodeValue = (value: unknown, lasting = value) => {
  const text = savedText(value)
  const encoded = new TextEncoder().encode(`${text}\n`)
  const written: WrittenFile = {
    bytes: encoded.length,
    digest: createHash("sha256")
      .update(lasting === value ? text : savedText(lasting))
      .digest("hex"),
    sha256: createHash("sha256").update(encoded).digest("hex")
  }
  return { encoded, written }
}
