/**
 * Versions that are being put together: which sources have changed, and what is reused of versions that
 * are there.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { retryHeldOpen } from "../../internal/heldOpen.ts"
import { linkOrCopyAll } from "../../internal/reuseFile.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import type { PreviousContent } from "../../services/ContentSource.ts"
import { fileListName, type ListedSource } from "../../services/FileList.ts"
import type { Manifest, StagedVersion, VersionId, VersionSource } from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import { sourceFiles, wholeFiles } from "./fileLists.ts"
import { latestOf } from "./hold.ts"
import type { ManifestFile } from "./ManifestFile.ts"
import type { Publishing } from "./publish.ts"
import type { Damage } from "./verify.ts"

type Platform = FileSystem.FileSystem | Path.Path

/** The latest version when another one was staged. */
interface PreviousVersion {
  /** Missing where there was none. */
  readonly versionId?: VersionId
  readonly contents: ReadonlyArray<SourceContent>
}

interface SourceContent extends PreviousContent, Pick<ListedSource, "sourceId" | "records" | "keys"> {}

export const makeStage = Effect.fnUntraced(function* (
  downloads: DownloadsFolder,
  manifestFile: ManifestFile,
  publishing: Publishing,
  damage: Damage
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* Effect.context<Platform>()

  const previousVersion = Effect.fnUntraced(function* (manifest: Manifest) {
    const versionId = latestOf(manifest)
    const folder = downloads.ofVersion(versionId)
    const list = yield* downloads.listOf(versionId)
    const sources = Option.match(list, { onNone: () => [], onSome: ({ list }) => list.sources })
    const contents = yield* Effect.forEach(sources, (source) => previousContent(versionId, folder, source))
    return { versionId, contents } satisfies PreviousVersion
  })

  const previousContent = Effect.fnUntraced(function* (
    versionId: VersionId,
    folder: string,
    { fingerprint, ...source }: ListedSource
  ) {
    const directory = path.join(folder, source.sourceId)
    const damaged = damage.of(versionId)
    const whole = yield* wholeFiles(directory, source.files)
    const isDamaged = damaged.size > 0 || whole !== source.files
    const files = damaged.has(fileListName)
      ? {}
      : Object.fromEntries(
          Object.entries(whole).filter(([name]) => !damaged.has(`${source.sourceId}/${name}`))
        )
    return {
      ...source,
      directory,
      files,
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

    const reuse = ({ directory, files, sourceId }: SourceContent) =>
      retryHeldOpen(fs.remove(directoryOf(sourceId), { recursive: true, force: true })).pipe(
        Effect.zipRight(linkOrCopyAll(Object.keys(files), directory, directoryOf(sourceId))),
        mapDiskError("reuse", directory),
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (versionId !== undefined && !isDiskFull(error)) {
              // The next fetch gets these files again.
              damage.set(
                versionId,
                Object.keys(files).map((name) => `${sourceId}/${name}`)
              )
            }
          })
        )
      )

    const promote = Effect.fnUntraced(function* (sources: ReadonlyArray<VersionSource>) {
      const active = yield* manifestFile.active
      if (Option.isSome(active) && latestOf(active.value) === versionId && isSame(sources)) {
        return { changed: false, manifest: active.value }
      }
      if (contents.some(({ fingerprint }) => Option.isNone(fingerprint))) {
        yield* Effect.logWarning(
          `Files of version ${versionId} are missing or damaged: a new one replaces it.`
        )
      }
      yield* Effect.forEach(Array.filterMap(sources, unchanged), reuse, { discard: true })
      return { changed: true, manifest: yield* publishing.publish(folder, sources.map(withKnown)) }
    })

    /** What is reused is not read again. */
    const withKnown = (source: VersionSource): VersionSource =>
      Option.match(unchanged(source), {
        onNone: () => source,
        onSome: ({ files, keys, records }) => ({
          ...(records === undefined ? {} : { records }),
          ...(keys === undefined ? {} : { keys }),
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
      files: (source) => sourceFiles(folder, source).pipe(Effect.provide(platform)),
      promote: (sources) => promote(sources).pipe(manifestFile.inTurn, Effect.provide(platform))
    }
  }

  const previous = manifestFile.active.pipe(
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.succeed<PreviousVersion>({ contents: [] }),
        onSome: previousVersion
      })
    ),
    Effect.provide(platform)
  )
  return Effect.map(Effect.all([downloads.staged, previous]), (parts) => stagedVersion(...parts))
})
