/**
 * A table or a JSON file of a folder, as a document.
 */
import * as Effect from "effect/Effect"
import { sizeText } from "../../../internal/readable.ts"
import { SourceError } from "../../../services/SourceError.ts"
import type { Delimiter } from "../../documents/csvHeader.ts"
import type { PathPattern } from "../../documents/media/PathPattern.ts"
import { parseCsv, parseJson } from "../../documents/readText.ts"
import { decodeText } from "../../documents/textMistakes.ts"
import { notice } from "../../documents/warnings.ts"
import { FolderInUse, mistaken, shown } from "./FolderInUse.ts"
import { readFile } from "./folderFiles.ts"
import type { FolderFile } from "./lookAtFolder.ts"
import { missingWarnings, type NamedFiles, nameFiles } from "./namedFiles.ts"

/** Reads a document. A row of CSV is an object of texts, without its empty cells. */
export const readDocument = Effect.fnUntraced(function* (
  file: FolderFile,
  files: NamedFiles,
  { delimiter, maxBytes, pictures }: DocumentReading
) {
  const { path, size } = file
  if (size > maxBytes) {
    return yield* new SourceError({
      place: path,
      detail: `it has ${sizeText(size)}, which is more than "maxBytes" allows (${sizeText(maxBytes)}).`
    })
  }
  const isCsv = /\.csv$/i.test(path)
  return yield* Effect.gen(function* () {
    const text = yield* decodeText(yield* readFile(file))
    const { lines, read } = yield* isCsv
      ? Effect.map(parseCsv(text, { delimiter, place: shown(path) }), ({ lines, records }) => ({
          lines,
          read: records
        }))
      : Effect.map(parseJson(text, shown(path)), (read) => ({ lines: [], read }))
    const { count, missing, value } = yield* nameFiles(read, files, pictures)
    yield* notice(
      missingWarnings(missing, count, files, (record) =>
        record === undefined
          ? shown(path)
          : `${shown(path)}, ${isCsv ? `line ${lines[record]}` : `record ${record + 1}`}`
      )
    )
    return value
  }).pipe(
    Effect.mapError((error) =>
      error instanceof SourceError || error instanceof FolderInUse ? error : mistaken(path, error)
    )
  )
})

/** How documents of a folder are read. */
interface DocumentReading {
  readonly delimiter?: Delimiter
  /** In bytes. */
  readonly maxBytes: number
  /** Where cells name pictures. */
  readonly pictures: ReadonlyArray<PathPattern>
}
