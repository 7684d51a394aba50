/**
 * What identifies the records of a document, as far as it does: of records without it, or with that of another one, no later version knows
 * which is which.
 */
import * as Option from "effect/Option"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { defaultKey, type RecordKey, recordId } from "../../internal/recordKey.ts"

/** Without a `key`, records may all be without an `id`. */
export const makeRecordIds = (key: RecordKey | undefined) => {
  const idOf = recordId(key ?? defaultKey)
  const name = (key ?? defaultKey).join(" and ")
  const seen = new Set<string>()
  let missing = 0
  let twice = 0
  let first = ""

  return {
    /** The id of the next record. */
    add: (record: unknown): Option.Option<string> => {
      const id = idOf(record)
      if (Option.isNone(id)) {
        missing++
      } else if (seen.has(id.value)) {
        if (twice++ === 0) first = id.value
      } else {
        seen.add(id.value)
      }
      return id
    },

    warnings: (): ReadonlyArray<string> => [
      ...(missing === 0 || (key === undefined && seen.size === 0)
        ? []
        : [`${countText(missing, "record")} without ${name}, by which they would be compared`]),
      ...(twice === 0
        ? []
        : [`${countText(twice, "record")} with the ${name} of another one, ${excerpt(first)} first`])
    ]
  }
}
