/**
 * A table or a JSON file of a folder, as a document.
 */
import * as Effect from "effect/Effect"
import type { Delimiter } from "../../../internal/csvHeader.ts"
import { decodeText } from "../../../internal/editedText.ts"
import { sizeText } from "../../../internal/readable.ts"
import { parseCsv, parseJson } from "../../documents/outsideText.ts"
import { FolderFailed, mistaken } from "./FolderFailed.ts"
import { readFile } from "./folderFiles.ts"
import type { FolderFile } from "./lookAtFolder.ts"

/** A row of CSV is an object of texts, without its empty cells. */
export const readDocument = Effect.fnUntraced(function* (
  file: FolderFile,
  { delimiter, maxBytes }: { readonly delimiter?: Delimiter; readonly maxBytes: number }
) {
  const { path, size } = file
  if (size > maxBytes) {
    return yield* new FolderFailed({
      place: path,
      detail: `it has ${sizeText(size)}, which is more than "maxBytes" allows (${sizeText(maxBytes)}).`
    })
  }
  return yield* decodeText(yield* readFile(file)).pipe(
    Effect.flatMap((text) => (/\.csv$/i.test(path) ? parseCsv(text, delimiter) : parseJson(text))),
    Effect.mapError((mistake) => mistaken(path, mistake))
  )
})
