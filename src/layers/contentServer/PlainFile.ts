/**
 * Finds files by their exact path; rejects links, short names and other letter case.
 */
import type { Stats } from "node:fs"
import { lstat, realpath } from "node:fs/promises"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { errorCode } from "../../internal/serializeError.ts"
import { Unreadable } from "../http/errors.ts"

export interface PlainFile {
  readonly type: "File" | "Directory"
  /** The absolute path. */
  readonly file: string
  readonly stats: Stats
  /** Changes when the file is replaced or written, also with the same size and date. */
  readonly stamp: string
}

/** A file or folder in a folder that was found before; `None` for a link. */
export const findAt = (file: string): Effect.Effect<Option.Option<PlainFile>, Unreadable> =>
  Effect.map(
    tryRead(() => look(file)),
    Option.fromNullable
  )

const look = async (file: string): Promise<PlainFile | undefined> => {
  const stats = await orNone(lstat(file))
  const type = stats?.isFile() ? "File" : stats?.isDirectory() ? "Directory" : undefined
  return stats === undefined || type === undefined
    ? undefined
    : { type, file, stats, stamp: `${stats.ino} ${stats.ctimeMs} ${stats.size}` }
}

/** Files of a folder. Links may lead to the folder itself, and these may change. */
export const make = (folder: string) => {
  /** The real path of the folder, without links and short names, when it was last looked up. */
  let root: string | undefined

  const find = async (names: ReadonlyArray<string>): Promise<PlainFile | undefined> => {
    const real = await orNone(realpath(join(folder, ...names)))
    const isBelow = (root: string | undefined) =>
      root !== undefined && real?.normalize() === join(root, ...names).normalize()
    if (real !== undefined && !isBelow(root)) {
      root = await orNone(realpath(folder))
    }
    return root === undefined || !isBelow(root) ? undefined : look(join(root, ...names))
  }

  return {
    isThere: Effect.map(
      tryRead(() => orNone(realpath(folder))),
      (root) => root !== undefined
    ),

    /**
     * A file or folder below the folder; `None` if there is none, or if a name in its path is a link, a short name of
     * Windows or in other letter case.
     */
    find: (names: ReadonlyArray<string>) =>
      Effect.map(
        tryRead(() => find(names)),
        Option.fromNullable
      )
  }
}

const tryRead = <A>(read: () => Promise<A>): Effect.Effect<A, Unreadable> =>
  Effect.tryPromise({ try: read, catch: (cause) => new Unreadable({ cause }) })

/** A broken link counts as a missing file, not as an error. */
const orNone = async <A>(promise: Promise<A>): Promise<A | undefined> => {
  try {
    return await promise
  } catch (error) {
    if (leadingNowhere.has(errorCode(error) ?? "")) return undefined
    throw error
  }
}

const leadingNowhere = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP", "EINVAL"])
