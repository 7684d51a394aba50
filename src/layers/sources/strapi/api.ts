/**
 * Requests to the REST API of Strapi 5, their query strings, the responses with the volatile parts of entries, what to
 * do if Strapi refuses a request, and all entries of a type, with the languages of each entry merged.
 */

import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { SourceError } from "../../../services/SourceError.ts"
import {
  type Ask,
  type CollectionAnswer,
  type Parameters,
  type Refusal,
  readCollection,
  type Vendor
} from "../../documents/Cms.ts"
import { missingLanguages } from "../../documents/Gone.ts"
import { type JsonObject, mapObjects, property, textOf } from "../../documents/jsonValues.ts"
import type { Lasting } from "../../documents/media/placeMedia.ts"
import { notice } from "../../documents/warnings.ts"
import { RequestFailed } from "../../httpClient/Requests.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** The status and language of the requested entries. */
export interface Edition {
  readonly status: "published" | "draft"
  /** Default the default language of the server. */
  readonly locale?: string | undefined
}

/**
 * Nested values in brackets: `{ a: { b: [1, 2] } }` is `a[b][]=1&a[b][]=2`. Lists of objects have indices, because
 * with empty brackets Strapi could not tell which values belong to the same object.
 */
export const parameters = (input: Readonly<Record<string, unknown>>): Parameters =>
  Object.entries(input).flatMap(([name, value]) => nested(name, value))

const nested = (name: string, value: unknown): Parameters =>
  Array.isArray(value)
    ? value.flatMap((item, index) => nested(`${name}[${Predicate.isObject(item) ? index : ""}]`, item))
    : Predicate.isReadonlyRecord(value)
      ? Object.entries(value).flatMap(([key, part]) => nested(`${name}[${key}]`, part))
      : Predicate.isNullable(value)
        ? []
        : [[name, String(value)]]

/**
 * One page of a type; the first page is 1. Entries are sorted by `documentId` last, because equal values have no
 * order, and the numeric `id` changes with each publish.
 */
export const page = (
  { fields, filters, populate, sort = [] }: StrapiType,
  edition: Edition,
  number: number
): Parameters =>
  parameters({
    populate,
    filters,
    // Without `locale`, entries in two languages would look the same.
    fields: fields === undefined || edition.locale === undefined ? fields : [...fields, "locale"],
    sort: [...[sort].flat(), "documentId:asc"],
    pagination: { page: number, pageSize, withCount: true },
    ...edition
  })

/** Requests one field only. Strapi refuses the request if the type does not have the field. */
export const onlyField = (field: string, edition: Edition): Parameters =>
  parameters({ fields: [field], pagination: { pageSize: 1 }, ...edition })

/** The longest page of a server with default settings. */
export const pageSize = 100

/** An entry as in Strapi's response. */
export type Entry = Readonly<Record<string, unknown>> & { readonly documentId: string }

type EntriesAnswer = CollectionAnswer<Entry>

const isEntry = (value: unknown): value is Entry =>
  Predicate.hasProperty(value, "documentId") && Predicate.isString(value.documentId)

const paginationOf = Schema.decodeUnknownOption(
  Schema.Struct({
    pagination: Schema.Struct({
      pageCount: Schema.NonNegativeInt,
      pageSize: Schema.NonNegativeInt.pipe(Schema.optionalWith({ default: () => pageSize })),
      total: Schema.NonNegativeInt
    })
  })
)

export const readAnswer = (body: unknown): EntriesAnswer => {
  const data = property(body, "data")
  if (isEntry(data)) {
    return { kind: "single", item: data }
  }
  if (!Array.isArray(data)) {
    return isOld(data) ? old : { kind: "strange", detail: 'it has no entries in "data"' }
  }
  if (!data.every(isEntry)) {
    return data.some(isOld) ? old : { kind: "strange", detail: 'an entry has no "documentId"' }
  }
  return Option.match(paginationOf(property(body, "meta")), {
    onNone: () => ({ kind: "strange", detail: 'it says no "pageCount" and "total" in "meta.pagination"' }),
    onSome: ({ pagination: { pageCount, pageSize, total } }) => ({
      kind: "page",
      items: data,
      total,
      pages: pageCount,
      size: pageSize
    })
  })
}

/** Version 4 has the fields of an entry in `attributes`. */
const isOld = (value: unknown): boolean => Predicate.hasProperty(value, "attributes")

const old: EntriesAnswer = { kind: "strange", detail: 'its entries have "attributes", as in version 4' }

export const readRefusal = (body: unknown): Refusal => {
  const error = property(body, "error")
  const details = property(error, "details")
  return {
    name: textOf(property(error, "name")),
    message: textOf(property(error, "message")),
    key: textOf(property(details, "key")),
    param: textOf(property(details, "param"))
  }
}

