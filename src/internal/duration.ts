/**
 * Options that are durations.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { expects } from "./Options.ts"

type Unit = "milli" | "second" | "minute" | "hour" | "day" | "week"

/** What a user may write for a duration. It names no type of Effect, which is `any` in projects without it: `value` is of a `Duration`. */
export type DurationConfig =
  | number
  | `${number} ${Unit | `${Unit}s`}`
  | { readonly value: { readonly _tag: "Millis" | "Nanos" | "Infinity" } }

type Bounds = { readonly minimum: Duration.DurationInput; readonly maximum: Duration.DurationInput }

const isWithin = (value: unknown, bounds: Bounds): boolean =>
  Option.exists(Duration.decodeUnknown(value), Duration.between(bounds))

/** `"10 minutes"`, milliseconds, or a `Duration`. `what` it must be. */
export const durationWithin = (bounds: Bounds, what: string) =>
  expects(
    Schema.declare(
      (value): value is Duration.DurationInput =>
        (isPlain(value) || Duration.isDuration(value)) && isWithin(value, bounds)
    ),
    what
  )

const isPlain = (value: unknown): value is string | number =>
  Predicate.isString(value) || Predicate.isNumber(value)

const usual: Bounds = { minimum: "1 second", maximum: "24 days" }
const usualText = 'a duration such as "10 minutes" or "30 seconds", from 1 second to 24 days'

export const duration = durationWithin(usual, usualText)

/** As `duration`, for programs without Effect. */
export const plainDuration = expects(
  Schema.declare((value): value is string | number => isPlain(value) && isWithin(value, usual)),
  usualText
)

/** What such an option says. */
export const ofPlain = (value: string | number): Duration.Duration =>
  Option.getOrThrow(Duration.decodeUnknown(value))
