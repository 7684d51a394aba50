/**
 * The kinds of files by their bytes, because names and types of files are often wrong.
 *
 * It decodes nothing, so that no file makes it slow. It does not use Effect, so that `pictureWorker.ts` starts
 * quickly.
 */

export interface FileKind {
  /** Its name for people. */
  readonly name: string
  readonly of: "picture" | "film" | "sound" | "other"
  /** Its media type, if a file without a name gets its extension by this type. */
  readonly type?: string
  /** The decoder of `sharp` for still pictures; missing if `sharp` cannot convert the format. */
  readonly decoder?: "gif" | "heif" | "jp2" | "jpeg" | "jxl" | "png" | "tiff" | "webp"
  /** Whether Chromium shows or plays it. A film that consists of boxes has codecs, which decide too. */
  readonly isShown: boolean
  /** The bytes at the end of a whole file. */
  readonly end?: Buffer
}

/** The bytes of a file. */
export interface FileBytes {
  readonly size: number
  /** Returns fewer bytes at the end of the file. */
  readonly read: (offset: number, length: number) => Promise<Buffer>
}

/** The bytes of a file in memory. */
export const inMemory = (bytes: Uint8Array): FileBytes => {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return { size: all.length, read: async (offset, length) => all.subarray(offset, offset + length) }
}

/** The number of first bytes of a file that are needed to tell its kind. */
export const headBytes = 256 * 1024

/** `undefined` for text, and for a file of an unknown kind. */
export const kindOf = (bytes: Uint8Array): FileKind | undefined => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytes))
  const start = head.toString("latin1", 0, 1024)
  return kinds.find(({ is }) => (is instanceof RegExp ? is.test(start) : is(head)))
}

/** Why browsers do not show or play this kind; `undefined` if they do. */
export const notShown = ({ isShown, name, of }: FileKind): string | undefined =>
  isShown ? undefined : `it is ${name}, which browsers do not ${remedies[of]}`

const remedies = {
  picture: "show: export it as JPEG",
  film: "play: export it as MP4 (H.264 and AAC)",
  sound: "play: export it as MP3",
  other: "show"
}

/** Why browsers do not show or play the file, with its codecs; `undefined` if they do. */
export const unplayable = async (kind: FileKind, bytes: FileBytes): Promise<string | undefined> => {
  if (!kind.isShown || !isBoxes(kind)) return notShown(kind)
  const tracks = await tracksOf(bytes)
  const films = tracks.filter(({ of }) => of === "vide")
  const sounds = tracks.filter(({ of }) => of === "soun")
  const [track] = films.some(({ codec }) => playedFilm.test(codec)) ? [] : films
  const [silent] = sounds.some(({ codec }) => !unplayedSound.test(codec)) ? [] : sounds
  const { codec } = track ?? silent ?? {}
  if (codec === undefined) return undefined
  const [, name] = codecs.find(([is]) => is.test(codec)) ?? []
  return notShown({
    ...kind,
    isShown: false,
    name: `${kind.name} with ${name ?? `the codec ${JSON.stringify(codec.replace(/[^ -~]/g, "?"))}`}`,
    of: films.length > 0 ? "film" : "sound"
  })
}

const isBoxes = ({ type = "" }: FileKind) => /^(?:video|audio)\/(?:mp4|quicktime)$/.test(type)

const playedFilm = /^(?:avc[1-4]|av01|vp0[89]|encv)$/
const unplayedSound = /^(?:[ae]c-[34]|dts.|alac|sa[mw][rbp]|QDM.|ima4|MAC[36]|drms)$/

const codecs: ReadonlyArray<readonly [is: RegExp, name: string]> = [
  [/^h[ve][vc]1$/, "HEVC (H.265)"],
  [/^dv(?:h[1e]|a[1v]|1)$/, "Dolby Vision"],
  [/^ap(?:c[hnso]|4[hx])$/, "ProRes"],
  [/^mp4v$/, "MPEG-4 Part 2"],
  [/^dv/, "DV"],
  [/^AVd/, "DNxHD"],
  [/^[ae]c-[34]$/, "Dolby Digital (AC-3)"],
  [/^alac$/, "Apple Lossless"],
  [/^mjp|^jpeg$/, "Motion JPEG"]
]

/** The tracks of a file that consists of boxes, by the heads of its boxes. A broken box ends the list. */
const tracksOf = async ({ read, size }: FileBytes) => {
  const tracks: Array<{ readonly of: string; readonly codec: string }> = []
  let left = 1000
  const visit = async (start: number, end: number, parent: string, track: { of: string }): Promise<void> => {
    for (let at = start; at + 8 <= end && left > 0; ) {
      left -= 1
      const head = await read(at, 24)
      if (head.length < 16) return
      const type = head.toString("latin1", 4, 8)
      const short = head.readUInt32BE(0)
      const length = short === 0 ? end - at : short === 1 ? Number(head.readBigUInt64BE(8)) : short
      if (length < 8) return
      if (/^(?:moov|trak|mdia|minf|stbl)$/.test(type)) {
        const inner = type === "trak" ? { of: "" } : track
        await visit(at + (short === 1 ? 16 : 8), Math.min(at + length, end), type, inner)
        if (type === "moov") return
      } else if (type === "hdlr" && parent === "mdia") track.of = head.toString("latin1", 16, 20)
      else if (type === "stsd") tracks.push({ of: track.of, codec: head.toString("latin1", 20, 24) })
      at += length
    }
  }
  await visit(0, size, "", { of: "" })
  return tracks
}

