/**
 * A table or a JSON file of a folder, as a document.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { sizeText } from "../../../internal/readable.ts"
import { SourceError } from "../../../services/SourceError.ts"
import type { Delimiter } from "../../documents/csvText.ts"
import { withTextPlace } from "../../documents/Document.ts"
import { keyValues } from "../../documents/keyValues.ts"
import type { PathPattern } from "../../documents/media/PathPattern.ts"
import { parseCsv, parseJson } from "../../documents/readText.ts"
import { decodeText, type TextMistake } from "../../documents/textMistakes.ts"
import { notice } from "../../documents/warnings.ts"
import { readFile } from "./folderFiles.ts"
import { type FolderFile, FolderInUse, mistaken, printablePath } from "./lookAtFolder.ts"
import { missingWarnings, type NamedFiles, nameFiles } from "./namedFiles.ts"

/** Reads a document. A row of CSV is an object of texts, without its empty cells. */
export const readDocument = (file: FolderFile, options: ReadOptions) =>
  readWith(
    file,
    options,
    Effect.fnUntraced(function* (text, place) {
      if (!isCsv(file.path)) {
        const value = yield* parseJson(text, place)
        return yield* named(value, options, (record) =>
          record === undefined ? place : `${place}, record ${record + 1}`
        )
      }
      const { lines, records } = yield* parseCsv(text, { delimiter: options.delimiter, place })
      const value = yield* named(records, options, (record = 0) => `${place}, line ${lines[record]}`)
      return Array.isArray(value)
        ? value.map((record: object, index) =>
            withTextPlace(record, { file: place, line: lines[index] ?? 0 })
          )
        : value
    })
  )

/** Reads CSV with the columns `key` and `value` as one object. */
export const readKeyValues = (file: FolderFile, options: ReadOptions) =>
  readWith(
    file,
    options,
    Effect.fnUntraced(function* (text, place) {
      const { lines, records } = yield* parseCsv(text, { delimiter: options.delimiter, place })
      const lineOf = new Map(lines.map((line) => [`line ${line}`, line]))
      const rows = records.map((fields, index) => ({ id: `line ${lines[index]}`, fields }))
      const { recordOf, value, warnings } = yield* keyValues(
        rows,
        (detail) => new SourceError({ place, detail })
      )
      yield* notice(warnings.map((warning) => ({ ...warning, text: `${place}: ${warning.text}` })))
      const textPlaceOf = (key: string) => {
        const line = lineOf.get(recordOf(key) ?? "")
        return line === undefined ? undefined : { file: place, line }
      }
      const found = yield* named(value, options, () => place)
      return { value: Predicate.isReadonlyRecord(found) ? found : value, recordOf, textPlaceOf }
    })
  )

/** Whether a file is CSV by its name. */
export const isCsv = (path: string): boolean => /\.csv$/i.test(path)

/** `read` gets the text, and the name of the file for messages. */
const readWith = <A>(
  file: FolderFile,
  { maxBytes }: ReadOptions,
  read: (text: string, place: string) => Effect.Effect<A, TextMistake | SourceError>
): Effect.Effect<A, SourceError | FolderInUse> => {
  const { path, size } = file
  return size > maxBytes
    ? new SourceError({
        place: path,
        detail: `it has ${sizeText(size)}, which is more than "maxBytes" allows (${sizeText(maxBytes)}).`
      })
    : readFile(file).pipe(
        Effect.flatMap(decodeText),
        Effect.flatMap((text) => read(text, printablePath(path))),
        Effect.mapError((error) =>
          error instanceof SourceError || error instanceof FolderInUse ? error : mistaken(path, error)
        )
      )
}

/** The value with cells replaced by the paths of their files, with warnings about missing files. */
const named = (
  value: unknown,
  { files, pictures }: ReadOptions,
  place: (record: number | undefined) => string
) =>
  Effect.flatMap(nameFiles(value, files, pictures), ({ count, missing, value }) =>
    Effect.as(notice(missingWarnings(missing, count, files, place)), value)
  )

/** The options for reading documents of a folder. */
interface ReadOptions {
  /** The files that cells may name. */
  readonly files: NamedFiles
  readonly delimiter?: Delimiter
  /** In bytes. */
  readonly maxBytes: number
  /** The paths of cells that contain pictures. */
  readonly pictures: ReadonlyArray<PathPattern>
}
