import { statSync } from "node:fs"
import { type PlatformError, SystemError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The disk of this machine, where `onSync` is called for every sync, and may give the code with which that fails. Nobody may
 * open a read-only file to write, not even root.
 */
export const withSyncs = (onSync: (path: string) => string | undefined) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) =>
      FileSystem.FileSystem.of({
        ...fs,
        open: (path, options) =>
          Effect.map(unlessReadOnly(path, options?.flag, fs.open(path, options)), (file): FileSystem.File => {
            const sync = Effect.suspend(() => {
              const code = onSync(path)
              return code === undefined
                ? file.sync
                : new SystemError({
                    module: "FileSystem",
                    reason: "Unknown",
                    method: "sync",
                    pathOrDescriptor: path,
                    description: `${code}: fsync`,
                    cause: { code }
                  })
            })
            return Object.create(file, { sync: { value: sync } })
          })
      })
    )
  )

const unlessReadOnly = <A, R>(
  path: string,
  flag: FileSystem.OpenFlag | undefined,
  open: Effect.Effect<A, PlatformError, R>
) =>
  Effect.suspend(() =>
    flag === "r+" && (statSync(path).mode & 0o222) === 0
      ? new SystemError({
          module: "FileSystem",
          reason: "PermissionDenied",
          method: "open",
          pathOrDescriptor: path,
          cause: { code: "EACCES" }
        })
      : open
  )
