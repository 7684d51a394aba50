import { type PlatformError, SystemError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The disk of this machine, on which some files and folders can be neither moved, removed, linked nor copied: another program has them open. */
export const withLocked = (isLocked: (path: string) => boolean) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => {
      const unlessLocked = <A>(method: string, path: string, effect: Effect.Effect<A, PlatformError>) =>
        Effect.suspend(() =>
          isLocked(path)
            ? new SystemError({
                module: "FileSystem",
                reason: "Busy",
                method,
                pathOrDescriptor: path,
                cause: { code: "EBUSY" }
              })
            : effect
        )
      return FileSystem.FileSystem.of({
        ...fs,
        link: (from, to) => unlessLocked("link", from, fs.link(from, to)),
        copyFile: (from, to) => unlessLocked("copyFile", from, fs.copyFile(from, to)),
        rename: (from, to) => unlessLocked("rename", from, fs.rename(from, to)),
        remove: (path, options) => unlessLocked("remove", path, fs.remove(path, options))
      })
    })
  )
