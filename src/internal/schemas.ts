/**
 * Schemas that several services use.
 */
import * as Schema from "effect/Schema"
import { orUndefined } from "./Options.ts"

/** A number of things. */
export const count = Schema.NonNegativeInt

/** A time: ISO 8601, UTC, with milliseconds. */
export const timestamp = Schema.String

/** A field that may be missing or `undefined`; JSON leaves it out. */
export const optional = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(orUndefined(schema), { exact: true })

/**
 * A list whose items are checked only once, on the first read. A hub publishes a thousand players, and its state is
 * read far more often than a player changes.
 */
export const listOfChecked = <A extends object, I>(
  item: Schema.Schema<A, I>
): Schema.Schema<ReadonlyArray<A>> => {
  const isItem = Schema.is(item)
  const checked = new WeakSet<object>()
  return Schema.declare(
    (input): input is ReadonlyArray<A> =>
      Array.isArray(input) && input.every((one) => checked.has(one) || (isItem(one) && checked.add(one)))
  )
}

/** The time in a version id, in milliseconds since 1970; `NaN` for an id without a valid time. */
export const versionTime = (id: string): number =>
  Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, "$1-$2-$3T$4:$5:$6Z"))
