import { closestMatch } from "leven"

/** In characters, from the end: paths differ there. */
const maxLength = 100

/** A hint takes some milliseconds. */
const maxOthers = 1000

/**
 * The name that is most like this name, if at most a share of its characters differ, or one; case does not count. It
 * compares the last 100 characters of at most 1,000 names.
 */
export const closestName = (
  name: string,
  others: ReadonlyArray<string>,
  share: number
): string | undefined => {
  const keyOf = (text: string) => text.slice(-maxLength).toLowerCase()
  const key = keyOf(name)
  const maxDistance = Math.max(1, Math.floor(key.length * share))
  const near = others.filter((other) => Math.abs(other.length - name.length) <= maxDistance)
  const byKey = new Map(near.slice(0, maxOthers).map((other) => [keyOf(other), other]))
  return byKey.get(closestMatch(key, [...byKey.keys()], { maxDistance }) ?? key)
}
