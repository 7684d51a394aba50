/**
 * What is volatile in entries of Strapi.
 */
import * as Predicate from "effect/Predicate"

/**
 * A value without what each publish changes though nobody has edited anything: the numeric ids at any depth, and
 * `publishedAt`; and without the signatures of links to private files, which each answer makes anew. An edit moves `updatedAt`.
 */
export const lasting = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(lasting)
  }
  if (!Predicate.isReadonlyRecord(value)) {
    return value
  }
  const isSigned = value.isUrlSigned === true
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      (name === "id" && Predicate.isNumber(part)) || name === "publishedAt"
        ? []
        : [[name, isSigned && name === "url" ? String(part).replace(/\?.*$/s, "") : lasting(part)]]
    )
  )
}
