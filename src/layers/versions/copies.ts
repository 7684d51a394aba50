/**
 * Copies of versions of another controller: whether one is what its list and its manifest say.
 */
import { isDeepStrictEqual } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { excerpt } from "../../internal/printable.ts"
import { fileListName, filesOf } from "../../services/FileList.ts"
import { type Manifest, type VersionCopy, VersionStoreError } from "../../services/VersionStore.ts"
import { mapDiskError, orWhereMissing } from "./diskError.ts"
import { decodeList, filesIn, type WrittenList } from "./fileLists.ts"
import { manifestOf } from "./publish.ts"

/** The list of a copy of which all files, and no others, are in the folder. `known` are the sizes of some of them. */
export const readCopy = Effect.fnUntraced(function* (
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
  const listed = filesOf(list.list)
  const there = yield* filesOfCopy(folder, listed, known).pipe(mapDiskError("read", folder))
  const wrong = wrongFile(listed, there)
  return wrong === undefined ? list : yield* refused(wrong)
})

/** As `filesIn`, of a folder of which it is known what should be there: each folder is listed, and only new files are looked at. */
const filesOfCopy = Effect.fnUntraced(function* (
  folder: string,
  listed: ReadonlyMap<string, unknown>,
  known: ReadonlyMap<string, number>
) {
  const fs = yield* FileSystem.FileSystem
  const there = new Map<string, number>()
  const folders = foldersOf(listed.keys())
  for (const below of folders) {
    const names = yield* fs.readDirectory(`${folder}/${below}`).pipe(orWhereMissing<Array<string>>([]))
    for (const name of names) {
      const entry = below === "" ? name : `${below}/${name}`
      const size = known.get(entry)
      if (size !== undefined) {
        there.set(entry, size)
      } else if (!folders.has(entry)) {
        const { size, type } = yield* fs.stat(`${folder}/${entry}`)
        const files = type === "Directory" ? yield* filesIn(`${folder}/${entry}`) : []
        if (type === "File") there.set(entry, Number(size))
        for (const [file, size] of files) there.set(`${entry}/${file}`, size)
      }
    }
  }
  return there
})

/** All folders in which files are, by the paths of these; the empty path is among them. */
export const foldersOf = (files: Iterable<string>): Set<string> => {
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
