/**
 * Errors of the file system: as text for technicians, and those that pass by themselves, because another program has a
 * file or folder open for a moment (an indexer, a virus scanner, a reader of a file that is being replaced).
 */

import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { retryBy } from "../internal/Schedules.ts"
import { errorCode } from "../internal/serializeError.ts"

/** The error as a sentence for a technician: "the disk is full." */
export const explain = (error: PlatformError | NodeJS.ErrnoException): string => {
  switch (errorCode(error)) {
    case "EACCES":
    case "EPERM":
      return "permission denied. The user that runs the controller must be able to read and write there."
    case "EROFS":
      return "the disk is read-only."
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full, or has no inode left for another file."
    case "ENOTDIR":
      return "a file stands where a folder is needed."
    case "EISDIR":
      return "a folder stands where a file is needed."
    case "EEXIST":
      return "something else of this name stands there."
    case "ENOENT":
      return "it is not there."
    case "EBUSY":
      return "another program has it open."
    case "EIO":
      return "the disk reports an error."
    case "EXDEV":
      return "nothing can be moved from one disk to another: all of it must be on one disk."
    default:
      return Predicate.hasProperty(error, "description") && Predicate.isString(error.description)
        ? error.description
        : error.message
  }
}

export const isDiskFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "")

/** Whether no user can write there. */
export const isUnwritable = (error: unknown): boolean => errorCode(error) === "EROFS" || isDiskFull(error)

/** After 50 ms, growing by half, for about four seconds in all. */
const tries = Schedule.intersect(Schedule.exponential("50 millis", 1.5), Schedule.recurs(9)).pipe(
  Schedule.whileInput((error: unknown) => isHeldOpen(error))
)

/** Windows reports the same code for a file that may never be changed: only retries tell the difference. */
export const isHeldOpen = (error: unknown): boolean => {
  const code = errorCode(error) ?? ""
  return code === "EBUSY" || (process.platform === "win32" && ["EACCES", "EPERM"].includes(code))
}

/** Whether another program has the file open, or the disk or network share has a short failure. */
export const isPassing = (error: unknown): boolean =>
  isHeldOpen(error) || ["EAGAIN", "EIO"].includes(errorCode(error) ?? "")

/** Retries, for about four seconds, an effect that fails because another program has a file or a folder open. */
export const retryHeldOpen = <A, E, R>(effect: Effect.Effect<A, E, R>) => retryBy(effect, tries)

/** Moves a file or a folder on the same disk. A file replaces an existing file. */
export const move = (from: string, to: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => retryHeldOpen(fs.rename(from, to)))

/** Removes a file, or a folder with all that is in it, if there is one. */
export const remove = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    retryHeldOpen(fs.remove(path, { recursive: true, force: true }))
  )
