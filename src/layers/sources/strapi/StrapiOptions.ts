/**
 * The options of a source of Strapi.
 */
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import { cmsFields, collections, filled } from "../../documents/cms.ts"
import type { DocumentConfig } from "../../documents/DocumentOptions.ts"
import type { MediaConfig } from "../../documents/media/MediaOptions.ts"

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
