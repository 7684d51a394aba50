/**
 * The verdict of a file by its bytes.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { inMemory } from "../../../../src/layers/documents/media/fileKinds.ts"
import { typeOfPath } from "../../../../src/layers/documents/media/mediaTypes.ts"
import { verdictOf } from "../../../../src/layers/documents/media/verdict.ts"
import { aiff, avi, jpeg, movie, mpeg, png, pointer, unended, webm, wma } from "../../../rules/bytes.ts"
import { noisy } from "../../../support/pictures.ts"

const judge = (name: string, bytes: string | Uint8Array) =>
  Effect.promise(() =>
    verdictOf(
      { byName: typeOfPath(name) },
      inMemory(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes)
    )
  )

const [gif = png, webp = png, avif = png] = await Promise.all(
  (["gif", "webp", "avif"] as const).map((format) => noisy(64, 64).toFormat(format).toBuffer())
)

const progressive = Effect.promise(() => noisy(64, 64).jpeg({ progressive: true }).toBuffer())

const segment = (body: Uint8Array) => {
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(body.length + 2, 2)
  return Buffer.concat([head, body])
}

const ebml = (type: string) => `\x1aE\xdf\xa3\x93\x42\x82\x88${type}`
/** A font that says that it has 600 bytes. */
const woff2 = (has: number) => `wOF2\0\x01\0\0\0\0\x02\x58`.padEnd(has, "\x07")
const alias = "book\0\0\0\0mark\0\0\0\0"
const preallocated = (film: Buffer) => Buffer.concat([film, Buffer.alloc(500)])
const cues = (...lines: ReadonlyArray<string>) => ["WEBVTT", "", ...lines, "The bell", ""].join("\n")
const wave = (format: number) =>
  `RIFF\x24\0\0\0WAVEfmt \x10\0\0\0${String.fromCharCode(format)}`.padEnd(44, "\0")

