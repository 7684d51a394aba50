/**
 * Reading files of a folder by their handles.
 *
 * Anybody who may write in the folder may replace a file, or a folder of its path, with a link, a pipe or a device
 * after the look. So a file is opened without following a link and without waiting, and the opened file is checked:
 * it must be a regular file in the folder, with the size and date of the look, and no more than this size is read.
 * Only Linux reports the path of a handle; on other systems, a folder of the path can still be exchanged
 * (docs/security.md).
 */

import { createHash } from "node:crypto"
import { close, constants, fstat, futimes, open, read, write } from "node:fs"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"
import { toError } from "../../../files/fileBatch.ts"
import { explain, isPassing } from "../../../files/systemError.ts"
import { mistake } from "../../../internal/mistake.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { inMemory } from "../../documents/media/fileKinds.ts"
import { isShownType, typeOfPath } from "../../documents/media/mediaTypes.ts"
import { type Flaw, verdictOf } from "../../documents/media/verdict.ts"
import { failureAbout } from "../../documents/warnings.ts"
import {
  type FolderFile,
  type FolderInUse,
  isSame,
  printablePath,
  seenOf,
  stillWritten,
  unreadable
} from "./lookAtFolder.ts"

// These functions take half the processor time of `node:fs/promises`, which wraps each handle.
const disk = {
  close: promisify(close),
  fstat: promisify(fstat),
  futimes: promisify(futimes),
  open: promisify(open),
  read: promisify(read),
  write: promisify(write)
}

/** In bytes. Hashing a part takes about a millisecond, in which nothing else can run. */
const partSize = 256 * 1024

/** Windows has no such flags: there, only the look at the folder finds links. */
const withoutLinkOrWait = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** The content of the file, in memory. */
export const readFile = (file: FolderFile): Effect.Effect<Uint8Array, SourceError | FolderInUse> =>
  attempt(file, async (signal) => {
    const content = Buffer.allocUnsafe(file.size)
    await withHandle(file, (handle) =>
      readParts(file, handle, signal, async (part, start) => content.set(part, start))
    )
    return content
  })

/** The digest of the file. `onBytes` is called with the size of each part that is read. */
export const digestOf = (
  file: FolderFile,
  onBytes: (bytes: number) => void
): Effect.Effect<Digested, SourceError | FolderInUse> =>
  attempt(file, (signal) => digesting(file, signal, async ({ length }) => onBytes(length)))

/** Whether another program keeps the file from being opened. */
export const isHeld = (file: FolderFile): Effect.Effect<boolean, SourceError | FolderInUse> =>
  attempt(file, () =>
    file
      .call(() => disk.open(file.place, withoutLinkOrWait))
      .then(
        (handle) => disk.close(handle).then(() => false),
        (cause) => {
          if (cause instanceof SourceError) throw cause
          return isPassing(cause)
        }
      )
  )

/**
 * Copies the file to a new path, and returns its digest. The copy gets the file's date: while the file has not
 * changed since, it is equal to the copy. `onBytes` is called with the size of each part that is copied.
 */
export const copyFile = (
  file: FolderFile,
  to: string,
  onBytes: (bytes: number) => void
): Effect.Effect<Digested, SourceError | FolderInUse> =>
  attempt(file, async (signal) => {
    const copy = await writing(file, disk.open(to, "wx", 0o644))
    try {
      const digested = await digesting(file, signal, async (part) => {
        await writing(file, writeAll(copy, part))
        onBytes(part.length)
      })
      await writing(file, disk.futimes(copy, Date.now() / 1000, file.modified / 1000))
      return digested
    } finally {
      await disk.close(copy)
    }
  })

/** The information from the bytes of a file. */
export interface Digested {
  readonly sha256: string
  /** Why pages cannot display the file, if its bytes show a reason. */
  readonly flaw?: Flaw | undefined
}

const digesting = async (
  file: FolderFile,
  signal: AbortSignal,
  use: (part: Uint8Array) => Promise<void>
): Promise<Digested> => {
  const { call, path, size } = file
  const hash = createHash("sha256")
  let first: Buffer = Buffer.alloc(0)
  return withHandle(file, async (handle) => {
    await readParts(file, handle, signal, async (part, start) => {
      if (start === 0) first = part
      hash.update(part)
      await use(part)
    })
    const read = async (offset: number, length: number) => {
      const part = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - offset)))
      const { bytesRead } = await call(() => disk.read(handle, part, 0, part.length, offset))
      return part.subarray(0, bytesRead)
    }
    const bytes = first.length === size ? inMemory(first) : { size, read }
    // Others may be pages: templates, for example.
    const byName = isShownType(path) ? typeOfPath(path) : "text/html"
    return { sha256: hash.digest("hex"), flaw: await verdictOf({ byName }, bytes) }
  })
}

const attempt = <A>({ path }: FolderFile, action: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({ try: action, catch: unreadable(path) })

const withHandle = async <A>(file: FolderFile, use: (handle: number) => Promise<A>): Promise<A> => {
  const handle = await file
    .call(() => disk.open(file.place, withoutLinkOrWait))
    .catch((cause) => {
      // The error of opening a link, which the look did not find.
      throw cause.code === "ELOOP" ? stillWritten(file.path) : cause
    })
  try {
    const stats = await file.call(() => disk.fstat(handle))
    if (!stats.isFile() || !isSame(seenOf(stats), file)) throw stillWritten(file.path)
    return await use(handle)
  } finally {
    await disk.close(handle)
  }
}

const readParts = async (
  { call, path, size }: FolderFile,
  handle: number,
  signal: AbortSignal,
  onPart: (part: Buffer, start: number) => Promise<void>
) => {
  const buffer = Buffer.allocUnsafe(Math.min(size, partSize))
  for (let done = 0; done < size; ) {
    signal.throwIfAborted()
    const length = Math.min(buffer.length, size - done)
    const { bytesRead } = await call(() => disk.read(handle, buffer, 0, length, null))
    if (bytesRead === 0) throw stillWritten(path)
    await onPart(buffer.subarray(0, bytesRead), done)
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
    const reason = explain(toError(cause))
    throw failureAbout(mistake("file:system", { name: printablePath(path) }, { did: "copied", reason }), {
      cause
    })
  }
}
