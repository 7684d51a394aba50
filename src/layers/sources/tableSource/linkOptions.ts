/**
 * Which fields of a table are read, and which of them link to which table.
 */
import * as Array from "effect/Array"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { PlacedIssue } from "../../../internal/ParseIssues.ts"
import type { TableExpectation } from "../../documents/expect/ExpectOptions.ts"
import { namesOf } from "../../documents/expect/TableCheck.ts"

/** The table that a field links to, by the name of the field: in all tables, or by the name of one. */
export type Links = Readonly<Record<string, string | Readonly<Record<string, string>>>>

/** Names of fields: of all tables, or by the name of one. */
export type Fields = ReadonlyArray<string> | Readonly<Record<string, ReadonlyArray<string>>>

interface Options {
  readonly fields: Fields
  readonly links: Links
  readonly tables: ReadonlyArray<string>
}

export interface Link {
  readonly field: string
  /** The table of the linked records. */
  readonly target: string
  /** The tables of which at least one has the field. */
  readonly among: ReadonlyArray<string>
}

/** The links of a table. What is said of this table counts more than what is said of all. */
export const linksFrom = ({ links, tables }: Options, table: string): ReadonlyArray<Link> => {
  if (!tables.includes(table)) return []
  const own = ofTable(links, table)
  const shared = Record.filter(links, Predicate.isString)
  return Object.entries({ ...shared, ...own }).map(([field, target]) => ({
    field,
    target,
    among: Object.hasOwn(own, field) ? [table] : tables
  }))
}

const ofTable = (links: Links, table: string): Readonly<Record<string, string>> => {
  const own = Record.get(links, table)
  return Option.isSome(own) && !Predicate.isString(own.value) ? own.value : {}
}

/** All tables that others link to. */
export const linkedTables = (options: Options): ReadonlyArray<string> =>
  Array.dedupe(options.tables.flatMap((table) => linksFrom(options, table).map(({ target }) => target)))

/** The fields to read of a table; none for all. */
export const fieldsOf = ({ fields, tables }: Options, table: string): Option.Option<ReadonlyArray<string>> =>
  isList(fields) ? Option.liftPredicate(fields, () => tables.includes(table)) : Record.get(fields, table)

const isList = (fields: Fields): fields is ReadonlyArray<string> => Array.isArray(fields)

/** What is wrong with options of which each for itself is right. */
export const linkIssues = (
  options: Options & { readonly expect: Readonly<Record<string, TableExpectation>> }
): ReadonlyArray<PlacedIssue> => {
  const { expect, fields, links, tables } = options
  const unread = (table: string, field: string): boolean =>
    Option.exists(fieldsOf(options, table), (read) => !read.includes(field))
  const readable = [...tables, ...linkedTables(options)]

  const noTables = (
    option: string,
    names: ReadonlyArray<string>,
    known: ReadonlyArray<string>,
    where: string
  ) =>
    names
      .filter((name) => !known.includes(name))
      .map((name) => ({
        path: `${option}.${name}`,
        message: `there is no such table in ${where}; known are: ${known.join(", ")}`
      }))

  const unreadLinks = tables.flatMap((table) =>
    linksFrom(options, table).flatMap(({ among, field }) =>
      among.every((table) => unread(table, field)) ? [among === tables ? field : `${table}.${field}`] : []
    )
  )

  return [
    ...noTables("links", Object.keys(Record.filter(links, Predicate.isRecord)), tables, '"tables"'),
    ...(isList(fields) ? [] : noTables("fields", Object.keys(fields), readable, '"tables" and "links"')),
    ...Array.dedupe(unreadLinks).map((path) => ({ path: `links.${path}`, message: notRead })),
    ...tables.flatMap((table) =>
      namesOf(expect[table]?.fields ?? {})
        .filter((field) => unread(table, field))
        .map((field) => ({ path: `expect.${table}.fields.${field}`, message: notRead }))
    )
  ]
}

const notRead = 'is not read: add it to "fields"'
