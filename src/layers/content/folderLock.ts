/**
 * One controller to a downloads folder.
 *
 * The lock is a listening socket (a named pipe on Windows). The system closes it with the process, however that
 * ends, so that no lock outlives a crash or a loss of power.
 */
import { createHash } from "node:crypto"
import { rm } from "node:fs/promises"
import * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { DownloadsInUse, VersionStoreError } from "../../services/VersionStore.ts"

/**
 * Takes the lock of a folder, given by its real absolute path, until the scope ends.
 *
 * The socket lies in the folder, or in the folder for temporary files where the file system has no sockets or
 * the path is too long for one.
 */
export const lockFolder = Effect.fnUntraced(function* (directory: string) {
  const [preferred, fallback] = lockAddresses(directory)
  yield* lock(preferred, directory).pipe(
    Effect.catchIf(
      (error) => !(error instanceof DownloadsInUse),
      () => lock(fallback, directory)
    ),
    Effect.mapError((error) =>
      error instanceof DownloadsInUse
        ? error
        : new VersionStoreError({ action: "lock", path: directory, detail: error.message, cause: error })
    )
  )
})

const lock = (address: string, directory: string) => {
  const take = Effect.acquireRelease(listen(address), (server) => Effect.sync(() => server.close()))
  return Effect.catchIf(take, isAddressInUse, () => Effect.zipRight(evictDead(address, directory), take))
}

/** The path of a socket cannot be longer than this everywhere, in bytes. */
const maxSocketPath = 100

const lockAddresses = (directory: string): readonly [preferred: string, fallback: string] => {
  const name = `vitrine-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`
  const pipe = `\\\\.\\pipe\\${name}`
  const inFolder = join(directory, ".lock")
  const elsewhere = join(tmpdir(), `${name}.sock`)
  return process.platform === "win32"
    ? [pipe, pipe]
    : [Buffer.byteLength(inFolder) <= maxSocketPath ? inFolder : elsewhere, elsewhere]
}

const isAddressInUse = ({ code }: NodeJS.ErrnoException) => code === "EADDRINUSE"

const listen = (address: string) =>
  Effect.async<Net.Server, NodeJS.ErrnoException>((resume) => {
    const server = Net.createServer((socket) =>
      socket.on("error", () => socket.destroy()).end(`process ${process.pid}`)
    )
    server.on("error", (error) => resume(Effect.fail(error)))
    server.listen(address, () => resume(Effect.succeed(server)))
    server.unref()
  })

/** How long a process may take to say who it is, in milliseconds. */
const answerMs = 1000

/** Removes the socket of a process that is no more; fails where the process lives. */
const evictDead = (address: string, directory: string) =>
  Effect.async<void, DownloadsInUse>((resume) => {
    let owner = ""
    const inUse = () => {
      socket.destroy()
      resume(new DownloadsInUse({ path: directory, owner: owner || `it does not answer at ${address}` }))
    }
    const socket = Net.connect(address)
      .setEncoding("utf8")
      .setTimeout(answerMs, inUse)
      .on("data", (text) => {
        owner += text
      })
      .on("end", inUse)
      .on("error", ({ code }: NodeJS.ErrnoException) =>
        code === "ECONNREFUSED" || code === "ENOENT"
          ? rm(address, { force: true }).then(() => resume(Effect.void), inUse)
          : inUse()
      )
    return Effect.sync(() => socket.destroy())
  })
