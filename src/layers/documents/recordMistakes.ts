/**
 * Mistakes in the records of a document that can be published: fields that people read as one, links to somebody's
 * computer, and links that expire.
 */
import * as Predicate from "effect/Predicate"
import { mistake } from "../../internal/mistake.ts"
import type { Named } from "../../internal/mistakeParts.ts"
import { excerpt } from "../../internal/printable.ts"
import { type Warning, warningOf } from "../../services/Warning.ts"
import { expiringLink, isElsewhere, isLocalFile } from "./media/links.ts"
import { alikeWarnings, nameKey, nameWarnings } from "./names.ts"

/** The most names of fields that are compared. */
const maxNames = 10_000

/** The most links of a field in a warning. */
const maxLinks = 5

type Code = "file:elsewhere" | "file:signed"

/** Collects the mistakes. `what` is a field, singular. */
export const makeRecordMistakes = (what: Named) => {
  const names = new Set<string>()
  const inside = new Set<string>()
  const links = new Map<string, { code: Code; field: string; first: Array<string>; count: number }>()

  const found = (code: Code, field: string, link: string): void => {
    const { count, first, ...known } = links.get(`${code} ${field}`) ?? { code, field, first: [], count: 0 }
    if (first.length < maxLinks) first.push(excerpt(link))
    links.set(`${code} ${field}`, { ...known, first, count: count + 1 })
  }

  return {
    /** Looks at a text of which no file is saved, anywhere in a field. */
    text: (text: string, field: string): void => {
      if (isElsewhere(text) || isLocalFile(text)) found("file:elsewhere", field, text)
      const expiring = expiringLink(text)
      if (expiring !== undefined) found("file:signed", field, expiring)
    },

    /** Looks at the names of a record, and of the objects in its fields. */
    names: (record: unknown): void => {
      if (!Predicate.isReadonlyRecord(record) || names.size >= maxNames) return
      for (const name of Object.keys(record)) {
        names.add(name)
        const value = record[name]
        if (typeof value !== "object" || value === null || inside.size >= maxNames) continue
        for (const part of Array.isArray(value) ? value.slice(0, 10) : [value]) {
          if (Predicate.isReadonlyRecord(part))
            for (const inner of Object.keys(part)) inside.add(`${name}.${inner}`)
        }
      }
    },

    warnings: (): ReadonlyArray<Warning> => [
      ...nameWarnings(what, names),
      ...alikeWarnings(what, inside, (path) => path.replace(/[^.]+$/, nameKey)),
      ...Array.from(links.values(), ({ code, ...fields }) =>
        warningOf(code, fields.field, mistake(code, {}, fields))
      )
    ]
  }
}
