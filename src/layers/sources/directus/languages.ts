/**
 * Items in several languages: moves the fields of a translation into its item.
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { excerpt } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { mapObjects } from "../../documents/jsonValues.ts"
import type { Item } from "./api.ts"
import type { Collection, DirectusOptions } from "./DirectusOptions.ts"

export const translationsField = "translations"

/** The field of a translation with the code of its language, or with the language itself if `fields` lead to it. */
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

const isRow = (row: unknown): row is Item =>
  Predicate.isReadonlyRecord(row) && Object.hasOwn(row, languageField)

/** Fields that Directus writes into each row of a collection. */
const systemField = /^(?:sort|status|(?:date|user)_(?:created|updated))$/

/**
 * Removes translations that cannot be shown, at any depth: drafts, which have another `status`, and rows without a language, which
 * Directus makes by itself and which have a warning. `sort`, `status`, dates, users and the relation to the item are removed from a
 * translation if the item has the same field, so that they do not replace it.
 */
export const readTranslations = (
  items: ReadonlyArray<Item>,
  { key, status }: Pick<DirectusOptions, "status"> & Pick<Collection, "key">
): { readonly items: ReadonlyArray<Item>; readonly warnings: ReadonlyArray<string> } => {
  let left = 0
  let first = ""
  const keyOf = (item: Item) => item[key] ?? item.id
  const isDraft = (row: Item) =>
    status.length > 0 && Predicate.isString(row.status) && !status.includes(row.status)

  const leadsTo = (item: Item, name: string, value: unknown) =>
    name.endsWith("_id") && (Predicate.isReadonlyRecord(value) ? keyOf(value) : value) === keyOf(item)

  const textsOf = (row: Item, item: Item): Item =>
    Record.filter(
      row,
      (value, name) =>
        !(Object.hasOwn(item, name) && (name === key || systemField.test(name) || leadsTo(item, name, value)))
    )

  const read = (item: Item): Item => {
    const rows = rowsOf(item)
    if (rows === undefined) return item
    const named = rows.filter((row) => languageOf(row) !== undefined)
    if (left === 0 && named.length < rows.length) first = excerpt(String(keyOf(item)))
    left += rows.length - named.length
    return {
      ...item,
      [translationsField]: named.filter(Predicate.not(isDraft)).map((row) => textsOf(row, item))
    }
  }

  return {
    items: items.map((item) => mapObjects(item, read)).filter(Predicate.isReadonlyRecord),
    warnings:
      left === 0
        ? []
        : [
            `${countText(left, "row")} of "${translationsField}" without a language, left out; the item ${first} has the first. Choose the language in Directus, or delete the row`
          ]
  }
}

/** The translation in the first of these languages that the item has. */
const rowIn = (item: Item, languages: ReadonlyArray<string>): Item | undefined =>
  languages
    .map((language) => rowsOf(item)?.find((row) => languageOf(row) === language))
    .find(Predicate.isNotUndefined)

/** Replaces the translations of each item with the fields of one translation, at any depth. */
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
 * Items in each of the languages, one language after the other, with the language in `locale`. An item is left out if it has no
 * translation in the language, and none in `fallback`.
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
