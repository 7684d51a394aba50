/**
 * A table or a JSON file of a folder, as a document.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { at, type Mistake, mistake } from "../../../internal/mistake.ts"
import type { MistakePlace } from "../../../internal/mistakeParts.ts"
import type { RecordKey } from "../../../internal/recordKey.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import type { Delimiter } from "../../documents/csvText.ts"
import { withTextPlace } from "../../documents/Document.ts"
import type { FieldType } from "../../documents/DocumentConfig.ts"
import { keyValues } from "../../documents/keyValues.ts"
import type { PathPattern } from "../../documents/media/PathPattern.ts"
import { parseCsv, parseJson } from "../../documents/readText.ts"
import { decodeText } from "../../documents/textMistakes.ts"
import { failureAbout, notice, placed } from "../../documents/warnings.ts"
import { readFile } from "./folderFiles.ts"
import { type FolderFile, type FolderInUse, printablePath } from "./lookAtFolder.ts"
import { type NamedFiles, nameFiles } from "./namedFiles.ts"

/** Reads a document. A row of CSV is an object of texts, without its empty cells. */
export const readDocument = (file: FolderFile, options: ReadOptions) =>
  readWith(
    file,
    options,
    Effect.fnUntraced(function* (text, name) {
      if (!isCsv(file.path)) {
        const value = yield* parseJson(text, name)
        return yield* named(value, options, (record) => ({
          name,
          record: record === undefined ? undefined : String(record + 1)
        }))
      }
      const { errors, records, rows } = yield* parseCsv(text, csvOptions(name, options))
      const value = yield* named(records, options, (record) => ({
        name,
        rows: record === undefined ? undefined : [{ row: rows[record], id: records[record]?.[idOf(options)] }]
      }))
      return Array.isArray(value)
        ? value.map((record: object, index) => {
            const row = records[index]
            return withTextPlace(record, { row: rows[index] ?? 0, errors: row && errors.get(row) })
          })
        : value
    })
  )

const idOf = ({ key: [id = "", ...more] = [] }: ReadOptions): string =>
  id === "" || more.length > 0 ? "id" : id

const csvOptions = (file: string, options: ReadOptions) => ({
  file,
  delimiter: options.delimiter,
  id: idOf(options),
  isSaid: (column: string) => options.typeOf(column)?.endsWith("?") === false
})

/** Reads CSV with the columns `key` and `value` as one object. */
export const readKeyValues = (file: FolderFile, options: ReadOptions) =>
  readWith(
    file,
    options,
    Effect.fnUntraced(function* (text, name) {
      const { records, rows } = yield* parseCsv(text, { file: name, delimiter: options.delimiter })
      const { recordOf, value, warnings } = yield* keyValues(
        records.map((fields, index) => ({ id: String(rows[index]), fields })),
        (row) => ({ row: Number(row) })
      )
      yield* notice(warnings.map(placed({ name })))
      const textPlaceOf = (key: string) => {
        const row = recordOf(key)
        return row === undefined ? undefined : { row: Number(row) }
      }
      const found = yield* named(value, options, () => ({ name }))
      return { value: Predicate.isReadonlyRecord(found) ? found : value, recordOf, textPlaceOf }
    })
  )

/** Whether a file is CSV by its name. */
export const isCsv = (path: string): boolean => /\.csv$/i.test(path)

/** `read` gets the text, and the name of the file for messages. */
const readWith = <A>(
  file: FolderFile,
  { maxBytes }: ReadOptions,
  read: (text: string, place: string) => Effect.Effect<A, Mistake>
): Effect.Effect<A, SourceError | FolderInUse> => {
  const { path, size } = file
  const name = printablePath(path)
  return size > maxBytes
    ? failureAbout(mistake("text:long", { name }, { size, most: maxBytes }))
    : Effect.flatMap(readFile(file), (bytes) =>
        Effect.flatMap(decodeText(bytes), (text) => read(text, name)).pipe(
          Effect.mapError((mistake) => failureAbout(at({ name }, mistake)))
        )
      )
}

const named = (
  value: unknown,
  { files, pictures, typeOf }: ReadOptions,
  place: (record?: number) => MistakePlace
) => nameFiles(value, files, pictures, (field) => /^file/.test(typeOf(field) ?? ""), place)

/** The options for reading documents of a folder. */
interface ReadOptions {
  /** The files that cells may name. */
  readonly files: NamedFiles
  readonly delimiter?: Delimiter
  /** In bytes. */
  readonly maxBytes: number
  /** The paths of cells that contain pictures. */
  readonly pictures: ReadonlyArray<PathPattern>
  /** The fields that identify a record. */
  readonly key?: RecordKey | undefined
  /** The expected type of a field, if there is one. */
  readonly typeOf: (field: string) => FieldType | undefined
}
