/**
 * The pictures of a source, of any kind and with any name.
 */
import { join } from "node:path"
import { crc32 } from "node:zlib"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import sharp from "sharp"
import type { ImageConfig } from "../../../../src/layers/documents/DocumentConfig.ts"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { jsonSource } from "../../../../src/layers/sources/json/jsonSource.ts"
import type { SourceProgress } from "../../../../src/services/ContentSource.ts"
import { colourAt, heic, noisy, plain } from "../../../support/pictures.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { textsOf } from "../../../support/warnings.ts"

const run = Effect.provide(Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer))

const Objects = Schema.parseJson(
  Schema.Array(
    Schema.Struct({
      id: Schema.String,
      photo: Schema.Struct({
        localPath: Schema.optional(Schema.String),
        sizes: Schema.optional(Schema.Array(Schema.Struct({ localPath: Schema.String, width: Schema.Int })))
      })
    })
  )
)

/** One document whose objects link to one optional file each. */
const fetchPictures = Effect.fnUntraced(function* (
  files: Readonly<Record<string, Uint8Array>>,
  images: Option.Option<ImageConfig> = Option.some({ widths: [20] })
) {
  const fileSystem = yield* FileSystem.FileSystem
  const { url } = yield* ScriptedServer.make((response, request) => {
    const file = files[request.url.slice(1)]
    return file === undefined
      ? ScriptedServer.json(
          200,
          Object.keys(files).map((id) => ({ id, photo: { url: `/${id}` } }))
        )(response, request)
      : response.writeHead(200, { "content-type": "application/octet-stream" }).end(file)
  })
  const source = jsonSource({
    id: "museum",
    documents: { objects: `${url}/` },
    media: { find: ["**.photo.url"], optional: ["**"] },
    ...(Option.isNone(images) ? {} : { images: images.value })
  })
  const { fetch } = yield* source.make
  const directory = yield* fileSystem.makeTempDirectoryScoped()
  const progress: Array<SourceProgress> = []
  const { warnings = [] } = yield* fetch({
    directory,
    previous: Option.none(),
    progress: (step) => Effect.sync(() => void progress.push(step))
  })
  const text = yield* fileSystem.readFileString(join(directory, "objects.json"))
  const objects = new Map((yield* Schema.decodeUnknown(Objects)(text)).map(({ id, photo }) => [id, photo]))
  return {
    progress,
    warnings: textsOf(warnings) ?? [],
    /** The widths of pictures that have sizes. */
    widths: Object.fromEntries(
      [...objects].flatMap(([id, { sizes }]) =>
        sizes === undefined ? [] : [[id, sizes.map(({ width }) => width)]]
      )
    ),
    /** The pictures in the version. */
    saved: [...objects].flatMap(([id, { localPath }]) => (localPath === undefined ? [] : [id])),
    colourOf: (id: string, x: number, y: number) =>
      Effect.promise(() => colourAt(join(directory, objects.get(id)?.sizes?.[0]?.localPath ?? ""), x, y))
  }
})

const chunk = (type: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** With another head: the first 33 bytes of a PNG. */
const withSize = (png: Buffer, side: number) => {
  const head = Buffer.from(png.subarray(16, 29))
  head.writeUInt32BE(side, 0)
  head.writeUInt32BE(side, 4)
  return Buffer.concat([png.subarray(0, 8), chunk("IHDR", head), png.subarray(33)])
}

const animated = Effect.promise(async () => {
  const frames = await Promise.all(["red", "blue"].map((colour) => plain(20, 20, colour).png().toBuffer()))
  const joined = sharp(frames, { join: { animated: true } })
  const [png = Buffer.alloc(0)] = frames
  const animation = Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])
  return {
    "moving.gif": await joined.clone().gif().toBuffer(),
    "moving.webp": await joined.clone().webp().toBuffer(),
    "moving.png": Buffer.concat([png.subarray(0, 33), chunk("acTL", animation), png.subarray(33)])
  }
})

