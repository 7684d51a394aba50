/**
 * A source of Strapi's content, version 5: each type is a document.
 *
 * ```
 * <source id>/<type>.json    the entries of a collection, or the entry of a single type
 * <source id>/media/         the files of the media library in these entries
 * ```
 *
 * It finds the files of the media library of Strapi in entries.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { cmsFields, collections, filled, makeAsk } from "../../documents/Cms.ts"
import { Value } from "../../documents/Document.ts"
import { type DocumentConfig, define } from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { mapObjects } from "../../documents/jsonValues.ts"
import type { MediaConfig } from "../../documents/media/MediaOptions.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"
import { isLocalized, readPlain, readTranslations, stablePart, strapi } from "./api.ts"

/**
 * The query of a type, in the parameters of Strapi's REST API.
 *
 * @since 0.1.0
 * @category models
 */
export interface StrapiType {
  /**
   * The relations, media, components and dynamic zones to read, as in `["cover", "room"]` or `{ body: { populate: "*"
   * } }`; `"*"` reads all, one level deep. Default none.
   */
  readonly populate?: string | boolean | ReadonlyArray<string> | Readonly<Record<string, unknown>> | undefined

  /** The fields to read, as in `["title", "text"]`. Default all. */
  readonly fields?: ReadonlyArray<string> | undefined

  /** The filter of the entries, as in `{ year: { $gt: 1900 } }`. Default all. */
  readonly filters?: Readonly<Record<string, unknown>> | undefined

  /**
   * The order of the entries, as in `"title"` or `["year:desc", "title"]`. Default by `documentId`, an order without
   * meaning.
   */
  readonly sort?: string | ReadonlyArray<string> | undefined
}

/**
 * Strapi 5: each type is a document, a collection as an array of its entries, a single type as an object.
 *
 * @since 0.1.0
 * @category models
 */
export interface StrapiSourceConfig extends Omit<DocumentConfig, "media"> {
  /** URL of Strapi without `/api`, such as `"https://cms.museum.example"`. */
  readonly url: string

  /**
   * An API token that may read the types. It is sent to `url` only, and never shown. Default none (public
   * content).
   */
  readonly token?: string | Redacted.Redacted | undefined

  /**
   * The types to save, by their names in Strapi's API: the plural of a collection, the singular of a single
   * type.
   */
  readonly types: Readonly<Record<string, StrapiType>>

  /**
   * Languages to save, such as `["de", "en"]`: fields that differ are `{ de, en }`. Types without
   * languages stay as they are. Default `[]` (Strapi's default language).
   */
  readonly locales?: ReadonlyArray<string> | undefined

  /**
   * Further links whose files are downloaded, beside those of the media library; `false` downloads none.
   * Default none.
   */
  readonly media?: MediaConfig | false | undefined

  /** `"draft"` saves the drafts of all entries, published or not. Default `"published"`. */
  readonly status?: "published" | "draft" | undefined
}

const field = filled("the name of a field")

const parameters = Schema.declare(Predicate.isReadonlyRecord)

const isNames = (input: unknown): input is string | ReadonlyArray<string> =>
  Predicate.isString(input) || (Array.isArray(input) && input.every(Predicate.isString))

/** A union would report a mistake once for each of its members. */
const names = Schema.declare(isNames)

const populate = Schema.declare(
  (input): input is NonNullable<StrapiType["populate"]> =>
    isNames(input) || Predicate.isBoolean(input) || Predicate.isReadonlyRecord(input)
)

const Type = expects(
  Schema.Struct({
    populate: omittable(expects(populate, '"*", an array of names, or an object, as Strapi\'s "populate"')),
    fields: omittable(expects(Schema.Array(field), "an array of names of fields")),
    filters: omittable(expects(parameters, 'an object, as Strapi\'s "filters"')),
    sort: omittable(expects(names, 'a name, or an array, as Strapi\'s "sort"'))
  }),
  'an object with "populate", "fields", "filters" or "sort"; {} for what Strapi gives without them'
)

export const StrapiOptions = Schema.Struct({
  ...cmsFields({
    path: "api",
    token: "an API token",
    locale: 'a language as Strapi names it, such as "de" or "de-AT"'
  }),
  types: collections(Type, {
    what: "type",
    // Names in Strapi's form. They are part of the path of a request.
    isName: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i,
    wrongName: "a name as in the addresses of Strapi's API"
  }),
  status: optional(expects(Schema.Literal("published", "draft"), '"published" or "draft"'), "published")
})
export type StrapiOptions = typeof StrapiOptions.Type

/**
 * A source of content for the content plugin's `sources`: the types of a Strapi 5, each as a document.
 *
 * @since 0.1.0
 * @category constructors
 */
export const strapiSource = (config: StrapiSourceConfig): ContentSourceDefinition =>
  define("the Strapi source", StrapiOptions, config, make)

const make = Effect.fnUntraced(function* (options: StrapiOptions) {
  const { locales, status, types, url } = options
  const ask = yield* makeAsk(strapi, options)

  const documentOf = Effect.fnUntraced(function* ([name, type]: readonly [string, StrapiType]) {
    const hasLanguages = locales.length > 0 && (yield* isLocalized(ask, name, status))
    const read = hasLanguages
      ? readTranslations(ask, name, type, options)
      : readPlain(ask, name, type, options)
    return {
      name,
      key: ["documentId"],
      url: `${url}/api/${name}`,
      content: Value({ value: Effect.map(read, withoutFormats) })
    }
  })

  return yield* DocumentSource.make({
    options,
    open: () =>
      Effect.map(Effect.forEach(Object.entries(types), documentOf), (documents) => ({
        documents,
        reader: readFile
      })),
    lasting: stablePart,
    url
  })
})

const percent = Schema.Number.pipe(Schema.between(0, 100))

const link = { url: Schema.String, mime: Schema.String }

/** Blocks of text have copies of files from the time of insertion. A copy has no `documentId`, and does not change with its file. */
const Media = Schema.Union(
  Schema.Struct({ ...link, documentId: Schema.String }),
  Schema.Struct({ ...link, hash: Schema.String })
)
const Name = Schema.Struct({ name: Schema.String })
/** A replaced file keeps its URL. Only these fields change. */
const Version = Schema.Struct({
  documentId: Schema.String,
  updatedAt: Schema.String,
  size: Schema.Number
})
/** In percent. */
const FocalPoint = Schema.Struct({ focalPoint: Schema.Struct({ x: percent, y: percent }) })

const isMedia = Schema.is(Media)
const hasName = Schema.is(Name)
const hasVersion = Schema.is(Version)
const hasFocalPoint = Schema.is(FocalPoint)

/** Reads an object of an entry as a file; `None` for other objects. */
export const readFile = (value: unknown): Option.Option<MediaObject> =>
  isMedia(value)
    ? Option.some({
        url: value.url,
        name: hasName(value) ? value.name : undefined,
        version: hasVersion(value) ? [value.documentId, value.updatedAt, value.size].join(" ") : undefined,
        focus: hasFocalPoint(value) ? { x: value.focalPoint.x / 100, y: value.focalPoint.y / 100 } : undefined
      })
    : Option.none()

/** Removes the smaller pictures that Strapi has made of each picture. */
export const withoutFormats = (value: unknown): unknown =>
  mapObjects(value, (object) => {
    const { formats: _, ...others } = object
    return isMedia(object) ? others : object
  })
