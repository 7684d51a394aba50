/**
 * Making a staged folder the active version.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { VersionSource } from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import { syncDirectory, syncTree } from "./durable.ts"
import { type ManifestFile, manifestOf } from "./ManifestFile.ts"
import { nextVersionId } from "./versionId.ts"
import { recordSources, writeRecord } from "./versionRecord.ts"

/** Makes the staged folder durable, a version, and the one that the manifest names, in this order. */
export const publish = Effect.fnUntraced(function* (
  folder: DownloadsFolder,
  manifestFile: ManifestFile,
  staged: string,
  sources: ReadonlyArray<VersionSource>
) {
  const fs = yield* FileSystem.FileSystem
  const now = yield* Clock.currentTimeMillis
  const versionId = nextVersionId(now, [
    ...(yield* folder.versionIds),
    ...Option.toArray(yield* manifestFile.named)
  ])
  const generatedAt = new Date(now).toISOString()
  const manifest = manifestOf(versionId, { generatedAt, sources })
  const durable = Option.map(yield* manifestFile.active, ({ versionId }) => folder.ofVersion(versionId))
  yield* recordSources(staged, sources).pipe(
    Effect.flatMap((sources) => writeRecord(staged, { generatedAt, sources })),
    Effect.zipRight(syncTree(staged, durable)),
    mapDiskError("write to", folder.staging)
  )
  const version = folder.ofVersion(versionId)
  yield* Effect.gen(function* () {
    yield* fs.rename(staged, version).pipe(mapDiskError("write to", folder.versions))
    yield* syncDirectory(folder.versions).pipe(
      mapDiskError("write to", folder.versions),
      Effect.zipRight(manifestFile.write(manifest)),
      Effect.onError(() => Effect.ignore(fs.rename(version, staged)))
    )
  }).pipe(Effect.uninterruptible)
  return manifest
})