/** Whether the end of the file is missing. Phones put bytes behind the end of a picture. */
export const isCut = async ({ end, type }: FileKind, bytes: FileBytes): Promise<boolean> => {
  if (end === undefined) return false
  const start = type === "image/jpeg" ? await firstScan(bytes) : 0
  for (let to = bytes.size; to > start; to -= partBytes) {
    const from = Math.max(start, to - partBytes)
    if ((await bytes.read(from, to - from + end.length - 1)).includes(end)) return false
  }
  return true
}

const partBytes = 64 * 1024

/** The offset of the pixels of a JPEG: a thumbnail before it has an end of its own. */
const firstScan = async ({ read, size }: FileBytes): Promise<number> => {
  let at = 2
  for (let left = 1000; left > 0; left--) {
    const head = await read(at, 4)
    if (head.length < 4) return size
    const marker = head.readUInt16BE(0)
    if (marker === 0xffda) return at
    // Some programs put stray bytes between segments.
    at += marker > 0xffbf && marker < 0xffff ? 2 + head.readUInt16BE(2) : 1
  }
  return at
}

interface Signature extends FileKind {
  /** Tests the beginning of a file; a regular expression gets 1024 bytes as Latin-1. */
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

const endOfPng = Buffer.from("49454e44ae426082", "hex")
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
const pictures: ReadonlyArray<Omit<Signature, "of">> = [
  {
    name: "JPEG",
    type: "image/jpeg",
    decoder: "jpeg",
    isShown: true,
    end: Buffer.from("ffd9", "hex"),
    is: /^\xff\xd8\xff/
  },
  { name: "animated PNG", type: "image/png", isShown: true, end: endOfPng, is: isAnimatedPng },
  { name: "PNG", type: "image/png", decoder: "png", isShown: true, end: endOfPng, is: png },
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

const films: ReadonlyArray<Omit<Signature, "of">> = [
  {
    name: "QuickTime",
    type: "video/quicktime",
    isShown: true,
    is: /^(?:.{4}ftypqt|\0.{3}(?:moov|mdat|wide|pnot))/s
  },
  { name: "MP4", type: "video/mp4", isShown: true, is: /^.{4}ftyp(?!M4[AB])/s },
  { name: "Matroska", type: "video/x-matroska", isShown: false, is: /^\x1aE\xdf\xa3.{0,60}matroska/s },
  { name: "WebM", type: "video/webm", isShown: true, is: /^\x1aE\xdf\xa3/ },
  { name: "AVI", type: "video/x-msvideo", isShown: false, is: /^RIFF.{4}AVI /s },
  { name: "MPEG", type: "video/mpeg", isShown: false, is: /^\0\0\x01[\xb3\xba]/ },
  { name: "MPEG (TS)", type: "video/mp2t", isShown: false, is: /^(?:G.{187}G.{187}G|.{4}G.{191}G.{191}G)/s },
  { name: "Windows Media", isShown: false, is: /^0&\xb2u\x8ef\xcf\x11/ },
  { name: "Ogg with Theora", type: "video/ogg", isShown: false, is: /^OggS.*\x80theora/s },
  { name: "Flash", isShown: false, is: /^(?:FLV\x01|[FC]WS[\x01-\x20])/ },
  { name: "RealMedia", isShown: false, is: /^\.RMF/ },
  { name: "MXF", isShown: false, is: /^\x06\x0e\+4\x02\x05\x01\x01/ }
]

const sounds: ReadonlyArray<Omit<Signature, "of">> = [
  { name: "MP4", type: "audio/mp4", isShown: true, is: /^.{4}ftypM4[AB]/s },
  {
    name: "WAV with compressed sound",
    isShown: false,
    is: /^RIFF.{4}WAVEfmt .{4}(?![\x01\x03\x06\x07\xfe])/s
  },
  { name: "WAV", type: "audio/wav", isShown: true, is: /^RIFF.{4}WAVE/s },
  { name: "AIFF", type: "audio/x-aiff", isShown: false, is: /^FORM.{4}AIF[FC]/s },
  { name: "Ogg", type: "audio/ogg", isShown: true, is: /^OggS/ },
  { name: "FLAC", type: "audio/flac", isShown: true, is: /^fLaC/ },
  { name: "AAC", type: "audio/aac", isShown: true, is: /^\xff[\xf0\xf1\xf8\xf9]/ },
  { name: "MP3", type: "audio/mpeg", isShown: true, is: /^(?:ID3|\xff[\xf2\xf3\xfa\xfb])/ },
  { name: "AMR", isShown: false, is: /^#!AMR/ },
  { name: "Core Audio", isShown: false, is: /^caff\0\x01/ },
  { name: "MIDI", isShown: false, is: /^MThd\0\0\0\x06/ }
]

/** In the order of the tests. */
const kinds: ReadonlyArray<Signature> = [
  ...pictures.map((kind) => ({ ...kind, of: "picture" as const })),
  ...films.map((kind) => ({ ...kind, of: "film" as const })),
  ...sounds.map((kind) => ({ ...kind, of: "sound" as const })),
  { name: "PDF", of: "other", type: "application/pdf", isShown: true, is: /%PDF-/ },
  { name: "GLB", of: "other", type: "model/gltf-binary", isShown: true, is: /^glTF/ }
]
