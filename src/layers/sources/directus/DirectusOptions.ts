/**
 * The options of a source of Directus' content, what they are for, and what each must be.
 */
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, optional } from "../../../internal/Options.ts"
import { cmsFields, collections, fallbackNeedsLocales, filled } from "../../documents/CmsOptions.ts"
import type { DocumentConfig } from "../../documents/DocumentOptions.ts"
import type { MediaConfig } from "../../documents/media/MediaOptions.ts"

/** What is asked of a collection, in the parameters of Directus' REST API. */
export interface DirectusCollection {
  /** The fields to give, and those of relations and files by paths, as in `["*", "cover.*", "room.name"]`. Default `["*"]`. */
  readonly fields?: ReadonlyArray<string>

  /** Which items to give, as in `{ year: { _gt: 1900 } }`. Default all of `status`. */
  readonly filter?: Readonly<Record<string, unknown>>

  /** The order of the items, as in `["-year", "title"]`. Default by `key`, which says nothing. */
  readonly sort?: ReadonlyArray<string>

  /**
   * The same of relations, as in `{ gallery: { _sort: ["sort"], _limit: -1 } }`. Without a `_limit`, Directus gives the first 100 of each
   * item.
   */
  readonly deep?: Readonly<Record<string, unknown>>

  /** The primary key of the collection. Default `"id"`. */
  readonly key?: string
}

/** Directus: each collection is a document, an array of its items, or an object if it is a singleton. */
export interface DirectusSourceConfig extends Omit<DocumentConfig, "media"> {
  /** Where Directus is, as in `"https://cms.museum.example"`. */
  readonly url: string

  /** The static token of a user who may read the collections; it is sent to `url` only, and never shown. Default none: what is public. */
  readonly token?: string | Redacted.Redacted

  /** What to save, by the names of collections. */
  readonly collections: Readonly<Record<string, DirectusCollection>>

  /**
   * Which items to save of collections that have a field `status` which the token may read: those where it is one of these; `[]` saves
   * all. Default `["published"]`.
   */
  readonly status?: ReadonlyArray<string>

  /**
   * The languages to save, as in `["de-DE", "en-US"]`, of collections with a field `translations`, whose rows have `languages_code`: the
   * fields of a row are those of its item then, and each item says its own in `locale`. A singleton is an array with an object
   * for each. Default none: `translations` are as Directus gives them.
   */
  readonly locales?: ReadonlyArray<string>

  /**
   * The language for items that are not translated into another one of `locales`. They say it in `fallbackLocale`. Default none: they
   * are left out.
   */
  readonly fallback?: string

  /**
   * Files that `fields` name, as in `"cover.*"`, are downloaded, and `localPath` beside their `url` is where they are. More links are
   * found by `find`, `hosts` or `types`; `false` downloads none. Default `{}`.
   */
  readonly media?: MediaConfig | false
}

const field = filled("the name of a field")

const fields = expects(Schema.Array(field), "an array of names of fields")

const parameters = (name: string) =>
  Schema.optionalWith(
    expects(Schema.declare(Predicate.isReadonlyRecord), `an object, as Directus' "${name}"`),
    { exact: true }
  )

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

/** A collection as it is asked for. */
export type Collection = typeof Collection.Type

export const DirectusOptions = Schema.Struct({
  ...cmsFields({
    path: "admin",
    token: "a static token",
    locale: 'a language by its code in Directus, such as "de-DE"'
  }),
  // Their names stand in the path of a request.
  collections: collections(Collection, {
    what: "collection",
    isName: /^[\w-]+$/,
    wrongName: "the name of a collection"
  }),
  status: optional(expects(Schema.Array(filled("a status")), 'an array such as ["published"]'), ["published"])
})
export type DirectusOptions = typeof DirectusOptions.Type

/** With what must hold of several of them. */
export const CheckedOptions = DirectusOptions.pipe(Schema.filter(fallbackNeedsLocales))
