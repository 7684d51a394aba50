/**
 * A table or a JSON file of a folder, as a document.
 */
import * as Effect from "effect/Effect"
import { sizeText } from "../../../internal/readable.ts"
import type { Delimiter } from "../../documents/csvHeader.ts"
import { linesOfRecords } from "../../documents/csvText.ts"
import type { PathPattern } from "../../documents/media/PathPattern.ts"
import { parseCsv, parseJson } from "../../documents/readText.ts"
import { decodeText } from "../../documents/textMistakes.ts"
import { FolderFailed, FolderInUse, mistaken, shown } from "./FolderFailed.ts"
import { readFile } from "./folderFiles.ts"
import type { FolderFile } from "./lookAtFolder.ts"
import { missingWarnings, type NamedFiles, nameFiles } from "./namedFiles.ts"

/** A row of CSV is an object of texts, without its empty cells. `warn` is given what its editors should look at. */
export const readDocument = Effect.fnUntraced(function* (
  file: FolderFile,
  files: NamedFiles,
  { delimiter, maxBytes, pictures }: DocumentReading,
  warn: (warnings: ReadonlyArray<string>) => void
) {
  const { path, size } = file
  if (size > maxBytes) {
    return yield* new FolderFailed({
      place: path,
      detail: `it has ${sizeText(size)}, which is more than "maxBytes" allows (${sizeText(maxBytes)}).`
    })
  }
  const isCsv = /\.csv$/i.test(path)
  return yield* Effect.gen(function* () {
    const text = yield* decodeText(yield* readFile(file))
    const read = yield* isCsv
      ? parseCsv(text, { delimiter, place: shown(path) })
      : parseJson(text, shown(path))
    const { count, missing, value } = yield* nameFiles(read, files, pictures)
    const wanted = new Set(missing.flatMap(({ record }) => (record === undefined ? [] : [record])))
    const lines = isCsv && wanted.size > 0 ? yield* linesOfRecords(text, wanted, delimiter) : new Map()
    warn(
      missingWarnings(missing, count, files, (record) =>
        record === undefined
          ? shown(path)
          : `${shown(path)}, ${isCsv ? `line ${lines.get(record)}` : `record ${record + 1}`}`
      )
    )
    return value
  }).pipe(
    Effect.mapError((error) =>
      error instanceof FolderFailed || error instanceof FolderInUse ? error : mistaken(path, error)
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
