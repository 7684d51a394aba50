/**
 * Named pipes of Windows, and Unix sockets in folders whose paths are too long for a socket (107 bytes on Linux, 103
 * elsewhere).
 *
 * Nothing here depends on the environment: server and client find the same file by the same folder.
 */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { posix } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { toError } from "../../files/fileBatch.ts"

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

/**
 * The address to listen or connect at for a socket file. On Linux, a path that is too long is replaced by one through a
 * handle of its folder, `/proc/self/fd/<handle>/<name>`. The handle is open until the scope ends.
 */
export const socketAddress = (file: string): Effect.Effect<string, Error, Scope.Scope> =>
  process.platform !== "linux" || fits(file, process.platform)
    ? Effect.succeed(file)
    : Effect.acquireRelease(
        Effect.tryPromise({
          try: () => open(posix.dirname(file), constants.O_RDONLY | constants.O_DIRECTORY),
          catch: toError
        }),
        (handle) => Effect.promise(() => handle.close().catch(() => {}))
      ).pipe(Effect.map(({ fd }) => `/proc/self/fd/${fd}/${posix.basename(file)}`))

/** The named pipe of Windows for an absolute path. Letter case does not matter. */
export const pipePath = (path: string): string => `\\\\.\\pipe\\vitrine-${hashOf(path.toLowerCase())}`

/** A short hash of a path, the same on every system. */
export const hashOf = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 16)

/** The limits do not count the zero byte at the end of the path. Some versions of Node cut a longer path silently. */
const fits = (path: string, platform: NodeJS.Platform) =>
  Buffer.byteLength(path) <= (platform === "linux" ? 107 : 103)
