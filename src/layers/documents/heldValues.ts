/**
 * What was read of a document, while its files are on their way: in memory as long as all documents of a fetch have little of it, then as
 * lines of JSON in a file that goes with the scope.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { retryHeldOpen } from "../../internal/heldOpen.ts"

export interface HeldValues {
  /** Adds some; `text` is their JSON, without line breaks. */
  readonly add: (values: ReadonlyArray<unknown>, text: string) => Effect.Effect<void, PlatformError>
  /** What was added, in parts. */
  readonly parts: Stream.Stream<ReadonlyArray<unknown>, PlatformError>
}

/** Characters of JSON that the documents of a fetch have in memory. */
const maxInMemory = 16 * 1024 * 1024

/** For one fetch: gives what holds a document, and may write a file for it (absolute path). */
export const makeHolding = Effect.map(FileSystem.FileSystem, (fileSystem) => {
  let inMemory = 0

  return Effect.fnUntraced(function* (file: string) {
    const parts: Array<ReadonlyArray<unknown>> = []
    let size = 0
    let isOnDisk = false

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        inMemory -= size
        return isOnDisk ? Effect.ignore(retryHeldOpen(fileSystem.remove(file, { force: true }))) : Effect.void
      })
    )
    const onDisk = fileSystem.stream(file).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.map((line): ReadonlyArray<unknown> => JSON.parse(line))
    )
    return {
      add: (values, text) =>
        Effect.suspend(() => {
          if (!isOnDisk && inMemory + text.length <= maxInMemory) {
            parts.push(values)
            size += text.length
            inMemory += text.length
            return Effect.void
          }
          const flag = isOnDisk ? "a" : "w"
          isOnDisk = true
          return fileSystem.writeFile(file, Buffer.from(`${text}\n`), { flag })
        }),
      parts: Stream.suspend(() =>
        isOnDisk ? Stream.concat(Stream.fromIterable(parts), onDisk) : Stream.fromIterable(parts)
      )
    } satisfies HeldValues
  })
})
