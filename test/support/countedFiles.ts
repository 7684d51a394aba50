import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export interface FileCounts {
  /** How often a file was opened, or read as a whole. */
  reads: number
  /** How many parts of open files were read. */
  parts: number
  stats: number
}

/** The disk of this machine, of which it is counted how often matching files are looked at. */
export const withCountedFiles = (counts: FileCounts, isCounted: (path: string) => boolean) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => {
      const counting =
        <Rest extends ReadonlyArray<unknown>, A, E, R>(
          kind: keyof FileCounts,
          method: (path: string, ...rest: Rest) => Effect.Effect<A, E, R>
        ) =>
        (path: string, ...rest: Rest) =>
          Effect.suspend(() => {
            counts[kind] += isCounted(path) ? 1 : 0
            return method(path, ...rest)
          })
      const withCountedParts = (file: FileSystem.File): FileSystem.File =>
        Object.assign(Object.create(file), {
          read: (buffer: Uint8Array) => {
            counts.parts++
            return file.read(buffer)
          }
        })
      return FileSystem.FileSystem.of({
        ...fs,
        open: counting("reads", (path: string, options?: FileSystem.OpenFileOptions) => {
          const open = fs.open(path, options)
          return isCounted(path) ? Effect.map(open, withCountedParts) : open
        }),
        readFile: counting("reads", fs.readFile),
        readFileString: counting("reads", fs.readFileString),
        stat: counting("stats", fs.stat)
      })
    })
  )
