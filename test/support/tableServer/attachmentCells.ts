/**
 * Attachments in cells: what a file declares, and what is served of it.
 *
 * In an array of a cell, nested or not, an object with a text `file` is an attachment. Its other keys are served
 * as they stand, in place of what is derived; those that are `null` are left out.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { AttachmentFile } from "./AttachmentFolder.ts"
import type { ServedRecord } from "./Table.ts"

/** What a cell of a table declares. */
export interface DeclaredAttachment extends Readonly<Record<string, unknown>> {
  /** The path in the folder of tables, with forward slashes. */
  readonly file: string
}

const isDeclared = (value: unknown): value is DeclaredAttachment =>
  Predicate.isReadonlyRecord(value) && Predicate.isString(value.file)

/** The records with what the API would serve of their attachments. `link` makes a URL, or none. */
export const serveAttachments = <E>(
  records: ReadonlyArray<ServedRecord>,
  find: (file: string) => Effect.Effect<AttachmentFile, E>,
  link: (file: string, id: string) => string | null
): Effect.Effect<ReadonlyArray<ServedRecord>, E> => {
  const serve = ({ file, ...declared }: DeclaredAttachment) =>
    Effect.map(find(file), ({ id, size, type }) =>
      Record.filter(
        {
          id,
          size,
          filename: file.slice(file.lastIndexOf("/") + 1),
          type,
          ...declared,
          url: link(file, id)
        },
        Predicate.isNotNull
      )
    )
  const served = (value: unknown): Effect.Effect<unknown, E> =>
    isDeclared(value)
      ? serve(value)
      : Array.isArray(value)
        ? Effect.forEach(value, served)
        : Effect.succeed(value)

  return Effect.forEach(records, (record) =>
    Object.values(record.fields).some(hasDeclared)
      ? Effect.map(
          Effect.forEach(Object.entries(record.fields), ([field, cell]) =>
            Effect.map(
              Array.isArray(cell) ? served(cell) : Effect.succeed(cell),
              (cell) => [field, cell] as const
            )
          ),
          (fields) => ({ ...record, fields: Object.fromEntries(fields) })
        )
      : Effect.succeed(record)
  )
}

const hasDeclared = (cell: unknown): boolean =>
  Array.isArray(cell) && cell.some((item) => isDeclared(item) || hasDeclared(item))

/** The files that the cells of records name, each once. */
export const declaredFiles = (records: ReadonlyArray<ServedRecord>): ReadonlyArray<string> => {
  const filesIn = (value: unknown): ReadonlyArray<string> =>
    isDeclared(value) ? [value.file] : Array.isArray(value) ? value.flatMap(filesIn) : []
  return [
    ...new Set(records.flatMap(({ fields }) => Object.values(fields).filter(Array.isArray).flatMap(filesIn)))
  ]
}
