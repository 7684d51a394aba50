/**
 * The sizes of pictures, as options; `ImageConfig.ts` says what they mean.
 */
import { createRequire } from "node:module"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../../internal/Options.ts"
import type { ImageFormat } from "./ImageConfig.ts"
import { maxSide } from "./recipe.ts"

const width = expects(Schema.Int.pipe(Schema.between(1, maxSide)), `an integer from 1 to ${maxSide} (pixels)`)

const formats = ["avif", "jpeg", "png", "webp"] as const satisfies ReadonlyArray<ImageFormat>

const format = expects(Schema.Literal(...formats), `one of ${formats.join(", ")}`)

/** Width divided by height. None where it is no aspect ratio from 1:100 to 100:1. */
export const aspectRatio = (text: string): Option.Option<number> => {
  const [, across, down] = /^(\d{1,5}(?:\.\d{1,4})?):(\d{1,5}(?:\.\d{1,4})?)$/.exec(text) ?? []
  const ratio = text === "square" ? 1 : Number(across) / Number(down)
  return ratio >= 0.01 && ratio <= 100 ? Option.some(ratio) : Option.none()
}

/** What is wrong where the package `sharp` is not found from a module. It is only resolved: workers load it. */
export const sharpIssue = (from: string | URL): string | undefined =>
  Option.isSome(Option.liftThrowable(createRequire(from).resolve)("sharp"))
    ? undefined
    : '"images" needs the package sharp: npm install sharp'

const some = <A, I>(members: Schema.Schema<A, I>, what: string) =>
  expects(Schema.Array(members), `an array of ${what}`).pipe(
    Schema.filter(({ length }) =>
      length >= 1 && length <= 12 ? undefined : `expected 1 to 12 ${what}, got ${length}`
    )
  )

/** To be the value of `images` in the options of a source. */
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
