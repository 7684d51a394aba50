/**
 * Named pipes of Windows, and Unix sockets in folders whose paths are longer than a socket can name (107 bytes on Linux, 103
 * elsewhere).
 *
 * None of this depends on the environment: who listens and who connects find the same file by the same folder.
 */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { posix } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Where the socket of this name lies that belongs to the folder, given by its real absolute path.
 *
 * On Linux that is always the folder, see `socketAddress`. Elsewhere, where the path would be too long, it is the
 * nearest parent folder that is short enough, and the name is `.vitrine-<hash>-<name>`, with a hash of the folder.
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
 * What to listen or connect at for the socket file. On Linux, a path that is too long is replaced by one through a
 * handle of its folder, `/proc/self/fd/<handle>/<name>`, which is open until the scope ends.
 */
export const socketAddress = (file: string): Effect.Effect<string, Error, Scope.Scope> =>
  process.platform !== "linux" || fits(file, process.platform)
    ? Effect.succeed(file)
    : Effect.acquireRelease(
        Effect.tryPromise({
          try: () => open(posix.dirname(file), constants.O_RDONLY | constants.O_DIRECTORY),
          catch: (error) => (error instanceof Error ? error : new Error(String(error)))
        }),
        (handle) => Effect.promise(() => handle.close().catch(() => {}))
      ).pipe(Effect.map(({ fd }) => `/proc/self/fd/${fd}/${posix.basename(file)}`))

/** The named pipe of Windows that belongs to an absolute path. It is the same however the letters of the path are written. */
export const pipePath = (path: string): string => `\\\\.\\pipe\\vitrine-${hashOf(path.toLowerCase())}`

/** A short name for a path that is the same everywhere. */
export const hashOf = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 16)

/** The zero that ends the path is not counted. Some versions of Node cut what is longer without a word. */
const fits = (path: string, platform: NodeJS.Platform) =>
  Buffer.byteLength(path) <= (platform === "linux" ? 107 : 103)
