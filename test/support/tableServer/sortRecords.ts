/**
 * The order of records by the cells of one or more fields.
 */
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import { expects } from "../../../src/internal/Options.ts"
import type { ServedRecord } from "./Table.ts"

export const SortKey = expects(
  Schema.Struct({
    field: expects(Schema.String, "the name of a field"),
    /** Default `asc`. */
    direction: Schema.optionalWith(
      expects(Schema.declare(Schema.is(Schema.Literal("asc", "desc"))), '"asc" or "desc"'),
      { exact: true }
    )
  }),
  'an object with a "field"'
)
export type SortKey = typeof SortKey.Type

/** Sorts by the first key, then by the second, and so on; equal records stay as they were. */
export const sortRecords = (
  keys: ReadonlyArray<SortKey>,
  records: ReadonlyArray<ServedRecord>
): ReadonlyArray<ServedRecord> =>
  keys.length === 0 ? records : records.toSorted(Order.combineAll(keys.map(byKey)))

const byKey = ({ direction = "asc", field }: SortKey): Order.Order<ServedRecord> => {
  const ascending = Order.mapInput(byCell, ({ fields }: ServedRecord) =>
    Object.hasOwn(fields, field) ? fields[field] : undefined
  )
  return direction === "asc" ? ascending : Order.reverse(ascending)
}

/** Ascending: empty cells, then true, numbers, texts (as a reader would order them), and the rest by its JSON. */
const byCell: Order.Order<unknown> = Order.combineAll([
  Order.mapInput(Order.number, (cell: unknown) => rank(cell)),
  Order.make((self: unknown, that: unknown) =>
    typeof self === "number" && typeof that === "number"
      ? Order.number(self, that)
      : compareTexts(asText(self), asText(that))
  )
])

const rank = (cell: unknown): number => {
  switch (typeof cell) {
    case "undefined":
      return 0
    case "boolean":
      return 1
    case "number":
      return 2
    case "string":
      return 3
    default:
      return 4
  }
}

const asText = (cell: unknown): string => (typeof cell === "string" ? cell : (JSON.stringify(cell) ?? ""))

const collator = new Intl.Collator("en")

const compareTexts = (self: string, that: string): -1 | 0 | 1 => Order.number(collator.compare(self, that), 0)