describe("the verdict of a file", () => {
  it.effect.each([
    ["bell.jpg", "Service Unavailable", "other", "text"],
    ["bell.png", "Not found", "other", "text"],
    ["bell.mp4", '{"error":1}', "other", "JSON"],
    ["bell.pdf", "<html>", "other", "HTML"],
    ["bell.glb", pointer, "other", "Git LFS"],
    ["notes.txt", pointer, "other", "Git LFS"],
    ["bell.mp3", "", "other", "empty"],
    ["bell.mp3", "\0".repeat(5000), "cut", "zeros"],
    ["bell.png", png.subarray(0, -1), "cut", "end"],
    ["bell.png", png.subarray(0, 8), "picture", "damaged"],
    ["bell.jpg", jpeg.subarray(0, 11), "picture", "damaged"],
    ["bell.png", Buffer.concat([png.subarray(0, 33), Buffer.alloc(500)]), "cut", "end"],
    ["bell.png", Buffer.concat([png.subarray(0, 33), Buffer.alloc(500, 1)]), "picture", "damaged"],
    ["bell.jpg", jpeg.subarray(0, -1), "cut", "end"],
    ["bell.jpg", jpeg.subarray(0, 30), "cut", "end"],
    ["bell.gif", gif.subarray(0, -9), "cut", "end"],
    ["bell.webp", webp.subarray(0, -9), "cut", "end"],
    ["bell.avif", avif.subarray(0, -9), "cut", "end"],
    ["bell.svg", "<svg xmlns='http://www.w3.org/2000/svg'><path d='M0", "cut", "end"],
    ["bell.mp4", movie("isom", "avc1").subarray(0, -9), "cut", "end"],
    ["bell.wav", wave(1).slice(0, -9), "cut", "end"],
    ["bell.jpg", "%PDF-1.4", "other", "it is PDF, not image/jpeg"],
    ["bell.jpg", movie("isom", "avc1"), "other", "MP4"],
    ["bell.jpg", "PK\x03\x04\x14", "other", "ZIP"],
    ["bell.mp4", jpeg, "other", "JPEG"],
    ["bell.mp3", png, "other", "PNG"],
    ["bell.pdf", jpeg, "other", "JPEG"],
    ["bell.mxf", "\x06\x0e\x2b\x34\x02\x05\x01\x01", "unplayable", "MXF"],
    ["bell.jpg", "8BPS\0\x01", "picture", "Photoshop"],
    ["bell.avi", avi, "unplayable", "AVI"],
    ["bell.mp4", mpeg, "unplayable", "MPEG"],
    ["bell.wma", wma, "unplayable", "Windows Media"],
    ["bell.aiff", aiff, "unplayable", "AIFF"],
    ["bell.mkv", ebml("matroska"), "unplayable", "Matroska"],
    ["bell.wav", wave(2), "unplayable", "WAV"],
    ["bell.ogv", "OggS\0\x02\x80theora", "unplayable", "Theora"],
    ["bell.mp4", movie("isom", "hev1"), "unplayable", "HEVC"],
    ["bell.mp4", movie("isom", "mp4v"), "unplayable", "MPEG-4 Part 2"],
    ["bell.mov", movie("qt  ", "ap4h"), "unplayable", "ProRes"],
    ["bell.mov", movie("qt  ", "\x01xyz"), "unplayable", '"?xyz"'],
    ["bell.vtt", "WEBVTT\n\nGl\xf6ckchen", "encoding", "UTF-8"],
    ["bell.srt", "1\n00:00:00,000 --> 00:00:02,000\nGl\xf6ckchen", "encoding", "UTF-8"],
    ["bell.srt", "1\n00:00:00,000 --> 00:00:02,000\nBell", "unplayable", "WebVTT"],
    ["bell.vtt", cues("0:00.000 --> 1:00.000"), "unplayable", "0:00.000 --> 1:00.000"],
    ["bell.vtt", cues("00:01.500 --> 00:03.000", "Loom", "", "00:04 --> 00:06"), "unplayable", "00:04"],
    ["bell.vtt", cues("00:00:01:12 --> 00:00:03:04"), "unplayable", "00:00:01:12"],
    ["bell.svg", '<svg width="1"><path d="M0 0"/></svg>', "picture", "xmlns"],
    ["bell.svg", '<?xml version="1.0"?><svg xmlns:xlink="x"><g/></svg>', "picture", "xmlns"],
    ["bell.webm", webm.subarray(0, -1), "cut", "end"],
    ["bell.woff2", woff2(599), "cut", "end"],
    ["bell.woff2", "PK\x03\x04\x14", "other", "ZIP"],
    ["bell.mp4", preallocated(unended), "cut", "end"],
    ["bell.mp4", movie("isom", "encv"), "unplayable", "a key"],
    ["bell.m4v", movie("isom", "drmi"), "unplayable", "a key"],
    ["bell.mp4", alias, "other", "alias"],
    ["bell.pdf", `\x90\x01${"\x05".repeat(2000)}`, "unplayable", "first bytes"],
    ["bell.glb", alias, "other", "alias"],
    ["bell.webm", `\x90\x01${"\x05".repeat(2000)}`, "unplayable", "first bytes"]
  ] as const)("finds what is wrong with %s: %j is %s", ([name, bytes, wrong, word]) =>
    Effect.gen(function* () {
      expect(yield* judge(name, bytes)).toMatchObject({ wrong, detail: expect.stringContaining(word) })
    })
  )

  it.effect.each([
    ["bell.jpg", png],
    ["bell.gif", gif],
    ["bell.webp", webp],
    ["bell.avif", avif],
    ["bell.svg", "<svg xmlns='http://www.w3.org/2000/svg'><g/></svg>\n<!-- the end -->"],
    ["bell.mp4", Buffer.concat([movie("isom", "avc1"), Buffer.alloc(90, 255)])],
    ["bell.ogg", movie("isom", "avc1")],
    ["bell.png", "a picture of a kind that nobody knows\0"],
    ["bell.m4v", movie("isom", "avc1")],
    ["bell.mp4", movie("isom", "av01")],
    ["bell.webm", ebml("webm")],
    ["bell.wav", wave(1)],
    ["bell.webm", webm],
    ["bell.woff2", woff2(600)],
    ["bell.mp4", preallocated(movie("isom", "avc1"))],
    ["bell.svg", '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:g/></s:svg>'],
    ["bell.vtt", cues("NOTE this --> that", "", "100:00:01.500 --> 100:00:03.000 align:start")],
    ["bell.pdf", "%PDF-1.4 of plain letters"],
    ["bell.ts", "const bell = 'of a program'"],
    ["bell.m3u", "#EXTM3U\nhttp://museum.example/bell.mp3"],
    ["bell.dxf", "0\nSECTION\n2\nHEADER\n9\n$ACADVER"],
    ["bell.vtt", "\xef\xbb\xbfWEBVTT\n\nGl\xc3\xb6ckchen"],
    ["notes.txt", "Not found"],
    ["notes.txt", ""]
  ] as const)("finds nothing wrong with %s: %j", ([name, bytes]) =>
    Effect.gen(function* () {
      expect(yield* judge(name, bytes)).toBeUndefined()
    })
  )

  it.effect("finds the end of a JPEG, whatever is before its pixels and behind its end", () =>
    Effect.gen(function* () {
      const pictures = [jpeg, yield* progressive]
      const cases = FastCheck.record({
        picture: FastCheck.constantFrom(...pictures),
        before: FastCheck.uint8Array({ maxLength: 40 }),
        behind: FastCheck.uint8Array({ maxLength: 300_000, size: "max" }),
        lost: FastCheck.integer({ min: 1, max: 300 })
      })
      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(cases, async ({ before, behind, lost, picture }) => {
            // A thumbnail has an end of its own.
            const head = Buffer.concat([picture.subarray(0, 2), segment(before), segment(jpeg)])
            const whole = Buffer.concat([head, picture.subarray(2), behind])
            const cut = Buffer.concat([head, picture.subarray(2, -lost)])
            const verdicts = [whole, cut].map((bytes) => verdictOf({ byName: "image/jpeg" }, inMemory(bytes)))
            expect(await Promise.all(verdicts)).toEqual([
              undefined,
              expect.objectContaining({ wrong: "cut" })
            ])
          }),
          { numRuns: 40 }
        )
      )
    })
  )

  it.effect("reads any bytes to an end, in any place", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.constantFrom(movie("isom", "avc1"), movie("qt  ", "apch"), jpeg, png),
          FastCheck.uint8Array({ minLength: 1, maxLength: 8 }),
          FastCheck.nat(),
          async (file, change, at) => {
            const changed = Buffer.from(file)
            changed.set(change, at % (file.length - change.length))
            let reads = 0
            const { read, size } = inMemory(changed)
            const counted = (offset: number, length: number) => {
              reads += 1
              return read(offset, length)
            }
            await verdictOf({ byName: "video/mp4" }, { size, read: counted })
            expect(reads).toBeLessThan(1100)
          }
        )
      )
    )
  )
})
