/**
 * Which events are forwarded (docs/wire.md, section 2.1).
 */
import type * as Predicate from "effect/Predicate"

/**
 * Accepts the names that match one of the patterns: a pattern that ends in `*` matches every name that begins
 * with what stands before the `*`, any other pattern only itself.
 */
export const make = (patterns: ReadonlyArray<string>): Predicate.Predicate<string> => {
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1))
  const names = new Set(patterns)
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
