/**
 * Mistakes in the records of a document that can be published: fields that people read as one, links to somebody's
 * computer, and links that expire.
 */
import * as Predicate from "effect/Predicate"
import type { Named } from "../../internal/mistakeParts.ts"
import { excerpt } from "../../internal/printable.ts"
import type { Warning } from "../../services/Warning.ts"
import { expiringLink, isElsewhere, isLocalFile } from "./media/links.ts"
import { alikeWarnings, nameKey, nameWarnings } from "./names.ts"
import { warn } from "./warnings.ts"

/** The most names of fields that are compared. */
const maxNames = 10_000

/** The most items of a list whose names are compared. */
const maxItems = 10

const addNames = (names: Set<string>, value: unknown): void => {
  if (!Predicate.isReadonlyRecord(value) || names.size >= maxNames) return
  for (const name of Object.keys(value)) names.add(name)
}

/** The most links of a field in a warning. */
const maxLinks = 5

type Code = "file:elsewhere" | "file:signed"

/** Collects the mistakes. `what` is a field, singular. */
export const makeRecordMistakes = (what: Named) => {
  const names = new Set<string>()
  const inside = new Map<string, Set<string>>()
  let latest: ReadonlyArray<string> = []
  let left = maxNames
  const links = new Map<string, { code: Code; field: string; first: Array<string>; count: number }>()

  const found = (code: Code, field: string, link: string): void => {
    const { count, first, ...known } = links.get(`${code} ${field}`) ?? { code, field, first: [], count: 0 }
    if (first.length < maxLinks) first.push(excerpt(link))
    links.set(`${code} ${field}`, { ...known, first, count: count + 1 })
  }

  return {
    /** Looks at a text of which no file is saved, anywhere in a field. */
    text: (text: string, field: string): void => {
      const hasAddress = text.includes(":") && text.includes("://")
      if (isElsewhere(text) || (hasAddress && isLocalFile(text))) found("file:elsewhere", field, text)
      const expiring = hasAddress ? expiringLink(text) : undefined
      if (expiring !== undefined) found("file:signed", field, expiring)
    },

    /** Looks at the names of a record, `all`, and of the objects in its fields. */
    names: (record: unknown, all?: ReadonlyArray<string>): void => {
      if (!Predicate.isReadonlyRecord(record) || names.size >= maxNames) return
      const before = latest
      latest = all ?? Object.keys(record)
      for (const name of latest) {
        if (latest !== before) names.add(name)
        const value = record[name]
        if (typeof value !== "object" || value === null || left <= 0) continue
        const inner = inside.get(name) ?? new Set()
        inside.set(name, inner)
        left += inner.size
        if (!Array.isArray(value)) addNames(inner, value)
        else for (let at = 0; at < Math.min(value.length, maxItems); at++) addNames(inner, value[at])
        left -= inner.size
      }
    },

    warnings: (): ReadonlyArray<Warning> => [
      ...nameWarnings(what, names),
      ...[...inside].flatMap(([name, inner]) =>
        alikeWarnings(
          what,
          Array.from(inner, (part) => `${name}.${part}`),
          (path) => nameKey(path.slice(name.length + 1))
        )
      ),
      ...Array.from(links.values(), ({ code, ...fields }) => warn(code, fields.field, fields))
    ]
  }
}
