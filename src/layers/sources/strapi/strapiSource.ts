/**
 * A source of Strapi's content, version 5: each type is a document.
 *
 * ```
 * <source id>/<type>.json    the entries of a collection, or the entry of a single type
 * <source id>/media/         the files of the media library in these entries
 * ```
 *
 * Strapi is a description for `cms.ts`: its query strings, its responses, its refusals, its files.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import {
  type Ask,
  type CollectionAnswer,
  makeSource,
  type Parameters,
  type Refusal,
  type Vendor,
  withoutUnpublished
} from "../../documents/cms.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { type JsonObject, property, textOf } from "../../documents/jsonValues.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"
import { RequestFailed } from "../../httpClient/Requests.ts"
import { type Edition, inLanguages, makeLasting } from "./languages.ts"
import { StrapiOptions, type StrapiSourceConfig, type StrapiType } from "./StrapiOptions.ts"

/**
 * A source of content for the content plugin's `sources`: the types of a Strapi 5, each as a document.
 *
 * @since 0.1.0
 * @category constructors
 */
export const strapiSource = (config: StrapiSourceConfig): ContentSourceDefinition =>
  define("the Strapi source", StrapiOptions, config, makeSource(strapi))

/**
 * Nested values in brackets: `{ a: { b: [1, 2] } }` is `a[b][]=1&a[b][]=2`. Lists of objects have indices, because
 * with empty brackets Strapi could not tell which values belong to the same object.
 */
export const parameters = (input: JsonObject): Parameters =>
  Object.entries(input).flatMap(([name, value]) => nested(name, value))

const nested = (name: string, value: unknown): Parameters =>
  Array.isArray(value)
    ? value.flatMap((item, index) => nested(`${name}[${Predicate.isObject(item) ? index : ""}]`, item))
    : Predicate.isReadonlyRecord(value)
      ? Object.entries(value).flatMap(([key, part]) => nested(`${name}[${key}]`, part))
      : Predicate.isNullable(value)
        ? []
        : [[name, String(value)]]

/** The longest page of a server with default settings. */
const pageSize = 100

/**
 * Whether a type has languages: requests one field only, which Strapi refuses if the type does not have it. A single
 * type without published content is not found.
 */
const isLocalized = (ask: Ask, name: string, status: Edition["status"]) =>
  ask(name, parameters({ fields: ["locale"], pagination: { pageSize: 1 }, status })).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ cause, status }) =>
        status === 404 ||
        (status === 400 && cause instanceof RequestFailed && readRefusal(cause.said).key === "locale"),
      ({ status }) => Effect.succeed(status === 404)
    )
  )

const hasId = (value: unknown): value is JsonObject => Predicate.isString(property(value, "documentId"))

const paginationOf = Schema.decodeUnknownOption(
  Schema.Struct({
    pageCount: Schema.NonNegativeInt,
    pageSize: Schema.NonNegativeInt.pipe(Schema.optionalWith({ default: () => pageSize })),
    total: Schema.NonNegativeInt
  })
)

export const readAnswer = (body: unknown): CollectionAnswer => {
  const data = property(body, "data")
  if (hasId(data)) return { kind: "single", item: data }
  if ([data].flat().some((entry) => Predicate.hasProperty(entry, "attributes"))) {
    return { kind: "strange", detail: 'its entries have "attributes", as in version 4' }
  }
  if (!Array.isArray(data)) return { kind: "strange", detail: 'it has no entries in "data"' }
  if (!data.every(hasId)) return { kind: "strange", detail: 'an entry has no "documentId"' }
  return Option.match(paginationOf(property(property(body, "meta"), "pagination")), {
    onNone: () => ({ kind: "strange", detail: 'it says no "pageCount" and "total" in "meta.pagination"' }),
    onSome: ({ pageCount: pages, pageSize: size, total }) => ({
      kind: "page",
      items: data,
      total,
      pages,
      size
    })
  })
}

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

export const strapi: Vendor<StrapiType, StrapiOptions, Edition> = {
  name: "Strapi",
  path: "api",
  address: 'the address of a Strapi 5 without "/api"',
  option: "types",
  items: "entries",
  queries: ({ types }) => types,
  keyOf: () => "documentId",
  begin: (ask, { locales, status }) =>
    Effect.succeed((name) =>
      Effect.map(locales.length > 0 ? isLocalized(ask, name, status) : Effect.succeed(false), (is) =>
        is ? locales.map((locale) => ({ status, locale })) : [{ status }]
      )
    ),
  // Sorted by `documentId` last, because equal values have no order, and the numeric `id` changes with each publish.
  page: ({ fields, filters, populate, sort = [] }, edition, { number }) =>
    parameters({
      populate,
      filters,
      // Without `locale`, entries in two languages would look the same.
      fields: fields === undefined || edition.locale === undefined ? fields : [...fields, "locale"],
      sort: [...[sort].flat(), "documentId:asc"],
      pagination: { page: number, pageSize, withCount: true },
      ...edition
    }),
  readAnswer,
  // With filters by relations, Strapi may count and send an entry twice.
  mayRepeatItems: ({ filters }) => filters !== undefined,
  merge: (editions, type, options) =>
    Effect.flatMap(inLanguages(editions, type, options), (entries) =>
      options.status === "draft" ? Effect.succeed(entries) : withoutUnpublished(entries, isDraftIn(entries))
    ),
  saved: (object) => (isMedia(object) ? withoutFormats(object) : object),
  readFile: () => readFile,
  settings: (options) => ({ lasting: makeLasting(options) }),
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

const percent = Schema.Number.pipe(Schema.between(0, 100))

const link = { url: Schema.String, mime: Schema.String }

/** Blocks of text have copies of files from the time of insertion. A copy has no `documentId`, and does not change with its file. */
const isMedia = Schema.is(
  Schema.Union(
    Schema.Struct({ ...link, documentId: Schema.String }),
    Schema.Struct({ ...link, hash: Schema.String })
  )
)
/** A replaced file keeps its URL. Only these fields change. */
const hasVersion = Schema.is(
  Schema.Struct({ documentId: Schema.String, updatedAt: Schema.String, size: Schema.Number })
)
/** In percent. */
const hasFocalPoint = Schema.is(Schema.Struct({ focalPoint: Schema.Struct({ x: percent, y: percent }) }))

/** Reads an object of an entry as a file; `None` for other objects. */
export const readFile = (value: unknown): Option.Option<MediaObject> =>
  isMedia(value)
    ? Option.some({
        url: value.url,
        name: textOf(property(value, "name")) || undefined,
        version: hasVersion(value) ? [value.documentId, value.updatedAt, value.size].join(" ") : undefined,
        focus: hasFocalPoint(value) ? { x: value.focalPoint.x / 100, y: value.focalPoint.y / 100 } : undefined
      })
    : Option.none()

/** Strapi makes smaller pictures of each picture. */
const withoutFormats = ({ formats: _, ...picture }: JsonObject): JsonObject => picture

/**
 * Finds the drafts among related entries. The entries themselves are those that the server calls published, and files
 * have no drafts.
 */
const isDraftIn = (entries: ReadonlyArray<JsonObject>) => {
  const own = new Set(entries)
  return (object: JsonObject): boolean =>
    object.publishedAt === null && hasId(object) && !isMedia(object) && !own.has(object)
}
