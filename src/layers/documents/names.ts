/**
 * Names and texts as people read them: which of them look like one.
 */
import type { Named } from "../../internal/mistakeParts.ts"
import type { Warning } from "../../services/Warning.ts"
import { warn } from "./warnings.ts"

/** Characters that nobody sees inside a text: soft hyphens, writing directions, byte order marks. */
const unseen = "\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff"
const allUnseen = new RegExp(`[${unseen}]+`, "g")

/** Characters that nobody sees at the ends of a text: also white space and joiners. */
export const blank = `\\s\\u200c\\u200d${unseen}`
const blankEnds = new RegExp(`^[${blank}]+|(?<![${blank}])[${blank}]+$`, "g")

/** A text without such characters at its ends. */
export const bare = (text: string): string => text.replace(blankEnds, "")

/**
 * A text as people see it: also without invisible characters inside, except joiners and line breaks, which some
 * writing systems need. A vertical tab is a line break.
 */
export const visible = (text: string): string =>
  bare(text)
    .replace(allUnseen, "")
    .replace(/[^\S\r\n\v]+/g, " ")

/** Equal for names that people read as one. */
export const nameKey = (name: string): string =>
  visible(name)
    .replace(/\s+/g, " ")
    .toLowerCase()
    .normalize("NFKC")
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/\ufe0f/g, "")
    .replace(/[а-ј]/g, (letter) => latin.get(letter) ?? letter)

/** The Latin letters that look like these Cyrillic ones. */
const latin = new Map(Array.from("аеорсухіјѕ", (letter, at) => [letter, "aeopcyxijs"[at]]))

/** Equal for languages that people read as one: `de_DE` and `de-DE`, and both codes of Hebrew. */
export const languageKey = (code: string): string =>
  nameKey(code)
    .replaceAll("_", "-")
    .replace(/^iw(?=-|$)/, "he")

/** What programs add to the names of copies and of conflicting versions, and extensions. */
const additions = [
  / *\((?:\d+|[^()]*(?:conflict|konflikt|conflit|\bcopy\b|kopie|copie|c[oó]pia|kopia)[^()]*)\)$/,
  /\.sync-conflict-\d{8}-\d{6}-\w+$/,
  /_[^_]+_[a-z]{3}-\d\d-\d{4,6}-\d{4}_\w*conflict$/,
  /[ .]\[?conflict(?:ed)?\]?$/,
  /[ _-]+(?:copy|kopie|copie|c[oó]pia|kopia|コピー|副本)(?: \d+)?$/,
  /^(?:copy of|kopie v[ao]n|copie de|c[oó]pia d[ei]) /,
  /-(?:desktop|laptop)-[a-z0-9]{6,8}$|-[\w-]*(?:macbook|imac)[\w-]*$/,
  / ?- ?(?:sheet|table|tabellenblatt|tabelle|feuille|hoja|foglio|blad) ?\d+$/,
  /\.(?:csv|json|tsv|txt|xlsx?|ods)$/
]

/** The longest name of a file, in characters. */
const maxLength = 255

/** Equal for documents that people read as one: also for copies, and with a doubled extension. */
export const documentKey = (name: string): string => {
  const key = nameKey(name.slice(0, maxLength))
  const shorter = additions.reduce((text, addition) => text.replace(addition, ""), key)
  return shorter === key || shorter === "" ? key : documentKey(shorter)
}

/** The most warnings about names that look alike, and the most names in one. */
const maxAlike = 10

/** Warnings about names that people read as one. `what` is the named thing, singular. */
export const alikeWarnings = (
  what: Named,
  names: Iterable<string>,
  keyOf: (name: string) => string = nameKey
): ReadonlyArray<Warning> => {
  const groups = new Map<string, Array<string>>()
  for (const name of names) {
    const key = keyOf(name)
    const group = groups.get(key) ?? []
    if (group.length < maxAlike) groups.set(key, [...group, name])
  }
  return [...groups.values()]
    .filter(({ length }) => length > 1)
    .slice(0, maxAlike)
    .map((group) => warn("names:alike", group[0] ?? "", { what, names: group }))
}

/**
 * Warnings about names that are possible, but rarely intended: names with invisible characters, at most one of each
 * kind, and names that people read as one.
 */
export const nameWarnings = (what: Named, names: Iterable<string>): ReadonlyArray<Warning> => {
  const all = [...names]
  const strange = new Set([
    all.find((name) => name !== bare(name)),
    all.find((name) => bare(name) !== visible(name))
  ])
  return [
    ...[...strange].flatMap((name) => (name === undefined ? [] : warn("names:hidden", name, { what, name }))),
    ...alikeWarnings(what, all)
  ]
}
