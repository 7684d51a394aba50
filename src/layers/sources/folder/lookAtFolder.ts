/**
 * The content of a folder: the files that belong into a version, with their sizes and dates; and why a folder cannot be
 * read.
 */

import { createHash } from "node:crypto"
import { lstat, readdir, realpath, type Stats } from "node:fs"
import { sep } from "node:path"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { toError, walkFolder } from "../../../files/fileBatch.ts"
import { fileName, foldCase, isPortableFileName } from "../../../files/fileName.ts"
import { explain, isPassing } from "../../../files/systemError.ts"
import { type Code, type Fields, type Mistake, mistake, sentenceOf } from "../../../internal/mistake.ts"
import { printableLine } from "../../../internal/printable.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"
import { errorCode } from "../../../internal/serializeError.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { failureAbout } from "../../documents/warnings.ts"
import type { FolderCall } from "./folderCalls.ts"

/** The properties that show whether a file is unchanged. */
interface Seen {
  /** In bytes. */
  readonly size: number
  /** Milliseconds since 1970, an integer. */
  readonly modified: number
  /** When the system noted the last change (ctime), which no program can set. Milliseconds since 1970. */
  readonly changed: number
  /** The number of the file on its disk: another file with the same size and dates may get its name. */
  readonly inode: number
}

export interface FolderFile extends Seen {
  /** In the folder, with forward slashes and composed characters. */
  readonly path: string
  /** Absolute; for a link, the path of its target. */
  readonly place: string
  /** For all calls to the file. */
  readonly call: FolderCall
}

export interface FolderLook {
  /** Folder by folder, in each folder sorted by name. */
  readonly files: ReadonlyArray<FolderFile>
  /** All folders, by their absolute paths. The first is the folder itself, without links in its path. */
  readonly folders: ReadonlyArray<string>
  /** Changes with any name, size or date. */
  readonly stamp: string
  /** Why entries that look like files are left out. */
  readonly leftOut: ReadonlyArray<Mistake>
}

/** The temporary and permanent files of the operating system, editors and browsers. */
const ignored =
  /^\.|^~\$|~$|\.(?:tmp|temp|part|partial|filepart|crdownload|opdownload|download|aria2|!sync|!ut|!qb|swp)$|^#.*#$|\.sb-[\da-f]{8}-\w{6}$|^\(a document being saved by .*\)$|^(?:thumbs\.db|ehthumbs(?:_vista)?\.db|desktop\.ini|icon\r|\$recycle\.bin|system volume information|#recycle|#snapshot|~snapshot|@recycle|@recently-snapshot|network trash folder|temporary items|recycler|trashbox|found\.\d{3}|lost\+found|__macosx|@eadir|@tmp|picasa\.ini|zbthumbnail\.info)$/i

/** Vitrine's own file for the editors. It is never content, for any options. */
export const problemsName = "VITRINE-PROBLEMS.txt"

const isIgnored = (name: string): boolean =>
  ignored.test(name) || name.toUpperCase() === problemsName.toUpperCase()

/** The name of the document in a file at the top of the folder; `undefined` for other files. */
export const documentName = (path: string): string | undefined => /^([^/]+)\.(?:csv|json)$/i.exec(path)?.[1]

/** The path of a file in a version. */
const pathInVersion = (path: string): string => {
  const document = documentName(path)
  return document === undefined ? path : `${fileName(document)}.json`
}

export const seenOf = ({ ctimeMs, ino, mtimeMs, size }: Stats): Seen => ({
  size,
  modified: Math.floor(mtimeMs),
  changed: ctimeMs,
  inode: ino
})

export const isSame = (one: Seen, other: Seen): boolean =>
  one.size === other.size &&
  one.modified === other.modified &&
  one.changed === other.changed &&
  one.inode === other.inode

/** Whether an absolute path leads into the folder. */
const isIn = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep)

// These functions take half the processor time of `node:fs/promises`.
const disk = { lstat: promisify(lstat), readdir: promisify(readdir), realpath: promisify(realpath) }

/** The file that a placeholder of iCloud, Nextcloud, ownCloud, Resilio or odrive stands for. */
const inCloud = /^\.(.+)\.icloud$|^(.+)\.(?:nextcloud|owncloud|rsls|cloudf?)$/

