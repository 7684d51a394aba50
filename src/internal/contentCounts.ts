/**
 * How much content there is: records of lists, and documents that are one value each.
 */
import * as Schema from "effect/Schema"
import { countText } from "./readable.ts"
import { optional } from "./schemas.ts"

/** As fields of schemas. */
export const contentCounts = {
  /** Records in lists. */
  records: Schema.NonNegativeInt,
  /** Documents that are no list: key/value tables, and single objects. Missing if there are none. */
  values: optional(Schema.NonNegativeInt)
}

export interface ContentCounts {
  readonly records: number
  readonly values?: number
}

export const sumCounts = (all: Iterable<Partial<ContentCounts>>): ContentCounts => {
  let [records, values] = [0, 0]
  for (const counts of all) {
    records += counts.records ?? 0
    values += counts.values ?? 0
  }
  return values === 0 ? { records } : { records, values }
}

/** `40 records`, `40 records, 1 set of values`, `2 sets of values` */
export const countsText = ({ records, values = 0 }: ContentCounts): string =>
  [
    ...(records === 0 && values > 0 ? [] : [countText(records, "record")]),
    ...(values === 0 ? [] : [`${countText(values, "set")} of values`])
  ].join(", ")
