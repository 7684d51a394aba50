/**
 * Entries in several languages, and what changes in an entry without an edit.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { Editions } from "../../documents/cms.ts"
import { missingLanguages } from "../../documents/Gone.ts"
import { type JsonObject, mapObjects } from "../../documents/jsonValues.ts"
import type { Lasting } from "../../documents/media/placeMedia.ts"
import { notice } from "../../documents/warnings.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** The status and language of the requested entries. */
export interface Edition {
  readonly status: "published" | "draft"
  /** Default the default language of the server. */
  readonly locale?: string | undefined
}

/**
 * Removes the parts of an object that change without an edit: numeric ids and `publishedAt`, which change with each
 * publish, and signatures of links to private files, which are new in each response. `updatedAt` stays, because it
 * changes with an edit. `parents` are the objects around it, and `field` is the field of the entry.
 */
const stableObject =
  (type: StrapiType, { locales }: Pick<StrapiOptions, "locales">, field: string | undefined) =>
  (object: JsonObject, parents: ReadonlyArray<JsonObject>): JsonObject => {
    const isOfStrapi = ({ documentId, id, ...others }: JsonObject) =>
      Predicate.isNumber(id) ||
      Predicate.isString(documentId) ||
      Object.keys(others).every((name) => locales.includes(name))
    if (!(field === undefined || mayHaveIds(type, field)) || !parents.every(isOfStrapi)) return object
    const { publishedAt: _, ...lasting } = object
    return unsigned(Predicate.isNumber(lasting.id) ? Record.remove(lasting, "id") : lasting)
  }

/** Whether a field may have components and relations. The ids in a field of JSON are content. */
const mayHaveIds = ({ fields = [], populate = "*" }: StrapiType, field: string): boolean =>
  !fields.includes(field) &&
  (!Predicate.isObject(populate) ||
    (Array.isArray(populate) ? populate.map(String) : Object.keys(populate)).some(
      (name) => name === "*" || name.split(".")[0] === field
    ))

const unsigned = (object: JsonObject): JsonObject =>
  object.isUrlSigned === true && Predicate.isString(object.url)
    ? { ...object, url: object.url.replace(/\?.*$/s, "") }
    : object

/** The same for the objects of documents. */
export const makeLasting =
  (options: Pick<StrapiOptions, "locales" | "types">): Lasting =>
  (object, { document, parents, path }) =>
    stableObject(
      options.types[document.replace(/\.json$/, "")] ?? {},
      options,
      path.find((level) => !/^\d+$/.test(level))
    )(object, parents)

/** Fields that each translation has for itself: the merged entry has the values of its first language. */
const ofFirst: ReadonlySet<string> = new Set(["id", "documentId", "createdAt", "updatedAt", "publishedAt"])
const leftOut: ReadonlySet<string> = new Set(["locale", "localizations"])

type Variant = readonly [locale: string, entry: JsonObject]

/**
 * One entry for each document: the order of the first language, where an entry that it lacks follows the one before it
 * in its own language. Fields that differ in any entry of the type become `{ de, en }`.
 */
export const inLanguages = (
  editions: Editions<Edition>,
  type: StrapiType,
  options: Pick<StrapiOptions, "locales">
): Effect.Effect<ReadonlyArray<JsonObject>> => {
  const variants = editions.flatMap(({ edition: { locale }, items }) =>
    locale === undefined ? [] : items.map((entry): Variant => [locale, entry])
  )
  if (variants.length === 0) return Effect.succeed(editions.flatMap(({ items }) => items))
  const byId = Array.groupBy(variants, ([, { documentId }]) => String(documentId))
  const all = inOrder(editions).flatMap((id) => [byId[id] ?? []])
  const differing = new Set(all.flatMap((variants) => differingFields(variants, type, options)))
  const found = new Set(variants.map(([locale]) => locale))
  return Effect.as(
    notice(missingLanguages(options.locales, found)),
    all.flatMap((variants) => mergedEntry(variants, differing))
  )
}

const inOrder = (editions: Editions<Edition>): ReadonlyArray<string> =>
  editions.reduce<ReadonlyArray<string>>((order, { items }) => {
    const first = [""]
    const following = new Map([["", first]])
    for (const id of order) following.set(id, [id])
    let group = first
    for (const { documentId } of items) {
      const own = following.get(String(documentId))
      if (own === undefined) group.push(String(documentId))
      else group = own
    }
    return [...following.values()].flat().slice(1)
  }, [])

const differingFields = (
  variants: ReadonlyArray<Variant>,
  type: StrapiType,
  options: Pick<StrapiOptions, "locales">
): ReadonlyArray<string> => {
  const texts = variants.map(([, entry]) =>
    Record.map(entry, (value, field) =>
      JSON.stringify(mapObjects(value, stableObject(type, options, field), [entry]))
    )
  )
  return Object.keys(Object.assign({}, ...texts)).filter(
    (name) => !ofFirst.has(name) && texts.some((text) => text[name] !== texts[0]?.[name])
  )
}

const mergedEntry = (variants: ReadonlyArray<Variant>, differing: ReadonlySet<string>) => {
  const [first] = variants
  if (first === undefined) return []
  const translated = [...differing].flatMap((name) => {
    const found = variants.flatMap(([locale, { [name]: value }]) =>
      value === undefined ? [] : [[locale, value]]
    )
    return found.length === 0 ? [] : [[name, Object.fromEntries(found)]]
  })
  const entry: JsonObject = { ...first[1], ...Object.fromEntries(translated) }
  return [Record.filter(entry, (_, name) => !leftOut.has(name))]
}
