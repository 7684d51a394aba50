/**
 * Files of a folder, copied into a version or taken over from the one before.
 *
 * A link to a file of the folder would change with it, which no version may.
 */
import { constants } from "node:fs"
import { copyFile } from "node:fs/promises"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { monotonicMillis } from "../../../internal/monotonicMillis.ts"
import { linkOrCopy } from "../../../internal/reuseFile.ts"
import { sha256OfFile } from "../../../internal/sha256.ts"
import { explain } from "../../../internal/systemError.ts"
import type { AttachmentProgress, FetchTarget } from "../../../services/ContentSource.ts"
import { FolderFailed } from "./FolderFailed.ts"
import type { FolderFile } from "./lookAtFolder.ts"

interface CopiedFile extends FolderFile {
  readonly sha256: string
  readonly isReused: boolean
}

/** Disks are no faster with more at a time. */
const concurrency = 2

export const makeFileCopies = () => {
  /** Digests of files while their sizes and dates stay the same, by their paths: those of the last copying. */
  let known: ReadonlyMap<string, CopiedFile> = new Map()

  const digestOf = (file: FolderFile) => {
    const before = known.get(file.path)
    return before?.size === file.size && before.modified === file.modified
      ? Effect.succeed(before.sha256)
      : sha256OfFile(file.place)
  }

  /** Takes over what the version before has with the same content. */
  const reuse = Effect.fnUntraced(function* (file: FolderFile, to: string, { previous }: FetchTarget) {
    const path = yield* Path.Path
    const before = Option.filter(
      Option.flatMap(previous, ({ directory, files }) =>
        Option.map(Record.get(files, file.path), (found) => ({ ...found, directory }))
      ),
      ({ size }) => size === file.size
    )
    if (Option.isNone(before)) return Option.none()
    const { directory, sha256 } = before.value
    if ((yield* digestOf(file)) !== sha256) return Option.none()
    yield* linkOrCopy(path.join(directory, ...file.path.split("/")), to)
    return Option.some<CopiedFile>({ ...file, sha256, isReused: true })
  })

  const copy = Effect.fnUntraced(function* (file: FolderFile, to: string) {
    const fileSystem = yield* FileSystem.FileSystem
    yield* Effect.tryPromise({
      try: () => copyFile(file.place, to, constants.COPYFILE_FICLONE),
      catch: (error) => (error instanceof Error ? error : new Error(String(error)))
    })
    // What nobody may write, Windows lets nobody remove.
    yield* fileSystem.chmod(to, 0o644)
    return { ...file, sha256: yield* sha256OfFile(to), isReused: false } satisfies CopiedFile
  })

  const place = Effect.fnUntraced(
    function* (file: FolderFile, target: FetchTarget) {
      const path = yield* Path.Path
      const to = path.join(target.directory, ...file.path.split("/"))
      return yield* Option.match(yield* reuse(file, to, target), {
        onNone: () => copy(file, to),
        onSome: Effect.succeed
      })
    },
    (placing, { path }) =>
      Effect.mapError(
        placing,
        (cause: PlatformError | Error) =>
          new FolderFailed({ place: path, detail: `cannot be copied: ${explain(cause)}`, cause })
      )
  )

  /** Makes the folders that files are in. */
  const makeFolders = Effect.fnUntraced(
    function* (files: ReadonlyArray<FolderFile>, { directory }: FetchTarget) {
      const fileSystem = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folders = new Set(files.map((file) => path.join(directory, path.dirname(file.path))))
      yield* Effect.forEach(folders, (folder) => fileSystem.makeDirectory(folder, { recursive: true }), {
        discard: true
      })
    },
    (making, _files, { directory }) =>
      Effect.mapError(
        making,
        (cause) => new FolderFailed({ place: directory, detail: `cannot be made: ${explain(cause)}`, cause })
      )
  )

  /** Copies into a folder that has none of the files. Gives what became of each; `report` has how far it has come, four times a second at most. */
  return Effect.fn("FolderSource.copyFiles")(function* (
    files: ReadonlyArray<FolderFile>,
    target: FetchTarget,
    report: (progress: AttachmentProgress) => Effect.Effect<void>
  ) {
    const all = { total: files.length, totalBytes: sizeOf(files) }
    let done = 0
    let bytes = 0
    let due = 0
    const tell = Effect.flatMap(monotonicMillis, (now) => {
      const isDue = files.length > 0 && (now >= due || done === files.length)
      if (isDue) due = now + reportPause
      return isDue ? report({ ...all, done, bytes }) : Effect.void
    })
    yield* makeFolders(files, target)
    yield* tell
    const copied = yield* Effect.forEach(
      files,
      (file) =>
        Effect.tap(place(file, target), ({ size }) => {
          done += 1
          bytes += size
          return tell
        }),
      { concurrency }
    )
    known = new Map(copied.map((file) => [file.path, file]))
    return copied
  })
}

/** In milliseconds. */
const reportPause = 250

/** In bytes. */
export const sizeOf = (files: ReadonlyArray<FolderFile>): number =>
  files.reduce((sum, { size }) => sum + size, 0)
