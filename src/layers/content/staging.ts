/**
 * Versions that are being put together.
 */
import { randomUUID } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import { type StagedVersion, VersionSource, type VersionStoreError } from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import type { ManifestFile } from "./ManifestFile.ts"
import { publish } from "./publish.ts"
import type { Trash } from "./Trash.ts"
import { hasSizes, readRecord } from "./versionRecord.ts"

/** `claimed` fails where nothing may be written. */
export const makeStage = Effect.fnUntraced(function* (
  folder: DownloadsFolder,
  manifestFile: ManifestFile,
  trash: Trash,
  claimed: Effect.Effect<void, VersionStoreError, FileSystem.FileSystem | Path.Path>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path>())
  const promoting = yield* Effect.makeSemaphore(1)

  /** The active version, where it was made of just these, and whether none of their files is missing or cut. */
  const activeOf = Effect.fnUntraced(function* (sources: ReadonlyArray<VersionSource>) {
    const active = yield* manifestFile.active
    if (Option.isNone(active)) {
      return Option.none()
    }
    const version = folder.ofVersion(active.value.versionId)
    const record = Option.filter(yield* readRecord(version), (record) => isSame(record.sources, sources))
    return yield* Effect.transposeMapOption(record, (record) =>
      Effect.map(hasSizes(version, record), (isWhole) => ({ manifest: active.value, isWhole }))
    )
  })

  const stagedVersion = (staged: string): StagedVersion => ({
    sourceDirectory: (sourceId) => {
      const directory = path.join(staged, sourceId)
      return fs.makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
    },

    previousDirectory: (sourceId) =>
      manifestFile.active.pipe(
        Effect.map(
          Option.flatMap(({ sources, versionId }) =>
            sources.some((source) => source.sourceId === sourceId)
              ? Option.some(path.join(folder.ofVersion(versionId), sourceId))
              : Option.none()
          )
        ),
        Effect.provide(platform)
      ),

    promote: (sources, { complete = Effect.void, isActiveDamaged = false } = {}) =>
      Effect.gen(function* () {
        const same = yield* activeOf(sources)
        if (Option.isSome(same) && same.value.isWhole && !isActiveDamaged) {
          return { changed: false, manifest: same.value.manifest }
        }
        if (Option.isSome(same)) {
          yield* Effect.logWarning(
            `Files of version ${same.value.manifest.versionId} are missing or cut: a new one replaces it.`
          )
        }
        yield* complete
        return { changed: true, manifest: yield* publish(folder, manifestFile, staged, sources) }
      }).pipe(promoting.withPermits(1), Effect.provide(platform))
  })

  const makeFolder = Effect.suspend(() => {
    const staged = path.join(folder.staging, randomUUID())
    return claimed.pipe(
      Effect.zipRight(fs.makeDirectory(staged).pipe(mapDiskError("write to", folder.staging))),
      Effect.as(staged),
      Effect.provide(platform)
    )
  })

  return Effect.acquireRelease(makeFolder, (staged) =>
    Effect.suspend(() => {
      trash.add(staged)
      return trash.empty
    })
  ).pipe(Effect.map(stagedVersion))
})

const isSame = Schema.equivalence(Schema.Array(VersionSource))
