/**
 * The recipe of a picture: pure functions of its size, of the information in its document, and of the options.
 */
import { createHash } from "node:crypto"
import type { ImageFormat } from "../DocumentConfig.ts"

/** In pixels, upright. */
export interface Dimensions {
  readonly width: number
  readonly height: number
}

/** A part of a picture, in pixels. */
export interface Area extends Dimensions {
  readonly left: number
  readonly top: number
}

/** The cut of a picture in its document: fractions of its width and height, upright. */
export interface Cut {
  /** The point that stays in the picture after cropping. Default the middle. */
  readonly focus?: { readonly x: number; readonly y: number } | undefined
  /** The part to cut off at each side, before the aspect ratio. If nothing would remain, nothing is cut off. */
  readonly crop?:
    | { readonly top: number; readonly bottom: number; readonly left: number; readonly right: number }
    | undefined
}

/** A picture to make. */
export interface Output extends Dimensions {
  readonly format: ImageFormat
}

/** The largest width and height of WebP, which has the smallest limit of all formats. */
export const maxSide = 16_383

/** The visible part of a picture: as large as possible for the aspect ratio, if there is one, and around the focus. */
export const areaOf = (picture: Dimensions, { crop, focus }: Cut, ratio: number | undefined): Area => {
  const across = remaining(picture.width, crop?.left, crop?.right)
  const down = remaining(picture.height, crop?.top, crop?.bottom)
  const isEmpty = across.length < 1 || down.length < 1
  const x = isEmpty ? { start: 0, length: picture.width } : across
  const y = isEmpty ? { start: 0, length: picture.height } : down
  const width = ratio === undefined ? x.length : within(1, Math.round(y.length * ratio), x.length)
  const height = ratio === undefined ? y.length : within(1, Math.round(x.length / ratio), y.length)
  return {
    left: around(x, fraction(focus?.x) * picture.width, width),
    top: around(y, fraction(focus?.y) * picture.height, height),
    width,
    height
  }
}

/** A part of a side, in pixels. */
interface Span {
  readonly start: number
  readonly length: number
}

const remaining = (length: number, before: number | undefined, after: number | undefined): Span => {
  const start = Math.round(fraction(before, 0) * length)
  return { start, length: length - start - Math.round(fraction(after, 0) * length) }
}

/** The begin of a part of a span, with the point in its middle if possible. */
const around = ({ length, start }: Span, point: number, part: number): number =>
  within(start, Math.round(point - part / 2), start + length - part)

const within = (smallest: number, value: number, largest: number): number =>
  Math.min(Math.max(value, smallest), largest)

/** Values from documents may be anything. */
const fraction = (value: number | undefined, otherwise = 0.5): number =>
  value === undefined || !Number.isFinite(value) ? otherwise : within(0, value, 1)

/** Every size in every format, small sizes first. No size is larger than the area, and no size comes twice. */
export const sizesOf = (
  area: Dimensions,
  {
    formats,
    widths
  }: { readonly widths: ReadonlyArray<number>; readonly formats: ReadonlyArray<ImageFormat> }
): ReadonlyArray<Output> => {
  const largest = within(1, Math.floor((maxSide * area.width) / area.height), Math.min(area.width, maxSide))
  const distinct = [...new Set(widths.map((width) => Math.min(width, largest)))].sort((a, b) => a - b)
  return formats.flatMap((format) =>
    distinct.map((width) => ({
      width,
      height: within(1, Math.round((area.height * width) / area.width), maxSide),
      format
    }))
  )
}

/** Everything that determines a picture, beside the width and the format in its name. */
export interface Recipe {
  /** The digest of the original file. */
  readonly sha256: string
  readonly area: Area
  readonly quality?: number | undefined
  /** The libraries that make it. Other versions may write other bytes. */
  readonly versions: Readonly<Record<string, string>>
}

/** Increase it if the same recipe gives other pictures. */
const revision = 1

/** 16 hexadecimal digits, equal for equal recipes. */
export const keyOf = ({ area, quality, sha256, versions }: Recipe): string => {
  const { height, left, top, width } = area
  const libraries = Object.entries(versions)
    .map((entry) => entry.join(" "))
    .sort()
  const canonical = [revision, sha256, left, top, width, height, quality ?? null, libraries]
  return createHash("sha256").update(JSON.stringify(canonical)).digest("hex").slice(0, 16)
}

const extensions: Readonly<Record<ImageFormat, string>> = {
  avif: "avif",
  jpeg: "jpg",
  png: "png",
  webp: "webp"
}

/**
 * The path of a picture, relative to the folder of the source. A file with this path in another version is the same.
 */
export const pathOf = (key: string, { format, width }: Output): string =>
  `images/${key}-${width}.${extensions[format]}`

/** Whether the path is a result of `pathOf`. */
export const isImagePath = (path: string): boolean =>
  /^images\/[0-9a-f]{16}-\d{1,5}\.(?:avif|jpg|png|webp)$/.test(path)
