/**
 * The versions in the downloads folder: which there are, their lists of files, their damage, and their removal.
 */

import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { DownloadsFolder, namesIn } from "../../files/DownloadsFolder.ts"
import { decodeFileList, type FileList, fileListName, type WrittenList } from "../../files/FileList.ts"
import { isDiskFull, retryHeldOpen } from "../../files/systemError.ts"
import { mapDiskError } from "../../files/versionStoreError.ts"
import { errorCode } from "../../internal/serializeError.ts"
import {
  VersionId,
  VersionNotFound,
  VersionStore,
  type VersionStoreError,
  type VersionSummary
} from "../../services/VersionStore.ts"

export class VersionFolders extends Context.Tag("vitrine/VersionFolders")<
  VersionFolders,
  {
    readonly ofVersion: (versionId: VersionId) => string

    /** The versions on disk, oldest first. */
    readonly versionIds: Effect.Effect<ReadonlyArray<VersionId>, VersionStoreError>

    readonly hasVersion: (versionId: VersionId) => Effect.Effect<boolean, VersionStoreError>

    /** The id, if this version is on disk. */
    readonly find: (versionId: string) => Effect.Effect<VersionId, VersionStoreError | VersionNotFound>

    /** The list of a version; `None` if it is missing or cannot be read. */
    readonly listOf: (versionId: VersionId) => Effect.Effect<Option.Option<WrittenList>>

    /** Summarizes a version, as `VersionStore.summarize` does. Summaries of readable lists are kept in memory. */
    readonly summarize: (
      versionId: string
    ) => Effect.Effect<Option.Option<VersionSummary>, VersionStoreError | VersionNotFound>

    /** Whether the version has the folders of all sources. */
    readonly hasSources: (
      versionId: VersionId,
      sources: ReadonlyArray<{ readonly sourceId: string }>
    ) => Effect.Effect<boolean, VersionStoreError>

    /** The files that were found missing or damaged, by their paths in the folder of the version. */
    readonly damageOf: (versionId: VersionId) => Effect.Effect<ReadonlySet<string>>

    /** Replaces the damaged files that were noted before. */
    readonly noteDamage: (versionId: VersionId, files: Iterable<string>) => Effect.Effect<void>

    /** Runs an effect during which no version is removed. */
    readonly unswept: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

    /**
     * Moves a version out in one step, so that nobody sees half a version; the next `emptyTrash` of the downloads folder
     * removes it. If it cannot be moved (a full disk, a layer of a container image), it is removed in place, its list of
     * files first, because a version without a list counts as incomplete. Gives whether the version is gone; otherwise
     * logs a warning.
     */
    readonly discard: (versionId: VersionId) => Effect.Effect<boolean>
  }
>() {}

const isVersionId = Schema.is(VersionId)

export const layer = Layer.effect(
  VersionFolders,
  Effect.gen(function* () {
    const downloads = yield* DownloadsFolder
    const { versions } = downloads
    const fs = yield* FileSystem.FileSystem
    const platform = yield* Effect.context<FileSystem.FileSystem>()
    const sweeping = yield* Effect.makeSemaphore(1)
    const damage = yield* Ref.make(HashMap.empty<VersionId, ReadonlySet<string>>())
    const ofVersion = (versionId: VersionId) => join(versions, versionId)

    const hasVersion = (versionId: VersionId) =>
      fs.exists(ofVersion(versionId)).pipe(mapDiskError("read", versions))

    const find = Effect.fnUntraced(function* (versionId: string) {
      return isVersionId(versionId) && (yield* hasVersion(versionId))
        ? versionId
        : yield* new VersionNotFound({ versionId })
    })

    const listOf = (versionId: VersionId) =>
      Effect.provide(readList(ofVersion(versionId), versionId), platform)
    const summaries = yield* makeSummaries(listOf)

    const discard = Effect.fnUntraced(
      function* (versionId: VersionId) {
        const version = ofVersion(versionId)
        yield* downloads.discard(version).pipe(
          Effect.catchIf(
            (error) => errorCode(error) === "EXDEV" || isDiskFull(error),
            () => retryHeldOpen(removeInPlace(version))
          ),
          mapDiskError("remove", version)
        )
        yield* Ref.update(damage, HashMap.remove(versionId))
        yield* summaries.invalidate(versionId)
        return true
      },
      Effect.provide(platform),
      Effect.catchAll(({ message }) => Effect.as(downloads.warnOnce(message), false))
    )

    return VersionFolders.of({
      ofVersion,
      versionIds: Effect.map(namesIn(fs, versions), (names) => names.filter(isVersionId).sort()),
      hasVersion,
      find,
      listOf,
      summarize: (versionId) => Effect.flatMap(find(versionId), summaries.get),
      hasSources: (versionId, sources) =>
        Effect.every(sources, ({ sourceId }) => fs.exists(join(ofVersion(versionId), sourceId))).pipe(
          mapDiskError("read", ofVersion(versionId))
        ),
      damageOf: (versionId) =>
        Effect.map(Ref.get(damage), (damage) =>
          Option.getOrElse(HashMap.get(damage, versionId), () => new Set<string>())
        ),
      noteDamage: (versionId, files) =>
        Ref.update(damage, HashMap.set<VersionId, ReadonlySet<string>>(versionId, new Set(files))),
      unswept: sweeping.withPermits(1),
      discard
    })
  })
)

/** Reading a list of 30,000 files takes a tenth of a second. */
const makeSummaries = Effect.fnUntraced(function* (
  listOf: (versionId: VersionId) => Effect.Effect<Option.Option<WrittenList>>
) {
  const summaries = yield* Cache.make({
    capacity: 256,
    lookup: (versionId: VersionId) =>
      Effect.map(
        listOf(versionId),
        Option.map(({ list }) => summaryOf(list))
      ),
    timeToLive: Number.POSITIVE_INFINITY
  })

  /**
   * Keeps only what could be read: an entry with a lifetime of 0 would stay if the clock was set back. Goes on if its first
   * caller is interrupted: others wait for it.
   */
  const get = (versionId: VersionId) =>
    Effect.onExit(summaries.get(versionId), (exit) =>
      Effect.unless(summaries.invalidate(versionId), () => Exit.isSuccess(exit) && Option.isSome(exit.value))
    ).pipe(Effect.uninterruptible, Effect.disconnect)

  return { get, invalidate: (versionId: VersionId) => summaries.invalidate(versionId) }
})

const removeInPlace = Effect.fnUntraced(function* (version: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(join(version, fileListName), { force: true })
  yield* fs.remove(version, { recursive: true, force: true })
})

/** The list of a version that is in a folder, where there is one. */
const readList = Effect.fnUntraced(function* (folder: string, versionId: VersionId) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(join(folder, fileListName)).pipe(
    Effect.flatMap(decodeFileList),
    Effect.filterOrFail(({ list }) => list.versionId === versionId),
    Effect.option
  )
})

/** The path of a version in the downloads folder, as in the manifest. */
export const pathOf = (versionId: VersionId) => `versions/${versionId}`

/** The list of a version in the store, where there is one. */
export const listOf = (versionId: VersionId) =>
  Effect.flatMap(VersionStore, ({ directory }) => readList(join(directory, pathOf(versionId)), versionId))

/** A summary of the list, for people. */
const summaryOf = ({ generatedAt, sources }: FileList): VersionSummary => ({
  generatedAt,
  sources: sources.map(({ files, fingerprint, keys, ...source }) => ({
    ...source,
    files: Object.keys(files).length,
    bytes: Object.values(files).reduce((sum, { size }) => sum + size, 0)
  }))
})
