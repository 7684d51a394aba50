type Unit = "milli" | "second" | "minute" | "hour" | "day" | "week"

/**
 * A duration in a configuration. It avoids the types of Effect, which are `any` in projects without Effect; `value`
 * belongs to a `Duration`.
 */
export type DurationConfig =
  | number
  | `${number} ${Unit | `${Unit}s`}`
  | { readonly value: { readonly _tag: "Millis" | "Nanos" | "Infinity" } }
