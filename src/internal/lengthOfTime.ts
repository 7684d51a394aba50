/**
 * Options that are lengths of time.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { expects } from "./Options.ts"

/** What a user may write for a length of time: `"10 minutes"`, milliseconds, or a `Duration`. `what` it must be. */
export const lengthOfTime = (
  bounds: { readonly minimum: Duration.DurationInput; readonly maximum: Duration.DurationInput },
  what: string
) =>
  expects(
    Schema.declare(
      (value): value is Duration.DurationInput =>
        (Predicate.isString(value) || Predicate.isNumber(value) || Duration.isDuration(value)) &&
        Option.exists(Duration.decodeUnknown(value), Duration.between(bounds))
    ),
    what
  )

export const duration = lengthOfTime(
  { minimum: "1 second", maximum: "24 days" },
  'a length of time such as "10 minutes" or "30 seconds", from 1 second to 24 days'
)
