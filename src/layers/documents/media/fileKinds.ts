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
  readonly type?: string | undefined
  /** The decoder of `sharp` for still pictures; missing if `sharp` cannot convert the format. */
  readonly decoder?: "gif" | "heif" | "jp2" | "jpeg" | "jxl" | "png" | "tiff" | "webp"
  /** Whether Chromium shows or plays it. A film that consists of boxes has codecs, which decide too. */
  readonly isShown: boolean
  /** The bytes at the end of a whole file. */
  readonly end?: Buffer
  /** The container, if its head gives the length of a whole file. */
  readonly length?: "boxes" | "ebml" | "glb" | "riff" | "woff"
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
  const notPlayed = (of: string, isPlayed: (codec: string) => boolean) => {
    const all = tracks.filter((track) => track.of === of).map(({ codec }) => codec)
    return all.some(isPlayed) ? undefined : all[0]
  }
  const codec =
    notPlayed("vide", (codec) => playedFilm.test(codec)) ??
    notPlayed("soun", (codec) => !unplayedSound.test(codec))
  if (codec === undefined) return undefined
  const [, known] = codecs.find(([is]) => is.test(codec)) ?? []
  const name = `${kind.name} with ${known ?? `the codec ${JSON.stringify(codec.replace(/[^ -~]/g, "?"))}`}`
  return notShown({ ...kind, isShown: false, name })
}

const isBoxes = ({ type = "" }: FileKind) => /^(?:video|audio)\/(?:mp4|quicktime)$/.test(type)

const playedFilm = /^(?:avc[1-4]|av01|vp0[89])$/
const unplayedSound = /^(?:[ae]c-[34]|dts.|alac|sa[mw][rbp]|QDM.|ima4|MAC[36]|drms|enca)$/

const codecs: ReadonlyArray<readonly [is: RegExp, name: string]> = [
  [/^h[ve][vc]1$|^dvh/, "HEVC (H.265)"],
  [/^ap(?:c[hnso]|4[hx])$/, "ProRes"],
  [/^mp4v$/, "MPEG-4 Part 2"],
  [/^[ae]c-[34]$/, "Dolby Digital (AC-3)"],
  [/^alac$/, "Apple Lossless"],
  [/^(?:enc[av]|drm[is])$/, "a protection that needs a key"]
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
      const { headLength, length, type } = boxOf(head, end - at)
      if (length < 8) return
      if (/^(?:moov|trak|mdia|minf|stbl)$/.test(type)) {
        const inner = type === "trak" ? { of: "" } : track
        await visit(at + headLength, Math.min(at + length, end), type, inner)
        if (type === "moov") return
      } else if (type === "hdlr" && parent === "mdia") track.of = head.toString("latin1", 16, 20)
      else if (type === "stsd") tracks.push({ of: track.of, codec: head.toString("latin1", 20, 24) })
      at += length
    }
  }
  await visit(0, size, "", { of: "" })
  return tracks
}

const partBytes = 64 * 1024

/** Whether the end of the file is missing. Phones put bytes behind the end of a picture. */
export const isCut = async ({ end, length, type }: FileKind, bytes: FileBytes): Promise<boolean> => {
  // A PDF is longer.
  if (type === "application/pdf" && bytes.size < minPdf) return false
  if (end === undefined) return length !== undefined && (await lengthBy[length](bytes)) > bytes.size
  const start =
    type === "image/jpeg" ? await firstScan(bytes) : bytes.size - (tails.get(type ?? "") ?? bytes.size)
  for (let to = bytes.size; to > start; to -= partBytes) {
    const from = Math.max(start, to - partBytes)
    if ((await bytes.read(from, to - from + end.length - 1)).includes(end)) return false
  }
  return true
}

/**
 * In bytes: where the end is looked for. The end of a GIF is so short that its pixels may have it too, and a PDF may have
 * more than one.
 */
const tails: ReadonlyMap<string, number> = new Map([
  ["image/gif", 1024],
  ["application/pdf", partBytes]
])

/** In bytes. */
const minPdf = 1024

