/**
 * What the file system said, in words that a technician understands.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as Effect from "effect/Effect"
import { VersionStoreError } from "../../services/VersionStore.ts"

/** Says what could not be done to which file or folder, and why. */
export const explained =
  (action: string, file: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError, R>): Effect.Effect<A, VersionStoreError, R> =>
    Effect.mapError(
      effect,
      (cause) => new VersionStoreError({ action, path: file, detail: explain(cause), cause })
    )

/** What to go on with where the file or folder is not there. */
export const orWhereMissing =
  <B>(otherwise: B) =>
  <A, R>(effect: Effect.Effect<A, PlatformError, R>): Effect.Effect<A | B, PlatformError, R> =>
    Effect.catchIf(
      effect,
      (error) => error._tag === "SystemError" && error.reason === "NotFound",
      () => Effect.succeed(otherwise)
    )

const explain = (error: PlatformError): string => {
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
