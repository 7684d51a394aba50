/**
 * The paths at which a controller and its clients meet, by the folder of the configuration.
 */
import { realpath } from "node:fs/promises"
import { basename, dirname, join, posix, resolve, win32 } from "node:path"
import * as Effect from "effect/Effect"
import { pipePath, socketFile } from "../folderLock/folderLock.ts"

export interface ControllerPaths {
  /** The folder for the files of a running controller. */
  readonly folder: string
  /** The socket, or the named pipe. */
  readonly socket: string
  /** The file with the id of the controller's process, in decimal digits. */
  readonly pidFile: string
}

/**
 * The socket and the process id of the controller with this folder: `<folder>/controller.sock` (or the place that
 * `socketFile` chooses), on Windows `\\.\pipe\vitrine-<hash>`, and `<folder>/controller.pid`.
 *
 * `folder` is a real, absolute path: the same folder must always have the same name, on Windows except for letter case.
 */
export const controllerPaths = (folder: string, platform: NodeJS.Platform): ControllerPaths => {
  if (platform === "win32") {
    const own = win32.normalize(folder)
    return {
      folder: own,
      socket: pipePath(win32.join(own, "controller.sock")),
      pidFile: win32.join(own, "controller.pid")
    }
  }
  return {
    folder,
    socket: socketFile(folder, "controller.sock", platform),
    pidFile: posix.join(folder, "controller.pid")
  }
}

/**
 * The paths of the controller whose configuration is in `folder`. Its files are in `runFolder`, by default `.vitrine`
 * in that folder. The path of a missing folder is used as given.
 */
export const locateController = (folder: string, runFolder?: string): Effect.Effect<ControllerPaths> =>
  Effect.promise(async () => {
    const own = resolve(runFolder ?? join(folder, ".vitrine"))
    return controllerPaths(join(await real(dirname(own)), basename(own)), process.platform)
  })

const real = (folder: string) => realpath(folder).catch(() => folder)

/** Trusts files of this user; root trusts all. Always true on Windows. */
export const isTrustedOwner = (uid: number): boolean => {
  const own = process.getuid?.()
  return own === undefined || own === 0 || own === uid
}
