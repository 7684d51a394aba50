/**
 * Items in several languages: moves the fields of translations into their items.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as EffectRecord from "effect/Record"
import { excerpt } from "../../../internal/printable.ts"
import type { Warning } from "../../../services/Warning.ts"
import { type Vendor, withoutUnpublished } from "../../documents/cms.ts"
import { missingLanguages } from "../../documents/Gone.ts"
import { type JsonObject, mapObjects } from "../../documents/jsonValues.ts"
import { languageKey } from "../../documents/names.ts"
import { notice, warn } from "../../documents/warnings.ts"
import type { Collection, DirectusOptions } from "./DirectusOptions.ts"

/** The field of an item with its translations. */
export const translationsField = "translations"

/** The field of a translation with the code of its language, or with the language itself if `fields` lead to it. */
const languageField = "languages_code"

const languageOf = (row: unknown): string | undefined => {
  const language = Predicate.hasProperty(row, languageField) ? row[languageField] : undefined
  const code = Predicate.hasProperty(language, "code") ? language.code : language
  return Predicate.isString(code) ? code : undefined
}

const rowsOf = (item: JsonObject): ReadonlyArray<JsonObject> | undefined => {
  const rows = item[translationsField]
  return Array.isArray(rows) && rows.every(isRow) ? rows : undefined
}

const isRow = (row: unknown): row is JsonObject =>
  Predicate.isReadonlyRecord(row) && Object.hasOwn(row, languageField)

/** The published items of a collection, with the fields of their translations. */
export const inLanguages: Vendor<Collection, DirectusOptions, unknown>["merge"] = Effect.fnUntraced(
  function* (editions, { key }, { locales, status = ["published"] }) {
    const found = editions.flatMap(({ items }) => items)
    const published = yield* withoutUnpublished(found, isUnpublished(status))
    const { items, warnings } = readTranslations([published].flat(), { key, locales })
    yield* notice(warnings)
    return translated(items, locales)
  }
)

/** The statuses of unpublished items in Directus' own collections; any other one may be content. */
const unpublished: ReadonlySet<unknown> = new Set(["draft", "archived"])

/** Whether an object in an item is unpublished: a related item, or a translation with another status. */
const isUnpublished =
  (status: ReadonlyArray<string>) =>
  (object: JsonObject): boolean =>
    status.length > 0 &&
    Predicate.isString(object.status) &&
    !status.includes(object.status) &&
    (unpublished.has(object.status) || isRow(object))

/** Fields that Directus writes into each row of a collection. */
const systemField = /^(?:sort|status|(?:date|user)_(?:created|updated))$/

/**
 * Removes translations without a language, at any depth, which Directus makes by itself, with a warning. `sort`, `status`, dates, users and the relation to the
 * item are removed from a translation if the item has the same field, so that they do not replace it.
 */
export const readTranslations = (
  items: ReadonlyArray<unknown>,
  { key, locales }: Pick<Collection, "key"> & Pick<DirectusOptions, "locales">
): { readonly items: ReadonlyArray<JsonObject>; readonly warnings: ReadonlyArray<Warning> } => {
  let removed = 0
  let first = ""
  const found = new Set<string>()
  const keyOf = (item: JsonObject) => item[key] ?? item.id

  const leadsTo = (item: JsonObject, name: string, value: unknown) =>
    name.endsWith("_id") && (Predicate.isReadonlyRecord(value) ? keyOf(value) : value) === keyOf(item)

  const textsOf = (row: JsonObject, item: JsonObject): JsonObject =>
    EffectRecord.filter(
      row,
      (value, name) =>
        !(Object.hasOwn(item, name) && (name === key || systemField.test(name) || leadsTo(item, name, value)))
    )

  const read = (item: JsonObject): JsonObject => {
    const rows = rowsOf(item)
    if (rows === undefined) return item
    const named = rows.filter((row) => languageOf(row) !== undefined)
    for (const row of named) found.add(languageOf(row) ?? "")
    if (removed === 0 && named.length < rows.length) first = excerpt(String(keyOf(item)))
    removed += rows.length - named.length
    return {
      ...item,
      [translationsField]: named.map((row) => textsOf(row, item))
    }
  }

  return {
    items: items.map((item) => mapObjects(item, read)).filter(Predicate.isReadonlyRecord),
    warnings: [
      ...missingLanguages(locales, found),
      ...(removed === 0
        ? []
        : [warn("directus:language", translationsField, { count: removed, name: translationsField, first })])
    ]
  }
}

/**
 * Replaces the translations in each item, at any depth, with their fields: `title` is `{ "de-DE": …, "en-US": … }`.
 * With `locales`, only these languages remain, and an item whose translations are all in other languages is left out.
 */
export const translated = (
  items: ReadonlyArray<JsonObject>,
  locales: ReadonlyArray<string>
): ReadonlyArray<unknown> => {
  const wanted = new Set(locales.map(languageKey))
  const isWanted = (row: JsonObject) => locales.length === 0 || wanted.has(languageKey(languageOf(row) ?? ""))

  const read = (item: JsonObject): JsonObject => {
    const rows = rowsOf(item)
    if (rows === undefined) return item
    const fields = new Map<string, Record<string, unknown>>()
    for (const row of rows.filter(isWanted)) {
      for (const [name, value] of Object.entries(row)) {
        if (name === "id" || name === languageField) continue
        fields.set(name, { ...fields.get(name), [languageOf(row) ?? ""]: value })
      }
    }
    const { [translationsField]: _, ...own } = item
    return { ...own, ...Object.fromEntries(fields) }
  }

  return items
    .filter((item) => locales.length === 0 || (rowsOf(item)?.some(isWanted) ?? true))
    .map((item) => mapObjects(item, read))
}
