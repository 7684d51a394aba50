/**
 * Files of Directus, as they appear in items if `fields` lead to them.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type JsonObject, mapObjects } from "../../documents/mapObjects.ts"
import type { MediaObject } from "../../documents/media/placeMedia.ts"

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
  (object: JsonObject): Option.Option<MediaObject> =>
    isFile(object)
      ? Option.some({
          url: assetUrl(server, object.id),
          name: object.filename_download,
          ...Option.match(sizeOf(object), {
            onNone: () => ({}),
            onSome: ({ filesize }) => ({
              size: filesize,
              ...(isModified(object) ? { version: [object.id, object.modified_on, filesize].join(" ") } : {})
            })
          }),
          ...(hasFocalPoint(object) ? focusOf(object) : {})
        })
      : Option.none()

const focusOf = ({
  focal_point_x,
  focal_point_y,
  height,
  width
}: typeof FocalPoint.Type): Pick<MediaObject, "focus"> =>
  focal_point_x <= width && focal_point_y <= height
    ? { focus: { x: focal_point_x / width, y: focal_point_y / height } }
    : {}

/** Adds `url` to each file that has no `url`. */
export const withUrls = (value: unknown, server: string): unknown =>
  mapObjects(value, (object) => (isFile(object) ? { url: assetUrl(server, object.id), ...object } : object))