/** 17 kB that take a renderer more than a minute. */
const nested = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><g id="a0"><rect width="1" height="1"/></g>${Array.from(
    { length: 30 },
    (_, level) => `<g id="a${level + 1}">${`<use href="#a${level}"/>`.repeat(25)}</g>`
  ).join("")}<use href="#a30"/></svg>`
)

const bitmap = Buffer.concat([
  Buffer.from("BM"),
  Buffer.alloc(12),
  Buffer.from([40, 0, 0, 0]),
  Buffer.alloc(60)
])
const icon = Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 4, 0, 0, 0, 22, 0, 0, 0, 1, 2, 3, 4])
const boxed = (brand: string) => Buffer.from(`\0\0\0\x14ftyp${brand}\0\0\0\0${brand}`, "latin1")
/** The head of a TIFF with one entry of four bytes. */
const rawTiff = (tag: number, value: number) => {
  const head = Buffer.from("II*\0\x08\0\0\0\x01\0____\x04\0\x01\0\0\0____\0\0\0\0", "latin1")
  head.writeUInt16LE(tag, 10)
  head.writeUInt16LE(4, 12)
  head.writeUInt32LE(1, 14)
  head.writeUInt32LE(value, 18)
  return head
}

describe("the pictures of a source", () => {
  it.scopedLive("are progress while they are made, after all files are downloaded", () =>
    Effect.gen(function* () {
      const jpeg = yield* Effect.promise(() => plain(64, 48).jpeg().toBuffer())
      const { progress } = yield* fetchPictures({ "bell.jpg": jpeg })
      const complete = progress.filter(({ attachments }) => attachments?.done === 1)
      expect(complete.length).toBeGreaterThan(1)
      expect(new Set(complete.map((step) => JSON.stringify(step))).size).toBe(1)
    }).pipe(run)
  )

  it.scopedLive("get sizes if the decoder warns, and each warning is reported once", () =>
    Effect.gen(function* () {
      const jpeg = yield* Effect.promise(() => plain(64, 48).jpeg().toBuffer())
      const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]))
      const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
      const telephone = Buffer.from(jpeg)
      telephone[scan + 2 + jpeg.readUInt16BE(scan + 2) - 2] = 0
      const padded = Buffer.concat([jpeg.subarray(0, frame), Buffer.alloc(18, 7), jpeg.subarray(frame)])
      const { warnings, widths } = yield* fetchPictures({
        "end.jpg": Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(18, 7), jpeg.subarray(-2)]),
        "frame.jpg": padded,
        "frame2.jpg": Buffer.concat([padded, Buffer.from("more")]),
        "telephone.jpg": telephone
      })
      expect(widths).toEqual({
        "end.jpg": [20],
        "frame.jpg": [20],
        "frame2.jpg": [20],
        "telephone.jpg": [20]
      })
      expect(warnings).toEqual([
        expect.stringMatching(
          /^2 pictures are not as they should be: .*extraneous bytes before marker.*record frame.jpg.*; .*record frame2.jpg/
        ),
        expect.stringMatching(
          /record telephone.jpg, field "photo.url": the picture .* Invalid SOS parameters/
        )
      ])
    }).pipe(run)
  )

  it.scopedLive("get sizes in every format, depth and colour space, with any name", () =>
    Effect.gen(function* () {
      const red = plain(40, 30, "#c02020")
      const clear = { create: { width: 40, height: 30, channels: 4, background: "#0000" } } as const
      const files = yield* Effect.promise(async () => ({
        "scan.tif": await red.clone().tiff().toBuffer(),
        "png.jpg": await red.clone().png().toBuffer(),
        "jpeg.heic": await red.clone().jpeg().toBuffer(),
        "still.gif": await red.clone().gif().toBuffer(),
        "still.avif": await red.clone().avif({ effort: 0 }).toBuffer(),
        "print.jpg": await red.clone().toColourspace("cmyk").withIccProfile("cmyk").jpeg().toBuffer(),
        "wide.png": await red.clone().withIccProfile("p3").png().toBuffer(),
        "deep.png": await red.clone().toColourspace("rgb16").png().toBuffer(),
        palette: await red.clone().png({ palette: true }).toBuffer(),
        "grey.png": await plain(40, 30, "#808080").toColourspace("b-w").png().toBuffer(),
        "clear.png": await sharp(clear).png().toBuffer(),
        "clear16.png": await sharp(clear).toColourspace("rgb16").png().toBuffer(),
        "clearGrey.png": await sharp(clear).toColourspace("b-w").png().toBuffer()
      }))
      const { colourOf, warnings, widths } = yield* fetchPictures(
        files,
        Option.some({ widths: [20], formats: ["jpeg"] })
      )
      expect(warnings).toEqual([])
      expect(widths).toEqual(Object.fromEntries(Object.keys(files).map((name) => [name, [20]])))
      for (const name of Object.keys(files)) {
        const expected = name.startsWith("clear")
          ? [255, 255, 255]
          : name.startsWith("grey")
            ? [128, 128, 128]
            : [192, 32, 32]
        const [red = 0, green = red, blue = red] = yield* colourOf(name, 0.5, 0.5)
        const difference = Math.max(
          ...[red, green, blue].map((value, index) => Math.abs(value - (expected[index] ?? 0)))
        )
        expect([name, red, green, blue, difference < 40]).toEqual([name, red, green, blue, true])
      }
    }).pipe(run)
  )

  it.scopedLive("are kept without sizes if browsers display them and sharp cannot make them smaller", () =>
    Effect.gen(function* () {
      const files = {
        ...(yield* animated),
        "moving.avif": boxed("avis"),
        "drawing.svg": nested,
        "old.bmp": bitmap,
        "bitmap.jpg": bitmap,
        "favicon.ico": icon,
        "sheet.pdf": Buffer.from("%PDF-1.4\n")
      }
      const { saved, warnings, widths } = yield* fetchPictures(files)
      expect(warnings).toEqual([])
      expect(widths).toEqual({})
      expect(saved.sort()).toEqual(Object.keys(files).sort())
    }).pipe(run)
  )

  it.scopedLive("are refused if no browser displays them, with advice", () =>
    Effect.gen(function* () {
      const files = {
        "IMG_0001.HEIC": heic,
        "telephone.jpg": heic,
        "layers.psd": Buffer.from("8BPS\0\x01\0\0\0\0\0\0\0\x03", "latin1"),
        "new.jxl": Buffer.from([0xff, 0x0a, 0, 0]),
        "film.jp2": Buffer.from("\0\0\0\x0cjP  \r\n\x87\n", "latin1"),
        "negative.dng": rawTiff(50_706, 1),
        "negative.nef": rawTiff(254, 1),
        "negative.cr2": Buffer.from("II*\0\x10\0\0\0CR\x02\0\0\0\0\0", "latin1"),
        "negative.cr3": boxed("crx ")
      }
      const { warnings, widths } = yield* fetchPictures(files)
      expect(widths).toEqual({})
      const said = warnings.join("\n")
      for (const kind of ["HEIC", "a file of Photoshop", "JPEG XL", "JPEG 2000", "the RAW of a camera"]) {
        expect(said).toContain(
          `cannot be made smaller: it is ${kind}, which browsers do not show: export it as JPEG.`
        )
      }
      expect(warnings).toHaveLength(5)
    }).pipe(run)
  )

  it.scopedLive("are saved with a warning if no browser displays them and no sizes are wanted", () =>
    Effect.gen(function* () {
      const { saved, warnings } = yield* fetchPictures(
        { "telephone.jpg": heic, "favicon.ico": icon },
        Option.none()
      )
      expect(saved).toEqual(["telephone.jpg", "favicon.ico"])
      expect(warnings).toEqual([
        expect.stringMatching(
          /record telephone.jpg, .*: it is HEIC, which browsers do not show: export it as JPEG/
        )
      ])
    }).pipe(run)
  )

  it.scopedLive("are refused if they are cut off, too large, or no pictures at all", () =>
    Effect.gen(function* () {
      const picture = noisy(100, 80)
      const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)
      const png = yield* Effect.promise(() => picture.clone().png().toBuffer())
      const files = yield* Effect.promise(async () => ({
        "cut.jpg": half(await picture.clone().jpeg().toBuffer()),
        "cut.png": half(png),
        "cut.webp": half(await picture.clone().webp().toBuffer()),
        "cut.gif": half(await picture.clone().gif().toBuffer()),
        "cut.tif": half(await picture.clone().tiff({ compression: "none" }).toBuffer()),
        "cut.avif": half(await picture.clone().avif({ effort: 0 }).toBuffer()),
        "drawing.jpg": nested,
        "bomb.png": withSize(png, 30_000)
      }))
      const { warnings, widths } = yield* fetchPictures(files)
      expect(widths).toEqual({})
      const of = (name: string) => warnings.find((warning) => warning.includes(`record ${name}`))
      expect(of("cut.jpg")).toMatch(/^5 files .*its end is missing/)
      expect(of("cut.tif")).toBeDefined()
      expect(of("drawing.jpg")).toBeDefined()
      expect(of("bomb.png")).toContain("it has 30000 × 30000 pixels, 900 megapixels, of 400 that it may have")
    }).pipe(run)
  )
})
