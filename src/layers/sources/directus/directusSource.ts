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
import * as Schema from "effect/Schema"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { credentials, makeAsk, withoutUnpublished } from "../../documents/Cms.ts"
import { Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { type JsonObject, mapObjects } from "../../documents/jsonValues.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"
import { notice } from "../../documents/warnings.ts"
import { type AskField, directus, hasStatus, hasTranslations, makeAskField, readCollection } from "./api.ts"
import { type Collection, DirectusOptions, type DirectusSourceConfig } from "./DirectusOptions.ts"
import { inLanguages, isUnpublished, readTranslations } from "./languages.ts"

/**
 * A source of content for the content plugin's `sources`: the collections of a Directus, each as a document.
 *
 * @since 0.1.0
 * @category constructors
 */
export const directusSource = (config: DirectusSourceConfig): ContentSourceDefinition =>
  define("the Directus source", DirectusOptions, config, make)

const make = Effect.fnUntraced(function* (options: DirectusOptions) {
  const { collections, locales, status = ["published"], url } = options
  const ask = yield* makeAsk(directus, options)

  const documentOf = (askField: AskField, [name, collection]: readonly [string, Collection]) => {
    const value = Effect.gen(function* () {
      const hasLanguages = locales.length > 0 && (yield* hasTranslations(askField, name))
      const isFiltered = status.length > 0 && (yield* hasStatus(askField, name, options.status !== undefined))
      const content = yield* readCollection(ask, name, collection, {
        hasLanguages,
        status: isFiltered ? status : []
      })
      const published = yield* withoutUnpublished(content, isUnpublished(status))
      const { items, warnings } = readTranslations([published].flat(), { ...collection, locales })
      yield* notice(warnings)
      const translated = inLanguages(items, locales)
      return withUrls(Array.isArray(content) ? translated : (translated[0] ?? null), url)
    })
    return {
      name,
      key: [collection.key],
      url: `${url}/items/${name}`,
      content: Value({ value })
    }
  }

  return yield* DocumentSource.make({
    options,
    open: () =>
      Effect.map(makeAskField(ask), (askField) => ({
        documents: Object.entries(collections).map((entry) => documentOf(askField, entry)),
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
