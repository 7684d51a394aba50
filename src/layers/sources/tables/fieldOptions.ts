/**
 * Which fields of a table are read.
 */
import * as Array from "effect/Array"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { PlacedIssue } from "../../../internal/ParseIssues.ts"
import type { TableExpectation } from "../../documents/expect/ExpectOptions.ts"
import { namesOf } from "../../documents/expect/TableCheck.ts"
import type { Links } from "../../documents/linkRecords.ts"

/** Names of fields: of all tables, or by the name of one. */
export type Fields = ReadonlyArray<string> | Readonly<Record<string, ReadonlyArray<string>>>

interface Options {
  readonly fields: Fields
  readonly tables: ReadonlyArray<string>
}

/** The fields to read of a table; none for all. */
export const fieldsOf = ({ fields, tables }: Options, table: string): Option.Option<ReadonlyArray<string>> =>
  isList(fields) ? Option.liftPredicate(fields, () => tables.includes(table)) : Record.get(fields, table)

const isList = (fields: Fields): fields is ReadonlyArray<string> => Array.isArray(fields)

/** What is wrong with options of which each for itself is right. */
export const fieldIssues = (
  options: Options & {
    readonly expect: Readonly<Record<string, TableExpectation>>
    readonly links: Links
  }
): ReadonlyArray<PlacedIssue> => {
  const { expect, fields, links, tables } = options
  const isRead = (table: string, field: string): boolean =>
    Option.match(fieldsOf(options, table), { onNone: () => true, onSome: (read) => read.includes(field) })
  const known = Array.dedupe([...tables, ...Object.values(links)])
  return [
    ...(isList(fields) ? [] : Object.keys(fields))
      .filter((table) => !known.includes(table))
      .map((table) => ({
        path: `fields.${table}`,
        message: `there is no such table in "tables" and "links"; known are: ${known.join(", ")}`
      })),
    ...Object.keys(links)
      .filter((field) => tables.length > 0 && !tables.some((table) => isRead(table, field)))
      .map((field) => ({ path: `links.${field}`, message: notRead })),
    ...tables.flatMap((table) =>
      namesOf(expect[table]?.fields ?? {})
        .filter((field) => !isRead(table, field))
        .map((field) => ({ path: `expect.${table}.fields.${field}`, message: notRead }))
    )
  ]
}

const notRead = 'is not read: add it to "fields"'
