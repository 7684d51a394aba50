/**
 * Errors of the file system, as text for technicians.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as Predicate from "effect/Predicate"
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
