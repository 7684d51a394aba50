/**
 * Writes that survive a loss of power.
 */
import { randomUUID } from "node:crypto"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { errorCode } from "../fileError.ts"

/**
 * Replaces a file as a whole: a reader sees the old content or the new one, never a part or nothing.
 *
 * The new content is first written to a file of its own in `scratch`, a folder on the same disk.
 */
export const replaceFile = Effect.fnUntraced(function* (file: string, content: string, scratch: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const temporary = path.join(scratch, randomUUID())
  yield* fs.writeFileString(temporary, content).pipe(
    Effect.zipRight(syncFile(temporary)),
    Effect.zipRight(fs.rename(temporary, file).pipe(Effect.retry(whileHeldOpen))),
    Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
  )
  yield* syncDirectory(path.dirname(file))
}, Effect.uninterruptible)

/** Windows refuses to replace a file while a reader has it open; readers have it open for an instant. */
const whileHeldOpen = {
  while: (error: PlatformError) =>
    process.platform === "win32" && ["EACCES", "EBUSY", "EPERM"].includes(String(errorCode(error))),
  schedule: Schedule.spaced("50 millis"),
  times: 20
}

/** Makes everything below a folder durable. */
export const syncTree = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entries = yield* fs.readDirectory(directory, { recursive: true })
  yield* Effect.forEach(
    entries,
    Effect.fnUntraced(function* (entry) {
      const full = path.join(directory, entry)
      const { type } = yield* fs.stat(full)
      yield* type === "Directory" ? syncDirectory(full) : syncFile(full)
    }),
    { concurrency: 8, discard: true }
  )
  yield* syncDirectory(directory)
})

const syncFile = (file: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.open(file, { flag: "r+" })),
    Effect.flatMap((handle) => handle.sync),
    Effect.scoped
  )

/** Makes names in a folder durable, on systems where a folder can be synced: Windows has no such thing. */
export const syncDirectory = (directory: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.open(directory, { flag: "r" })),
    Effect.flatMap((handle) => handle.sync),
    Effect.scoped,
    Effect.ignore
  )
