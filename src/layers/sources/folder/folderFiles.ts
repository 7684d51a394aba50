/**
 * Reading files of a folder by their handles.
 *
 * Whoever may write in the folder may put a link, a pipe or a device in the place of a file, or of a folder on the way, after it was
 * looked at. So a file is opened without following a link and without waiting, and what was opened is looked at: only a regular
 * file, of the size and date that were seen, in the folder is read, and no more of it than that size. Only Linux says where a handle
 * leads; on other systems a folder on the way can still be exchanged (docs/security.md).
 */
import { createHash } from "node:crypto"
import { close, constants, fstat, futimes, open, read, readlink, write } from "node:fs"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"
import { toError } from "../../../internal/fileBatch.ts"
import { explain } from "../../../internal/systemError.ts"
import { FolderFailed, FolderInUse, isPassing, shown, stillWritten, unreadable } from "./FolderFailed.ts"
import { type FolderFile, isIn, isSame, seenOf } from "./lookAtFolder.ts"

// They take half the processor time of `node:fs/promises`, which wraps each handle.
const disk = {
  close: promisify(close),
  fstat: promisify(fstat),
  futimes: promisify(futimes),
  open: promisify(open),
  read: promisify(read),
  readlink: promisify(readlink),
  write: promisify(write)
}

/** In bytes: hashing so many takes about a millisecond, in which nothing else can run. */
const partSize = 256 * 1024

/** Windows has no flags for it: there, a link is seen when the folder is looked at. */
const withoutLinkOrWait = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Everything that is in the file, in memory. */
export const readFile = (file: FolderFile): Effect.Effect<Uint8Array, FolderFailed | FolderInUse> => {
  const content = Buffer.allocUnsafe(file.size)
  let end = 0
  return Effect.as(
    reading(file, async (part) => {
      content.set(part, end)
      end += part.length
    }),
    content
  )
}

/** The SHA-256 digest of the file. */
export const digestOf = (file: FolderFile): Effect.Effect<string, FolderFailed | FolderInUse> =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    return Effect.map(
      reading(file, async (part) => {
        hash.update(part)
      }),
      () => hash.digest("hex")
    )
  })

/** Whether another program keeps the file from being opened. */
export const isHeld = (file: FolderFile): Effect.Effect<boolean> =>
  Effect.promise(() =>
    disk.open(file.place, withoutLinkOrWait).then(
      (handle) => disk.close(handle).then(() => false),
      (cause) => isPassing(cause)
    )
  )

/**
 * Copies the file to where none is yet, and gives its SHA-256 digest. The copy has its date: it is a copy of the file as long as that
 * has not changed since the copy was made.
 */
export const copyFile = (file: FolderFile, to: string): Effect.Effect<string, FolderFailed | FolderInUse> =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    const copy = async (signal: AbortSignal) => {
      const copied = await writing(file, disk.open(to, "wx", 0o644))
      try {
        await withHandle(file, (handle) =>
          readParts(file, handle, signal, async (part) => {
            hash.update(part)
            await writing(file, writeAll(copied, part))
          })
        )
        await writing(file, disk.futimes(copied, Date.now() / 1000, file.modified / 1000))
      } finally {
        await disk.close(copied)
      }
      return hash.digest("hex")
    }
    return attempt(file, copy)
  })

const reading = (file: FolderFile, onPart: (part: Uint8Array) => Promise<void>) =>
  attempt(file, (signal) => withHandle(file, (handle) => readParts(file, handle, signal, onPart)))

const attempt = <A>(file: FolderFile, action: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({
    try: action,
    catch: (cause) =>
      cause instanceof FolderFailed || cause instanceof FolderInUse
        ? cause
        : unreadable(file.path)(toError(cause))
  })

const withHandle = async <A>(file: FolderFile, use: (handle: number) => Promise<A>): Promise<A> => {
  const handle = await disk.open(file.place, withoutLinkOrWait).catch((cause) => {
    // What it is when a link is there, which was none.
    throw cause.code === "ELOOP" ? stillWritten(file.path) : cause
  })
  try {
    const stats = await disk.fstat(handle)
    if (!stats.isFile() || !isSame(seenOf(stats), file)) throw stillWritten(file.path)
    if (process.platform === "linux" && !isIn(file.root, await disk.readlink(`/proc/self/fd/${handle}`))) {
      throw new FolderFailed({
        place: shown(file.path),
        detail: "has been exchanged for a file that is not in the folder."
      })
    }
    return await use(handle)
  } finally {
    await disk.close(handle)
  }
}

const readParts = async (
  { path, size }: FolderFile,
  handle: number,
  signal: AbortSignal,
  onPart: (part: Uint8Array) => Promise<void>
) => {
  const buffer = Buffer.allocUnsafe(Math.min(size, partSize))
  for (let done = 0; done < size; ) {
    signal.throwIfAborted()
    const { bytesRead } = await disk.read(handle, buffer, 0, Math.min(buffer.length, size - done), null)
    if (bytesRead === 0) throw stillWritten(path)
    await onPart(buffer.subarray(0, bytesRead))
    done += bytesRead
  }
}

const writeAll = async (handle: number, part: Uint8Array) => {
  for (let done = 0; done < part.length; ) {
    done += (await disk.write(handle, part, done)).bytesWritten
  }
}

const writing = async <A>({ path }: FolderFile, action: Promise<A>): Promise<A> => {
  try {
    return await action
  } catch (cause) {
    const error = toError(cause)
    throw new FolderFailed({
      place: shown(path),
      detail: `cannot be copied: ${explain(error)}`,
      cause: error
    })
  }
}
