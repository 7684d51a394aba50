/**
 * Copies of versions of another controller that are being put together, in any store: what is on disk is taken over by its
 * content.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { linkOrCopy, sizeOfWhole } from "../../internal/reuseFile.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import { fileListName, filesOf } from "../../services/FileList.ts"
import type { CopiedFile, StagedCopy, VersionCopy, VersionStoreError } from "../../services/VersionStore.ts"
import { readCopy } from "./copies.ts"
import { mapDiskError } from "./diskError.ts"
import type { StagingStore } from "./staging.ts"

export const makeStageCopy = Effect.fnUntraced(function* (store: Omit<StagingStore, "latest" | "publish">) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path>())

  const stagedCopy = (
    folder: string,
    fileOfContent: Effect.Effect<ReadonlyMap<string, string>, VersionStoreError>
  ): StagedCopy => {
    const directoryOf = (sourceId: string) => path.join(folder, sourceId)
    const directories = new Set<string>()
    /** The sizes of what was linked, by paths with forward slashes: it needs neither be looked at nor made durable again. */
    const linked = new Map<string, number>()

    const makeDirectory = (directory: string) =>
      directories.has(directory)
        ? Effect.void
        : Effect.map(fs.makeDirectory(directory, { recursive: true }), () => {
            directories.add(directory)
          })

    const takeOver = (from: string, { path: name, size, sourceId }: CopiedFile) => {
      const to = path.join(directoryOf(sourceId), name)
      return Effect.zipRight(makeDirectory(path.dirname(to)), linkOrCopy(from, to)).pipe(
        Effect.map((isLink) => {
          if (isLink) linked.set(`${sourceId}/${name}`, size)
          return true
        }),
        Effect.catchIf(
          (error) => !isDiskFull(error),
          () => Effect.succeed(false)
        ),
        mapDiskError("write to", folder)
      )
    }

    const reuse = (file: CopiedFile) =>
      Effect.flatMap(fileOfContent, (files) => {
        const from = files.get(file.sha256)
        return from === undefined
          ? Effect.succeed(false)
          : Effect.flatMap(sizeOfWhole(from, Option.some(file.size)), (size) =>
              Option.isSome(size) ? takeOver(from, file) : Effect.succeed(false)
            )
      })

    const promote = (copy: VersionCopy) =>
      readCopy(folder, copy, linked).pipe(
        // A source may have no files.
        Effect.tap(({ list }) =>
          Effect.forEach(list.sources, ({ sourceId }) => makeDirectory(directoryOf(sourceId))).pipe(
            mapDiskError("write to", folder)
          )
        ),
        Effect.flatMap((list) => store.publishCopy(folder, list, new Set(linked.keys()))),
        Effect.tap(() => store.damage.forget(copy.manifest.versionId)),
        Effect.map((manifest) => ({ changed: true, manifest }))
      )

    return {
      sourceDirectory: (sourceId) => {
        const directory = directoryOf(sourceId)
        return makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
      },
      reuse: (file) => Effect.provide(reuse(file), platform),
      promote: (copy) => promote(copy).pipe(store.inTurn, Effect.provide(platform))
    }
  }

  const folder = Effect.acquireRelease(Effect.provide(store.makeFolder, platform), store.removeFolder)

  /**
   * One file for each content, in the newest version that has it; read once for a staged version. Of what is damaged in one
   * version there is none: in another one it may be the same file under another name.
   */
  const fileOfContent = Effect.cached(
    Effect.map(Effect.provide(store.versions, platform), (versions) => {
      const files = new Map<string, string>()
      const damagedContents = new Set<string>()
      for (const { folder, list } of versions) {
        const damaged = store.damage.of(list.versionId)
        for (const [file, { sha256 }] of damaged.has(fileListName) ? [] : filesOf(list)) {
          if (damaged.has(file)) damagedContents.add(sha256)
          else if (!files.has(sha256)) files.set(sha256, path.join(folder, file))
        }
      }
      for (const sha256 of damagedContents) files.delete(sha256)
      return files
    })
  )

  return Effect.map(Effect.all([folder, fileOfContent]), (parts) => stagedCopy(...parts))
})
