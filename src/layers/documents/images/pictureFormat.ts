/**
 * The kind of a picture by its first bytes, because names and types of files are often wrong.
 *
 * It decodes nothing, so that no file makes it slow. It does not use Effect, so that `pictureWorker.ts` starts
 * quickly.
 */

export interface PictureFormat {
  /** Its name for people. */
  readonly name: string
  /** Its media type, if a file without a name gets its extension by this type. */
  readonly type?: string
  /** The decoder of `sharp` for still pictures; missing if `sharp` cannot convert the format. */
  readonly decoder?: "gif" | "heif" | "jp2" | "jpeg" | "jxl" | "png" | "tiff" | "webp"
  /** Whether Chromium displays it. */
  readonly isShown: boolean
}

/** The number of first bytes of a file that are needed to tell its format. */
export const headBytes = 256 * 1024

/** `undefined` for a file that is no picture, a drawing, or of an unknown kind. */
export const formatOf = (bytes: Uint8Array): PictureFormat | undefined => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytes))
  const start = head.toString("latin1", 0, 64)
  return formats.find(({ is }) => (is instanceof RegExp ? is.test(start) : is(head)))
}

/** Why browsers do not display this format; `undefined` if they do. */
export const notShown = ({ isShown, name }: PictureFormat): string | undefined =>
  isShown ? undefined : `it is ${name}, which browsers do not show: export it as JPEG`

interface Signature extends PictureFormat {
  /** Tests the beginning of a file; a regular expression gets 64 bytes as Latin-1. */
  readonly is: RegExp | ((head: Buffer) => boolean)
}

/** The brands of a file that consists of boxes, such as MP4. */
const brandsOf = (head: Buffer): ReadonlyArray<string> =>
  head.length >= 12 && head.toString("latin1", 4, 8) === "ftyp"
    ? (head.toString("latin1", 8, Math.min(head.readUInt32BE(0), 256)).match(/.{4}/gs) ?? [])
    : []

const hasBrand = (pattern: RegExp) => (head: Buffer) => brandsOf(head).some((brand) => pattern.test(brand))

/** A PNG declares before its first picture whether more follow. */
const isAnimatedPng = (head: Buffer): boolean => {
  if (!png.test(head.toString("latin1", 0, 8))) return false
  for (let at = 8; at + 12 <= head.length; at += 12 + head.readUInt32BE(at)) {
    const chunk = head.toString("latin1", at + 4, at + 8)
    if (chunk === "acTL") return head.readUInt32BE(at + 8) > 1
    if (chunk === "IDAT") return false
  }
  return false
}

const png = /^\x89PNG\r\n\x1a\n/
const tiff = /^(?:II[*+]\0|MM\0[*+])/

/** RAW files of cameras look like TIFF. They begin with a thumbnail, or have the version of DNG. */
const isRawTiff = (head: Buffer): boolean => {
  const start = head.toString("latin1", 0, 10)
  if (!/^(?:II\*\0|MM\0\*)/.test(start)) return false
  if (start.endsWith("CR")) return true
  const isLittle = start.startsWith("II")
  const read16 = (at: number) => (isLittle ? head.readUInt16LE(at) : head.readUInt16BE(at))
  const read32 = (at: number) => (isLittle ? head.readUInt32LE(at) : head.readUInt32BE(at))
  const directory = head.length >= 8 ? read32(4) : head.length
  if (directory + 2 > head.length) return false
  const entries = Array.from({ length: read16(directory) }, (_, index) => directory + 2 + 12 * index)
  return entries
    .filter((at) => at + 12 <= head.length)
    .some((at) => read16(at) === dngVersion || (read16(at) === subfileType && (read32(at + 8) & 1) === 1))
}
const dngVersion = 50_706
const subfileType = 254

/** In the order of the tests. */
const formats: ReadonlyArray<Signature> = [
  { name: "JPEG", type: "image/jpeg", decoder: "jpeg", isShown: true, is: /^\xff\xd8\xff/ },
  { name: "animated PNG", type: "image/png", isShown: true, is: isAnimatedPng },
  { name: "PNG", type: "image/png", decoder: "png", isShown: true, is: png },
  { name: "WebP", type: "image/webp", decoder: "webp", isShown: true, is: /^RIFF.{4}WEBP/s },
  { name: "GIF", type: "image/gif", decoder: "gif", isShown: true, is: /^GIF8[79]a/ },
  { name: "animated AVIF", type: "image/avif", isShown: true, is: hasBrand(/^avis$/) },
  { name: "AVIF", type: "image/avif", decoder: "heif", isShown: true, is: hasBrand(/^avif$/) },
  {
    name: "HEIC",
    type: "image/heic",
    isShown: false,
    is: hasBrand(/^(?:he(?:ic|ix|im|is|vc|vx)|mif[12]|msf1)$/)
  },
  { name: "BMP", isShown: true, is: /^BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0/s },
  { name: "ICO", isShown: true, is: /^\0\0[\x01\x02]\0[^\0]\0.{3}\0/s },
  { name: "the RAW of a camera", isShown: false, is: isRawTiff },
  { name: "the RAW of a camera", isShown: false, is: /^(?:II[RU]|MMOR|FUJIFILMCCD-RAW|FOVb|\0MRM)/ },
  { name: "the RAW of a camera", isShown: false, is: hasBrand(/^crx $/) },
  { name: "TIFF", decoder: "tiff", isShown: false, is: tiff },
  { name: "a file of Photoshop", isShown: false, is: /^8BPS\0[\x01\x02]/ },
  { name: "JPEG XL", decoder: "jxl", isShown: false, is: /^(?:\xff\x0a|\0\0\0\x0cJXL )/ },
  { name: "JPEG 2000", decoder: "jp2", isShown: false, is: /^(?:\0\0\0\x0cjP {2}|\xff\x4f\xff\x51)/ },
  { name: "JPEG XR", isShown: false, is: /^II\xbc/ }
]
