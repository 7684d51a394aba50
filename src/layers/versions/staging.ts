/**
 * Versions that are being put together: which sources have changed, and what is taken over from versions that
 * are there.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { linkOrCopyAll } from "../../internal/reuseFile.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import type { PreviousContent } from "../../services/ContentSource.ts"
import { type FileList, fileListName, type ListedSource } from "../../services/FileList.ts"
import type {
  Manifest,
  StagedVersion,
  VersionId,
  VersionSource,
  VersionStoreError
} from "../../services/VersionStore.ts"
import type { Damage } from "./Damage.ts"
import { mapDiskError } from "./diskError.ts"
import type { Entries } from "./durable.ts"
import { listSource, type WrittenList, wholeFiles } from "./fileLists.ts"
import { latestOf } from "./hold.ts"

type Platform = FileSystem.FileSystem | Path.Path

/** What a store has to offer so that versions can be staged in it. */
export interface StagingStore {
  readonly latest: Effect.Effect<Option.Option<LatestVersion>, VersionStoreError, Platform>
  /** All versions of which the list of files is there, the newest first. */
  readonly versions: Effect.Effect<ReadonlyArray<ListedVersion>, VersionStoreError, Platform>
  /** Makes an empty folder, and gives its path. */
  readonly makeFolder: Effect.Effect<string, VersionStoreError, Platform>
  /** Removes such a folder, if it is still there. */
  readonly removeFolder: (folder: string) => Effect.Effect<void>
  /** Makes such a folder a version, and that the latest one. Gives the manifest. */
  readonly publish: (
    folder: string,
    sources: ReadonlyArray<VersionSource>
  ) => Effect.Effect<Manifest, VersionStoreError, Platform>
  /** As `publish`, of a folder that has all files of the list; all but the `fresh` files and folders are durable. */
  readonly publishCopy: (
    folder: string,
    list: WrittenList,
    fresh: Entries
  ) => Effect.Effect<Manifest, VersionStoreError, Platform>
  readonly damage: Damage
  /** Runs one effect at a time, of those that change the manifest. */
  readonly inTurn: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export interface ListedVersion {
  /** The absolute path of its folder. */
  readonly folder: string
  readonly list: FileList
}

export interface LatestVersion {
  /** It names the version, or says that it waits. */
  readonly manifest: Manifest
  /** The absolute path of its folder. */
  readonly folder: string
  readonly list: Option.Option<FileList>
}

/** The latest version when another one was staged. */
interface PreviousVersion {
  /** Missing where there was none. */
  readonly versionId?: VersionId
  readonly contents: ReadonlyArray<SourceContent>
}

interface SourceContent extends PreviousContent, Pick<ListedSource, "sourceId" | "records"> {
  readonly isDamaged: boolean
}

export const makeStage = Effect.fnUntraced(function* (store: StagingStore) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<Platform>())
  const previousVersion = Effect.fnUntraced(function* ({ folder, list, manifest }: LatestVersion) {
    const versionId = latestOf(manifest)
    const contents = yield* Option.match(list, {
      onNone: () =>
        Effect.succeed(
          manifest.sources.map(
            ({ sourceId }): SourceContent => ({
              sourceId,
              directory: path.join(folder, sourceId),
              files: {},
              isDamaged: false,
              fingerprint: Option.none()
            })
          )
        ),
      onSome: ({ sources }) => Effect.forEach(sources, (source) => previousContent(versionId, folder, source))
    })
    return { versionId, contents } satisfies PreviousVersion
  })

  const previousContent = Effect.fnUntraced(function* (
    versionId: VersionId,
    folder: string,
    { fingerprint, ...source }: ListedSource
  ) {
    const directory = path.join(folder, source.sourceId)
    const damaged = store.damage.of(versionId)
    const whole = yield* wholeFiles(directory, source.files)
    const isDamaged = damaged.size > 0 || whole !== source.files
    const files = damaged.has(fileListName)
      ? {}
      : Record.filter(whole, (_, name) => !damaged.has(`${source.sourceId}/${name}`))
    return {
      ...source,
      directory,
      files,
      isDamaged,
      fingerprint: isDamaged ? Option.none() : Option.some(fingerprint)
    } satisfies SourceContent
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
        Effect.zipRight(linkOrCopyAll(Object.keys(files), directory, directoryOf(sourceId))),
        mapDiskError("take over", directory),
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (versionId !== undefined && !isDiskFull(error)) {
              // The next fetch gets these files anew.
              store.damage.set(
                versionId,
                Object.keys(files).map((name) => `${sourceId}/${name}`)
              )
            }
          })
        )
      )

    const promote = Effect.fnUntraced(function* (sources: ReadonlyArray<VersionSource>) {
      const latest = yield* store.latest
      if (Option.isSome(latest) && latestOf(latest.value.manifest) === versionId && isSame(sources)) {
        return { changed: false, manifest: latest.value.manifest }
      }
      if (contents.some(({ isDamaged }) => isDamaged)) {
        yield* Effect.logWarning(
          `Files of version ${versionId} are missing or damaged: a new one replaces it.`
        )
      }
      yield* Effect.forEach(Array.filterMap(sources, unchanged), takeOver, { discard: true })
      return { changed: true, manifest: yield* store.publish(folder, sources.map(withKnown)) }
    })

    /** What is taken over is not read again. */
    const withKnown = (source: VersionSource): VersionSource =>
      Option.match(unchanged(source), {
        onNone: () => source,
        onSome: ({ files, records }) => ({
          ...(records === undefined ? {} : { records }),
          ...source,
          digests: Record.map(files, ({ sha256 }) => sha256)
        })
      })

    return {
      sourceDirectory: (sourceId) => {
        const directory = directoryOf(sourceId)
        return fs.makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
      },
      previous: contentOf,
      files: (source) =>
        listSource(folder, source).pipe(
          Effect.map(({ files }) => files),
          mapDiskError("read", directoryOf(source.sourceId)),
          Effect.provide(platform)
        ),
      promote: (sources) => promote(sources).pipe(store.inTurn, Effect.provide(platform))
    }
  }

  const previous = store.latest.pipe(
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.succeed<PreviousVersion>({ contents: [] }),
        onSome: previousVersion
      })
    ),
    Effect.provide(platform)
  )
  const folder = Effect.acquireRelease(Effect.provide(store.makeFolder, platform), store.removeFolder)

  return Effect.map(Effect.all([folder, previous]), (parts) => stagedVersion(...parts))
})
