/**
 * Turns errors of the disk into errors of the version store, which say what could not be done with which path, and why.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { VersionStoreError } from "../services/VersionStore.ts"
import { explain, isDiskFull, isPassing } from "./systemError.ts"

/** Turns a disk error into an error that says which action failed on which path, and why. */
export const mapDiskError =
  (action: string, file: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError | Error, R>): Effect.Effect<A, VersionStoreError, R> =>
    Effect.mapError(
      effect,
      (cause) =>
        new VersionStoreError({
          action,
          path: file,
          detail: explain(cause),
          isTransient: isPassing(cause) || isDiskFull(cause),
          cause
        })
    )

/** Fails if a link has taken the place of a file or folder of the controller: the target is not the controller's. */
export const refuseLink = (path: string): Effect.Effect<void, VersionStoreError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.matchEffect(fs.readLink(path), {
      onFailure: () => Effect.void,
      onSuccess: (target) =>
        new VersionStoreError({
          action: "use",
          path,
          detail: `it is a link to ${target}, whose content would be removed or overwritten. Remove the link.`
        })
    })
  )

/** Succeeds with `otherwise` if the file or folder is missing. */
export const orWhereMissing =
  <B>(otherwise: B) =>
  <A, R>(effect: Effect.Effect<A, PlatformError, R>): Effect.Effect<A | B, PlatformError, R> =>
    Effect.catchIf(
      effect,
      (error) => error._tag === "SystemError" && error.reason === "NotFound",
      () => Effect.succeed(otherwise)
    )

/** The content of a file; `None` if it does not exist. */
export const readIfThere = (fs: FileSystem.FileSystem, file: string) =>
  fs
    .readFileString(file)
    .pipe(Effect.asSome, orWhereMissing(Option.none<string>()), mapDiskError("read", file))
