/**
 * Options of sources about the files of their documents: `media` and `images`.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { expects } from "../../../internal/Options.ts"
import type { ContentSource } from "../../../services/ContentSource.ts"
import { ImageOptions } from "../images/ImageOptions.ts"
import type { MediaSettings } from "./AddMedia.ts"
import { MediaOptions, MediaOptionsOfReader } from "./MediaOptions.ts"
import { withMedia } from "./withMedia.ts"

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

/** What such options are decoded to. */
export interface FileOptions {
  readonly media?: MediaOptions | false
  readonly images?: ImageOptions
  readonly maxTimeout?: number
}

/**
 * The source with the files of its documents, or itself where none are wanted: `Effect.flatMap(makeSource(options), withFiles(options))`;
 * for a vendor `withFiles(options, { reader })`.
 */
export const withFiles =
  (
    { images, maxTimeout, media }: FileOptions,
    more: Pick<MediaSettings, "reader" | "serverHeaders" | "url"> = {}
  ): ((
    source: ContentSource
  ) => Effect.Effect<
    ContentSource,
    never,
    FileSystem.FileSystem | Path.Path | HttpClient.HttpClient | Scope.Scope
  >) =>
  (source) =>
    media === false || (media === undefined && more.reader === undefined)
      ? images === undefined
        ? Effect.succeed(source)
        : withMedia({ images })(source)
      : withMedia({
          ...media,
          ...more,
          ...(images === undefined ? {} : { images }),
          ...(maxTimeout === undefined ? {} : { maxTimeout })
        })(source)
