/**
 * The options of tables: for a source over any client, for the client of the hosted API, and for the source with this
 * client (docs/wire.md, section 2.8). `TableConfig.ts` describes them.
 */
import * as Array from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { fileKey, idOf, isPlainFileName } from "../../../files/fileName.ts"
import {
  decodeOptions,
  expects,
  expectsSecret,
  InvalidOptions,
  omittable,
  optional,
  type PlacedIssue
} from "../../../internal/Options.ts"
import { ifUnset, isHttpBase, maxTimeout, plainDuration, secret } from "../../../internal/optionSchemas.ts"
import {
  ExpectOptions,
  type FieldSchema,
  type TableExpectation
} from "../../documents/expect/ExpectOptions.ts"
import { namesOf } from "../../documents/expect/TableCheck.ts"
import { Links } from "../../documents/linkRecords.ts"
import { defaultMaxBytes } from "../../documents/progress.ts"
import type * as Config from "./TableConfig.ts"

/** A text that meets the condition. */
const text = (valid: (text: string) => boolean) => Schema.String.pipe(Schema.filter(valid))

/**
 * Whether a name can be one segment of a URL's path. `.` and `..` cannot, in any encoding, because the request, with
 * its token, would go to another resource.
 */
export const isPathSegment = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !/\p{Surrogate}/u.test(name)

const tableNames = optional(
  expects(
    Schema.Array(expects(text(isPathSegment), "the name of a table")),
    "an array, each entry the name of a table"
  ),
  []
)

/** One declaration, so that a mistake is reported once and not for each member of a union. */
const ViewName = expects(
  Schema.declare(
    (input): input is string | null => input === null || (Predicate.isString(input) && input !== "")
  ),
  "the name of a view, or null for whole tables"
)

const isTexts = (input: unknown): input is ReadonlyArray<string> =>
  Array.isArray(input) && input.length > 0 && input.every((name) => Predicate.isString(name) && name !== "")

const isRecordOf =
  <A>(is: (value: unknown) => value is A) =>
  (input: unknown): input is Readonly<Record<string, A>> =>
    Predicate.isRecord(input) && Object.values(input).every(is)

const Fields = expects(
  Schema.declare(Predicate.or(isTexts, isRecordOf(isTexts))),
  "the names of fields, at least one, or an object with such names for each table"
)

export const TableSourceOptions = Schema.Struct({
  id: expects(text(isPlainFileName), 'one plain file name, such as "exhibits"'),
  defaultView: optional(ViewName, null),
  tables: tableNames,
  keyValueTables: tableNames,
  fields: optional(Fields, {}),
  links: optional(Links, {}),
  appendLocalAttachmentPaths: optional(expects(Schema.Boolean, "true or false"), true),
  maxTimeout: maxTimeout(),
  maxAttachmentBytes: optional(
    expects(Schema.Int.pipe(Schema.positive()), "a positive integer (bytes)"),
    defaultMaxBytes
  ),
  expect: optional(ExpectOptions, {}),
  wholeEvery: optional(plainDuration, "1 hour")
})
export type TableSourceOptions = typeof TableSourceOptions.Type

/** The options as a user writes them. */
export type TablesConfig = Config.TablesConfig<FieldSchema>

/** Decodes the options of a source, which may have further options. */
export const decodeSource =
  <A extends Pick<TableSourceOptions, "expect" | "fields" | "links" | "tables">, I>(
    schema: Schema.Schema<A, I>
  ) =>
  (input: unknown): Either.Either<A, InvalidOptions> => {
    const id = idOf(input)
    const subject = id === "" ? "the options of a table source" : `the options of the table source "${id}"`
    const decoded = decodeOptions(subject, schema)(input)
    const [first, ...rest] = [
      ...Either.match(decoded, { onLeft: ({ issues }) => issues, onRight: fieldIssues }),
      ...tableIssues(input),
      ...expectIssues(input)
    ]
    return first === undefined
      ? decoded
      : Either.left(new InvalidOptions({ subject, issues: [first, ...rest] }))
  }

export const decode = decodeSource(TableSourceOptions)

/**
 * The mistakes in the two lists taken together. It reads the undecoded input, so that they are reported beside all
 * other mistakes.
 */
