/**
 * Copies of versions of another controller: whether one is what its list and its manifest say.
 */
import { isDeepStrictEqual } from "node:util"
import * as Effect from "effect/Effect"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { fileListName, filesOf } from "../../services/FileList.ts"
import { type Manifest, type VersionCopy, VersionStoreError } from "../../services/VersionStore.ts"
import { mapDiskError } from "./diskError.ts"
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
    : `${difference} is ${JSON.stringify(given[difference])}, not ${JSON.stringify(listed[difference])}`
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
