/**
 * The options about files of documents, `media` and `images`, and their checks. `DocumentConfig.ts` describes
 * them.
 */

import { createRequire } from "node:module"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import { ifUnset, secret } from "../../../internal/optionSchemas.ts"
import type * as Config from "../DocumentConfig.ts"
import type { ImageFormat } from "../DocumentConfig.ts"
import { maxSide } from "../images/recipe.ts"
import { defaultMaxBytes } from "../progress.ts"
import * as PathPattern from "./PathPattern.ts"

const width = expects(Schema.Int.pipe(Schema.between(1, maxSide)), `an integer from 1 to ${maxSide} (pixels)`)

const formats = ["avif", "jpeg", "png", "webp"] as const satisfies ReadonlyArray<ImageFormat>

const format = expects(Schema.Literal(...formats), `one of ${formats.join(", ")}`)

/** Width divided by height. `None` for a text that is no aspect ratio from 1:100 to 100:1. */
export const aspectRatio = (text: string): Option.Option<number> => {
  const [, across, down] = /^(\d{1,5}(?:\.\d{1,4})?):(\d{1,5}(?:\.\d{1,4})?)$/.exec(text) ?? []
  const ratio = text === "square" ? 1 : Number(across) / Number(down)
  return ratio >= 0.01 && ratio <= 100 ? Option.some(ratio) : Option.none()
}

/** The mistake if an option needs the package `sharp`, which is not found from a module. Workers load it. */
export const sharpIssue = (from: string | URL, option = "images"): string | undefined =>
  Option.isSome(Option.liftThrowable(createRequire(from).resolve)("sharp"))
    ? undefined
    : `${JSON.stringify(option)} needs the package sharp: npm install sharp`

const some = <A, I>(members: Schema.Schema<A, I>, what: string) =>
  expects(Schema.Array(members), `an array of ${what}`).pipe(
    Schema.filter(({ length }) =>
      length >= 1 && length <= 12 ? undefined : `expected 1 to 12 ${what}, got ${length}`
    )
  )

/** The value of `images` in the options of a source. */
export const ImageOptions = expects(
  Schema.Struct({
    widths: optional(some(width, "widths"), [640, 1920]),
    formats: optional(some(format, "formats"), ["webp"]),
    quality: omittable(expects(Schema.Int.pipe(Schema.between(1, 100)), "an integer from 1 to 100")),
    crop: omittable(
      expects(
        Schema.String.pipe(Schema.filter((text) => Option.isSome(aspectRatio(text)))),
        'an aspect ratio such as "16:9", or "square"'
      )
    )
  }),
  "an object such as { widths: [640, 1920] }"
).pipe(Schema.filter(() => sharpIssue(import.meta.url)))
export type ImageOptions = typeof ImageOptions.Type

/** One declaration, so that a mistake is reported once and not for each member of a list. */
const patterns = (valid: (input: unknown) => boolean, what: string) =>
  omittable(
    expects(
      Schema.declare((input): input is ReadonlyArray<string> => valid(input)),
      what
    )
  )

const isListOf = (valid: (text: string) => boolean) => (input: unknown) =>
  Array.isArray(input) && input.length > 0 && input.every((item) => Predicate.isString(item) && valid(item))

const arePaths = isListOf((text) => Option.isSome(PathPattern.parse(text)))

const whatPaths = 'an array of paths in documents, such as "**.image.url"'

const places = omittable(
  expects(
    Schema.declare((input): input is true | ReadonlyArray<string> => input === true || arePaths(input)),
    `true, or ${whatPaths}`
  )
)

/** As in a URL: small letters, and no default port. */
const isHost = (text: string): boolean => !/[\s/\\?#@]/.test(text) && URL.canParse(`http://${text}`)

const isType = (text: string): boolean => /^[a-z]+\/(?:\*|[a-z0-9][a-z0-9.+-]*)$/.test(text)

/** Headers about the requested bytes and their coding are set by Vitrine. */
const isHeaderName = (name: string): boolean =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
  !/^(?:host|connection|content-length|transfer-encoding|accept-encoding|range|if-.*)$/i.test(name)

const headers = expects(
  Schema.Record({
    key: Schema.String,
    value: secret((value) => /^[\x20-\x7e]+$/.test(value), `printable ASCII characters ${ifUnset}`)
  }),
  'an object with headers, such as { authorization: "…" }'
).pipe(
  Schema.filter((headers) =>
    Object.keys(headers)
      .filter((name) => !isHeaderName(name))
      .map((name) => ({ path: [name], message: 'expected the name of a header, such as "authorization"' }))
  )
)

/** Without the rules between options. */
export const AnyMediaOptions = Schema.Struct({
  find: patterns(arePaths, whatPaths),
  hosts: patterns(isListOf(isHost), 'an array of hosts, such as "cdn.museum.example"'),
  types: patterns(isListOf(isType), 'an array of types in small letters, such as "image/*" or "video/mp4"'),
  replace: places,
  optional: places,
  headers: omittable(headers),
  maxBytes: optional(
    expects(Schema.Int.pipe(Schema.positive()), "a positive integer (bytes)"),
    defaultMaxBytes
  )
})

/** For a source that finds its media by itself: no option is required. */
export const MediaOptionsOfReader = AnyMediaOptions.pipe(
  Schema.filter(({ headers, hosts }) =>
    headers !== undefined && hosts === undefined
      ? { path: ["headers"], message: 'they need "hosts": the hosts that they are sent to' }
      : undefined
  )
)

export const MediaOptions = MediaOptionsOfReader.pipe(
  Schema.filter(({ find, hosts, types }) =>
    (find ?? hosts ?? types) === undefined
      ? 'expected at least one of "find", "hosts" and "types": they say which links are meant'
      : undefined
  )
)
export type MediaOptions = typeof MediaOptions.Type

/**
 * The options as a user writes them.
 *
 * @since 0.1.0
 * @category models
 */
export type MediaConfig = Config.MediaConfig<string | Redacted.Redacted>

/** For a source whose user says where the links are. */
export const fileFields = {
  media: omittable(MediaOptions),
  images: omittable(ImageOptions)
}

/**
 * For a source of a vendor, which finds its media with a reader. `false` saves no files.
 *
 * @since 0.1.0
 * @category utils
 */
export const fileFieldsOfReader = {
  media: omittable(
    expects(
      Schema.Union(Schema.Literal(false), MediaOptionsOfReader),
      "false, or an object with options of media"
    )
  ),
  images: fileFields.images
}
