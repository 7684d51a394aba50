/**
 * The paths of sockets and named pipes, which need no other library: the lock and the control socket of a folder.
 *
 * A path of a socket has at most 107 bytes on Linux, 103 elsewhere. Nothing depends on the environment: server and client find
 * the same file by the same folder.
 */
import { createHash } from "node:crypto"
import { posix } from "node:path"

/**
 * The path of the socket with this name for a folder, given by its real absolute path.
 *
 * On Linux, the socket is always in the folder, see `socketAddress`. Elsewhere, if the path would be too long, it is in
 * the nearest parent folder that is short enough, with the name `.vitrine-<hash>-<name>` and a hash of the folder.
 */
export const socketFile = (folder: string, name: string, platform = process.platform): string => {
  const inFolder = posix.join(folder, name)
  if (platform === "linux" || fits(inFolder, platform)) {
    return inFolder
  }
  const short = `.vitrine-${hashOf(folder)}-${name}`
  let parent = posix.dirname(folder)
  while (!fits(posix.join(parent, short), platform) && parent !== "/") {
    parent = posix.dirname(parent)
  }
  return posix.join(parent, short)
}

/** The named pipe of Windows for an absolute path. Letter case does not matter. */
export const pipePath = (path: string): string => `\\\\.\\pipe\\vitrine-${hashOf(path.toLowerCase())}`

/** A short hash of a path, the same on every system. */
export const hashOf = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 16)

/** The limits do not count the zero byte at the end of the path. Some versions of Node cut a longer path silently. */
export const fits = (path: string, platform = process.platform) =>
  Buffer.byteLength(path) <= (platform === "linux" ? 107 : 103)
