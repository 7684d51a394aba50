/**
 * Items in several languages: the fields of their translations as their own.
 */
import * as Predicate from "effect/Predicate"
import type { Item } from "./api.ts"
import type { DirectusOptions } from "./DirectusOptions.ts"

export const translationsField = "translations"

/** In the row of a translation: the code of its language, or the language itself, where fields lead so far. */
const languageField = "languages_code"

const languageOf = (row: unknown): string | undefined => {
  const language = Predicate.hasProperty(row, languageField) ? row[languageField] : undefined
  const code = Predicate.hasProperty(language, "code") ? language.code : language
  return Predicate.isString(code) ? code : undefined
}

const rowsOf = (item: Item): ReadonlyArray<Item> | undefined => {
  const rows = item[translationsField]
  return Array.isArray(rows) && rows.every(isRow) ? rows : undefined
}

const isRow = (row: unknown): row is Item => Predicate.isReadonlyRecord(row) && languageOf(row) !== undefined

/** The row in the first of the languages that there is one in. */
const rowIn = (item: Item, languages: ReadonlyArray<string>): Item | undefined =>
  languages
    .map((language) => rowsOf(item)?.find((row) => languageOf(row) === language))
    .find(Predicate.isNotUndefined)

/** A value with the fields of translations in the place of all translations, at any depth. */
const inOneOf = (value: unknown, languages: ReadonlyArray<string>): unknown =>
  Array.isArray(value)
    ? value.map((part) => inOneOf(part, languages))
    : Predicate.isReadonlyRecord(value)
      ? itemInOneOf(value, languages)
      : value

const itemInOneOf = (item: Item, languages: ReadonlyArray<string>): Item => {
  const fields = (own: Item, ...leftOut: ReadonlyArray<string>) =>
    Object.fromEntries(
      Object.entries(own).flatMap(([name, part]) =>
        leftOut.includes(name) ? [] : [[name, inOneOf(part, languages)]]
      )
    )
  return rowsOf(item) === undefined
    ? fields(item)
    : {
        ...fields(item, translationsField),
        ...fields(rowIn(item, languages) ?? {}, "id", languageField)
      }
}

/**
 * Items in each of the languages, one language after the other, with their language in `locale`. What is in none of `locales`, and not
 * in `fallback`, is left out.
 */
export const inLanguages = (
  items: ReadonlyArray<Item>,
  { fallback, locales }: Pick<DirectusOptions, "fallback" | "locales">
): ReadonlyArray<Item> =>
  locales.flatMap((locale) => {
    const languages = fallback === undefined ? [locale] : [locale, fallback]
    return items.flatMap((item) => {
      const row = rowIn(item, languages)
      const isFallback = row !== undefined && languageOf(row) !== locale
      return row === undefined
        ? []
        : [
            {
              ...itemInOneOf(item, languages),
              locale,
              ...(isFallback ? { fallbackLocale: fallback } : {})
            }
          ]
    })
  })
