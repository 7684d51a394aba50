/**
 * The views of the tables, declared in `views.json` beside them.
 *
 * ```json
 * {
 *   "Objects": {
 *     "Published": {
 *       "filter": { "Status": "published" },
 *       "sort": [{ "field": "Year", "direction": "desc" }]
 *     },
 *     "All objects": {},
 *     "Grid view": { "removed": true }
 *   }
 * }
 * ```
 *
 * By table, then by view. A view keeps the records whose cells equal all of `filter`, ordered by `sort`; `{}`
 * is the whole table in the order of its file. Values in `filter` have the type of the cell (in a CSV table
 * all are texts); `null`, `false` and `""` ask for an empty cell. Every table also has the view `Grid view`,
 * the whole table, unless it is removed: that, and another view, is what a renamed view looks like.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { decodeOptions, expects } from "../../../src/internal/Options.ts"
import { InvalidTableFile } from "./FileCache.ts"
import { viewId } from "./identifiers.ts"
import { readJson } from "./parseJson.ts"
import { SortKey, sortRecords } from "./sortRecords.ts"
import { isEmptyCell, type ServedRecord } from "./Table.ts"

export const defaultView = "Grid view"

const CellValue = expects(
  Schema.declare(Schema.is(Schema.Union(Schema.String, Schema.Number, Schema.Boolean, Schema.Null))),
  "a text, a number, true, false or null"
)

const View = expects(
  Schema.Struct({
    filter: Schema.optionalWith(
      expects(
        Schema.Record({ key: Schema.String, value: CellValue }),
        "an object with a value for each field"
      ),
      { exact: true }
    ),
    sort: Schema.optionalWith(expects(Schema.Array(SortKey), "an array"), { exact: true }),
    removed: Schema.optionalWith(expects(Schema.Boolean, "true or false"), { exact: true })
  }),
  'an object with "filter", "sort" or neither'
)
export type View = typeof View.Type

const Views = Schema.Record({
  key: Schema.String,
  value: expects(Schema.Record({ key: Schema.String, value: View }), "an object with the views of the table")
})
export type Views = typeof Views.Type

const decodeViews = decodeOptions("views.json", Views)

/** The views that the text of `views.json` declares. */
export const parseViews = (file: string, text: string): Either.Either<Views, InvalidTableFile> =>
  Either.flatMap(readJson(file, text), (value) =>
    Either.mapLeft(decodeViews(value), ({ issues }) => {
      const problem = issues.map(({ message, path }) => `${path === "" ? "" : `${path}: `}${message}`)
      return new InvalidTableFile({ file, problem: problem.join("; ") })
    })
  )

/** The views of a table by name, without the removed ones. */
export const viewsOf = (views: Views, table: string): ReadonlyMap<string, View> => {
  const declared = Object.hasOwn(views, table) ? Object.entries(views[table] ?? {}) : []
  const all = new Map<string, View>([[defaultView, {}], ...declared])
  return new Map([...all].filter(([, { removed }]) => !removed))
}

/** Finds a view of a table by its name or id. */
export const findView = (
  views: ReadonlyMap<string, View>,
  table: string,
  nameOrId: string
): View | undefined =>
  views.get(nameOrId) ?? [...views].find(([name]) => viewId(table, name) === nameOrId)?.[1]

/** The fields that a view filters or sorts by. */
export const fieldsOf = ({ filter = {}, sort = [] }: View): ReadonlyArray<string> => [
  ...Object.keys(filter),
  ...sort.map(({ field }) => field)
]

/** The records that a view shows, in its order. */
export const applyView = (
  { filter = {}, sort = [] }: View,
  records: ReadonlyArray<ServedRecord>
): ReadonlyArray<ServedRecord> => {
  const conditions = Object.entries(filter)
  const shown = records.filter(({ fields }) =>
    conditions.every(([field, value]) =>
      isEmptyCell(value) ? !Object.hasOwn(fields, field) : fields[field] === value
    )
  )
  return sortRecords(sort, shown)
}
