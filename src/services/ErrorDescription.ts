/**
 * An error as data: the shape in which errors leave the process (specification, section 2.4).
 */

import * as Schema from "effect/Schema"

export interface ErrorDescription {
  readonly name: string
  readonly message: string
  readonly cause?: ErrorDescription
}

export const ErrorDescription: Schema.Schema<ErrorDescription> = Schema.Struct({
  name: Schema.String,
  message: Schema.String,
  cause: Schema.optionalWith(
    Schema.suspend(() => ErrorDescription),
    { exact: true }
  )
})

/** A chain of causes longer than this is cut. */
const maxDepth = 16

/**
 * Describes anything that was thrown or failed with, and the chain of its causes.
 *
 * A chain that loops or is absurdly deep is cut. Hostile values (throwing getters, say) give a description
 * too: this function never throws.
 */
export const describeError = (error: unknown): ErrorDescription => describe(error, new Set())

/** The outermost message in the chain of causes that says anything. */
export const messageOf = (error: unknown): string => {
  const says = ({ cause, message, name }: ErrorDescription): string =>
    message !== "" ? message : cause === undefined ? name : says(cause)
  return says(describeError(error))
}

const describe = (error: unknown, seen: Set<unknown>): ErrorDescription => {
  if (typeof error !== "object" || error === null) {
    return { name: "Error", message: asText(error) }
  }
  seen.add(error)
  const name = property(error, "name") ?? property(error, "_tag")
  const message = property(error, "message")
  const cause = property(error, "cause")
  const description = {
    name: typeof name === "string" && name !== "" ? name : "Error",
    message: typeof message === "string" ? message : asText(error)
  }
  return cause === undefined || cause === null || seen.has(cause) || seen.size >= maxDepth
    ? description
    : { ...description, cause: describe(cause, seen) }
}

const property = (target: object, key: string): unknown => {
  try {
    return (target as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

const asText = (value: unknown): string => {
  try {
    return String(value)
  } catch {
    return "unknown error"
  }
}
