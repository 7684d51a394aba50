/**
 * What lies in a folder, many files at a time.
 *
 * An Effect for each file takes ten times the processor time of the call: these go to the system themselves.
 */
import { lstatSync, statSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The folder is not as it should be, or could not be changed. */
export class FolderFailed extends Data.TaggedError("vitrine/FolderFailed")<{ readonly cause: unknown }> {}

/**
 * Removes all but these files, and the folders that they are in. Links are not followed. Gives the folders out of which
 * something was removed; paths have forward slashes, that of the folder itself is empty.
 */
export const removeOthers = (folder: string, files: Pick<ReadonlyMap<string, unknown>, "has" | "keys">) =>
  Effect.tryPromise({
    try: async () => {
      const folders = foldersOf(files.keys())
      const touched = new Set<string>()
      const visit = async (below: string): Promise<void> => {
        for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
          const path = below === "" ? entry.name : `${below}/${entry.name}`
          if (entry.isDirectory() && folders.has(path)) {
            await visit(path)
          } else if (!entry.isFile() || !files.has(path)) {
            touched.add(below)
            await rm(join(folder, path), { recursive: true, force: true })
          }
        }
      }
      await visit("")
      return touched
    },
    catch: (cause) => new FolderFailed({ cause })
  })

/** All folders in which files are, by the paths of these; the empty path is among them. */
export const foldersOf = (files: Iterable<string>): Set<string> => {
  const folders = new Set([""])
  for (const file of files) {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return folders
}

export interface Takeover {
  /** The file that is to be taken over. */
  readonly from: string
  /** Which must have this size, in bytes. */
  readonly size: number
  /** Where it is to be. */
  readonly to: string
}

/** `none`: there is no such file; `there`: it is in its place already. */
export type Found = "none" | "elsewhere" | "there"

/** Looks at files that are to be taken over, in their order. */
export const findAll = (takeovers: ReadonlyArray<Takeover>): Effect.Effect<ReadonlyArray<Found>> =>
  Effect.async((resume) => {
    const found: Array<Found> = []
    let next: NodeJS.Immediate
    const look = () => {
      const end = performance.now() + sliceMs
      for (const takeover of takeovers.slice(found.length)) {
        if (performance.now() > end) {
          next = setImmediate(look)
          return
        }
        found.push(find(takeover))
      }
      resume(Effect.succeed(found))
    }
    look()
    return Effect.sync(() => clearImmediate(next))
  })

/** For as long nothing else can run. */
const sliceMs = 5

const find = ({ from, size, to }: Takeover): Found => {
  try {
    const source = statSync(from, { bigint: true })
    if (!source.isFile() || Number(source.size) !== size) return "none"
    const target = lstatSync(to, { bigint: true, throwIfNoEntry: false })
    return target?.ino === source.ino && target.dev === source.dev ? "there" : "elsewhere"
  } catch {
    return "none"
  }
}
