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
import * as Schema from "effect/Schema"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { makeAsk, withoutUnpublished } from "../../documents/Cms.ts"
import { Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { type JsonObject, mapObjects } from "../../documents/jsonValues.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"
import { isLocalized, makeLasting, readPlain, readTranslations, strapi } from "./api.ts"
import { StrapiOptions, type StrapiSourceConfig, type StrapiType } from "./StrapiOptions.ts"

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
      content: Value({
        value: Effect.flatMap(Effect.map(read, withoutFormats), (content) =>
          status === "draft" ? Effect.succeed(content) : withoutUnpublished(content, isDraftIn(content))
        )
      })
    }
  })

  return yield* DocumentSource.make({
    options,
    open: () =>
      Effect.map(Effect.forEach(Object.entries(types), documentOf), (documents) => ({
        documents,
        reader: readFile
      })),
    lasting: makeLasting(options),
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

/**
 * Finds the drafts among related entries. The entries themselves are those that the server calls published, and files
 * have no drafts.
 */
const isDraftIn = (content: unknown) => {
  const own = new Set<unknown>([content].flat())
  return (object: JsonObject): boolean =>
    object.publishedAt === null &&
    Predicate.isString(object.documentId) &&
    !isMedia(object) &&
    !own.has(object)
}

/** Removes the smaller pictures that Strapi has made of each picture. */
export const withoutFormats = (value: unknown): unknown =>
  mapObjects(value, (object) => {
    const { formats: _, ...others } = object
    return isMedia(object) ? others : object
  })
