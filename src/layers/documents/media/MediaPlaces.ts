/**
 * Writing where the files of links are: into documents, and into the index of media.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { sha256OfText } from "../../../internal/sha256.ts"
import { explain } from "../../../internal/systemError.ts"
import { savedText, sorted } from "../sortedJson.ts"
import { type FileDigest, rewrite } from "./documentFiles.ts"
import { changeAll, type Finding, type SearchedDocument } from "./findMedia.ts"
import type * as MediaFiles from "./MediaFiles.ts"
import * as MediaIndex from "./MediaIndex.ts"
import type * as PictureSizes from "./PictureSizes.ts"
import type { Placement } from "./placeMedia.ts"
import * as SourceFolder from "./SourceFolder.ts"

export const make = Effect.fnUntraced(function* (
  finding: Finding,
  { linkFile }: Effect.Effect.Success<typeof SourceFolder.make>
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Writes where the files of a document are; without any, the document is taken as it is. */
  const writeDocument = (
    document: SearchedDocument,
    directory: string,
    media: ReadonlyMap<string, MediaFiles.MediaFile>,
    pictures: PictureSizes.Pictures
  ) => {
    const file = path.join(directory, document.name)
    if (!document.hasMedia && !(document.hasFiles && finding.wantsPictures === true)) {
      return Effect.as(
        document.file === file ? Effect.void : linkFile(document.name, document.file, directory),
        Option.none<FileDigest>()
      )
    }
    const placement: Placement = {
      place: (found) =>
        Option.map(Option.fromNullable(media.get(found.identity)), ({ entry }) => ({
          localPath: entry.path,
          ...Option.match(pictures.sizesOf(found), {
            onNone: () => ({}),
            onSome: (sizes) => ({ sizes })
          })
        })),
      sizesOf: pictures.sizesOfOwn,
      leftOut: () => {}
    }
    return Effect.asSome(
      rewrite(document, { file, temporary: path.join(directory, ".document") }, (part) =>
        changeAll(document, part, finding, () => placement)
      )
    )
  }

  const writeIndex = Effect.fnUntraced(function* (index: MediaIndex.MediaIndex, directory: string) {
    const text = `${savedText(sorted(index))}\n`
    yield* Effect.mapError(
      fileSystem.writeFileString(path.join(directory, MediaIndex.indexPath), text),
      (cause) => SourceFolder.notSaved(MediaIndex.indexPath, `it cannot be written: ${explain(cause)}`, cause)
    )
    return sha256OfText(text)
  })

  return { writeDocument, writeIndex }
})
