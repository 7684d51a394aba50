/**
 * Addresses and what servers say of them: the parameters of a URL, and the header `Link` (RFC 8288), read as leniently as it is written.
 */

/** A parameter that is a whole number: `undefined` if it is absent, `NaN` if it is another text. */
export const parameterOf = (address: string, name: string): number | undefined => {
  const text = new URL(address).searchParams.get(name)
  return text === null ? undefined : /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** The URL with this parameter, and all others as they stand. */
export const withParameter = (address: string, name: string, value: string): string => {
  const url = new URL(address)
  const others = url.search
    .slice(1)
    .split("&")
    .filter((part) => part !== "" && !new URLSearchParams(part).has(name))
  url.search = [...others, new URLSearchParams({ [name]: value })].join("&")
  return url.href
}

const target = /[\s,]*<([^>]*)>/y

/** A parameter: its name, and its value in quotes or without. It may have no value, or be nothing but its semicolon. */
const parameter = /\s*;\s*(?:([^\s=;,"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y

/** The first link of this relation. Links about something else than the answer (`anchor`) do not count. */
export const linkOf = (header: string, relation: string): string | undefined => {
  let place = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = place
    const found = pattern.exec(header)
    if (found !== null) place = pattern.lastIndex
    return found
  }
  while (place < header.length) {
    const link = take(target)
    if (link === null) {
      // What is no link ends with the next comma.
      const comma = header.indexOf(",", place)
      place = comma === -1 ? header.length : comma + 1
      continue
    }
    const parameters = new Map<string, string>()
    for (let found = take(parameter); found !== null; found = take(parameter)) {
      const [, name = "", quoted, plain = ""] = found
      const value = quoted?.replace(/\\(.)/g, "$1") ?? plain.replaceAll("'", "")
      // If a name is repeated, the first one counts.
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value)
    }
    const relations = (parameters.get("rel") ?? "").toLowerCase().split(/\s+/)
    if (relations.includes(relation) && !parameters.has("anchor")) return link[1]
  }
  return undefined
}
