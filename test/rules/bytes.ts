/**
 * The bytes of small files: whole ones, and others in their places.
 */
import { noisy } from "../support/pictures.ts"

/** A PNG of one pixel. */
export const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64"
)

export const jpeg = await noisy(64, 64).jpeg().toBuffer()
export const webp = await noisy(64, 64).webp().toBuffer()

const withHead = (head: string) => Buffer.concat([Buffer.from(head, "latin1"), Buffer.alloc(2000, 7)])

/** Of MP4 and its relatives. */
export const box = (type: string, ...parts: ReadonlyArray<Buffer | string>): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)))
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(type, 4, "latin1")
  return Buffer.concat([head, body])
}

/** A film with one track in this codec. */
export const movie = (brand: string, codec: string): Buffer => {
  const entry = box("stsd", Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), box(codec, Buffer.alloc(78)))
  const handler = box("hdlr", Buffer.alloc(8), "vide", Buffer.alloc(13))
  const media = box("mdia", handler, box("minf", box("stbl", entry)))
  const moov = box("moov", box("mvhd", Buffer.alloc(100)), box("trak", box("tkhd", Buffer.alloc(84)), media))
  return Buffer.concat([
    box("ftyp", brand, Buffer.from([0, 0, 2, 0]), brand),
    moov,
    box("mdat", Buffer.alloc(2000, 7))
  ])
}

export const avi = withHead("RIFF\x00\x10\x00\x00AVI LIST")
export const wma = withHead("\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c")
export const mpeg = withHead("\x00\x00\x01\xba\x44\x00\x04\x00\x04\x01")
export const aiff = withHead("FORM\x00\x00\x08\x00AIFFCOMM")

/** A film whose recording was interrupted: a camera writes the index last. */
export const unended = Buffer.concat([
  box("ftyp", "isom", Buffer.from([0, 0, 2, 0]), "isom"),
  box("mdat", Buffer.alloc(2000, 7))
])

/** A film in WebM that says that it has 500 bytes behind its head. */
export const webm = Buffer.concat([
  Buffer.from("1a45dfa3874282847765626d1853806741f4", "hex"),
  Buffer.alloc(500, 7)
])

/** A model that says that it has 2000 bytes. */
export const glb = Buffer.concat([Buffer.from("glTF\x02\0\0\0\xd0\x07\0\0", "latin1"), Buffer.alloc(1988, 7)])

export const pdf = Buffer.from(`%PDF-1.7\n${"1 0 obj\n".repeat(300)}startxref\n9\n%%EOF\n`)

/** What Git LFS leaves in the place of a file that it has not fetched. */
export const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"1".repeat(64)}\nsize 82828\n`

/** The same of git-annex. */
export const annexed = `/annex/objects/SHA256E-s82828--${"1".repeat(64)}.mp3\n`