/** The length that a file has by its heads, as far as they say it. Some programs leave out the last byte of a RIFF. */
const lengthBy = {
  glb: async ({ read, size }: FileBytes): Promise<number> =>
    size < 12 ? 0 : (await read(8, 4)).readUInt32LE(0),
  woff: async ({ read, size }: FileBytes): Promise<number> =>
    size < 12 ? 0 : (await read(8, 4)).readUInt32BE(0),
  ebml: async ({ read }: FileBytes): Promise<number> => {
    const head = await read(0, 1024)
    const header = sizeAt(head, 4)
    const segment = sizeAt(head, header.end + 4)
    // A recorder that cannot go back writes no size.
    return segment.isUnknown || head.readUInt32BE(header.end) !== 0x1853_8067 ? 0 : segment.end
  },
  riff: async ({ read }: FileBytes): Promise<number> => {
    const length = (await read(4, 4)).readUInt32LE(0)
    return length < 0x7fff_0000 ? length + 7 : 0
  },
  boxes: async ({ read, size }: FileBytes): Promise<number> => {
    let at = 0
    let [hasIndex, hasMedia, isFilled] = [false, false, true]
    for (let left = 1000; left > 0; left--) {
      const head = await read(at, 16)
      if (head.length < 8) break
      const { length, type } = boxOf(head, size - at)
      if (length < 8 || !usualBox.test(type)) {
        isFilled = head.some((byte) => byte !== 0)
        break
      }
      hasMedia ||= type === "mdat"
      hasIndex ||= /^(?:moov|moof|meta)$/.test(type)
      at += length
    }
    // A camera writes the index last, and some programs set the size of a copy first.
    return hasMedia && !hasIndex && (at === size || !isFilled) ? size + 1 : at
  }
}

/** Other bytes behind a file are no boxes. */
const usualBox = /^(?:ftyp|meta|mdat|moov|moof|free|skip|wide|uuid|sidx|styp)$/

/** The size of a part of WebM, and where the part ends. Its first bit that is 1 tells how many bytes the size has. */
const sizeAt = (head: Buffer, at: number) => {
  const width = Math.clz32(head[at] ?? 0) - 23
  if (width > 8 || at + width > head.length) return { end: 0, isUnknown: true }
  const size = BigInt.asUintN(7 * width, BigInt(`0x${head.toString("hex", at, at + width)}`))
  return { end: at + width + Number(size), isUnknown: size === BigInt.asUintN(7 * width, -1n) }
}

/** A box by its first bytes, which are up to 16. `rest` is the length from there to the end of the file. */
const boxOf = (head: Buffer, rest: number) => {
  const short = head.readUInt32BE(0)
  const isLong = short === 1 && head.length >= 16
  return {
    type: head.toString("latin1", 4, 8),
    length: isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? rest : short,
    headLength: isLong ? 16 : 8
  }
}

/** In bytes. */
const headOnly = 16

/**
 * Whether a file without its end was never whole: it has nothing but its first bytes, after which no copy stops, or it is
 * a PNG with something else than its parts. Zeros are what is not copied yet.
 */
export const isDamaged = async ({ end }: FileKind, { read, size }: FileBytes): Promise<boolean> => {
  if (size <= headOnly) return true
  if (end !== endOfPng) return false
  for (let at = 8, left = 1000; at + 8 <= size && left > 0; left--) {
    const head = await read(at, 8)
    if (!/^[A-Za-z]{4}$/.test(head.toString("latin1", 4))) return head.some((byte) => byte !== 0)
    at += 12 + head.readUInt32BE(0)
  }
  return false
}

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

/** `is` tests the beginning of a file; a regular expression gets 1024 bytes as Latin-1. */
type Test = RegExp | ((head: Buffer) => boolean)

type Row = readonly [name: string, is: Test, type?: string, more?: Partial<FileKind>]

const kindsOf = (of: FileKind["of"], isShown: boolean, rows: ReadonlyArray<Row>) =>
  rows.map(([name, is, type, more]) => ({ name, of, isShown, is, type, ...more }))

const heic = hasBrand(/^(?:he(?:ic|ix|im|is|vc|vx)|mif[12]|msf1)$/)
const quickTime = /^(?:.{4}ftypqt|\0.{3}(?:moov|mdat|wide|pnot))/s

