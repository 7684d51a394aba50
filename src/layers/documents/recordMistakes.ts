/**
 * Mistakes in the records of a document that can be published: fields that people read as one, links to somebody's
 * computer, and links that expire.
 */
import * as Predicate from "effect/Predicate"
import { mistake } from "../../internal/mistake.ts"
import type { Named } from "../../internal/mistakeParts.ts"
import { excerpt } from "../../internal/printable.ts"
import { type Warning, warningOf } from "../../services/Warning.ts"
import { isElsewhere, signedIdentity } from "./media/links.ts"
import { bare, nameWarnings } from "./names.ts"

/** The most names of fields that are compared. */
const maxNames = 10_000

/** The most links of a field in a warning. */
const maxLinks = 5

type Code = "file:elsewhere" | "file:signed"

/** Collects the mistakes. `what` is a field, singular. */
export const makeRecordMistakes = (what: Named) => {
  const names = new Set<string>()
  const links = new Map<string, { code: Code; field: string; first: Array<string>; count: number }>()

  const found = (code: Code, field: string, link: string): void => {
    const { count, first, ...known } = links.get(`${code} ${field}`) ?? { code, field, first: [], count: 0 }
    if (first.length < maxLinks) first.push(excerpt(link))
    links.set(`${code} ${field}`, { ...known, first, count: count + 1 })
  }

  return {
    /** Looks at a text of which no file is saved, anywhere in a field. */
    text: (text: string, field: string): void => {
      if (isElsewhere(text)) found("file:elsewhere", field, text)
      const signed = text.includes("?") ? signedIdentity(bare(text)) : undefined
      if (signed !== undefined) found("file:signed", field, signed.replace(/\?.*/s, ""))
    },

    /** Looks at the names of a record. */
    names: (record: unknown): void => {
      for (const name of Predicate.isReadonlyRecord(record) ? Object.keys(record) : []) {
        if (names.size < maxNames) names.add(name)
      }
    },

    warnings: (): ReadonlyArray<Warning> => [
      ...nameWarnings(what, names),
      ...Array.from(links.values(), ({ code, ...fields }) =>
        warningOf(code, fields.field, mistake(code, {}, fields))
      )
    ]
  }
}