/** Fails if a file is only in the cloud: it is not gone, but its content is not here. */
const checkPlaceholders = (
  prefix: string,
  names: ReadonlyArray<string>
): Effect.Effect<void, SourceError> => {
  for (const name of names) {
    const [, hidden, file = hidden] = inCloud.exec(name) ?? []
    if (file === undefined || names.includes(file)) continue
    return refusal("folder:cloud", prefix + file, { placeholder: printablePath(name) })
  }
  return Effect.void
}

/** The look at a folder without documents that does not exist yet. */
const nothing: FolderLook = { files: [], folders: [], stamp: "nothing", leftOut: [] }

/** The names in a folder as they were listed, and those of the files and folders that belong into a version, in order. */
interface Listed {
  readonly names: ReadonlyArray<string>
  readonly wanted: ReadonlyArray<{ readonly index: number; readonly name: string }>
}

/**
 * Makes the looks at a folder and all folders in it, with one call for each file. `directory` is absolute. Without
 * documents, it may be empty or missing. Names are checked and sorted, and files are hashed, only if they differ from
 * the look before.
 */
export const makeLook = (directory: string, hasDocuments: boolean, call: FolderCall) => {
  /** By the paths of folders. */
  let listedBefore: ReadonlyMap<string, Listed> = new Map()
  let last: FolderLook | undefined

  return Effect.gen(function* () {
    const root = yield* attempt(
      () =>
        call(() => disk.realpath(directory)).catch((cause) => {
          if (hasDocuments || errorCode(cause) !== "ENOENT") throw cause
        }),
      cannotRead(directory)
    )
    if (root === undefined) return nothing
    const leftOut: Mistake[] = []
    const listedNow = new Map<string, Listed>()
    const { folders, found } = yield* walkFolder(root, {
      list: (folder, prefix) => {
        const entries = () => call(() => disk.readdir(folder, { withFileTypes: true }))
        return prefix === ""
          ? attempt(entries, cannotRead(directory))
          : attempt(() => entries().catch(unlessGone(prefix.slice(0, -1), leftOut))).pipe(
              Effect.map((entries = []) => entries)
            )
      },
      choose: (entries, prefix) =>
        Effect.map(
          checked(
            prefix,
            entries.map(({ name }) => name),
            listedBefore.get(prefix),
            hasDocuments
          ),
          (listed) => {
            listedNow.set(prefix, listed)
            return listed.wanted.flatMap(({ index, name }) => {
              const entry = entries[index]
              return entry === undefined ? [] : [{ entry, name }]
            })
          }
        ),
      look: async (entry, place, path) => {
        const isLink = entry.isSymbolicLink()
        const target = isLink ? await targetOf(root, place, path, call) : place
        const stats = await call(() => disk.lstat(target)).catch(unlessGone(path, leftOut))
        if (isLink && stats?.isDirectory()) throw refusal("link:folder", path)
        if (stats?.isFile()) return { path, place: target, call, ...seenOf(stats) }
        if (stats !== undefined) {
          leftOut.push(mistake("file:special", { name: printablePath(path) }, { kind: kindOf(stats) }))
        }
        return undefined
      },
      failed: unreadable("")
    })
    const files = found.filter(Predicate.isNotUndefined)
    if (files.length === 0 && hasDocuments) {
      return yield* new SourceError({
        place: directory,
        detail: "there are no files in this folder. Is its disk or network share connected?",
        isTransient: true
      })
    }
    const before = last?.files ?? []
    const isUnchanged = files.length === before.length && files.every((file, at) => isEqual(file, before[at]))
    const stamp = isUnchanged && last !== undefined ? last.stamp : stampOf(files)
    listedBefore = listedNow
    last = { files, folders, stamp, leftOut }
    return last
  }).pipe(Effect.withSpan("FolderSource.look"))
}

/** Fails if a name is not possible in a version. */
const checked = Effect.fnUntraced(function* (
  prefix: string,
  names: ReadonlyArray<string>,
  before: Listed | undefined,
  hasDocuments: boolean
): Effect.fn.Return<Listed, SourceError> {
  if (before?.names.length === names.length && names.every((name, at) => name === before.names[at])) {
    return before
  }
  yield* checkPlaceholders(prefix, names)
  const wanted = names
    .map((name, index) => ({ index, name: name.normalize() }))
    .filter(({ index }) => !isIgnored(names[index] ?? ""))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  yield* checkNames(
    prefix,
    wanted.map(({ name }) => name),
    hasDocuments && prefix === ""
  )
  return { names, wanted }
})

