/**
 * Stages versions: finds out which sources have changed, and reuses files of the latest version.
 */

import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { DownloadsFolder } from "../../files/DownloadsFolder.ts"
import { fileListName, type ListedSource } from "../../files/FileList.ts"
import { linkOrCopyAll } from "../../files/fileBatch.ts"
import { isDiskFull, remove } from "../../files/systemError.ts"
import { mapDiskError } from "../../files/versionStoreError.ts"
import type { PreviousContent } from "../../services/ContentSource.ts"
import type { StagedVersion, VersionId, VersionSource } from "../../services/VersionStore.ts"
import { sourceFiles, wholeFiles } from "./fileLists.ts"
import { disk, latestOf, ManifestFile } from "./ManifestFile.ts"
import { publish } from "./publish.ts"
import { VersionFolders } from "./VersionFolders.ts"

/** The version that was the latest when the staging began. */
interface PreviousVersion {
  readonly versionId: Option.Option<VersionId>
  readonly contents: ReadonlyArray<SourceContent>
}

interface SourceContent
  extends PreviousContent,
    Pick<ListedSource, "sourceId" | "records" | "values" | "keys"> {
  readonly versionId: VersionId
}

/** Stages a version, until the scope ends. */
export const stage = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const services = yield* disk
  const { inTurn } = yield* ManifestFile
  const folder = yield* (yield* DownloadsFolder).staged
  const previous = yield* previousVersion
  return {
    sourceDirectory: (sourceId) => {
      const directory = join(folder, sourceId)
      return fs.makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
    },
    previous: (id) => Array.findFirst(previous.contents, ({ sourceId }) => sourceId === id),
    previousIds: previous.contents.map(({ sourceId }) => sourceId),
    files: (source) => Effect.provide(sourceFiles(folder, source), services),
    promote: (sources) => promote(folder, previous, sources).pipe(inTurn, Effect.provide(services))
  } satisfies StagedVersion
})

const previousVersion = Effect.gen(function* () {
  const { listOf } = yield* VersionFolders
  const versionId = Option.map(yield* (yield* ManifestFile).active, latestOf)
  const list = Option.flatten(yield* Effect.transposeMapOption(versionId, listOf))
  const sources = Option.match(list, { onNone: () => [], onSome: ({ list }) => list.sources })
  const contents = yield* Effect.transposeMapOption(versionId, (versionId) =>
    Effect.forEach(sources, (source) => previousContent(versionId, source))
  )
  return { versionId, contents: Option.getOrElse(contents, () => []) } satisfies PreviousVersion
})

const previousContent = Effect.fnUntraced(function* (
  versionId: VersionId,
  { fingerprint, ...source }: ListedSource
) {
  const folder = yield* VersionFolders
  const directory = join(folder.ofVersion(versionId), source.sourceId)
  const damaged = yield* folder.damageOf(versionId)
  const times = yield* wholeFiles(directory, source.files)
  const isDamaged = damaged.size > 0 || times.size < Object.keys(source.files).length
  const isLeft = (name: string) => times.has(name) && !damaged.has(`${source.sourceId}/${name}`)
  const files = damaged.has(fileListName)
    ? {}
    : isDamaged
      ? Record.filter(source.files, (_, name) => isLeft(name))
      : source.files
  return {
    ...source,
    versionId,
    directory,
    files,
    times,
    fingerprint: isDamaged ? Option.none() : Option.some(fingerprint)
  } satisfies SourceContent
})

const promote = Effect.fnUntraced(function* (
  staged: string,
  { contents, versionId }: PreviousVersion,
  sources: ReadonlyArray<VersionSource>
) {
  const active = yield* (yield* ManifestFile).active
  const unchanged = sources.map(({ fingerprint, sourceId }) =>
    Array.findFirst(
      contents,
      (content) => content.sourceId === sourceId && Option.contains(content.fingerprint, fingerprint)
    )
  )
  const isSame = sources.length === contents.length && unchanged.every(Option.isSome)
  if (isSame && Option.isSome(active) && Option.contains(versionId, latestOf(active.value))) {
    return { changed: false, manifest: active.value }
  }
  if (contents.some(({ fingerprint }) => Option.isNone(fingerprint))) {
    yield* Effect.logWarning(
      `Files of version ${Option.getOrUndefined(versionId)} are missing or damaged: a new version replaces it.`
    )
  }
  yield* Effect.forEach(Array.getSomes(unchanged), (content) => reuse(staged, content), { discard: true })
  const manifest = yield* publish(staged, Array.zipWith(sources, unchanged, withKnown))
  return { changed: true, manifest }
})

const reuse = Effect.fnUntraced(function* (
  staged: string,
  { directory, files, sourceId, versionId }: SourceContent
) {
  const { noteDamage } = yield* VersionFolders
  const names = Object.keys(files)
  const paths = names.map((name) => `${sourceId}/${name}`)
  const target = join(staged, sourceId)
  yield* remove(target).pipe(
    Effect.zipRight(linkOrCopyAll(names, directory, target)),
    mapDiskError("reuse", directory),
    // Noted as damaged, so that the next fetch downloads these files again.
    Effect.tapError((error) => (isDiskFull(error) ? Effect.void : noteDamage(versionId, paths)))
  )
})

/** Adds what is known of an unchanged source, so that reused files are not read again. */
const withKnown = (source: VersionSource, content: Option.Option<SourceContent>): VersionSource =>
  Option.match(content, {
    onNone: () => source,
    onSome: ({ files, keys, records, values }) => ({
      ...source,
      keys: source.keys ?? keys,
      records: source.records ?? records,
      values: source.values ?? values,
      digests: Record.map(files, ({ sha256 }) => sha256)
    })
  })
