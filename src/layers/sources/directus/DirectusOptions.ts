/**
 * The options of a source of Directus' content, what they are for, and what each must be.
 */
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isHttpBase } from "../../../internal/httpAddress.ts"
import { expects, optional } from "../../../internal/Options.ts"
import { secret } from "../../../internal/secret.ts"
import { type DocumentConfig, DocumentOptions } from "../../documents/DocumentOptions.ts"
import { fileFieldsOfReader } from "../../documents/media/fileOptions.ts"
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

const filled = (what: string) => expects(Schema.String.pipe(Schema.filter((text) => text !== "")), what)

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

/** They stand in the path of a request. */
const isCollectionName = (name: string): boolean => /^[\w-]+$/.test(name)

const collections = expects(
  Schema.Record({ key: Schema.String, value: Collection }),
  "an object with what to save of each collection"
).pipe(
  Schema.filter((collections) =>
    Object.keys(collections).length === 0
      ? ['expected at least one collection, such as "articles"']
      : Object.keys(collections)
          .filter((name) => !isCollectionName(name))
          .map((name) => ({ path: [name], message: 'expected the name of a collection, such as "articles"' }))
  )
)

const locale = filled('a language by its code in Directus, such as "de-DE"')

export const DirectusOptions = Schema.Struct({
  ...DocumentOptions.fields,
  ...fileFieldsOfReader,
  url: Schema.transform(
    expects(
      Schema.String.pipe(Schema.filter(isHttpBase)),
      'an http or https address without credentials, query or fragment, such as "https://cms.museum.example"'
    ),
    Schema.String,
    // The address of the app is a likely mistake, and says the same.
    { strict: true, decode: (url) => url.replace(/(?:\/+admin)?\/*$/, ""), encode: (url) => url }
  ),
  token: Schema.optionalWith(
    secret(
      (token) => /^[\x21-\x7e]+$/.test(token),
      "a static token: printable ASCII characters without spaces (is the environment variable set?)"
    ),
    { exact: true }
  ),
  collections,
  status: optional(expects(Schema.Array(filled("a status")), 'an array such as ["published"]'), [
    "published"
  ]),
  locales: optional(expects(Schema.Array(locale), "an array of languages"), []),
  fallback: Schema.optionalWith(locale, { exact: true })
})
export type DirectusOptions = typeof DirectusOptions.Type

/** With what must hold of several of them. */
export const CheckedOptions = DirectusOptions.pipe(
  Schema.filter(({ fallback, locales }) =>
    fallback !== undefined && locales.length === 0
      ? { path: ["fallback"], message: 'expected "locales" beside it: the languages that it stands in for' }
      : undefined
  )
)
