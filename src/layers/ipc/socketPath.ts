/**
 * Where a controller and those who talk to it meet, by the folder of its configuration.
 */
import { createHash } from "node:crypto"
import { realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { posix, win32 } from "node:path"
import * as Effect from "effect/Effect"

export interface ControllerPaths {
  /** The folder of what a running controller leaves beside its configuration. */
  readonly folder: string
  /** The socket, or the named pipe. */
  readonly socket: string
  /** The id of the controller's process, as decimal digits. */
  readonly pidFile: string
}

export interface Surroundings {
  readonly platform: NodeJS.Platform
  /** The folder for temporary files. */
  readonly temporary: string
}

/**
 * `<folder>/.vitrine/controller.sock`. Where that is longer than the platform can name,
 * `<temporary>/vitrine-<hash>/controller.sock`; on Windows, `\\.\pipe\vitrine-<hash>`.
 *
 * `folder` is a real, absolute path: the same folder must always be given by the same name, on Windows but for
 * the case of letters.
 */
export const controllerPaths = (folder: string, { platform, temporary }: Surroundings): ControllerPaths => {
  const { join } = platform === "win32" ? win32 : posix
  const own = join(folder, ".vitrine")
  const beside = join(own, "controller.sock")
  const pidFile = join(own, "controller.pid")
  if (platform === "win32") {
    return { folder: own, socket: `\\\\.\\pipe\\vitrine-${hashOf(beside.toLowerCase())}`, pidFile }
  }
  const isShort = Buffer.byteLength(beside) <= maxSocketPath(platform)
  return {
    folder: own,
    socket: isShort ? beside : join(temporary, `vitrine-${hashOf(beside)}`, "controller.sock"),
    pidFile
  }
}

/** In bytes, without the zero that ends it. Some versions of Node cut what is longer without a word. */
const maxSocketPath = (platform: NodeJS.Platform) => (platform === "linux" ? 107 : 103)

const hashOf = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 16)

/** The paths of the controller whose configuration lies in the folder; a folder that is not there stays as named. */
export const locateController = (folder: string): Effect.Effect<ControllerPaths> =>
  Effect.promise(() => realpath(folder).catch(() => folder)).pipe(
    Effect.map((real) => controllerPaths(real, { platform: process.platform, temporary: tmpdir() }))
  )
