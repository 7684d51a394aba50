/**
 * Folders, and writes that survive a power failure.
 */

import { randomUUID } from "node:crypto"
import { stat } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { errorCode } from "../internal/serializeError.ts"
import { entriesIn, forEachFile, toError } from "./fileBatch.ts"
import { explain, move, remove, retryHeldOpen } from "./systemError.ts"

/** How many files are processed concurrently. */
const concurrency = 8

/**
 * Replaces a whole file: a reader sees the old content or the new, never a part or nothing.
 *
 * The new content must not be empty. It is first written to its own file in `staging`, a folder on the same disk, by
 * default the folder of the file. After a failure, the old file is there. If the name of the new file cannot be made
 * durable, a warning is logged and the call succeeds, because readers may have seen the new file. `mode` is as for
 * `open`.
 */
export const replaceFile = Effect.fnUntraced(function* (
  file: string,
  content: string | Uint8Array,
  { mode = 0o666, staging = dirname(file) }: { readonly mode?: number; readonly staging?: string } = {}
) {
  const temporary = unfinishedFile(file, staging)
  yield* writeDurably(temporary, content, mode).pipe(
    Effect.zipRight(move(temporary, file)),
    Effect.onError(() => Effect.ignore(remove(temporary)))
  )
  yield* Effect.catchAll(syncDirectory(dirname(file)), (error) =>
    Effect.logWarning(
      `${file} was replaced, but a loss of power may bring the file before it back: ${explain(error)}`
    )
  )
}, Effect.uninterruptible)

/** A temporary name for a file that is being written: `.mutes.json.<uuid>` in its folder, or in `staging`. */
export const unfinishedFile = (file: string, staging = dirname(file)): string =>
  join(staging, `.${basename(file)}.${randomUUID()}`)

/**
 * Removes the unfinished files of killed processes, all or only those of the file `of`. No other process may write
 * such files meanwhile.
 */
export const removeUnfinished = async (folder: string, of?: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const [, file] = unfinishedName.exec(name) ?? []
    if (file === undefined || file !== (of ?? file)) continue
    await rm(join(folder, name), { force: true })
  }
}

const unfinishedName = /^\.(.+)\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Does not sync the name of the file in its folder. */
const writeDurably = (file: string, content: string | Uint8Array, mode: number) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.open(file, { flag: "w", mode })),
    Effect.tap((handle) => handle.writeAll(Buffer.from(content))),
    Effect.flatMap((handle) => handle.sync),
    Effect.scoped
  )

/**
 * Makes a folder durable with everything below it. A file that is the same file in `latest` is skipped: it was linked
 * from there. `linked` are further files to skip, by their paths with forward slashes.
 */
export const syncTree = Effect.fnUntraced(function* (
  directory: string,
  latest: Option.Option<string>,
  linked: ReadonlyMap<string, unknown> = new Map()
) {
  const entries = yield* entriesIn(directory)
  const [files, folders] = Array.partition(entries, ({ isDirectory }) => isDirectory)

  const isLinked = async (entry: string, latest: string) => {
    const { dev, ino, nlink } = await statFile(join(directory, entry))
    if (nlink === 1) return false
    const other = await statFile(join(latest, entry)).catch(() => undefined)
    return other?.dev === dev && other.ino === ino
  }

  const written = yield* forEachFile(
    files.filter(({ path }) => !linked.has(path)),
    async ({ path }) =>
      Option.isSome(latest) && (await isLinked(path, latest.value)) ? [] : [join(directory, path)],
    toError
  )
  yield* Effect.forEach(written.flat(), syncFile, { concurrency, discard: true })
  yield* Effect.forEach(folders, ({ path }) => syncDirectory(join(directory, path)), {
    concurrency,
    discard: true
  })
  yield* syncDirectory(directory)
})

const statFile = promisify(stat)

/** Makes the content of a file durable. */
export const syncFile = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    process.platform === "win32"
      ? sync(file, "r+").pipe(
          // Windows needs write access to sync, and a copy of a read-only file is read-only.
          Effect.catchAll(() => Effect.zipRight(fs.chmod(file, 0o666), sync(file, "r+")))
        )
      : sync(file, "r")
  ).pipe(retryHeldOpen)

/** Makes names in a folder durable. Does nothing on Windows, where folders cannot be synced. */
export const syncDirectory = (directory: string) =>
  process.platform === "win32"
    ? Effect.void
    : Effect.catchIf(
        sync(directory, "r"),
        (error) => unsupported.has(errorCode(error) ?? ""),
        () => Effect.void
      )

/** The codes of file systems that cannot sync folders. */
const unsupported: ReadonlySet<string> = new Set(["EINVAL", "EISDIR", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"])

const sync = (path: string, flag: "r" | "r+") =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.open(path, { flag })),
    Effect.flatMap((handle) => handle.sync),
    Effect.scoped
  )

/**
 * Makes the folder and its missing parents.
 *
 * Node's recursive `mkdir` never ends below `/proc`, where a folder is missing and cannot be made: this function
 * fails with `ENOENT` there.
 */
export const makePath = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem

  const makeOne = (folder: string) =>
    Effect.catchAll(fs.makeDirectory(folder), (error) =>
      Effect.flatMap(isFolder(folder), (isThere) => (isThere ? Effect.void : Effect.fail(error)))
    )

  const isFolder = (folder: string) =>
    fs.stat(folder).pipe(
      Effect.map(({ type }) => type === "Directory"),
      Effect.orElseSucceed(() => false)
    )

  const make = (folder: string): Effect.Effect<void, PlatformError> =>
    Effect.catchIf(
      makeOne(folder),
      (error) => errorCode(error) === "ENOENT" && dirname(folder) !== folder,
      () => Effect.zipRight(make(dirname(folder)), makeOne(folder))
    )

  yield* make(resolve(folder))
})