export const strapi: Vendor = {
  name: "Strapi",
  path: "api",
  address: 'the address of a Strapi 5 without "/api"',
  option: "types",
  filter: "filters",
  items: "entries",
  readRefusal,
  advice: (type, status, hasToken, { key = "", name, param = "" }) => {
    switch (status) {
      case 400:
        return name === "ValidationError" && key !== ""
          ? `${type} has no "${excerpt(key)}" for "${excerpt(param)}", or the token may not read it. Check "types.${type}"`
          : `Strapi does not understand the request for ${type}. Check "types.${type}"`
      case 401:
        return hasToken
          ? 'Strapi does not accept the token. Check "token": in Strapi, Settings, API Tokens shows whether it has expired'
          : `Strapi sends ${type} only with a token. Set "token" to a token of Settings, API Tokens`
      case 403:
        return hasToken
          ? `The token may not read ${type}: in Strapi, Settings, API Tokens, allow "find" of it, or use a token that is read-only`
          : `Without a token, ${type} may not be read: set "token", or in Strapi, Settings, Users & Permissions, Roles, Public, allow "find" of it`
      case 404:
        return `Strapi has no ${type}. A collection goes by its plural ("articles"), a single type by its singular ("homepage"), as the Content-Type Builder names them in lower case; a single type also needs published content`
      default:
        return undefined
    }
  }
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

/** The same for the objects of documents. */
export const makeLasting =
  (options: Pick<StrapiOptions, "locales" | "types">): Lasting =>
  (object, { document, parents, path }) => {
    const type = options.types[document.replace(/\.json$/, "")] ?? {}
    const field = path.find((level) => !/^\d+$/.test(level))
    return stableObject(type, options, field)(object, parents)
  }

const unsigned = (object: JsonObject): JsonObject =>
  object.isUrlSigned === true && Predicate.isString(object.url)
    ? { ...object, url: object.url.replace(/\?.*$/s, "") }
    : object

/** All entries of a type in one language, in the order of the server. */
interface Translation {
  readonly locale: string
  readonly entries: ReadonlyArray<Entry>
}

/** Whether a type has languages. Strapi refuses the field `locale` for a type without languages. */
export const isLocalized = (ask: Ask, name: string, status: Edition["status"]) =>
  ask(name, onlyField("locale", { status })).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ cause, status }) => status === 404 || (status === 400 && isAbout("locale", cause)),
      ({ status }) => Effect.succeed(status === 404)
    )
  )

const isAbout = (key: string, cause: unknown): boolean =>
  cause instanceof RequestFailed && readRefusal(cause.said).key === key

/** Reads a type without languages: its entries, or the entry of a single type. */
export const readPlain = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  type: StrapiType,
  { status }: Pick<StrapiOptions, "status">
) {
  const { items, single } = yield* readEdition(ask, name, type, { status })
  return Option.getOrElse(single, () => items)
})

/** Reads the entries of a type in all languages, one language after the other. */
export const readTranslations = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  type: StrapiType,
  { locales, status }: Pick<StrapiOptions, "locales" | "status">
) {
  let isSingle = false
  const translations: globalThis.Array<Translation> = []
  const missing: globalThis.Array<SourceError> = []
  for (const locale of locales) {
    const read = yield* Effect.either(readEdition(ask, name, type, { status, locale }))
    if (Either.isRight(read)) {
      isSingle ||= Option.isSome(read.right.single)
      translations.push({ locale, entries: read.right.items })
    } else if (read.left instanceof SourceError && read.left.status === 404) {
      translations.push({ locale, entries: [] })
      missing.push(read.left)
    } else {
      return yield* read.left
    }
  }
  // A single type may be missing in some languages. If it is missing in all, its name is wrong, or nothing is published.
  const [first] = missing
  if (first !== undefined && missing.length === translations.length) {
    return yield* first
  }
  const found = translations.filter(({ entries }) => entries.length > 0).map(({ locale }) => locale)
  yield* notice(missingLanguages(locales, new Set(found)))
  const entries = merged(translations, type, { locales })
  return isSingle ? entries[0] : entries
})

/**
 * Reads all entries, each once, or the entry of a single type. With filters by relations, Strapi may count and send
 * an entry twice.
 */
const readEdition = (ask: Ask, name: string, type: StrapiType, edition: Edition) =>
  readCollection<Entry>(strapi, {
    name,
    ask: ({ number }) => Effect.map(ask(name, page(type, edition, number)), readAnswer),
    idOf: ({ documentId }) => Option.some(documentId),
    mayRepeatItems: type.filters !== undefined
  })

/** Fields that each translation has for itself: the merged entry has the values of its first language. */
const ofFirst: ReadonlySet<string> = new Set(["id", "documentId", "createdAt", "updatedAt", "publishedAt"])
const leftOut: ReadonlySet<string> = new Set(["locale", "localizations"])

type Variant = readonly [locale: string, entry: Entry]

/**
 * One entry for each document: the order of the first language, where an entry that it lacks follows the one before it
 * in its own language. Fields that differ in any entry of the type become `{ de, en }`.
 */
const merged = (
  translations: ReadonlyArray<Translation>,
  type: StrapiType,
  options: Pick<StrapiOptions, "locales">
): ReadonlyArray<Entry> => {
  const byId = new Map<string, ReadonlyArray<Variant>>()
  for (const { entries, locale } of translations) {
    for (const entry of entries) {
      const variants = byId.get(entry.documentId) ?? []
      byId.set(entry.documentId, [...variants, [locale, entry]])
    }
  }
  const all = inOrder(translations).flatMap((id) => [byId.get(id) ?? []])
  const differing = new Set(all.flatMap((variants) => differingFields(variants, type, options)))
  return all.flatMap((variants) => mergedEntry(variants, differing))
}

const inOrder = (translations: ReadonlyArray<Translation>): ReadonlyArray<string> =>
  translations.reduce<ReadonlyArray<string>>((order, { entries }) => {
    const first = [""]
    const following = new Map([["", first]])
    for (const id of order) following.set(id, [id])
    let group = first
    for (const { documentId } of entries) {
      const own = following.get(documentId)
      if (own === undefined) group.push(documentId)
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
  const translated = Array.fromIterable(differing).flatMap((name) => {
    const found = variants.flatMap(([locale, { [name]: value }]) =>
      value === undefined ? [] : [[locale, value]]
    )
    return found.length === 0 ? [] : [[name, Object.fromEntries(found)]]
  })
  const entry: Entry = { ...first[1], ...Object.fromEntries(translated) }
  return [{ ...Record.filter(entry, (_, name) => !leftOut.has(name)), documentId: entry.documentId }]
}
