/**
 * The list of the files of a version of a hub.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { sha256OfText } from "../../internal/sha256.ts"
import type { CopyFailed } from "../../services/Content.ts"
import { type FileList, fileListName } from "../../services/FileList.ts"
import { applyDelta, FileListDeltaJson } from "../../services/FileListDelta.ts"
import { decodeList } from "../content/fileLists.ts"
import { checkDigest, twiceWhereWrong } from "./checkDigest.ts"
import type { FileGone, Hub } from "./Hub.ts"
import { folderOf, type HubVersion } from "./HubManifest.ts"

/**
 * Where there is a `base`, a list that is on disk, it asks for the changes since, and for the whole list only if those do not
 * give the right digest.
 */
export const fetchList = Effect.fnUntraced(function* (
  hub: Hub,
  version: HubVersion,
  base: Option.Option<FileList>
) {
  const file = `${folderOf(version)}/${fileListName}`
  const updated = Option.isNone(base)
    ? Option.none<string>()
    : yield* fetchChanges(hub, file, version.filesSha256, base.value)
  const text = Option.isSome(updated) ? updated.value : yield* fetchWhole(hub, file, version.filesSha256)
  return yield* Effect.mapError(decodeList(text), (error) =>
    hub.failed(`${file} is no list of files: ${issueText(placedIssues(error))}`, { isTransient: false })
  )
})

const fetchWhole = (hub: Hub, file: string, listed: string) =>
  hub.fetchList(file).pipe(
    Effect.tap((text) => checkDigest(hub, file, { found: sha256OfText(text), listed })),
    twiceWhereWrong
  )

/** The text of the list; none where the changes that the hub gives do not lead to it, or it gives none. */
const fetchChanges = (hub: Hub, file: string, sha256: string, base: FileList) =>
  hub.fetchList(file, base.versionId).pipe(
    Effect.map((given) =>
      Option.match(decodeDelta(given), {
        onNone: () => given,
        onSome: (delta) => applyDelta(base, delta)
      })
    ),
    Effect.map((text) => (sha256OfText(text) === sha256 ? Option.some(text) : Option.none())),
    // A static server may accept no query.
    Effect.catchIf(isRefused, () => Effect.succeed(Option.none<string>()))
  )

const decodeDelta = Schema.decodeOption(FileListDeltaJson)

const isRefused = (error: CopyFailed | FileGone): boolean =>
  error._tag === "vitrine/FileGone" || !error.isTransient
