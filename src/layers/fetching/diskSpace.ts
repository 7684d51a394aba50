/**
 * Finds out whether the disk has room for another version. Looks after each fetch only.
 */
import { statfs } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { countText, sizeText } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState } from "../../services/Slices.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import type { ContentSlice } from "./contentState.ts"

/**
 * Notes in the slice how many bytes and files are free on the disk of the versions, and how many the active version
 * has. Notes nothing if this cannot be read.
 */
export const makeDiskSpace = Effect.fnUntraced(function* (slice: ContentSlice) {
  const store = yield* VersionStore
  const sizeOf = (versionId: string) =>
    Effect.map(store.summarize(versionId), (found) => {
      const sources = Option.match(found, { onNone: () => [], onSome: ({ sources }) => sources })
      return {
        versionBytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
        versionFiles: sources.reduce((sum, { files }) => sum + files, 0)
      }
    })

  return Effect.gen(function* () {
    const { versionId } = yield* slice.get
    if (versionId === undefined) {
      return
    }
    const { bavail, bsize, ffree, files } = yield* Effect.tryPromise(() => statfs(store.directory))
    const size = yield* sizeOf(versionId)
    // Some file systems make inodes on demand, and report 0 of them.
    const disk = { ...size, freeBytes: bavail * bsize, freeFiles: files === 0 ? undefined : ffree }
    yield* slice.note((before) => ({ ...before, disk }))
  }).pipe(Effect.ignore)
})

/** A version may need its whole size, although it usually shares most files with the previous version. */
export const diskProblems = (name: string, { disk, failingSince }: ContentState): ReadonlyArray<Problem> => {
  const missing = disk === undefined ? undefined : missingOn(disk)
  return missing === undefined
    ? []
    : [
        {
          code: "content:disk",
          severity: failingSince === undefined ? "warning" : "error",
          subject: name,
          text: `The disk of "${name}" has ${missing}: the next version may not fit. Make room, or lower "keepVersions"`
        }
      ]
}

const missingOn = (disk: NonNullable<ContentState["disk"]>): string | undefined => {
  const { freeBytes, freeFiles, versionBytes, versionFiles } = disk
  return freeBytes < versionBytes
    ? `${sizeText(freeBytes)} free, and a version has ${sizeText(versionBytes)}`
    : freeFiles !== undefined && freeFiles < versionFiles
      ? `room for ${countText(freeFiles, "more file")} (inodes, "df -i"), and a version has ${versionFiles}`
      : undefined
}
