/**
 * Files and folders that another program has open for a moment: an indexer, a virus scanner, a reader of a file that
 * is being replaced.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { errorCode } from "../internal/serializeError.ts"

/** After 50 ms, growing by half, for about four seconds in all. */
const tries = Schedule.intersect(Schedule.exponential("50 millis", 1.5), Schedule.recurs(9))

/** Windows reports the same code for a file that may never be changed: only retries tell the difference. */
export const isHeldOpen = (error: unknown): boolean => {
  const code = errorCode(error) ?? ""
  return code === "EBUSY" || (process.platform === "win32" && ["EACCES", "EPERM"].includes(code))
}

/** Retries, for about four seconds, an effect that fails because another program has a file or a folder open. */
export const retryHeldOpen = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { while: isHeldOpen, schedule: tries })

/** Moves a file or a folder on the same disk. A file replaces an existing file. */
export const move = (from: string, to: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => retryHeldOpen(fs.rename(from, to)))

/** Removes a file, or a folder with all that is in it, if there is one. */
export const remove = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    retryHeldOpen(fs.remove(path, { recursive: true, force: true }))
  )
