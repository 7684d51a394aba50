/**
 * Texts that a document has in one language and not in another: what pages fall back for.
 */
import * as Predicate from "effect/Predicate"
import { printableLine } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"

type Fields = Readonly<Record<string, unknown>>

const maxWarnings = 20

const languages = new Intl.DisplayNames("en", { type: "language", fallback: "none" })

const isEmpty = (value: unknown): boolean =>
  Predicate.isNullable(value) || value === "" || (Array.isArray(value) && value.length === 0)

/** The fields of each text that there is in several languages: `title_de` and `title_en` of `title`. */
const fieldsByText = (records: ReadonlyArray<Fields>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const fields = new Map<string, ReadonlyArray<string>>()
  for (const field of new Set(records.flatMap(Object.keys))) {
    const [, text, language] = /^(.+)_([a-z]{2}(?:-[A-Z]{2})?)$/.exec(field) ?? []
    if (text !== undefined && language !== undefined && languages.of(language) !== undefined) {
      fields.set(text, [...(fields.get(text) ?? []), field])
    }
  }
  return fields
}

const valueOf = (record: Readonly<Record<string, unknown>>, field: string): unknown =>
  Object.hasOwn(record, field) ? record[field] : undefined

/** One line for each field that is empty where the same text is there in another language; 20 at most. */
export const missingTranslations = (path: string, json: unknown): ReadonlyArray<string> => {
  const records = (Array.isArray(json) ? json : [json]).filter(Predicate.isReadonlyRecord)
  return [...fieldsByText(records)]
    .flatMap(([text, fields]) => {
      const filled = records.filter((record) => fields.some((field) => !isEmpty(valueOf(record, field))))
      return fields.flatMap((field) => {
        const missing = filled.filter((record) => isEmpty(valueOf(record, field))).length
        return missing === 0
          ? []
          : [
              printableLine(
                `${path}: "${field}" is empty where "${text}" is there in another language: ${missing} of ${countText(filled.length, "record")}`
              )
            ]
      })
    })
    .slice(0, maxWarnings)
}
