/**
 * Files of the media library of Strapi, as they appear in entries.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { mapObjects } from "../../documents/mapObjects.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"

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
        ...(hasName(value) ? { name: value.name } : {}),
        ...(hasVersion(value) ? { version: [value.documentId, value.updatedAt, value.size].join(" ") } : {}),
        ...(hasFocalPoint(value)
          ? { focus: { x: value.focalPoint.x / 100, y: value.focalPoint.y / 100 } }
          : {})
      })
    : Option.none()

/** Removes the smaller pictures that Strapi has made of each picture. */
export const withoutFormats = (value: unknown): unknown =>
  mapObjects(value, (object) => {
    const { formats: _, ...others } = object
    return isMedia(object) ? others : object
  })