/** In the order of the tests. */
const kinds: ReadonlyArray<FileKind & { readonly is: Test }> = [
  ...kindsOf("picture", true, [
    ["JPEG", /^\xff\xd8\xff/, "image/jpeg", { decoder: "jpeg", end: Buffer.from("ffd9", "hex") }],
    ["animated PNG", isAnimatedPng, "image/png", { end: endOfPng }],
    ["PNG", png, "image/png", { decoder: "png", end: endOfPng }],
    ["WebP", /^RIFF.{4}WEBP/s, "image/webp", { decoder: "webp", length: "riff" }],
    ["GIF", /^GIF8[79]a/, "image/gif", { decoder: "gif", end: Buffer.from("003b", "hex") }],
    ["animated AVIF", hasBrand(/^avis$/), "image/avif", { length: "boxes" }],
    ["AVIF", hasBrand(/^avif$/), "image/avif", { decoder: "heif", length: "boxes" }],
    ["BMP", /^BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0/s],
    ["ICO", /^\0\0[\x01\x02]\0[^\0]\0.{3}\0/s]
  ]),
  ...kindsOf("picture", false, [
    ["HEIC", heic, "image/heic", { length: "boxes" }],
    ["the RAW of a camera", isRawTiff],
    ["the RAW of a camera", /^(?:II[RU]|MMOR|FUJIFILMCCD-RAW|FOVb|\0MRM)/],
    ["the RAW of a camera", hasBrand(/^crx $/)],
    ["TIFF", tiff, "image/tiff", { decoder: "tiff" }],
    ["a file of Photoshop", /^8BPS\0[\x01\x02]/],
    ["JPEG XL", /^(?:\xff\x0a|\0\0\0\x0cJXL )/, "image/jxl", { decoder: "jxl" }],
    ["JPEG 2000", /^(?:\0\0\0\x0cjP {2}|\xff\x4f\xff\x51)/, "image/jp2", { decoder: "jp2" }],
    ["JPEG XR", /^II\xbc/],
    ["EPS", /^(?:%!PS|\xc5\xd0\xd3\xc6)/]
  ]),
  ...kindsOf("film", false, [
    ["Matroska", /^\x1aE\xdf\xa3.{0,60}matroska/s, "video/x-matroska"],
    ["AVI", /^RIFF.{4}AVI /s, "video/x-msvideo"],
    ["MPEG", /^(?:\0\0\x01[\xb3\xba]|G.{187}G.{187}G|.{4}G.{191}G.{191}G)/s, "video/mpeg"],
    ["Windows Media", /^0&\xb2u\x8ef\xcf\x11/],
    ["Ogg with Theora", /^OggS.*\x80theora/s, "video/ogg"],
    ["MXF", /^\x06\x0e\x2b\x34\x02\x05\x01\x01/],
    ["RealMedia", /^\.RMF/],
    ["Flash", /^(?:FLV\x01|[FC]WS[\x01-\x20])/]
  ]),
  ...kindsOf("sound", false, [
    ["WAV with compressed sound", /^RIFF.{4}WAVEfmt .{4}(?![\x01\x03\x06\x07\xfe])/s],
    ["AIFF", /^FORM.{4}AIF[FC]/s, "audio/x-aiff"],
    ["AMR", /^#!AMR/],
    ["MPEG Layer II", /^\xff[\xf4\xf5\xfc\xfd]/],
    ["Core Audio", /^caff\0\x01/],
    ["Dolby Digital (AC-3)", /^\x0b\x77/],
    ["MIDI", /^MThd\0\0\0\x06/]
  ]),
  ...kindsOf("sound", true, [
    ["MP4", /^.{4}ftypM4[AB]/s, "audio/mp4", { length: "boxes" }],
    ["WAV", /^RIFF.{4}WAVE/s, "audio/wav", { length: "riff" }],
    ["Ogg", /^OggS/, "audio/ogg"],
    ["FLAC", /^fLaC/, "audio/flac"],
    ["AAC", /^\xff[\xf0\xf1\xf8\xf9]/, "audio/aac"],
    ["MP3", /^(?:ID3|\xff[\xf2\xf3\xfa\xfb])/, "audio/mpeg"]
  ]),
  ...kindsOf("film", true, [
    ["QuickTime", quickTime, "video/quicktime", { length: "boxes" }],
    ["MP4", /^(?:.{4}ftyp|\0\0..(?:free|skip|styp|uuid))/s, "video/mp4", { length: "boxes" }],
    ["WebM", /^\x1aE\xdf\xa3/, "video/webm", { length: "ebml" }]
  ]),
  ...kindsOf("other", true, [
    ["PDF", /%PDF-/, "application/pdf", { end: Buffer.from("%%EOF") }],
    ["GLB", /^glTF/, "model/gltf-binary", { length: "glb" }],
    ["WOFF2", /^wOF2/, "font/woff2", { length: "woff" }],
    ["WOFF", /^wOFF/, "font/woff", { length: "woff" }],
    ["an alias of macOS, which leads to a file elsewhere", /^book\0{4}mark/],
    ["a ZIP archive", /^PK\x03\x04/],
    ["a compressed file", /^(?:\x1f\x8b|Rar!|7z\xbc\xaf)/],
    ["an Office document", /^\xd0\xcf\x11\xe0\xa1\xb1/]
  ])
]
