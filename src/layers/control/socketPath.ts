/**
 * Where a controller and those who talk to it meet, by the folder of its configuration.
 */
import { realpath } from "node:fs/promises"
import { basename, dirname, join, posix, resolve, win32 } from "node:path"
import * as Effect from "effect/Effect"
import { pipePath, socketFile } from "../folderLock/socketFile.ts"

export interface ControllerPaths {
  /** The folder of what a running controller leaves. */
  readonly folder: string
  /** The socket, or the named pipe. */
  readonly socket: string
  /** The id of the controller's process, as decimal digits. */
  readonly pidFile: string
}

/**
 * The socket and the process id of the controller that keeps them in the folder: `<folder>/controller.sock` (or
 * where `socketFile` puts it), on Windows `\\.\pipe\vitrine-<hash>`, and `<folder>/controller.pid`.
 *
 * `folder` is a real, absolute path: the same folder must always be given by the same name, on Windows but for
 * the case of letters.
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
 * The paths of the controller whose configuration lies in `folder`. What it leaves lies in `runFolder`, by default
 * `.vitrine` in that folder. A folder that is not there stays as it is named.
 */
export const locateController = (folder: string, runFolder?: string): Effect.Effect<ControllerPaths> =>
  Effect.promise(async () => {
    const own = resolve(runFolder ?? join(folder, ".vitrine"))
    return controllerPaths(join(await real(dirname(own)), basename(own)), process.platform)
  })

const real = (folder: string) => realpath(folder).catch(() => folder)

/**
 * Whether this process takes a file from the user that it belongs to: from its own, and root from anybody. On
 * Windows this is no question.
 */
export const isTrustedOwner = (uid: number): boolean => {
  const own = process.getuid?.()
  return own === undefined || own === 0 || own === uid
}
