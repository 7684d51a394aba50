/**
 * Making a folder the latest version, and a version the active one: durable first, then named by the manifest in one step.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { move as moveTo, retryHeldOpen } from "../../internal/heldOpen.ts"
import { fileListName, filesOf } from "../../services/FileList.ts"
import {
  type HoldRequest,
  type Manifest,
  timeOf,
  type VersionId,
  type VersionSource,
  VersionStoreError
} from "../../services/VersionStore.ts"
import { type DownloadsFolder, pathOf, readIfThere } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import { syncDirectory, syncTree } from "./durable.ts"
import { filesIn, makeList, type WrittenList, wholeFiles } from "./fileLists.ts"
import { latestOf, makeHolding } from "./hold.ts"
import type { ManifestFile } from "./ManifestFile.ts"
import type { VersionStoreDiskOptions } from "./VersionStoreDiskOptions.ts"
import type { Damage } from "./verify.ts"

export interface Publishing extends Effect.Effect.Success<ReturnType<typeof makePublishing>> {}

/** Versions with known `damage` cannot be activated; `unswept` keeps versions from being swept while it runs. */
export const makePublishing = Effect.fnUntraced(function* (
  folder: DownloadsFolder,
  manifestFile: ManifestFile,
  damage: Damage,
  releasing: VersionStoreDiskOptions["release"],
  unswept: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const writeListAnd = <R>(
    staged: string,
    { text }: WrittenList,
    sync: Effect.Effect<void, PlatformError | Error, R>
  ) =>
    fs
      .writeFileString(path.join(staged, fileListName), text)
      .pipe(Effect.zipRight(sync), mapDiskError("write to", folder.staging))

  const wholeVersion = Effect.fnUntraced(function* (versionId: string) {
    const found = yield* folder.find(versionId)
    return manifestOf(
      yield* wholeList(folder.ofVersion(found), yield* folder.listOf(found), damage.of(found))
    )
  })

  const { hold, release, resume, writeLatest } = makeHolding(manifestFile, wholeVersion, releasing)

  /** Where the manifest cannot be written, the folder is back where it was. */
  const move = Effect.fnUntraced(
    function* (staged: string, manifest: Manifest) {
      const version = folder.ofVersion(manifest.versionId)
      yield* moveTo(staged, version).pipe(mapDiskError("write to", folder.versions))
      return yield* syncDirectory(folder.versions).pipe(
        mapDiskError("write to", folder.versions),
        Effect.zipRight(writeLatest(manifest)),
        Effect.onError(() => Effect.ignore(moveTo(version, staged)))
      )
    },
    Effect.uninterruptible,
    unswept
  )

  /** Puts the files of the staged folder in the place of those of the same version, one by one. */
  const repair = Effect.fnUntraced(
    function* (staged: string, manifest: Manifest, { list }: WrittenList) {
      const version = folder.ofVersion(manifest.versionId)
      const files = [...filesOf(list).keys()]
      yield* Effect.gen(function* () {
        for (const file of [...files, fileListName]) {
          yield* fs.makeDirectory(path.dirname(path.join(version, file)), { recursive: true })
          yield* moveTo(path.join(staged, file), path.join(version, file))
        }
        const listed = new Set([...files, fileListName])
        for (const [file] of yield* filesIn(version)) {
          yield* listed.has(file) ? Effect.void : retryHeldOpen(fs.remove(path.join(version, file)))
        }
        yield* syncTree(version, Option.none())
      }).pipe(mapDiskError("write to", version))
      return yield* writeLatest(manifest)
    },
    Effect.uninterruptible,
    unswept
  )

  return {
    /** Makes the staged folder a new version. */
    publish: Effect.fnUntraced(function* (staged: string, sources: ReadonlyArray<VersionSource>) {
      const now = yield* Clock.currentTimeMillis
      // Readers may have seen the version that the manifest names, be that there or not: nothing older may follow.
      const named = Option.map(yield* manifestFile.content, ({ versionId }) => versionId)
      const versionId = nextVersionId(now, [...(yield* folder.versionIds), ...Option.toArray(named)])
      const list = yield* makeList(staged, { versionId, generatedAt: new Date(now).toISOString(), sources })
      const latest = Option.map(yield* manifestFile.active, latestOf)
      yield* writeListAnd(staged, list, syncTree(staged, Option.map(latest, folder.ofVersion)))
      return yield* move(staged, manifestOf(list))
    }),

    /** Makes the staged folder the version of the list, of which it has all files; those that are `linked` are durable. */
    publishCopy: Effect.fnUntraced(function* (
      staged: string,
      list: WrittenList,
      linked: ReadonlyMap<string, unknown>
    ) {
      const manifest = manifestOf(list)
      const version = folder.ofVersion(manifest.versionId)
      const before = yield* readIfThere(path.join(version, fileListName))
      if (Option.exists(before, (text) => text !== list.text)) {
        return yield* otherContent(version)
      }
      yield* writeListAnd(staged, list, syncTree(staged, Option.none(), linked))
      return yield* (yield* folder.hasVersion(manifest.versionId))
        ? repair(staged, manifest, list)
        : move(staged, manifest)
    }),

    activate: (versionId: string) => unswept(Effect.flatMap(wholeVersion(versionId), writeLatest)),
    hold: (request: HoldRequest) => unswept(hold(request)),
    release: (request: HoldRequest) => unswept(release(request)),
    resume: (request: Pick<HoldRequest, "by">) => unswept(resume(request))
  }
})

