/**
 * What the file system says, in words that a technician understands.
 */
import type { PlatformError } from "@effect/platform/Error"

/** What a technician can make of it: "the disk is full." */
export const explain = (error: PlatformError): string => {
  switch (errorCode(error)) {
    case "EACCES":
    case "EPERM":
      return "permission denied. The user that runs the controller must be able to read and write there."
    case "EROFS":
      return "the disk is read-only."
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full."
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
    default:
      return error.description ?? error.message
  }
}

/** The system's code, `ENOSPC` for example. */
export const errorCode = ({ cause }: PlatformError): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
