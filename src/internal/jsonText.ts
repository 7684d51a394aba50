/**
 * Any values as JSON text (docs/wire.md, section 4.5).
 */
import * as Predicate from "effect/Predicate"
import { serializeError } from "./serializeError.ts"

/**
 * The text of `JSON.stringify` on one line, with two differences: errors become `{ name, message, cause? }`, and
 * values on which `JSON.stringify` throws (a cycle, a bigint, a throwing getter, extreme depth) become a placeholder
 * string in their place. A value that JSON does not have, for example `undefined`, becomes `null`. It never throws.
 */
export const jsonText = (value: unknown): string => encodeJson(value).text

/**
 * The same, and whether it needed no placeholders.
 *
 * @since 0.1.0
 * @category decoding
 */
export const encodeJson = (value: unknown): { readonly text: string; readonly isComplete: boolean } => {
  try {
    return { text: JSON.stringify(value, describeErrors) ?? "null", isComplete: true }
  } catch {
    return { text: JSON.stringify(representable({ "": value }, "", [])) ?? "null", isComplete: false }
  }
}

/**
 * A replacer. It reads from the holder, because the value of an error with its own `toJSON` is no longer an error
 * here.
 */
function describeErrors(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key]
  return original instanceof Error ? serializeError(original) : value
}

const maxDepth = 200

/**
 * A copy of a property as plain data, with placeholders where `JSON.stringify` would throw. Otherwise it takes the
 * same steps as `JSON.stringify`.
 */
const representable = (holder: object, key: string, ancestors: ReadonlyArray<object>): unknown => {
  try {
    const original: unknown = Reflect.get(holder, key)
    if (original instanceof Error) {
      return serializeError(original)
    }
    const value = unboxed(hasToJson(original) ? original.toJSON(key) : original)
    if (typeof value === "bigint") {
      return `[BigInt ${value}]`
    }
    if (typeof value === "function") {
      return undefined
    }
    if (typeof value !== "object" || value === null) {
      return value
    }
    if (ancestors.includes(value)) {
      return "[Circular]"
    }
    if (ancestors.length >= maxDepth) {
      return "[Too deep]"
    }
    const path = [...ancestors, value]
    return Array.isArray(value)
      ? Array.from({ length: value.length }, (_, index) => representable(value, String(index), path))
      : Object.fromEntries(Object.keys(value).map((key) => [key, representable(value, key, path)]))
  } catch {
    return "[Unserializable]"
  }
}

const hasToJson = (value: unknown): value is { readonly toJSON: (key: string) => unknown } =>
  Predicate.hasProperty(value, "toJSON") && typeof value.toJSON === "function"

/** Boxed primitives count as their values. */
const unboxed = (value: unknown): unknown =>
  value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt
    ? value.valueOf()
    : value
