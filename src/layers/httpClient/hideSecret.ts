/**
 * Secrets, taken out of text from elsewhere that may repeat them.
 */

import * as Context from "effect/Context"

/** Gets the headers that requests send to an address. Does nothing by default. */
export class SentHeaders extends Context.Reference<SentHeaders>()("vitrine/SentHeaders", {
  defaultValue: () => ({ add: (_address: string, _headers: Readonly<Record<string, string>>): void => {} })
}) {}

/** Removes the secrets in all sent headers from text, because servers may repeat them. */
export const makeSentHeaders = () => {
  const hides = new Map<string, (text: string) => string>()
  return {
    add: (address: string, headers: Readonly<Record<string, string>>) => {
      const { href } = Object.assign(new URL(address), { search: "", pathname: "" })
      const key = JSON.stringify([href, headers])
      if (!hides.has(key)) hides.set(key, hideSecrets(href, headers))
    },
    hide: (text: string) => [...hides.values()].reduce((shown, hide) => hide(shown), text)
  }
}

/**
 * Returns text without the secrets that were sent to an address: credentials, values of headers, and those in the query. They are found
 * as they are, in a URL, in JSON, in Base64 and in hexadecimal digits, alone or within more, in upper and lower case; so is each part of
 * one that has eight characters.
 */
export const hideSecrets = (
  address: string,
  headers: Readonly<Record<string, string>>
): ((text: string) => string) => {
  const secrets = secretsOf(address, headers)
  if (secrets.length === 0) return (text) => text
  const windows = new Map<number, Set<string>>()
  for (const form of secrets.flatMap(formsOf)) {
    const size = Math.min(form.length, leastTelling)
    const parts = windows.get(size) ?? new Set()
    windows.set(size, parts)
    for (let start = 0; start + size <= form.length; start++) parts.add(form.slice(start, start + size))
  }
  return (text) => {
    const plain = text.toLowerCase()
    // Letters that are longer in lower case would move what is behind them.
    return plain.length === text.length ? hide(text, plain, windows) : hide(plain, plain, windows)
  }
}

/** Fewer characters than these say nothing, and can be guessed: a number of a page, a language. */
export const leastTelling = 8

const hide = (text: string, plain: string, windows: ReadonlyMap<number, ReadonlySet<string>>): string => {
  let shown = ""
  let from = 0
  let until = 0
  for (let start = 0; start < plain.length; start++) {
    for (const [size, parts] of windows) {
      if (start + size <= plain.length && parts.has(plain.slice(start, start + size))) {
        if (start > until || until === 0) {
          shown += `${text.slice(from, start)}<apiKey>`
        }
        until = Math.max(until, start + size)
        from = until
      }
    }
  }
  return shown + text.slice(from)
}

/** What says how something is to come. */
const isPublic = (name: string): boolean =>
  /^(?:accept(?:-.*)?|content-.*|if-.*|range|user-agent|last-event-id|x-sanity-project-id)$/.test(name)

const secretsOf = (address: string, headers: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const { password, searchParams } = URL.canParse(address)
    ? new URL(address)
    : { password: "", searchParams: new URLSearchParams() }
  const credentials = Object.entries(headers).flatMap(([name, value]) =>
    name === "authorization" ? credentialsOf(value) : []
  )
  const others = Object.entries(headers).flatMap(([name, value]) =>
    name === "authorization" || isPublic(name) ? [] : value.split(" ")
  )
  return [
    ...[...credentials, decoded(password)].filter((text) => text !== ""),
    ...[...others, ...searchParams.values()].filter(({ length }) => length >= leastTelling)
  ]
}

/** The credentials in a header `Authorization`, and the password in them. */
const credentialsOf = (value: string): ReadonlyArray<string> => {
  const [scheme = "", credentials = scheme] = value.trim().split(/\s+(.*)/s)
  const [, password = ""] = /:(.*)/s.exec(Buffer.from(credentials, "base64").toString()) ?? []
  return scheme.toLowerCase() === "basic" ? [credentials, password] : [credentials]
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** In small letters. Other forms that are so short could be part of any word. */
const formsOf = (secret: string): ReadonlyArray<string> =>
  [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("hex"),
    ...[0, 1, 2].flatMap((before) => [base64(secret, before, "base64"), base64(secret, before, "base64url")])
  ]
    .filter((form) => form === secret || form.length >= shortestForm)
    .map((form) => form.toLowerCase())

const shortestForm = 5

/** The digits that depend on the text alone, where so many bytes of something else come before it. */
const base64 = (text: string, before: number, encoding: "base64" | "base64url"): string => {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
  const digits = bytes.toString(encoding).replace(/=+$/, "")
  return digits.slice([0, 2, 3][before], bytes.length % 3 === 0 ? undefined : -1)
}
