/**
 * A source of Directus' content: each collection is a document.
 *
 * ```
 * <source id>/<collection>.json    the items of a collection, or the item of a singleton
 * <source id>/media/               the files of these items
 * ```
 *
 * It finds the files of Directus in items, if `fields` lead to them.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { cmsFields, collections, credentials, filled, makeAsk } from "../../documents/Cms.ts"
import { Value } from "../../documents/Document.ts"
import { type DocumentConfig, define } from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { type JsonObject, mapObjects } from "../../documents/jsonValues.ts"
import type { MediaConfig } from "../../documents/media/MediaOptions.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"
import { notice } from "../../documents/warnings.ts"
import { directus, hasField, readCollection } from "./api.ts"
import { inLanguages, readTranslations, translationsField } from "./languages.ts"

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
   * Values of the field `status` to save, in collections that have it; `[]` saves all. Default
   * `["published"]`.
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
  status: optional(expects(Schema.Array(filled("a status")), 'an array such as ["published"]'), ["published"])
})
export type DirectusOptions = typeof DirectusOptions.Type

/**
 * A source of content for the content plugin's `sources`: the collections of a Directus, each as a document.
 *
 * @since 0.1.0
 * @category constructors
 */
export const directusSource = (config: DirectusSourceConfig): ContentSourceDefinition =>
  define("the Directus source", DirectusOptions, config, make)

const make = Effect.fnUntraced(function* (options: DirectusOptions) {
  const { collections, locales, url } = options
  const ask = yield* makeAsk(directus, options)

  const documentOf = Effect.fnUntraced(function* ([name, collection]: readonly [string, Collection]) {
    const hasLanguages = locales.length > 0 && (yield* hasField(ask, name, translationsField))
    const value = Effect.gen(function* () {
      const content = yield* readCollection(ask, name, collection, { ...options, hasLanguages })
      const { items, warnings } = readTranslations([content].flat(), { ...options, ...collection })
      yield* notice(warnings)
      const translated = inLanguages(items, locales)
      return withUrls(Array.isArray(content) ? translated : translated[0], url)
    })
    return {
      name,
      key: [collection.key],
      url: `${url}/items/${name}`,
      content: Value({ value })
    }
  })

  return yield* DocumentSource.make({
    options,
    open: () =>
      Effect.map(Effect.forEach(Object.entries(collections), documentOf), (documents) => ({
        documents,
        reader: readFile(url)
      })),
    serverHeaders: credentials(options.token),
    url
  })
})

const File = Schema.Struct({ id: Schema.UUID, filename_download: Schema.String })

/** With PostgreSQL, large integers are texts. */
const Size = Schema.Struct({ filesize: Schema.Union(Schema.Int, Schema.NumberFromString.pipe(Schema.int())) })

/** A replaced file keeps its id. Only this date and the size change. */
const Modified = Schema.Struct({ modified_on: Schema.String })

const length = Schema.Number.pipe(Schema.greaterThan(0))

/** In pixels of the upright picture. */
const FocalPoint = Schema.Struct({
  focal_point_x: Schema.NonNegative,
  focal_point_y: Schema.NonNegative,
  width: length,
  height: length
})

const isFile = Schema.is(File)
const sizeOf = Schema.decodeUnknownOption(Size)
const isModified = Schema.is(Modified)
const hasFocalPoint = Schema.is(FocalPoint)

const assetUrl = (server: string, id: string): string => `${server}/assets/${id}`

/** Reads an object of an item as a file; `None` for other objects. */
export const readFile =
  (server: string) =>
  (object: JsonObject): Option.Option<MediaObject> => {
    if (!isFile(object)) return Option.none()
    const { filename_download: name, id } = object
    const size = Option.getOrUndefined(sizeOf(object))?.filesize
    return Option.some({
      url: assetUrl(server, id),
      name,
      size,
      version:
        size !== undefined && isModified(object) ? [id, object.modified_on, size].join(" ") : undefined,
      focus: hasFocalPoint(object) ? focusOf(object) : undefined
    })
  }

const focusOf = ({
  focal_point_x: x,
  focal_point_y: y,
  height,
  width
}: typeof FocalPoint.Type): MediaObject["focus"] =>
  x <= width && y <= height ? { x: x / width, y: y / height } : undefined

/** Adds `url` to each file that has no `url`. */
export const withUrls = (value: unknown, server: string): unknown =>
  mapObjects(value, (object) => (isFile(object) ? { url: assetUrl(server, object.id), ...object } : object))
