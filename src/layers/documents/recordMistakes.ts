/**
 * Mistakes in the records of a document that can be published: fields that people read as one, and links to somebody's
 * computer.
 */
import * as Predicate from "effect/Predicate"
import { mistake } from "../../internal/mistake.ts"
import type { Named } from "../../internal/mistakeParts.ts"
import { excerpt } from "../../internal/printable.ts"
import { type Warning, warningOf } from "../../services/Warning.ts"
import { bare, nameWarnings } from "./names.ts"

/** The most names of fields that are compared. */
const maxNames = 10_000

/** The most links of a field in a warning. */
const maxLinks = 5

const elsewhere = /^(?:file:\/|(?:smb|afp|nfs):\/\/|[a-z]:\\|\\\\[^\\/\s]+\\)/i

/** Whether a text is a link to somebody's computer, or to a share of files. */
export const isElsewhere = (text: string): boolean => elsewhere.test(text) || elsewhere.test(bare(text))

/** Collects the mistakes. `what` is a field, singular. */
export const makeRecordMistakes = (what: Named) => {
  const names = new Set<string>()
  const links = new Map<string, { readonly first: Array<string>; count: number }>()

  const look = (value: unknown, field: string): void => {
    if (Predicate.isString(value)) {
      if (!value.includes(":") && !value.includes("\\")) return
      if (!isElsewhere(value)) return
      const found = links.get(field) ?? { first: [], count: 0 }
      found.count++
      if (found.first.length < maxLinks) found.first.push(excerpt(value))
      links.set(field, found)
    } else if (Array.isArray(value)) {
      for (const item of value) look(item, field)
    } else if (Predicate.isReadonlyRecord(value)) {
      for (const name of Object.keys(value)) look(value[name], field)
    }
  }

  return {
    add: (record: unknown): void => {
      if (Predicate.isReadonlyRecord(record)) {
        for (const name of Object.keys(record)) {
          if (names.size < maxNames) names.add(name)
          look(record[name], name)
        }
      } else {
        look(record, "")
      }
    },

    warnings: (): ReadonlyArray<Warning> => [
      ...nameWarnings(what, names),
      ...[...links].map(([field, { count, first }]) =>
        warningOf("file:elsewhere", field, mistake("file:elsewhere", {}, { field, count, first }))
      )
    ]
  }
}
