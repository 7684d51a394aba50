/**
 * A source of the content of Sanity: each query in GROQ is a document.
 *
 * ```
 * <source id>/<query>.json    the records of the result, or one value
 * <source id>/media/          the pictures and files in these records
 * ```
 *
 * It finds pictures and files in the documents of Sanity, and makes addresses from references. A reference always
 * leads to the same file.
 */

import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import type { RecordKey } from "../../../internal/recordKey.ts"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import type { Warning } from "../../../services/Warning.ts"
import { withoutUnpublished } from "../../documents/cms.ts"
import { type Document, Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import { type JsonObject, mapObjects } from "../../documents/jsonValues.ts"
import type { MediaObject, MediaReader } from "../../documents/media/placeMedia.ts"
import { notice, warn } from "../../documents/warnings.ts"
import { type Ask, makeAsk } from "./api.ts"
import { makeLiveEvents } from "./liveEvents.ts"
import { SanityOptions, type SanitySourceConfig } from "./SanityOptions.ts"

/** A query with its defaults. */
export interface Query {
  readonly groq: string
  readonly params: Readonly<Record<string, unknown>>
  readonly key: RecordKey
}

export const queryOf = (query: SanityOptions["queries"][string]): Query =>
  Predicate.isString(query)
    ? { groq: query, params: {}, key: defaultKey }
    : {
        groq: query.groq,
        params: query.params,
        key: query.key ?? defaultKey
      }

const dependsOnTime = (query: SanityOptions["queries"][string]) => /\bnow\s*\(/.test(queryOf(query).groq)

const defaultKey: RecordKey = ["_id"]

/**
 * A source of content for the content plugin's `sources`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const sanitySource = (config: SanitySourceConfig): ContentSourceDefinition =>
  define("the Sanity source", SanityOptions, config, make)

const make = Effect.fnUntraced(function* (options: SanityOptions) {
  const { live, perspective, queries, useCdn } = options
  const ask = yield* makeAsk(options)
  const liveEvents = live && !useCdn ? yield* makeLiveEvents(options) : undefined

  const documents = Object.entries(queries).map(([name, query]): Document<SourceError> => {
    const { key, ...asked } = queryOf(query)
    return { name, key, content: Value({ value: answerOf(ask, options, name, asked) }) }
  })

  return yield* DocumentSource.make({
    options,
    open: () => Effect.succeed({ documents, reader: readAsset(options) }),
    // Read at each tick: the cache gives old content once after a change, and the time changes no document.
    poll:
      useCdn || Object.values(queries).some(dependsOnTime)
        ? undefined
        : (before: Option.Option<string>) => poll(ask, perspective, before),
    ...liveEvents
  })
})

const answerOf = Effect.fnUntraced(function* (
  ask: Ask,
  options: SanityOptions,
  name: string,
  query: Pick<Query, "groq" | "params">
) {
  const { value, warnings } = withAssetUrls(yield* ask({ ...query, name }), options)
  yield* notice(warnings)
  const isDraft = ({ _id }: JsonObject) => Predicate.isString(_id) && /^(?:drafts|versions)\./.test(_id)
  return inLanguages(options.perspective === "published" ? yield* withoutUnpublished(value, isDraft) : value)
})

/** The lists of Sanity's plugin for languages, `[{ _key: "de", value }]` or with `language`, as `{ de: value }`, at any depth. */
const inLanguages = (value: unknown): unknown => {
  if (Predicate.isReadonlyRecord(value)) return Record.map(value, inLanguages)
  if (!Array.isArray(value)) return value
  const texts = Option.all(value.map(translation))
  return value.length > 0 && Option.isSome(texts)
    ? Object.fromEntries(texts.value.map(([language, text]) => [language, inLanguages(text)]))
    : value.map(inLanguages)
}

const translation = (item: unknown) =>
  Option.map(
    Schema.decodeUnknownOption(Translation)(item),
    ({ _key, language = _key, value }) => [language, value] as const
  ).pipe(Option.filter(([language]) => /^[a-z]{2,3}([-_].+)?$/.test(language)))

const Translation = Schema.Struct({
  _key: Schema.String,
  language: Schema.optional(Schema.String),
  value: Schema.Unknown
})

/**
 * The newest change of a dataset, and the number of its documents, because each finds changes that the other does
 * not.
 */
const probe = '{"count": count(*), "last": *|order(_updatedAt desc)[0]{_id,_rev,_updatedAt}}'

/** Drafts and releases are counted as separate documents. Otherwise a discarded draft would change neither figure. */
const poll = (ask: Ask, perspective: SanityOptions["perspective"], before: Option.Option<string>) =>
  Effect.map(ask({ groq: probe, perspective: perspective === "published" ? "published" : "raw" }), (result) =>
    DocumentSource.changesSince(before, JSON.stringify(result))
  )

/** The dataset of assets. */
export interface AssetPlace {
  readonly projectId: string
  readonly dataset: string
}

const image = /^image-(\w{24,40})-(\d{1,6}x\d{1,6})-([a-z0-9]{1,16})$/
const file = /^file-(\w{24,40})-([a-z0-9]{1,16})$/

/** The address of an asset with this id. An id contains a digest of the file, or a name that is used once. */
export const assetUrl = (id: string, { dataset, projectId }: AssetPlace): Option.Option<string> => {
  const [, imageDigest, size, imageExtension] = image.exec(id) ?? []
  const [, fileDigest, extension] = file.exec(id) ?? []
  return imageDigest !== undefined
    ? Option.some(`${assets}/images/${projectId}/${dataset}/${imageDigest}-${size}.${imageExtension}`)
    : fileDigest !== undefined
      ? Option.some(`${assets}/files/${projectId}/${dataset}/${fileDigest}.${extension}`)
      : Option.none()
}

const assets = "https://cdn.sanity.io"

/** The id in the `asset` of an object; `None` if it is not a reference. */
const referenceIn = ({ asset }: JsonObject): Option.Option<string> =>
  Predicate.isReadonlyRecord(asset) && Predicate.isString(asset._ref)
    ? Option.some(asset._ref)
    : Option.none()

/**
 * Adds `url` to each object that refers to an asset and has no `url`. Returns a warning about references to anything
 * except a picture or file of Sanity.
 */
export const withAssetUrls = (
  value: unknown,
  place: AssetPlace
): { readonly value: unknown; readonly warnings: ReadonlyArray<Warning> } => {
  const strange: Array<string> = []
  const changed = mapObjects(value, (object) => {
    const reference = Option.getOrUndefined(referenceIn(object))
    if (reference === undefined || Object.hasOwn(object, "url")) return object
    const url = assetUrl(reference, place)
    if (Option.isSome(url)) return { ...object, url: url.value }
    strange.push(reference)
    return object
  })
  const [first] = strange
  return {
    value: changed,
    warnings:
      first === undefined
        ? []
        : [warn("sanity:reference", "", { count: strange.length, first: excerpt(first) })]
  }
}

/**
 * Reads objects with a reference to an asset, and assets that a query has put in the place of a reference
 * (`asset->`). The latter have the focal point and crop of the object around them.
 */
export const readAsset =
  (place: AssetPlace): MediaReader =>
  (object, { parents }) =>
    Option.orElse(
      Option.flatMap(referenceIn(object), (id) =>
        Option.map(assetUrl(id, place), (url) => ({
          url,
          version: id,
          focus: focusOf(object),
          crop: cropOf(object)
        }))
      ),
      () => readAssetDocument(object, parents.at(-1) ?? {}, place)
    )

const readAssetDocument = (
  object: JsonObject,
  around: JsonObject,
  place: AssetPlace
): Option.Option<MediaObject> => {
  const { _id, originalFilename, size, url } = object
  return Predicate.isString(_id) && Predicate.isString(url)
    ? Option.map(assetUrl(_id, place), (url) => ({
        url,
        version: _id,
        focus: focusOf(object) ?? focusOf(around),
        crop: cropOf(object) ?? cropOf(around),
        name: Predicate.isString(originalFilename) ? originalFilename : undefined,
        size: Predicate.isNumber(size) && Number.isSafeInteger(size) ? size : undefined
      }))
    : Option.none()
}

/** The focal point of a picture. */
const focusOf = ({ hotspot }: JsonObject): MediaObject["focus"] =>
  Predicate.isReadonlyRecord(hotspot) && isFraction(hotspot.x) && isFraction(hotspot.y)
    ? { x: hotspot.x, y: hotspot.y }
    : undefined

const fraction = Schema.Number.pipe(Schema.between(0, 1))

const Crop = Schema.Struct({ top: fraction, bottom: fraction, left: fraction, right: fraction }).pipe(
  Schema.filter(({ bottom, left, right, top }) => top + bottom < 1 && left + right < 1)
)

const decodeCrop = Schema.decodeUnknownOption(Crop)

const cropOf = ({ crop }: JsonObject): MediaObject["crop"] => Option.getOrUndefined(decodeCrop(crop))

const isFraction = Schema.is(fraction)