/** `undefined` for a file that has vanished since its folder was listed, or whose name is no UTF-8. */
const unlessGone = (path: string, leftOut: Mistake[]) => (cause: unknown) => {
  if (errorCode(cause) !== "ENOENT") throw unreadable(path)(cause)
  if (path.includes("\ufffd")) leftOut.push(mistake("name:encoding", { name: printablePath(path) }))
  return undefined
}

const isEqual = (file: FolderFile, other: FolderFile | undefined): boolean =>
  file.path === other?.path && isSame(file, other)

const stampOf = (files: ReadonlyArray<FolderFile>): string => {
  const hash = createHash("sha256")
  for (const { changed, inode, modified, path, size } of files) {
    hash.update(JSON.stringify([path, size, modified, changed, inode]))
  }
  return hash.digest("hex")
}

const kindOf = (stats: Stats) => (stats.isFIFO() ? "pipe" : stats.isSocket() ? "socket" : "device")

/** The failure about a file. */
const refusal = <C extends Code>(code: C, path: string, ...fields: Fields[C]): SourceError =>
  failureAbout(mistake(code, { name: printablePath(path) }, ...fields))

const attempt = <A>(
  action: () => Promise<A>,
  failed: (cause: unknown) => SourceError | FolderInUse = unreadable("")
) => Effect.tryPromise({ try: action, catch: failed })

/** For a folder that could not be read. */
export const cannotRead = (directory: string) => (cause: unknown) =>
  cause instanceof SourceError
    ? cause
    : new SourceError({
        place: directory,
        detail: `cannot read this folder: ${advice(toError(cause))}`,
        isTransient: true,
        cause
      })

const advice = (cause: Error): string =>
  ({ ENOENT: "there is no such folder.", ENOTDIR: "it is not a folder." })[errorCode(cause) ?? ""] ??
  explain(cause)

/** Follows links to files of the folder. A link to a folder could lead around in a circle. */
const targetOf = async (root: string, place: string, path: string, call: FolderCall): Promise<string> => {
  const target = await call(() => disk.realpath(place)).catch((cause) => {
    if (cause instanceof SourceError) throw cause
    throw refusal("link:broken", path)
  })
  if (!isIn(root, target)) throw refusal("link:outside", path)
  return target
}

/** Each name must be valid on every system, and distinct from the others. */
const checkNames = (
  prefix: string,
  names: ReadonlyArray<string>,
  areDocuments: boolean
): Effect.Effect<void, SourceError> => {
  const wrong = names.find((name) => !isPortableFileName(name))
  if (wrong !== undefined) {
    return refusal("name:windows", prefix + wrong)
  }
  const byKey = new Map<string, string>()
  for (const name of names) {
    const key = foldCase(areDocuments ? pathInVersion(name) : name)
    const other = byKey.get(key)
    if (other !== undefined) {
      const document = areDocuments ? documentName(name) : undefined
      return refusal("name:same", prefix + name, { other: printablePath(prefix + other), document })
    }
    byKey.set(key, name)
  }
  return Effect.void
}

/** Somebody is writing in the folder, or has a file of it open: a retry may succeed in seconds. */
export class FolderInUse extends Schema.TaggedError<FolderInUse>()("vitrine/FolderInUse", {
  /** The path of the file in the folder. */
  file: Schema.String,
  detail: Schema.String,
  /** Whether nothing but growing files was seen since somebody began to write. */
  isGrowing: Schema.optional(Schema.Boolean),
  cause: OptionalErrorChain
}) {
  readonly isTransient = true

  override get message() {
    return `${printablePath(this.file)}: ${this.detail}`
  }
}

/** The path of a file, for people. */
export const printablePath = (path: string): string => printableLine(path, 200)

export const stillWritten = (path: string, isGrowing?: boolean): FolderInUse =>
  new FolderInUse({ file: path, isGrowing, detail: "it is still being written, or has just changed." })

/** For a file that could not be read. A missing file existed when the folder was read. */
export const unreadable =
  (path: string) =>
  (cause: unknown): SourceError | FolderInUse => {
    if (cause instanceof SourceError || cause instanceof FolderInUse) return cause
    if (errorCode(cause) === "ENOENT") return stillWritten(path)
    return failed(path, "read", cause)
  }

/** The failure of the system to read or copy a file. */
export const failed = (path: string, did: "read" | "copied", cause: unknown): SourceError | FolderInUse => {
  const problem = mistake(
    "file:system",
    { name: printablePath(path) },
    { did, reason: explain(toError(cause)) }
  )
  return isPassing(cause)
    ? new FolderInUse({ file: path, detail: sentenceOf(problem), cause })
    : failureAbout(problem, { cause })
}
