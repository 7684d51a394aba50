/**
 * About how much memory a value takes up.
 */

/** What each value costs beside its text, and each member of an object. */
const overhead = 16

/**
 * The size of what `JSON.stringify` would look at, in bytes, where a character counts as one. What stands in it twice
 * counts once. It never throws; what cannot be looked at counts as little.
 */
export const valueSize = (value: unknown): number => {
  const pending: Array<unknown> = [value]
  let seen: Set<object> | undefined
  let size = 0
  while (pending.length > 0) {
    const next = pending.pop()
    size += overhead
    if (typeof next === "string") {
      size += next.length
    } else if (typeof next === "object" && next !== null) {
      seen ??= new Set()
      if (!seen.has(next)) {
        seen.add(next)
        size += ArrayBuffer.isView(next) ? next.byteLength : lookInto(next, pending)
      }
    }
  }
  return size
}

/** Adds the members to what is to be looked at, and gives the size of their names. */
const lookInto = (holder: object, members: Array<unknown>): number => {
  let size = 0
  try {
    if (Array.isArray(holder)) {
      for (const member of holder) {
        members.push(member)
      }
    } else {
      for (const [name, member] of Object.entries(holder)) {
        size += name.length
        members.push(member)
      }
    }
  } catch {
    // A getter or a proxy that throws: whoever encodes it later says so.
  }
  return size
}
