/**
 * The options of a table source over any client (docs/wire.md, section 2.8), and what each must be;
 * `TableSourceConfig.ts` says what they are for.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { fileKey, isPlainFileName } from "../../../internal/FileName.ts"
import { decodeOptions, expects, InvalidOptions, idOf, optional } from "../../../internal/Options.ts"
import { plainDuration } from "../../../internal/optionSchemas.ts"
import type { PlacedIssue } from "../../../internal/ParseIssues.ts"
import { links } from "../../documents/DocumentOptions.ts"
import { ExpectOptions, type FieldSchema } from "../../documents/expect/ExpectOptions.ts"
import { defaultMaxBytes } from "../../httpClient/downloadCounter.ts"
import { fieldIssues } from "./fieldOptions.ts"
import type * as Config from "./TableSourceConfig.ts"

/** Text that is valid. */
export const text = (valid: (text: string) => boolean) => Schema.String.pipe(Schema.filter(valid))

/**
 * Whether a name can be one segment of a URL's path. `.` and `..` cannot, however they are encoded: the
 * request, and the token with it, would go to another resource.
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

/** Declared as one, so that a mistake is reported once and not for each member of a union. */
export const ViewName = expects(
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
  links,
  appendLocalAttachmentPaths: optional(expects(Schema.Boolean, "true or false"), true),
  maxTimeout: optional(
    expects(Schema.Int.pipe(Schema.between(1, 600_000)), "an integer from 1 to 600000 (milliseconds)"),
    60_000
  ),
  maxAttachmentBytes: optional(
    expects(Schema.Int.pipe(Schema.positive()), "a positive integer (bytes)"),
    defaultMaxBytes
  ),
  expect: optional(ExpectOptions, {}),
  wholeEvery: optional(plainDuration, "1 hour")
})
export type TableSourceOptions = typeof TableSourceOptions.Type

/** The options as a user writes them. */
export type TableSourceConfig = Config.TableSourceConfig<FieldSchema>

/** Decodes the options of a source, which may have more of them than these. */
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
 * What is wrong with the two lists taken together. It reads the undecoded input, so that it can be reported
 * beside every other mistake.
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

/** What is expected of tables that are none of the source. */
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
