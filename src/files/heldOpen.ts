/**
 * Files and folders that another program holds open for a moment: an indexer, a virus scanner, a reader of a file that is replaced.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { errorCode } from "../internal/serializeError.ts"

/** After 50 ms, growing by half, for about four seconds in all. */
const tries = Schedule.intersect(Schedule.exponential("50 millis", 1.5), Schedule.recurs(9))

/** Windows says the same of what may never be touched: only the time tells. */
export const isHeldOpen = (error: unknown): boolean => {
  const code = errorCode(error) ?? ""
  return code === "EBUSY" || (process.platform === "win32" && ["EACCES", "EPERM"].includes(code))
}

/** Tries again, for about four seconds, what fails because another program has a file or a folder open. */
export const retryHeldOpen = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { while: isHeldOpen, schedule: tries })

/** Moves a file or a folder on the same disk; a file over another one if there is one. */
export const move = (from: string, to: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => retryHeldOpen(fs.rename(from, to)))

/** Removes a file, or a folder with all that is in it, if there is one. */
export const remove = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    retryHeldOpen(fs.remove(path, { recursive: true, force: true }))
  )
