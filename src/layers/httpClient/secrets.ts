/**
 * Removes secrets from text of other systems, which may repeat them.
 */
import * as Context from "effect/Context"
import { constVoid, identity } from "effect/Function"
import type { Headers } from "./headers.ts"

/** The secrets that a source has sent. */
export interface Secrets {
  /** Adds the secrets in the headers of a request, and in the URLs of the configuration. */
  readonly add: (headers: Headers, urls: ReadonlyArray<string>) => void
  /** Returns the text without the secrets. */
  readonly hide: (text: string) => string
}

/** Gets the secrets of all requests. By default nothing is kept, and text stays as it is. */
export class SentSecrets extends Context.Reference<SentSecrets>()("vitrine/SentSecrets", {
  defaultValue: (): Secrets => ({ add: constVoid, hide: identity })
}) {}

/** A source has few secrets. Beyond the limit, the oldest are forgotten. */
const maxSecrets = 100

/** Keeps the secrets of a source. */
export const makeSentSecrets = (): Secrets => {
  const secrets = new Set<string>()
  let hide: ((text: string) => string) | undefined = identity
  return {
    add: (headers, urls) => {
      for (const secret of [secretsOf("", headers), ...urls.map((url) => secretsOf(url, {}))].flat()) {
        if (secrets.has(secret)) continue
        secrets.add(secret)
        if (secrets.size > maxSecrets) secrets.delete([...secrets][0] ?? "")
        hide = undefined
      }
    },
    hide: (text) => {
      hide ??= hiding([...secrets])
      return hide(text)
    }
  }
}

/**
 * Returns a function that removes the secrets of a request from text: credentials, values of headers, and values in
 * the query. It finds them plain, in a URL and in Base64, alone or within more text, in upper and lower case; also
 * the beginning of a secret.
 */
export const hideSecrets = (address: string, headers: Headers): ((text: string) => string) =>
  hiding(secretsOf(address, headers))

const hiding = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const forms = secrets.flatMap((secret) => [plainForm(secret), ...base64Forms(secret)])
  return (text) => {
    const places = forms.flatMap((placesIn) => placesIn(text))
    let hidden = ""
    let hiddenTo = 0
    for (const { end, start } of places.sort((one, other) => one.start - other.start)) {
      if (start >= hiddenTo) hidden += `${text.slice(hiddenTo, start)}<apiKey>`
      hiddenTo = Math.max(hiddenTo, end)
    }
    return hidden + text.slice(hiddenTo)
  }
}

/** A part of a text. */
interface Place {
  readonly start: number
  readonly end: number
}

/** Finds the places of a secret in a text, in a form that the secret may have there. */
type Form = (text: string) => ReadonlyArray<Place>

/** Shorter values are no secrets, because they can be guessed: the number of a page, a language. */
const shortestSecret = 8

/**
 * Finds the first characters and as many of the rest as follow: an excerpt may be cut. A loop compares the
 * rest: one expression for some thousand characters takes seconds, and then V8 ends the process.
 */
const formOf = (characters: ReadonlyArray<string>, patternOf: (character: string) => string): Form => {
  const beginning = new RegExp(characters.slice(0, shortestSecret).map(patternOf).join(""), "gi")
  const rest = characters.slice(shortestSecret)
  return (text) => {
    const places: Array<Place> = []
    beginning.lastIndex = 0
    for (let match = beginning.exec(text); match !== null; match = beginning.exec(text)) {
      for (const character of rest) {
        const next = new RegExp(patternOf(character), "iy")
        next.lastIndex = beginning.lastIndex
        if (!next.test(text)) break
        beginning.lastIndex = next.lastIndex
      }
      places.push({ start: match.index, end: beginning.lastIndex })
    }
    return places
  }
}

const escaped = (text: string): string => text.replace(/[^a-z0-9]/gi, "\\$&")

/** Each character plain, as in a URL, or behind backslashes, as in JSON. */
const plainForm = (secret: string): Form =>
  formOf([...secret], (character) => {
    const inUrl = encodeURIComponent(character)
    return inUrl === character
      ? `${backslashes}${escaped(character)}`
      : `${backslashes}(?:${inUrl}|${escaped(character)})`
  })

/** Up to JSON within JSON within JSON. Without the limit, the time for a long row of backslashes would be quadratic. */
const backslashes = "\\\\{0,7}?"

/** In both alphabets. Shorter forms could be part of any word. */
const base64Forms = (secret: string): ReadonlyArray<Form> =>
  [0, 1, 2]
    .map((before) => base64(secret, before))
    .filter(({ length }) => length >= shortestForm)
    .map((digits) =>
      formOf([...digits], (digit) => (digit === "+" ? "[+-]" : digit === "/" ? "[/_]" : digit))
    )

const shortestForm = 5

/** The digits that depend only on the text, if `before` other bytes come before it. */
const base64 = (text: string, before: number): string => {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
  const digits = bytes.toString("base64").replace(/={1,2}$/, "")
  return digits.slice([0, 2, 3][before], bytes.length % 3 === 0 ? undefined : -1)
}

/** Headers that are no secrets. */
const isPublic = (name: string): boolean =>
  /^(?:accept(?:-.*)?|content-.*|if-.*|range|user-agent|last-event-id|x-sanity-project-id)$/.test(name)

const secretsOf = (address: string, headers: Headers): ReadonlyArray<string> => {
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
    ...[...others, ...searchParams.values()].filter(({ length }) => length >= shortestSecret)
  ]
}

/** The credentials in an `Authorization` header, and the password in them. */
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
