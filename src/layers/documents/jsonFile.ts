/**
 * Writing JSON files, and digesting them on the way.
 *
 * In an array, each item that is an object begins and ends on a line of its own, so that one can be read at a time.
 */
import { createHash, type Hash } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { runParts } from "./sortedJson.ts"

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
 * Opens a file that is written in parts, so that a long one takes no more memory than a short one. A file that is there is replaced. It is
 * closed with the scope.
 */
export const open = Effect.fnUntraced(function* (path: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const file = yield* fileSystem.open(path, { flag: "w" })
  const written = createHash("sha256")
  /** Of what lasts, once that is something else. */
  let digest: Hash | undefined
  let bytes = 0
  let unwritten: Array<Uint8Array> = []
  let unwrittenBytes = 0

  const append = (part: string) => {
    const encoded = Buffer.from(part)
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

  return {
    /** Adds text. `lasting` is the same without what is volatile. */
    *add(parts: Iterable<string>, lasting?: Iterable<string>): Generator<void> {
      if (lasting !== undefined) {
        digest ??= written.copy()
        for (const part of lasting) {
          digest.update(part)
          yield
        }
      }
      for (const part of parts) {
        if (lasting === undefined) digest?.update(part)
        append(part)
        yield
      }
    },

    /** Writes what was added, if it is worth it. */
    flush: Effect.suspend(() => (unwrittenBytes < fewBytes ? Effect.void : flush)),

    /** Writes the rest, and what ends the file. */
    end: Effect.suspend((): Effect.Effect<WrittenFile, PlatformError> => {
      const lasting = digest ?? written.copy()
      append("\n")
      return Effect.map(flush, () => ({
        bytes,
        digest: lasting.digest("hex"),
        sha256: written.digest("hex")
      }))
    })
  }
})

/** Opens a file for an array that is written some items at a time. */
export const openArray = (path: string) =>
  Effect.map(open(path), (file) => {
    let isBegun = false

    function* next(items: ReadonlyArray<unknown>) {
      yield isBegun ? "," : "["
      yield* runParts(items, identity)
    }

    return {
      /** Adds items, as many as `runsOf` gives at once. `lasting` are the same without what is volatile. It throws where they cannot be written as JSON. */
      *add(items: ReadonlyArray<unknown>, lasting = items): Generator<void> {
        if (items.length === 0) return
        yield* file.add(next(items), lasting === items ? undefined : next(lasting))
        isBegun = true
      },
      flush: file.flush,
      end: Effect.suspend(() => {
        for (const _ of file.add([isBegun ? "\n]" : "[]"]));
        return file.end
      })
    }
  })