/** The list of a version that is on disk; fails where that is not whole, as far as is known. */
const wholeList = Effect.fnUntraced(function* (
  version: string,
  list: Option.Option<WrittenList>,
  damaged: ReadonlySet<string>
) {
  const path = yield* Path.Path
  const isWhole = yield* Effect.transposeMapOption(list, ({ list }) =>
    [fileListName, ...filesOf(list).keys()].some((file) => damaged.has(file))
      ? Effect.succeed(false)
      : Effect.every(list.sources, ({ files, sourceId }) =>
          Effect.map(wholeFiles(path.join(version, sourceId), files), (whole) => whole === files)
        )
  )
  if (Option.isNone(list) || Option.contains(isWhole, false)) {
    return yield* new VersionStoreError({
      action: "activate",
      path: version,
      detail: Option.isNone(list) ? `it has no valid ${fileListName}.` : "files are missing or damaged."
    })
  }
  return list.value
})

/** Versions never change: a copy of one cannot be put in the place of one that has another list. */
const otherContent = (version: string) =>
  new VersionStoreError({
    action: "replace",
    path: version,
    detail: `it has another ${fileListName} than the copy of the version of this id, and versions never change. Remove the folder if the copy is right.`
  })

/** What the manifest says while the version of the list is the active one. */
export const manifestOf = ({
  list: { generatedAt, schemaVersion, sources, versionId },
  sha256
}: WrittenList): Manifest => ({
  schemaVersion,
  versionId,
  versionPath: pathOf(versionId),
  generatedAt,
  sources: sources.map(({ sourceId }) => ({ sourceId, path: sourceId })),
  filesSha256: sha256
})

/**
 * The id of a version made at the given time, in milliseconds: after all existing ones in order, whatever the
 * clock did, and equal to none.
 */
export const nextVersionId = (now: number, existing: ReadonlyArray<VersionId>): VersionId => {
  const candidate = compact(now)
  const latest = existing.toSorted().at(-1)
  if (latest === undefined || latest.slice(0, candidate.length) < candidate) {
    return candidate
  }
  const second = latest.slice(0, candidate.length)
  const suffix = Number(latest.slice(candidate.length + 1)) + 1
  return suffix <= maxSuffix ? `${second}-${String(suffix).padStart(2, "0")}` : compact(timeOf(second) + 1000)
}

const maxSuffix = 99

/** `2026-11-21T09:30:00.000Z` as `20261121T093000Z`. */
const compact = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, "")
