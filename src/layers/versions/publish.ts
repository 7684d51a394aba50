/**
 * Makes a staged folder the latest version: first durable on disk, then named by the manifest in one step.
 */

import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { DownloadsFolder } from "../../files/DownloadsFolder.ts"
import { syncDirectory, syncTree } from "../../files/durable.ts"
import { fileListName, type WrittenList } from "../../files/FileList.ts"
import { move as moveTo, remove } from "../../files/systemError.ts"
import { mapDiskError } from "../../files/versionStoreError.ts"
import { versionTime } from "../../internal/schemas.ts"
import { type VersionId, type VersionSource, VersionStoreError } from "../../services/VersionStore.ts"
import { filesIn, makeList } from "./fileLists.ts"
import { writeLatest } from "./Hold.ts"
import { latestOf, ManifestFile, manifestOf } from "./ManifestFile.ts"
import { VersionFolders } from "./VersionFolders.ts"

/** Makes the staged folder a new version. */
export const publish = Effect.fnUntraced(function* (staged: string, sources: ReadonlyArray<VersionSource>) {
  const { staging } = yield* DownloadsFolder
  const { ofVersion, versionIds } = yield* VersionFolders
  const manifestFile = yield* ManifestFile
  const now = yield* Clock.currentTimeMillis
  // Readers may have seen the latest version of the manifest, even if it is not on disk: no older id may follow.
  const named = Option.map(yield* manifestFile.content, latestOf)
  const versionId = nextVersionId(now, [...(yield* versionIds), ...Option.toArray(named)])
  const list = yield* makeList(staged, { versionId, generatedAt: new Date(now).toISOString(), sources })
  const latest = Option.map(yield* manifestFile.restored, latestOf)
  yield* writeList(staged, list)
  yield* syncTree(staged, Option.map(latest, ofVersion)).pipe(mapDiskError("write to", staging))
  return yield* move(staged, versionId, writeLatest(manifestOf(list)))
})

/**
 * Makes the staged folder the version of the list. The folder has all files of the list; `durable` ones are already
 * durable. `then` runs together with the move, without interruption.
 *
 * Fails if another version has the same id. A list on disk that cannot be read, or that is not the list of the
 * manifest, is damaged, and is replaced.
 */
export const publishCopy = Effect.fnUntraced(function* <A, E, R>(
  staged: string,
  list: WrittenList,
  durable: ReadonlyMap<string, unknown>,
  then: Effect.Effect<A, E, R>
) {
  const { staging } = yield* DownloadsFolder
  const { hasVersion, listOf, ofVersion } = yield* VersionFolders
  const { versionId } = list.list
  const before = yield* listOf(versionId)
  const active = yield* (yield* ManifestFile).content
  const isNamed = Option.exists(
    active,
    (active) => active.versionId === versionId && active.filesSha256 === list.sha256
  )
  if (!isNamed && Option.exists(before, ({ sha256 }) => sha256 !== list.sha256)) {
    return yield* otherContent(ofVersion(versionId))
  }
  yield* writeList(staged, list)
  yield* syncTree(staged, Option.none(), durable).pipe(mapDiskError("write to", staging))
  return yield* (yield* hasVersion(versionId)) ? repair(staged, list, then) : move(staged, versionId, then)
})

const writeList = Effect.fnUntraced(function* (staged: string, { text }: WrittenList) {
  const fs = yield* FileSystem.FileSystem
  const { staging } = yield* DownloadsFolder
  yield* fs.writeFileString(join(staged, fileListName), text).pipe(mapDiskError("write to", staging))
})

/** Uninterruptible, and no version is swept meanwhile. */
const inOneGo = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(VersionFolders, ({ unswept }) => unswept(Effect.uninterruptible(effect)))

/** Moves the folder back if `then` fails. */
const move = Effect.fnUntraced(function* <A, E, R>(
  staged: string,
  versionId: VersionId,
  then: Effect.Effect<A, E, R>
) {
  const { versions } = yield* DownloadsFolder
  const version = (yield* VersionFolders).ofVersion(versionId)
  yield* moveTo(staged, version).pipe(mapDiskError("write to", versions))
  return yield* syncDirectory(versions).pipe(
    mapDiskError("write to", versions),
    Effect.zipRight(then),
    Effect.onError(() => Effect.ignore(moveTo(version, staged)))
  )
}, inOneGo)

/** Replaces the files of a version by the staged ones, one by one, and the list last. */
const repair = Effect.fnUntraced(function* <A, E, R>(
  staged: string,
  list: WrittenList,
  then: Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const version = (yield* VersionFolders).ofVersion(list.list.versionId)
  const files = new Set([...list.files.keys(), fileListName])
  yield* Effect.gen(function* () {
    for (const file of files) {
      yield* fs.makeDirectory(dirname(join(version, file)), { recursive: true })
      yield* moveTo(join(staged, file), join(version, file))
    }
    for (const file of (yield* filesIn(version)).keys()) {
      yield* files.has(file) ? Effect.void : remove(join(version, file))
    }
    yield* syncTree(version, Option.none())
  }).pipe(mapDiskError("write to", version))
  return yield* then
}, inOneGo)

/** A version never changes, so a copy with another list cannot replace it. */
const otherContent = (version: string) =>
  new VersionStoreError({
    action: "replace",
    path: version,
    detail: `its ${fileListName} differs from the list of the copy with the same id, and versions never change. Remove the folder if the copy is right.`
  })

/**
 * The id of a version made at `now`, in milliseconds since 1970. It is unique, and sorts after all existing ids,
 * whatever the clock did.
 */
export const nextVersionId = (now: number, existing: ReadonlyArray<VersionId>): VersionId => {
  const candidate = compact(now)
  const latest = existing.toSorted().at(-1)
  if (latest === undefined || latest.slice(0, candidate.length) < candidate) {
    return candidate
  }
  const second = latest.slice(0, candidate.length)
  const suffix = Number(latest.slice(candidate.length + 1)) + 1
  return suffix <= maxSuffix
    ? `${second}-${String(suffix).padStart(2, "0")}`
    : compact(versionTime(second) + 1000)
}

const maxSuffix = 99

/** `2026-11-21T09:30:00.000Z` as `20261121T093000Z`. */
const compact = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, "")