const tableIssues = (input: unknown): ReadonlyArray<PlacedIssue> => {
  if (!Predicate.isRecord(input)) return []
  const seen = new Map<string, TableEntry>()
  return tablesOf(input).flatMap((entry) => {
    const key = fileKey(entry.table)
    const earlier = seen.get(key)
    if (earlier === undefined) {
      seen.set(key, entry)
      return []
    }
    return [{ path: entry.path, message: clash(entry, earlier) }]
  })
}

/** Expectations about tables that the source does not have. */
const expectIssues = (input: unknown): ReadonlyArray<PlacedIssue> => {
  if (!Predicate.isRecord(input) || !Predicate.isRecord(input.expect)) return []
  const known = tablesOf(input).map(({ table }) => table)
  return Object.keys(input.expect)
    .filter((table) => !known.includes(table))
    .map((table) => ({
      path: `expect.${table}`,
      message: `there is no such table in "tables" and "keyValueTables"; known are: ${known.join(", ")}`
    }))
}

interface TableEntry {
  readonly path: string
  readonly table: string
}

const tablesOf = ({ keyValueTables, tables }: Readonly<Record<string, unknown>>) => [
  ...named("tables", tables),
  ...named("keyValueTables", keyValueTables)
]

const named = (option: string, list: unknown): ReadonlyArray<TableEntry> =>
  Array.isArray(list)
    ? list.flatMap((table: unknown, index) =>
        Predicate.isString(table) ? [{ path: `${option}[${index}]`, table }] : []
      )
    : []

const clash = (entry: TableEntry, earlier: TableEntry): string =>
  entry.table === earlier.table
    ? `the table ${JSON.stringify(entry.table)} is already in ${earlier.path}; list it once`
    : `the table ${JSON.stringify(entry.table)} would be saved in the same file as ${JSON.stringify(earlier.table)} (${earlier.path}); rename one of them`

/** Names of fields: for all tables, or by the name of a table. */
export type Fields = ReadonlyArray<string> | Readonly<Record<string, ReadonlyArray<string>>>

interface Options {
  readonly fields: Fields
  readonly tables: ReadonlyArray<string>
}

/** The fields to read from a table; `None` for all. */
export const fieldsOf = ({ fields, tables }: Options, table: string): Option.Option<ReadonlyArray<string>> =>
  isList(fields) ? Option.liftPredicate(fields, () => tables.includes(table)) : Record.get(fields, table)

const isList = (fields: Fields): fields is ReadonlyArray<string> => Array.isArray(fields)

/** The mistakes in options that contradict each other. */
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

const apiKey = secret(
  (key) => /^[\x21-\x7e]+$/.test(key),
  `the API key: printable ASCII characters without spaces ${ifUnset}`
)

/** Decoded, it has no slash at its end. */
const endpointUrl = Schema.transform(
  expectsSecret(
    text(isHttpBase),
    'an http or https URL without credentials, query or fragment, such as "https://api.airtable.com"'
  ),
  Schema.String,
  { strict: true, decode: (url) => url.replace(/(?<!\/)\/+$/, ""), encode: (url) => url }
)

/** The base, its credential, and the limit of one request. */
export const AirtableClientOptions = Schema.Struct({
  baseId: expects(text(isPathSegment), 'the identifier of a base, such as "appAbCdEfGhIjKlMn"'),
  apiKey: Schema.propertySignature(apiKey).annotations({
    missingMessage: () => `is required ${ifUnset}`
  }),
  endpointUrl: optional(endpointUrl, "https://api.airtable.com"),
  changes: omittable(expects(Schema.Literal("webhook"), '"webhook"')),
  maxTimeout: TableSourceOptions.fields.maxTimeout
})
export type AirtableClientOptions = typeof AirtableClientOptions.Type

/**
 * The options as a user writes them.
 *
 * @since 0.1.0
 * @category models
 */
export type AirtableClientConfig = Config.AirtableClientConfig<string | Redacted.Redacted>

/** Options of a source, without the options about the files of its documents. */
export const AirtableTableOptions = Schema.Struct({
  ...TableSourceOptions.fields,
  ...AirtableClientOptions.fields,
  defaultView: optional(ViewName, "Grid view")
})

/** Options of a source without a change feed. */
export const PlainSourceOptions = AirtableTableOptions.omit("changes", "wholeEvery")

export const decodeClient = decodeOptions("the options of the table client", AirtableClientOptions)

/** As `decodeClient`, for a source without a change feed. */
export const decodePlain = decodeSource(PlainSourceOptions)
