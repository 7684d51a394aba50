/**
 * Which process listens in a folder, as the kernel knows it, and not as anybody says.
 */
import { lstat, readdir, readFile, readlink, stat } from "node:fs/promises"
import { posix } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { errorCode } from "../../internal/systemError.ts"

/**
 * The process that has bound a listening Unix socket of this name in the folder, where that can be proven: its socket is in the
 * kernel's table (`/proc/net/unix`) and among its open files (`/proc/<pid>/fd`), it runs as the owner of the folder,
 * and no other user may write to that. In a folder that was removed it is the process of this user that has bound any
 * socket by the path of the folder.
 *
 * It is none on other systems than Linux, where the process is in another container (its network or mounts are not
 * those of this process), and where this user may not look at it.
 */
export const listeningProcess = (folder: string, name: string): Effect.Effect<Option.Option<number>> =>
  Effect.promise(() => find(folder, name).catch(() => undefined)).pipe(Effect.map(Option.fromNullable))

const find = async (folder: string, name: string) => {
  if (process.platform !== "linux") {
    return undefined
  }
  const own = await lstat(folder).catch(ifMissing)
  if (own !== undefined && (!own.isDirectory() || (own.mode & 0o022) !== 0)) {
    return undefined
  }
  const sockets = listeningSockets(await readFile("/proc/net/unix", "utf8"), (path) =>
    own === undefined ? posix.dirname(path) === folder : path.endsWith(`/${name}`)
  )
  const owner = own?.uid ?? process.getuid?.()
  for (const pid of sockets.size === 0 ? [] : await processes()) {
    const runsAsOwner = await stat(`/proc/${pid}`).then(
      ({ uid }) => uid === owner,
      () => false
    )
    for (const bound of runsAsOwner ? await socketsOf(pid, sockets) : []) {
      const { dev, ino } = await stat(folderOf(bound, pid)).catch(() => nowhere)
      if (own === undefined || (dev === own.dev && ino === own.ino)) {
        return Number(pid)
      }
    }
  }
  return undefined
}

const ifMissing = (error: unknown) => (errorCode(error) === "ENOENT" ? undefined : Promise.reject(error))

const processes = async () => (await readdir("/proc")).filter((name) => /^\d+$/.test(name))

const nowhere = { dev: -1, ino: -1 }

/** By inode, the paths that listening sockets were bound at. The fourth number of a line are the socket's flags. */
const listeningSockets = (table: string, isWanted: (path: string) => boolean) =>
  new Map(
    table.split("\n").flatMap((line): ReadonlyArray<[string, string]> => {
      const [, flags, inode, path] = /^\S+: \S+ \S+ (\S+) \S+ \S+ +(\d+) (\/.*)$/.exec(line) ?? []
      const isListening = (Number.parseInt(flags ?? "0", 16) & acceptsConnections) !== 0
      return isListening && inode !== undefined && path !== undefined && isWanted(path) ? [[inode, path]] : []
    })
  )

/** The kernel's `__SO_ACCEPTCON`. */
const acceptsConnections = 0x10000

/** The paths at which the process listens. */
const socketsOf = async (pid: string, sockets: ReadonlyMap<string, string>) => {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => "")))
  return links.flatMap((link) => sockets.get(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "") ?? [])
}

/**
 * The folder as the process sees it, which may have mounts of its own. A path that is too long for a socket was bound
 * through a handle of the process.
 */
const folderOf = (bound: string, pid: string) => {
  const folder = posix.dirname(bound)
  return folder.startsWith("/proc/self/")
    ? folder.replace("self", pid)
    : posix.join("/proc", pid, "root", folder)
}
