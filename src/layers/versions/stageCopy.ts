/**
 * Copies of versions of another controller that are being put together: what is on disk is reused by its
 * content.
 */
import { isDeepStrictEqual } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { excerpt } from "../../internal/printable.ts"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import { fileListName, filesOf } from "../../services/FileList.ts"
import {
  type CopiedFile,
  type Manifest,
  type StagedCopy,
  type VersionCopy,
  VersionStoreError
} from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { mapDiskError } from "./diskError.ts"
import { decodeList, filesIn, isWhole, type WrittenList } from "./fileLists.ts"
import type { ManifestFile } from "./ManifestFile.ts"
import { manifestOf, type Publishing } from "./publish.ts"
import type { Damage } from "./verify.ts"

/** The absolute paths of files, by their digests. */
type FilesOnDisk = ReadonlyMap<string, string>

export const makeStageCopy = Effect.fnUntraced(function* (
  downloads: DownloadsFolder,
  manifestFile: ManifestFile,
  publishing: Publishing,
  damage: Damage
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()

  const stagedCopy = (
    folder: string,
    filesOnDisk: Effect.Effect<FilesOnDisk, VersionStoreError>
  ): StagedCopy => {
    const directoryOf = (sourceId: string) => path.join(folder, sourceId)
    /** The sizes of what was linked, by paths with forward slashes: it needs neither be looked at nor made durable again. */
    const linked = new Map<string, number>()
    const makeDirectory = (directory: string) => fs.makeDirectory(directory, { recursive: true })

    /** Gives whether it could be reused: the file may be gone, or damaged. */
    const reuseFile = Effect.fnUntraced(
      function* (from: string, { path: name, size, sourceId }: CopiedFile) {
        if (!(yield* isWhole(from, size))) {
          return false
        }
        const to = path.join(directoryOf(sourceId), name)
        if (yield* linkOrCopy(from, to)) linked.set(`${sourceId}/${name}`, size)
        return true
      },
      Effect.catchIf(
        (error) => !isDiskFull(error),
        () => Effect.succeed(false)
      )
    )

    const reuse = (files: ReadonlyArray<CopiedFile>, onDisk: FilesOnDisk) =>
      Effect.forEach(foldersOf(files.map(({ path, sourceId }) => `${sourceId}/${path}`)), (below) =>
        makeDirectory(path.join(folder, below))
      ).pipe(
        Effect.zipRight(
          Effect.filter(
            files,
            (file) =>
              Option.match(Option.fromNullable(onDisk.get(file.sha256)), {
                onNone: () => Effect.succeed(true),
                onSome: (from) => Effect.negate(reuseFile(from, file))
              }),
            { concurrency: 8 }
          )
        ),
        mapDiskError("write to", folder)
      )

    const promote = (copy: VersionCopy) =>
      readCopy(folder, copy, linked).pipe(
        // A source may have no files.
        Effect.tap(({ list }) =>
          Effect.forEach(list.sources, ({ sourceId }) => makeDirectory(directoryOf(sourceId))).pipe(
            mapDiskError("write to", folder)
          )
        ),
        Effect.flatMap((list) => publishing.publishCopy(folder, list, linked)),
        Effect.tap(() => damage.forget(copy.manifest.versionId)),
        Effect.map((manifest) => ({ changed: true, manifest }))
      )

    return {
      sourceDirectory: (sourceId) => {
        const directory = directoryOf(sourceId)
        return makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
      },
      reuse: (files) =>
        Effect.flatMap(filesOnDisk, (onDisk) => reuse(files, onDisk)).pipe(Effect.provide(platform)),
      promote: (copy) => promote(copy).pipe(manifestFile.inTurn, Effect.provide(platform))
    }
  }

  /**
   * A file of each content, in the newest version that has it; lists are read once for a staged version. A content that is
   * damaged in one version is not reused: in another one it may be the same file under another name.
   */
  const filesOnDisk = downloads.versionIds.pipe(
    Effect.flatMap(Effect.forEach(downloads.listOf)),
    Effect.map((lists): FilesOnDisk => {
      const usable = Array.getSomes(lists)
        .map(({ list }) => ({
          damaged: damage.of(list.versionId),
          files: filesOf(list),
          versionId: list.versionId
        }))
        .filter(({ damaged }) => !damaged.has(fileListName))
      const paths = new Map<string, string>()
      for (const { files, versionId } of usable) {
        for (const [file, { sha256 }] of files) paths.set(sha256, `${downloads.ofVersion(versionId)}/${file}`)
      }
      for (const { damaged, files } of usable) {
        for (const file of damaged) paths.delete(files.get(file)?.sha256 ?? "")
      }
      return paths
    }),
    Effect.provide(platform),
    Effect.cached
  )

  return Effect.map(Effect.all([downloads.staged, filesOnDisk]), (parts) => stagedCopy(...parts))
})

/** The list of a copy of which all files, and no others, are in the folder. `known` are the sizes of some of them. */
const readCopy = Effect.fnUntraced(function* (
  folder: string,
  { fileList, manifest }: VersionCopy,
  known: ReadonlyMap<string, number>
) {
  const refused = (detail: string) =>
    new VersionStoreError({ action: "promote", path: `a copy of version ${manifest.versionId}`, detail })

  const list = yield* Effect.mapError(decodeList(fileList), (error) =>
    refused(`${fileListName} is no list of files: ${issueText(placedIssues(error))}`)
  )
  const difference = disagreement(manifest, list)
  if (difference !== undefined) {
    return yield* refused(`manifest.json and ${fileListName} do not agree: ${difference}.`)
  }
  const there = yield* filesIn(folder, known).pipe(mapDiskError("read", folder))
  const wrong = wrongFile(filesOf(list.list), there)
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

const wrongFile = (
  listed: ReturnType<typeof filesOf>,
  there: ReadonlyMap<string, number>
): string | undefined => {
  for (const [file, { size }] of listed) {
    const bytes = there.get(file)
    if (bytes === undefined) return `${file} is missing.`
    if (bytes !== size) return `${file} has ${bytes} bytes, not ${size}.`
  }
  const unlisted = [...there.keys()].find((file) => !listed.has(file))
  return unlisted === undefined ? undefined : `${unlisted} is not in ${fileListName}.`
}

/** All folders in which files are, by the paths of these; the empty path is among them. */
const foldersOf = (files: Iterable<string>): Set<string> => {
  const folders = new Set([""])
  for (const file of files) {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return folders
}
