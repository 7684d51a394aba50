/**
 * Pictures and files in the documents of Sanity, and the addresses that references lead to.
 *
 * A reference always leads to the same file.
 */
import * as Array from "effect/Array"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { excerpt } from "../../../internal/printable.ts"
import { countText } from "../../../internal/readable.ts"
import { type JsonObject, mapObjects } from "../../documents/mapObjects.ts"
import type { MediaObject, MediaReader } from "../../documents/media/placeMedia.ts"

/** The dataset of assets. */
export interface AssetPlace {
  readonly projectId: string
  readonly dataset: string
}

const image = /^image-(\w{24,40})-(\d{1,6}x\d{1,6})-([a-z0-9]{1,16})$/
const file = /^file-(\w{24,40})-([a-z0-9]{1,16})$/

/** The address of an asset with this id. An id has a digest of the file, or a name that is used once. */
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
 * Adds `url` to each object that refers to an asset and has no `url`, and gives a warning about references to anything else than a
 * picture or file of Sanity.
 */
export const withAssetUrls = (
  value: unknown,
  place: AssetPlace
): { readonly value: unknown; readonly warnings: ReadonlyArray<string> } => {
  const strange: Array<string> = []
  const changed = mapObjects(value, (object) => {
    const reference = Option.getOrUndefined(referenceIn(object))
    if (reference === undefined || Object.hasOwn(object, "url")) return object
    const url = assetUrl(reference, place)
    if (Option.isSome(url)) return { ...object, url: url.value }
    strange.push(reference)
    return object
  })
  return {
    value: changed,
    warnings: Option.match(Array.head(strange), {
      onNone: () => [],
      onSome: (first) => [
        `${countText(strange.length, "reference")} in "asset" to no picture or file of Sanity, ${JSON.stringify(excerpt(first))} first: nothing is downloaded for it. Query what it refers to, such as a video at another service, with its link`
      ]
    })
  }
}

/**
 * Reads objects with a reference to an asset, and assets that a query has put in the place of a reference (`asset->`). Their focal point
 * and crop are those of the object around them.
 */
export const readAsset =
  (place: AssetPlace): MediaReader =>
  (object, { parents }) =>
    Option.orElse(
      Option.flatMap(referenceIn(object), (id) =>
        Option.map(assetUrl(id, place), (url) => ({ url, version: id, ...cutOf(object) }))
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
        ...cutOf(around),
        ...cutOf(object),
        ...(Predicate.isString(originalFilename) ? { name: originalFilename } : {}),
        ...(Number.isSafeInteger(size) && Predicate.isNumber(size) ? { size } : {})
      }))
    : Option.none()
}

/** The focal point and the crop of a picture. */
const cutOf = ({ crop, hotspot }: JsonObject): Pick<MediaObject, "focus" | "crop"> => ({
  ...(Predicate.isReadonlyRecord(hotspot) && isFraction(hotspot.x) && isFraction(hotspot.y)
    ? { focus: { x: hotspot.x, y: hotspot.y } }
    : {}),
  ...(Predicate.isReadonlyRecord(crop) &&
  isFraction(crop.top) &&
  isFraction(crop.bottom) &&
  isFraction(crop.left) &&
  isFraction(crop.right) &&
  crop.top + crop.bottom < 1 &&
  crop.left + crop.right < 1
    ? { crop: { top: crop.top, bottom: crop.bottom, left: crop.left, right: crop.right } }
    : {})
})

const isFraction = (value: unknown): value is number => Predicate.isNumber(value) && value >= 0 && value <= 1
