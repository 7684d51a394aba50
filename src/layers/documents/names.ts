/**
 * Names and texts as people read them: which of them look like one.
 */
import { mistake } from "../../internal/mistake.ts"
import type { Named } from "../../internal/mistakeParts.ts"
import { type Warning, warningOf } from "../../services/Warning.ts"

/**
 * A text without invisible characters at its ends: spaces, line breaks, soft hyphens, joiners, writing directions,
 * byte order marks.
 */
export const bare = (text: string): string =>
  text.replace(
    /^[\s\u00ad\u200b-\u200f\u2060]+|(?<![\s\u00ad\u200b-\u200f\u2060])[\s\u00ad\u200b-\u200f\u2060]+$/g,
    ""
  )

/**
 * A text as people see it: also without invisible characters inside, except joiners and line breaks, which some
 * writing systems need. A vertical tab is a line break.
 */
export const visible = (text: string): string =>
  bare(text)
    .replace(/[\u00ad\u200b\u200e\u200f\u2060\ufeff]+/g, "")
    .replace(/[^\S\r\n\v]+/g, " ")

/** Equal for names that people read as one. */
export const nameKey = (name: string): string =>
  visible(name).replace(/\s+/g, " ").toLowerCase().normalize("NFKC")

/** Equal for languages that people read as one: `de_DE` and `de-DE`. */
export const languageKey = (code: string): string => nameKey(code).replaceAll("_", "-")

/** What programs add to the names of copies and of conflicting versions, and extensions. */
const additions = [
  / *\((?:\d+|[^()]*(?:conflict|konflikt|conflit)[^()]*)\)$/,
  /\.sync-conflict-\d{8}-\d{6}-\w+$/,
  /_[^_]+_[a-z]{3}-\d\d-\d{4,6}-\d{4}_\w*conflict$/,
  / (?:- )?(?:copy|kopie|copie|copia)(?: \d+)?$/,
  /^(?:copy of|kopie von|copie de|copia de|copia di) /,
  /-(?:desktop|laptop)-[a-z0-9]{6,8}$/,
  /\.(?:csv|json|tsv|txt|xlsx?)$/
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
    .map((group) =>
      warningOf("names:alike", group[0] ?? "", mistake("names:alike", {}, { what, names: group }))
    )
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
    ...[...strange].flatMap((name) =>
      name === undefined ? [] : warningOf("names:alike", name, mistake("names:hidden", {}, { what, name }))
    ),
    ...alikeWarnings(what, all)
  ]
}
