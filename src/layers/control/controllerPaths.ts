/**
 * The folder of a running controller, beside its configuration: the paths of its socket and its process id, by which a
 * controller and its clients meet, and whether a client may trust them. Needs no other library.
 */
import { lstat, realpath } from "node:fs/promises"
import { basename, dirname, join, posix, resolve, win32 } from "node:path"
import { pipePath, socketFile } from "../../files/socketPath.ts"

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
export const pathsOf = async (folder: string, runFolder?: string): Promise<ControllerPaths> => {
  const own = resolve(runFolder ?? join(folder, ".vitrine"))
  return controllerPaths(join(await real(dirname(own)), basename(own)), process.platform)
}

const real = (folder: string) => realpath(folder).catch(() => folder)

/** Trusts files of this user; root trusts all. Always true on Windows. */
export const isTrustedOwner = (uid: number): boolean => {
  const own = process.getuid?.()
  return own === undefined || own === 0 || own === uid
}

/**
 * Why the socket must not be used; `undefined` if it may be. In a folder that everybody may write to, another user could wait for
 * this user's commands, or lead them to another controller. A controller makes no links, so a link is refused.
 */
export const distrust = async (socket: string): Promise<string | undefined> => {
  if (process.platform === "win32") {
    return undefined
  }
  const [file, folder] = await Promise.all([lstat(socket), lstat(dirname(socket))])
  return file.isSymbolicLink() || folder.isSymbolicLink()
    ? "a link leads there, perhaps to another controller. Remove it."
    : isTrustedOwner(file.uid) || file.uid === 0
      ? undefined
      : belongsTo(`user ${file.uid}`)
}

/** The owner of a socket that this user must not use, and what to do. */
export const belongsTo = (user: string): string =>
  `it belongs to ${user}. Run the command as the user who started the controller.`
