/**
 * Reading files of a folder by their handles.
 *
 * Whoever may write in the folder may put a link, a pipe or a device in the place of a file, or of a folder on the way, after it was
 * looked at. So a file is opened without following a link and without waiting, and what was opened is looked at: only a regular
 * file, of the size and date that were seen, in the folder is read, and no more of it than that size. Only Linux says where a handle
 * leads; on other systems a folder on the way can still be exchanged (docs/security.md).
 */
import { createHash } from "node:crypto"
import { close, constants, fstat, futimes, open, read, write } from "node:fs"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"
import { toError } from "../../../files/fileBatch.ts"
import { explain } from "../../../files/systemError.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { formatOf, notShown } from "../../documents/images/pictureFormat.ts"
import { startsPage } from "../../documents/media/mediaTypes.ts"
import { isMarkup } from "../../documents/textMistakes.ts"
import { FolderInUse, isPassing, shown, stillWritten, unreadable } from "./FolderInUse.ts"
import { type FolderFile, isSame, seenOf } from "./lookAtFolder.ts"
import { isPicture, isShownType } from "./namedFiles.ts"

// They take half the processor time of `node:fs/promises`, which wraps each handle.
const disk = {
  close: promisify(close),
  fstat: promisify(fstat),
  futimes: promisify(futimes),
  open: promisify(open),
  read: promisify(read),
  write: promisify(write)
}

/** In bytes: hashing so many takes about a millisecond, in which nothing else can run. */
const partSize = 256 * 1024

/** A web page is known by so many first bytes. */
const pageBytes = 4096

/** Windows has no flags for it: there, a link is seen when the folder is looked at. */
const withoutLinkOrWait = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Everything that is in the file, in memory. */
export const readFile = (file: FolderFile): Effect.Effect<Uint8Array, SourceError | FolderInUse> =>
  attempt(file, async (signal) => {
    const content = Buffer.allocUnsafe(file.size)
    await withHandle(file, (handle) =>
      readParts(file, handle, signal, async (part, start) => content.set(part, start))
    )
    return content
  })

/** The digest of the file. */
export const digestOf = (file: FolderFile): Effect.Effect<Digested, SourceError | FolderInUse> =>
  attempt(file, (signal) => digesting(file, signal))

/** Whether another program keeps the file from being opened. */
export const isHeld = (file: FolderFile): Effect.Effect<boolean> =>
  Effect.promise(() =>
    disk.open(file.place, withoutLinkOrWait).then(
      (handle) => disk.close(handle).then(() => false),
      (cause) => isPassing(cause)
    )
  )

/**
 * Copies the file to where none is yet, and gives its digest. The copy has its date: it is a copy of the file as long as that
 * has not changed since the copy was made.
 */
export const copyFile = (file: FolderFile, to: string): Effect.Effect<Digested, SourceError | FolderInUse> =>
  attempt(file, async (signal) => {
    const copy = await writing(file, disk.open(to, "wx", 0o644))
    try {
      const digested = await digesting(file, signal, (part) => writing(file, writeAll(copy, part)))
      await writing(file, disk.futimes(copy, Date.now() / 1000, file.modified / 1000))
      return digested
    } finally {
      await disk.close(copy)
    }
  })

/** What its bytes tell of a file. */
export interface Digested {
  readonly sha256: string
  /** Why pages do not show it, where that can be seen. */
  readonly flaw?: Flaw | undefined
}

/** The flaw of the file, by its first bytes alone. */
export const readFlaw = (file: FolderFile): Effect.Effect<Flaw | undefined, SourceError | FolderInUse> =>
  attempt(file, () =>
    withHandle(file, async (handle) => {
      const look = async (bytes: number) => {
        const head = Buffer.allocUnsafe(Math.min(file.size, bytes))
        const { bytesRead } = await disk.read(handle, head, 0, head.length, 0)
        return flawOf(file.path, head.subarray(0, bytesRead))
      }
      // Most files have none, and 4 KiB prove that; what it is may need more of them.
      return (await look(pageBytes)) && look(partSize)
    })
  )

const digesting = async (
  file: FolderFile,
  signal: AbortSignal,
  write?: (part: Uint8Array) => Promise<void>
): Promise<Digested> => {
  const hash = createHash("sha256")
  let flaw: Flaw | undefined
  await withHandle(file, (handle) =>
    readParts(file, handle, signal, async (part, start) => {
      if (start === 0) flaw = flawOf(file.path, part)
      hash.update(part)
      await write?.(part)
    })
  )
  return { sha256: hash.digest("hex"), flaw }
}

const attempt = <A>(file: FolderFile, action: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({
    try: action,
    catch: (cause) =>
      cause instanceof SourceError || cause instanceof FolderInUse
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
    return await use(handle)
  } finally {
    await disk.close(handle)
  }
}

const readParts = async (
  { path, size }: FolderFile,
  handle: number,
  signal: AbortSignal,
  onPart: (part: Uint8Array, start: number) => Promise<void>
) => {
  const buffer = Buffer.allocUnsafe(Math.min(size, partSize))
  for (let done = 0; done < size; ) {
    signal.throwIfAborted()
    const { bytesRead } = await disk.read(handle, buffer, 0, Math.min(buffer.length, size - done), null)
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
    const error = toError(cause)
    throw new SourceError({
      place: shown(path),
      detail: `cannot be copied: ${explain(error)}`,
      cause: error
    })
  }
}

interface Flaw {
  /** What is wrong, and what to do. */
  readonly problem: string
  /** Whether smaller pictures are made of it that pages show. */
  readonly isShrinkable: boolean
}

const flawOf = (path: string, head: Uint8Array): Flaw | undefined => {
  const format = formatOf(head)
  const problem = format && notShown(format)
  if (problem !== undefined) return { problem: `${problem}.`, isShrinkable: format?.decoder !== undefined }
  if (isShownType(path) && head.every((byte) => byte === 0)) {
    // Some systems give a file its size first, and its bytes later.
    const problem =
      "it begins with nothing but zeros, perhaps because copying was interrupted. Copy it again."
    return { problem, isShrinkable: false }
  }
  const text = Buffer.from(head.subarray(0, pageBytes)).toString()
  const isOther = isPicture(path) ? isMarkup(text) : isShownType(path) && startsPage(text)
  return isOther
    ? { problem: "it is a web page (HTML) under the name of another file.", isShrinkable: false }
    : undefined
}
