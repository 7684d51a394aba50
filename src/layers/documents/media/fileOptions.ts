/**
 * Options of sources about the files of their documents: `media` and `images`.
 */
import * as Schema from "effect/Schema"
import { expects } from "../../../internal/Options.ts"
import { ImageOptions } from "../images/ImageOptions.ts"
import { MediaOptions, MediaOptionsOfReader } from "./MediaOptions.ts"

const exact = { exact: true } as const

/** For a source whose user says where its links are. */
export const fileFields = {
  media: Schema.optionalWith(MediaOptions, exact),
  images: Schema.optionalWith(ImageOptions, exact)
}

/** For a source of a vendor, which finds its media by a reader: `false` leaves them where they are. */
export const fileFieldsOfReader = {
  media: Schema.optionalWith(
    expects(
      Schema.Union(Schema.Literal(false), MediaOptionsOfReader),
      "false, or an object with options of media"
    ),
    exact
  ),
  images: fileFields.images
}
