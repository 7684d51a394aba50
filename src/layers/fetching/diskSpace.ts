/**
 * Whether there is room for another version: looked at after each fetch, not all the time.
 */
import { statfs } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { sizeText } from "../../internal/readable.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState } from "../../services/Slices.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import type { ContentSlice } from "./contentState.ts"

/**
 * Notes in the slice what is free where the versions are, and how large the active one is. Nothing is noted where that cannot be
 * read.
 */
export const makeDiskSpace = Effect.fnUntraced(function* (slice: ContentSlice) {
  const store = yield* VersionStore
  const versionBytes = (versionId: string) =>
    Effect.map(
      store.summarize(versionId),
      Option.match({
        onNone: () => 0,
        onSome: ({ sources }) => sources.reduce((sum, { bytes }) => sum + bytes, 0)
      })
    )

  return Effect.gen(function* () {
    const { versionId } = yield* slice.get
    if (versionId === undefined) {
      return
    }
    const { bavail, bsize } = yield* Effect.tryPromise(() => statfs(store.directory))
    const disk = { freeBytes: bavail * bsize, versionBytes: yield* versionBytes(versionId) }
    yield* slice.note((before) => ({ ...before, disk }))
  }).pipe(Effect.ignore)
})

/** A version may have to be saved as a whole, although most of its files are usually shared with the one before. */
export const diskProblems = (name: string, { disk, failingSince }: ContentState): ReadonlyArray<Problem> =>
  disk === undefined || disk.freeBytes >= disk.versionBytes
    ? []
    : [
        {
          code: "content:disk",
          severity: failingSince === undefined ? "warning" : "error",
          subject: name,
          text: `The disk of "${name}" has ${sizeText(disk.freeBytes)} free, and a version has ${sizeText(disk.versionBytes)}: the next one may not fit. Make room, or lower "keepVersions"`
        }
      ]
