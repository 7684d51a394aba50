/**
 * Versions that are being put together, in any store: which sources have changed, and what is taken over of the others.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { linkOrCopyAll } from "../../internal/reuseFile.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import type { PreviousContent } from "../../services/ContentSource.ts"
import type {
  Manifest,
  StagedVersion,
  VersionId,
  VersionSource,
  VersionStoreError
} from "../../services/VersionStore.ts"
import { mapDiskError } from "./diskError.ts"
import { hasFiles, type RecordedSource } from "./versionRecord.ts"

type Platform = FileSystem.FileSystem | Path.Path

/** What a store has to offer so that versions can be staged in it. */
export interface StagingStore {
  readonly active: Effect.Effect<Option.Option<ActiveVersion>, VersionStoreError, Platform>
  /** Makes an empty folder, and gives its path. */
  readonly makeFolder: Effect.Effect<string, VersionStoreError, Platform>
  /** Removes such a folder, if it is still there. */
  readonly removeFolder: (folder: string) => Effect.Effect<void>
  /** Makes such a folder a version, and that the active one. */
  readonly publish: (
    folder: string,
    sources: ReadonlyArray<VersionSource>
  ) => Effect.Effect<Manifest, VersionStoreError, Platform>
}

export interface ActiveVersion {
  readonly manifest: Manifest
  /** The absolute path of its folder. */
  readonly folder: string
  /** What is known of its sources. */
  readonly sources: ReadonlyArray<Pick<RecordedSource, "sourceId"> & Partial<RecordedSource>>
}

/** The active version when another one was staged. */
interface PreviousVersion {
  /** Missing where there was none. */
  readonly versionId?: VersionId
  readonly contents: ReadonlyArray<SourceContent>
}

interface SourceContent extends PreviousContent {
  readonly sourceId: string
  /** The paths of its files. */
  readonly files: ReadonlyArray<string>
  readonly isDamaged: boolean
}

export const makeStage = Effect.fnUntraced(function* (store: StagingStore) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<Platform>())
  const promoting = yield* Effect.makeSemaphore(1)
  /** The version of which files could not be taken over, although they are there. */
  let unreadable: VersionId | undefined

  const previousVersion = Effect.fnUntraced(function* ({ folder, manifest, sources }: ActiveVersion) {
    const { versionId } = manifest
    const contents = yield* Effect.forEach(
      sources,
      Effect.fnUntraced(function* ({ files, fingerprint, sourceId }) {
        const directory = path.join(folder, sourceId)
        const isDamaged =
          versionId === unreadable || (files !== undefined && !(yield* hasFiles(directory, files)))
        return {
          sourceId,
          directory,
          files: Object.keys(files ?? {}),
          isDamaged,
          fingerprint: Option.fromNullable(files === undefined || isDamaged ? undefined : fingerprint)
        }
      })
    )
    return { versionId, contents } satisfies PreviousVersion
  })

  const stagedVersion = (folder: string, { contents, versionId }: PreviousVersion): StagedVersion => {
    const directoryOf = (sourceId: string) => path.join(folder, sourceId)

    const contentOf = (sourceId: string) =>
      Option.fromNullable(contents.find((content) => content.sourceId === sourceId))

    const unchanged = ({ fingerprint, sourceId }: VersionSource) =>
      Option.filter(contentOf(sourceId), (content) => Option.contains(content.fingerprint, fingerprint))

    const isSame = (sources: ReadonlyArray<VersionSource>) =>
      sources.length === contents.length &&
      sources.every(
        (source, index) => source.sourceId === contents[index]?.sourceId && Option.isSome(unchanged(source))
      )

    const takeOver = ({ directory, files, sourceId }: SourceContent) =>
      fs.remove(directoryOf(sourceId), { recursive: true, force: true }).pipe(
        Effect.zipRight(linkOrCopyAll(files, directory, directoryOf(sourceId))),
        mapDiskError("take over", directory),
        Effect.tapError((error) =>
          Effect.sync(() => {
            // The next fetch gets these files anew.
            unreadable = isDiskFull(error) ? unreadable : versionId
          })
        )
      )

    const promote = Effect.fnUntraced(function* (sources: ReadonlyArray<VersionSource>) {
      const active = yield* store.active
      if (Option.isSome(active) && active.value.manifest.versionId === versionId && isSame(sources)) {
        return { changed: false, manifest: active.value.manifest }
      }
      if (contents.some(({ isDamaged }) => isDamaged)) {
        yield* Effect.logWarning(`Files of version ${versionId} are missing or cut: a new one replaces it.`)
      }
      yield* Effect.forEach(Array.filterMap(sources, unchanged), takeOver, { discard: true })
      return { changed: true, manifest: yield* store.publish(folder, sources) }
    })

    return {
      sourceDirectory: (sourceId) => {
        const directory = directoryOf(sourceId)
        return fs.makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
      },
      previous: contentOf,
      promote: (sources) => promote(sources).pipe(promoting.withPermits(1), Effect.provide(platform))
    }
  }

  const previous = store.active.pipe(
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.succeed<PreviousVersion>({ contents: [] }),
        onSome: previousVersion
      })
    ),
    Effect.provide(platform)
  )
  const folder = Effect.acquireRelease(Effect.provide(store.makeFolder, platform), store.removeFolder)

  return Effect.zipWith(folder, previous, stagedVersion)
})
