/**
 * The files of a folder in a version: copied, or reused from the last version.
 *
 * They are not links to the files of the folder, because such a link would change with its file, and no version may
 * change. Unchanged files are linked from the last version only if there will be a new version.
 */

import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { toError } from "../../../files/fileBatch.ts"
import { endedBy, repeatAfter } from "../../../internal/Schedules.ts"
import type { AttachmentProgress, FetchTarget, PreviousContent } from "../../../services/ContentSource.ts"
import { takeOver } from "../../documents/Document.ts"
import { ownFlawsOf, readIndex } from "../../documents/media/mediaIndex.ts"
import type { Flaw } from "../../documents/media/verdict.ts"
import { makeDownloadCounter } from "../../httpClient/downloadCounter.ts"
import { copyFile, type Digested, digestOf } from "./folderFiles.ts"
import { type FolderFile, failed, isSame } from "./lookAtFolder.ts"

export interface SavedFile extends FolderFile, Digested {
  /** Whether the last version has it. */
  readonly isReused: boolean
}

/** More files at a time are not faster on disks. */
const concurrency = 2

export const makeTakeFiles = () => {
  /** Files of the last fetch, by their paths: a digest is valid while size and dates stay the same. */
  let known: ReadonlyMap<string, SavedFile> = new Map()

  /**
   * The digest of a file without reading it, if it is known. A controller that has just started uses the copy in the
   * last version, if the copy has the same date and was made after the file's last change; then the index of the version
   * has its flaw.
   */
  const provenOf = (
    file: FolderFile,
    previous: PreviousContent | undefined,
    flaws: ReadonlyMap<string, Flaw>
  ): Digested | undefined => {
    const last = known.get(file.path)
    if (last !== undefined && isSame(last, file)) return last
    const before = previous && fileIn(previous, file.path)
    const copy = known.size > 0 ? undefined : previous?.times?.get(file.path)
    const isCopy =
      copy !== undefined && Math.abs(copy.modified - file.modified) < 1 && file.changed < copy.made
    return isCopy && before?.size === file.size
      ? { sha256: before.sha256, flaw: flaws.get(file.path) }
      : undefined
  }

  /**
   * Copies new files into `target`, which has none of the files, and returns all files. `report` gets the progress,
   * four times a second at most.
   */
  return Effect.fn("FolderSource.takeFiles")(function* (
    files: ReadonlyArray<FolderFile>,
    target: FetchTarget,
    report: (progress: AttachmentProgress) => Effect.Effect<void>
  ) {
    const { directory } = target
    const previous = Option.getOrUndefined(target.previous)
    const totalBytes = sizeOf(files)
    const flaws = known.size > 0 ? new Map<string, Flaw>() : ownFlawsOf(yield* readIndex(target.previous))
    const proven = files.map((file) => provenOf(file, previous, flaws))

    const reusedOf = (file: FolderFile, found: Digested | undefined): SavedFile | undefined =>
      found !== undefined && found.sha256 === (previous && fileIn(previous, file.path))?.sha256
        ? { ...file, sha256: found.sha256, flaw: found.flaw, isReused: true }
        : undefined

    const reused = files.map((file, at) => reusedOf(file, proven[at]))
    const counter = yield* makeDownloadCounter<void>(
      files.length,
      {
        done: reused.filter((file) => file !== undefined).length,
        bytes: sizeOf(reused.flatMap((file) => file ?? []))
      },
      (_, progress) => report({ ...progress, totalBytes })
    )
    if (files.length > 0) yield* counter.report()
    let unreported = 0
    const onBytes = (bytes: number) => {
      unreported += bytes
    }
    const takeUnreported = () => {
      const bytes = unreported
      unreported = 0
      return bytes
    }
    // A large file on a slow share takes longer than a fetch may be without progress.
    const reportBytes = Effect.suspend(() =>
      unreported === 0 ? Effect.void : counter.onBytes()(takeUnreported())
    )
    const makeFolder = yield* Effect.cachedFunction((folder: string) =>
      Effect.tryPromise({ try: () => mkdir(folder, { recursive: true }), catch: toError })
    )

    const take = Effect.fnUntraced(function* (file: FolderFile, found: Digested | undefined) {
      const before = previous && fileIn(previous, file.path)
      const read =
        found === undefined && before?.size === file.size ? yield* digestOf(file, onBytes) : undefined
      const same = reusedOf(file, read)
      if (same !== undefined) return same
      if (read !== undefined) onBytes(-file.size)
      const to = join(directory, file.path)
      yield* Effect.mapError(makeFolder(dirname(to)), cannotCopy(file.path))
      return { ...file, ...(yield* copyFile(file, to, onBytes)), isReused: false }
    })

    // Most files are reused, and a fiber for each of them would take longer than all else.
    const taken: ReadonlyArray<SavedFile> = yield* Effect.forEach(
      files.flatMap((file, at) => (reused[at] === undefined ? [{ file, found: proven[at] }] : [])),
      ({ file, found }) => Effect.tap(take(file, found), () => counter.fileKept(undefined, takeUnreported())),
      { concurrency }
    ).pipe(endedBy(repeatAfter("1 second")(reportBytes)))
    const rest = new Map(taken.map((file) => [file.path, file]))
    const saved = files.flatMap((file, at) => reused[at] ?? rest.get(file.path) ?? [])
    known = new Map(saved.map((file) => [file.path, file]))
    return saved
  })
}

/** Links the reused files from the last version. */
export const linkReused = (files: ReadonlyArray<SavedFile>, target: FetchTarget) => {
  const reused = files.flatMap(({ isReused, path }) => (isReused ? [path] : []))
  return reused.length === 0
    ? Effect.void
    : Effect.mapError(takeOver(target, reused), cannotCopy(target.directory))
}

const cannotCopy = (place: string) => (cause: Error) => failed(place, "copied", cause)

const fileIn = ({ files }: PreviousContent, path: string) =>
  Object.hasOwn(files, path) ? files[path] : undefined

/** In bytes. */
export const sizeOf = (files: ReadonlyArray<FolderFile>): number =>
  files.reduce((sum, { size }) => sum + size, 0)
