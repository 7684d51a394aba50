/**
 * What is in a folder: the files that belong into a version, with their sizes and dates.
 */
import type { Dirent } from "node:fs"
import { readdir, realpath, stat } from "node:fs/promises"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { fileName, foldCase, isPortableFileName } from "../../../internal/FileName.ts"
import { printableLine } from "../../../internal/printable.ts"
import { sha256OfText } from "../../../internal/sha256.ts"
import { errorCode, explain } from "../../../internal/systemError.ts"
import { FolderFailed } from "./FolderFailed.ts"

export interface FolderFile {
  /** In the folder, with forward slashes and composed characters. */
  readonly path: string
  /** Absolute. */
  readonly place: string
  /** In bytes. */
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modified: number
}

export interface FolderLook {
  /** Absolute, without links in it. */
  readonly directory: string
  /** Sorted by their paths. */
  readonly files: ReadonlyArray<FolderFile>
  /** All folders, by their absolute paths; the first is the one that was looked at. */
  readonly folders: ReadonlyArray<string>
  /** Another one where names, sizes or dates are. */
  readonly stamp: string
}

/** How many files are looked at concurrently. */
const concurrency = 8

/** What the operating system, an editor or a browser puts there, while it works or for good. */
const ignored =
  /^\.|^~\$|~$|\.(?:tmp|temp|part|partial|crdownload|download|swp)$|^(?:thumbs\.db|ehthumbs\.db|desktop\.ini|icon\r|\$recycle\.bin|system volume information|lost\+found|__macosx|@eadir)$/i

/** The name of the document that a file at the top of the folder is; none where it is another file. */
export const documentName = (path: string): string | undefined => /^([^/]+)\.(?:csv|json)$/i.exec(path)?.[1]

/** What a file is in a version. */
const pathInVersion = (path: string): string => {
  const document = documentName(path)
  return document === undefined ? path : `${fileName(document)}.json`
}

/** Looks at a folder and all folders in it. `directory` is absolute. */
export const lookAtFolder = Effect.fn("FolderSource.look")(function* (directory: string) {
  const path = yield* Path.Path
  const root = yield* Effect.mapError(
    attempt(() => realpath(directory)),
    cannotRead(directory)
  )
  const files: FolderFile[] = []
  const folders: string[] = []

  const lookAtFile = Effect.fnUntraced(function* (entry: Dirent, place: string, name: string) {
    if (entry.isSymbolicLink()) yield* checkLink(root, place, name)
    const found = yield* ifThere(
      attempt(() => stat(place)),
      name
    )
    if (Option.isSome(found) && found.value.isFile()) {
      files.push({ path: name, place, size: found.value.size, modified: Math.floor(found.value.mtimeMs) })
    }
  })

  const lookInside = (folder: string, prefix: string): Effect.Effect<void, FolderFailed, Path.Path> =>
    Effect.gen(function* () {
      const reading = attempt(() => readdir(folder, { withFileTypes: true }))
      const read =
        prefix === ""
          ? Effect.asSome(Effect.mapError(reading, cannotRead(directory)))
          : ifThere(reading, prefix.slice(0, -1))
      const entries = Option.getOrElse(yield* read, () => []).filter(({ name }) => !ignored.test(name))
      folders.push(folder)
      yield* checkNames(
        prefix,
        entries.map(({ name }) => name.normalize())
      )
      const placed = entries.map((entry) => ({
        entry,
        place: path.join(folder, entry.name),
        name: prefix + entry.name.normalize()
      }))
      const [others, inside] = Array.partition(placed, ({ entry }) => entry.isDirectory())
      yield* Effect.forEach(others, ({ entry, name, place }) => lookAtFile(entry, place, name), {
        concurrency,
        discard: true
      })
      yield* Effect.forEach(inside, ({ name, place }) => lookInside(place, `${name}/`), { discard: true })
    })

  yield* lookInside(root, "")
  if (files.length === 0) {
    return yield* new FolderFailed({
      place: directory,
      detail: "there are no files in this folder. Is the disk or the share there that it is on?",
      isTransient: true
    })
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1))
  const stamp = sha256OfText(JSON.stringify(files.map(({ modified, path, size }) => [path, size, modified])))
  return { directory: root, files, folders, stamp } satisfies FolderLook
})

const attempt = <A>(action: () => Promise<A>) =>
  Effect.tryPromise({
    try: action,
    catch: (error) => (error instanceof Error ? error : new Error(String(error)))
  })

const cannotRead = (directory: string) => (cause: Error) =>
  new FolderFailed({
    place: directory,
    detail: `cannot read this folder: ${advice(cause)}`,
    isTransient: true,
    cause
  })

const advice = (cause: Error): string => {
  const code = errorCode(cause)
  return code === "ENOENT"
    ? "there is no such folder."
    : code === "ENOTDIR"
      ? "it is not a folder."
      : explain(cause)
}

/** What is gone since the folder was listed is not there. */
const ifThere = <A>(
  looking: Effect.Effect<A, Error>,
  name: string
): Effect.Effect<Option.Option<A>, FolderFailed> =>
  Effect.catchAll(Effect.asSome(looking), (cause) =>
    errorCode(cause) === "ENOENT"
      ? Effect.succeedNone
      : new FolderFailed({ place: shown(name), detail: `cannot be read: ${explain(cause)}`, cause })
  )

/** Links to files of the folder are followed. One to a folder could lead around in a circle. */
const checkLink = Effect.fnUntraced(function* (root: string, place: string, name: string) {
  const path = yield* Path.Path
  const refuse = (detail: string) => new FolderFailed({ place: shown(name), detail })
  const target = yield* Effect.orElseFail(
    attempt(() => realpath(place)),
    () => refuse("is a link that leads nowhere.")
  )
  if (!target.startsWith(root.endsWith(path.sep) ? root : root + path.sep)) {
    return yield* refuse("is a link that leads out of the folder. Copy the file into it.")
  }
  const found = yield* ifThere(
    attempt(() => stat(place)),
    name
  )
  return yield* Option.exists(found, (found) => found.isDirectory())
    ? refuse("is a link to a folder. Copy the folder itself.")
    : Effect.void
})

/** Each name can be stored on every system, beside the others. */
const checkNames = (prefix: string, names: ReadonlyArray<string>): Effect.Effect<void, FolderFailed> => {
  const wrong = names.find((name) => !isPortableFileName(name))
  if (wrong !== undefined) {
    return new FolderFailed({
      place: shown(prefix + wrong),
      detail: "Windows cannot store a file of this name. Rename it."
    })
  }
  const byKey = new Map<string, string>()
  for (const name of names) {
    const key = foldCase(prefix === "" ? pathInVersion(name) : name)
    const other = byKey.get(key)
    if (other !== undefined) {
      return new FolderFailed({
        place: `${shown(prefix + other)} and ${shown(prefix + name)}`,
        detail:
          prefix === "" && documentName(name) !== undefined
            ? `each would be the document ${JSON.stringify(documentName(name))}. Rename or remove one.`
            : "their names differ in nothing but case, so Windows and macOS cannot store both. Rename one."
      })
    }
    byKey.set(key, name)
  }
  return Effect.void
}

const shown = (name: string): string => printableLine(name, 200)
