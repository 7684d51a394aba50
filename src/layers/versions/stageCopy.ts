/**
 * Stages copies of another controller's versions. Files on disk with equal content are reused.
 */
import { dirname, join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { DownloadsFolder } from "../../files/DownloadsFolder.ts"
import { decodeFileList, fileListName, type WrittenList } from "../../files/FileList.ts"
import { linkOrCopy } from "../../files/fileBatch.ts"
import { isDiskFull } from "../../files/systemError.ts"
import { mapDiskError } from "../../files/versionStoreError.ts"
import { issueText, placedIssues } from "../../internal/Options.ts"
import { excerpt } from "../../internal/printable.ts"
import {
  type CopiedFile,
  type Manifest,
  type StagedCopy,
  type VersionCopy,
  VersionStoreError
} from "../../services/VersionStore.ts"
import { filesIn, isWhole } from "./fileLists.ts"
import { writeLatest } from "./Hold.ts"
import { type Disk, disk, ManifestFile, manifestOf } from "./ManifestFile.ts"
import { publishCopy } from "./publish.ts"
import { VersionFolders } from "./VersionFolders.ts"

/** The absolute paths of files, by digest. */
type FilesOnDisk = ReadonlyMap<string, string>

/** Stages a copy of a version, until the scope ends. */
export const stageCopy = Effect.gen(function* () {
  const services = yield* disk
  const { inTurn } = yield* ManifestFile
  const folder = yield* (yield* DownloadsFolder).staged
  /**
   * The sizes of linked files, by their paths with forward slashes: these files need no check, and are durable already.
   */
  const linked = new Map<string, number>()
  const onDisk = yield* Effect.cached(filesOnDisk)
  const published = <A, E>(copy: VersionCopy, then: (manifest: Manifest) => Effect.Effect<A, E, Disk>) =>
    publish(folder, copy, new Map([...linked, ...(copy.durable ?? [])]), then).pipe(
      inTurn,
      Effect.provide(services)
    )
  return {
    sourceDirectory: (sourceId) => Effect.provide(makeSourceFolder(folder, sourceId), services),
    reuse: (files) =>
      Effect.flatMap(onDisk, (onDisk) => reuse(folder, files, onDisk, linked)).pipe(Effect.provide(services)),
    promote: (copy) =>
      published(copy, (manifest) =>
        Effect.map(writeLatest(manifest), (manifest) => ({ changed: true, manifest }))
      ),
    keep: (copy) => published(copy, () => Effect.void)
  } satisfies StagedCopy
})

const makeDirectory = (directory: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeDirectory(directory, { recursive: true }))

/** Makes the folder and gives its path. A source may have no files. */
const makeSourceFolder = (staged: string, sourceId: string) => {
  const directory = join(staged, sourceId)
  return makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
}

/**
 * One file for each digest, from the newest version that has it. Lists are read once for a staged version. A content
 * that is damaged in one version is not reused from another version: both names may be links to the same file.
 */
const filesOnDisk = Effect.gen(function* () {
  const { damageOf, listOf, ofVersion, versionIds } = yield* VersionFolders
  const paths = new Map<string, string>()
  const damagedContents = new Set<string>()
  for (const versionId of yield* versionIds) {
    const list = yield* listOf(versionId)
    const damaged = yield* damageOf(versionId)
    if (Option.isNone(list) || damaged.has(fileListName)) continue
    for (const [file, { sha256 }] of list.value.files) {
      paths.set(sha256, `${ofVersion(versionId)}/${file}`)
      if (damaged.has(file)) damagedContents.add(sha256)
    }
  }
  for (const sha256 of damagedContents) paths.delete(sha256)
  return paths satisfies FilesOnDisk
})

const reuse = Effect.fnUntraced(function* (
  folder: string,
  files: ReadonlyArray<CopiedFile>,
  onDisk: FilesOnDisk,
  linked: Map<string, number>
) {
  const folders = new Set(files.map(({ path: name, sourceId }) => dirname(join(folder, sourceId, name))))
  return yield* Effect.forEach(folders, makeDirectory).pipe(
    Effect.zipRight(
      Effect.filter(
        files,
        (file) => Effect.negate(reuseFile(folder, file, onDisk.get(file.sha256), linked)),
        { concurrency: 8 }
      )
    ),
    mapDiskError("write to", folder)
  )
})

/** Gives whether the file could be reused: it may be gone, or damaged. */
const reuseFile = Effect.fnUntraced(
  function* (
    folder: string,
    { path: name, size, sourceId }: CopiedFile,
    from: string | undefined,
    linked: Map<string, number>
  ) {
    if (from === undefined || !(yield* isWhole(from, size))) {
      return false
    }
    if (yield* linkOrCopy(from, join(folder, sourceId, name))) linked.set(`${sourceId}/${name}`, size)
    return true
  },
  Effect.catchIf(
    (error) => !isDiskFull(error),
    () => Effect.succeed(false)
  )
)

/** `then` gets the manifest when the version is on disk. */
const publish = Effect.fnUntraced(function* <A, E, R>(
  folder: string,
  copy: VersionCopy,
  known: ReadonlyMap<string, number>,
  then: (manifest: Manifest) => Effect.Effect<A, E, R>
) {
  const list = yield* readCopy(folder, copy, known)
  yield* Effect.forEach(list.list.sources, ({ sourceId }) => makeSourceFolder(folder, sourceId))
  const published = yield* publishCopy(folder, list, known, then(manifestOf(list)))
  yield* (yield* VersionFolders).noteDamage(list.list.versionId, [])
  return published
})

/**
 * The list of a copy. Fails unless the folder has exactly the files of the list. `known` are the sizes of files known
 * already.
 */
const readCopy = Effect.fnUntraced(function* (
  folder: string,
  { fileList, manifest }: VersionCopy,
  known: ReadonlyMap<string, number>
) {
  const refused = (detail: string) =>
    new VersionStoreError({ action: "promote", path: `a copy of version ${manifest.versionId}`, detail })

  const list = yield* Effect.mapError(decodeFileList(fileList), (error) =>
    refused(`${fileListName} is no list of files: ${issueText(placedIssues(error))}`)
  )
  const difference = disagreement(manifest, list)
  if (difference !== undefined) {
    return yield* refused(`manifest.json and ${fileListName} do not agree: ${difference}.`)
  }
  const there = yield* filesIn(folder, known).pipe(mapDiskError("read", folder))
  const wrong = wrongFile(list.files, there)
  return wrong === undefined ? list : yield* refused(wrong)
})

const disagreement = (given: Manifest, list: WrittenList): string | undefined => {
  const listed = manifestOf(list)
  const difference = (["versionId", "versionPath", "generatedAt", "sources", "filesSha256"] as const).find(
    (key) => !isDeepStrictEqual({ ...listed, ...given }[key], listed[key])
  )
  return difference === undefined
    ? undefined
    : `${difference} is ${excerpt(JSON.stringify(given[difference]))}, not ${excerpt(JSON.stringify(listed[difference]))}`
}

const wrongFile = (listed: WrittenList["files"], there: ReadonlyMap<string, number>): string | undefined => {
  for (const [file, { size }] of listed) {
    const bytes = there.get(file)
    if (bytes === undefined) return `${file} is missing.`
    if (bytes !== size) return `${file} has ${bytes} bytes, not ${size}.`
  }
  const unlisted = [...there.keys()].find((file) => !listed.has(file))
  return unlisted === undefined ? undefined : `${unlisted} is not in ${fileListName}.`
}
