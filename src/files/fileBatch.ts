/**
 * Plain calls for many files, as one effect: an effect for each call takes several times the processor time. Files of
 * another folder are linked or copied by them.
 */
import type { Dirent } from "node:fs"
import { link, mkdir, readdir } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { remove, retryHeldOpen } from "./systemError.ts"

/**
 * Runs the action for each file, 32 at a time, and returns the results in the order of the files. After a failure or
 * an interruption it starts no further action; running actions end by themselves.
 */
export const forEachFile = <A, B, E>(
  files: Iterable<A>,
  action: (file: A, signal: AbortSignal) => Promise<B>,
  failed: (cause: unknown) => E
): Effect.Effect<ReadonlyArray<B>, E> =>
  Effect.tryPromise({
    try: async (signal) => {
      const all = [...files]
      const waiting = all.entries()
      const results: B[] = []
      let isFailed = false
      const work = async () => {
        for (const [index, file] of waiting) {
          if (isFailed || signal.aborted) return
          try {
            results[index] = await action(file, signal)
          } catch (cause) {
            isFailed = true
            throw cause
          }
        }
      }
      await Promise.all(Array.from({ length: Math.min(concurrency, all.length) }, work))
      return results
    },
    catch: failed
  })

/** Enough to keep the threads busy, because waking a thread for each call is slow. */
const concurrency = 32

export const toError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

/** A look at a folder and the folders in it. */
export interface Walk<A, E> {
  /** Gives the entries of a folder. Its `prefix` is its path from the first folder, with a slash at its end, or empty. */
  readonly list: (folder: string, prefix: string) => Effect.Effect<ReadonlyArray<Dirent>, E>
  /** Gives the wanted entries in order, each with its name in paths. */
  readonly choose: (entries: ReadonlyArray<Dirent>, prefix: string) => Effect.Effect<ReadonlyArray<Wanted>, E>
  /** Looks at a wanted entry that is no folder. */
  readonly look: (entry: Dirent, file: string, path: string) => Promise<A>
  readonly failed: (cause: unknown) => E
}

export interface Wanted {
  readonly entry: Dirent
  readonly name: string
}

/** Looks at the files of a folder, and then at the folders in it, one after the other. Returns the folders too. */
export const walkFolder = Effect.fnUntraced(function* <A, E>(
  root: string,
  { choose, failed, list, look }: Walk<A, E>
) {
  const found: A[] = []
  const folders: string[] = []
  const visit = (folder: string, prefix: string): Effect.Effect<void, E> =>
    Effect.gen(function* () {
      const wanted = yield* choose(yield* list(folder, prefix), prefix)
      folders.push(folder)
      const looked = yield* forEachFile(
        wanted.filter(({ entry }) => !entry.isDirectory()),
        ({ entry, name }) => look(entry, join(folder, entry.name), prefix + name),
        failed
      )
      for (const file of looked) found.push(file)
      for (const { entry, name } of wanted) {
        if (entry.isDirectory()) yield* visit(join(folder, entry.name), `${prefix}${name}/`)
      }
    })
  yield* visit(root, "")
  return { found, folders }
})

/** All files and folders below a folder, by their paths with forward slashes. */
export const entriesIn = (directory: string) =>
  Effect.tryPromise({
    try: () => readdir(directory, { recursive: true, withFileTypes: true }),
    catch: toError
  }).pipe(
    Effect.map((entries) =>
      entries.map((entry) => ({
        path: relative(directory, join(entry.parentPath, entry.name)).replaceAll(sep, "/"),
        isDirectory: entry.isDirectory()
      }))
    )
  )

/** Links a file, or copies it. Returns whether it is a link. If both fail, no part of the file is left. */
export const linkOrCopy = (from: string, to: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.orElse(Effect.as(fs.link(from, to), true), () => Effect.as(copy(from, to), false))
  )

const copy = (from: string, to: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => retryHeldOpen(fs.copyFile(from, to))).pipe(
    Effect.tapError(() => Effect.ignore(remove(to)))
  )

/** As `linkOrCopy`, for many files by their paths in the folder; it makes their folders. */
export const linkOrCopyAll = Effect.fnUntraced(function* (files: Iterable<string>, from: string, to: string) {
  const all = [...files]
  const folders = new Set([to, ...all.map((file) => dirname(join(to, file)))])
  yield* forEachFile(folders, (folder) => mkdir(folder, { recursive: true }), toError)
  const unlinked = yield* forEachFile(
    all,
    (file) =>
      link(join(from, file), join(to, file)).then(
        () => [],
        () => [file]
      ),
    toError
  )
  yield* Effect.forEach(unlinked.flat(), (file) => copy(join(from, file), join(to, file)), {
    concurrency,
    discard: true
  })
})
