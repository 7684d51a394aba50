/**
 * The options of a source of Directus.
 */
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import { cmsFields, collections, filled } from "../../documents/cms.ts"
import type { DocumentConfig } from "../../documents/DocumentOptions.ts"
import type { MediaConfig } from "../../documents/media/MediaOptions.ts"

/**
 * The query of a collection, in the parameters of Directus' REST API.
 *
 * @since 0.1.0
 * @category models
 */
export interface DirectusCollection {
  /**
   * The fields to read, and fields of relations and files by paths, as in `["*", "cover.*", "room.name"]`. Default
   * `["*"]`.
   */
  readonly fields?: ReadonlyArray<string> | undefined

  /** The filter of the items, as in `{ year: { _gt: 1900 } }`. Default all items with the `status`. */
  readonly filter?: Readonly<Record<string, unknown>> | undefined

  /** The order of the items, as in `["-year", "title"]`. Default by `key`, an order without meaning. */
  readonly sort?: ReadonlyArray<string> | undefined

  /**
   * The queries of relations, as in `{ gallery: { _sort: ["sort"], _limit: -1 } }`. Without a `_limit`, Directus
   * sends the first 100 items of each relation.
   */
  readonly deep?: Readonly<Record<string, unknown>> | undefined

  /** The primary key of the collection. Default `"id"`. */
  readonly key?: string | undefined
}

/**
 * Directus: each collection is a document, an array of its items, or an object if it is a singleton.
 *
 * @since 0.1.0
 * @category models
 */
export interface DirectusSourceConfig extends Omit<DocumentConfig, "media"> {
  /** URL of Directus, such as `"https://cms.museum.example"`. */
  readonly url: string

  /**
   * The static token of a user who may read the collections. It is sent to `url` only, files included,
   * and never shown. Default none (public content).
   */
  readonly token?: string | Redacted.Redacted | undefined

  /** The collections to save, by their names. */
  readonly collections: Readonly<Record<string, DirectusCollection>>

  /**
   * Values of the field `status` to save, in collections that have it; `[]` saves all. If it is set, a token that may
   * not read the field is an error. Default published.
   */
  readonly status?: ReadonlyArray<string> | undefined

  /**
   * Languages to read and to save, such as `["de-DE", "en-US"]`: translated fields are
   * `{ "de-DE": …, "en-US": … }`. Default `[]` (all translations that the fields lead to).
   */
  readonly locales?: ReadonlyArray<string> | undefined

  /**
   * Further links whose files are downloaded, beside the files that `fields` name; `false` downloads
   * none. Default none.
   */
  readonly media?: MediaConfig | false | undefined
}

const field = filled("the name of a field")

const fields = expects(Schema.Array(field), "an array of names of fields")

const parameters = (name: string) =>
  omittable(expects(Schema.declare(Predicate.isReadonlyRecord), `an object, as Directus' "${name}"`))

const Collection = expects(
  Schema.Struct({
    fields: optional(fields, ["*"]),
    filter: parameters("filter"),
    sort: optional(fields, []),
    deep: parameters("deep"),
    key: optional(field, "id")
  }),
  'an object with "fields", "filter", "sort", "deep" or "key"; {} for what Directus gives without them'
)

/** The options of a collection, with defaults. */
export type Collection = typeof Collection.Type

export const DirectusOptions = Schema.Struct({
  ...cmsFields({
    path: "admin",
    token: "a static token",
    locale: 'a language by its code in Directus, such as "de-DE"'
  }),
  // The names of collections are part of the path of a request.
  collections: collections(Collection, {
    what: "collection",
    isName: /^[\w-]+$/,
    wrongName: "the name of a collection"
  }),
  status: omittable(expects(Schema.Array(filled("a status")), 'an array such as ["published"]'))
})
export type DirectusOptions = typeof DirectusOptions.Type
