/**
 * Warnings about files that are saved all the same, in every fetch of the same files.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { withCountedFiles } from "../../../support/countedFiles.ts"
import { type MediaSettings, makeDocuments, makeFetch, mediaServices } from "../../../support/media.ts"
import { heic, plain } from "../../../support/pictures.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { textsOf } from "../../../support/warnings.ts"

const run = Effect.provide(mediaServices)

/** A picture about which its decoder warns. */
const odd = Effect.promise(async () => {
  const jpeg = await plain(64, 48).jpeg().toBuffer()
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]))
  jpeg[scan + 2 + jpeg.readUInt16BE(scan + 2) - 2] = 0
  return jpeg
})

const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="harbour.png"/></svg>')

const setUp = (settings: Partial<MediaSettings>) =>
  Effect.gen(function* () {
    const files: Readonly<Record<string, Buffer>> = {
      "/photo.heic": heic,
      "/odd.jpg": yield* odd,
      "/map.svg": drawing,
      "/cut.jpg": (yield* odd).subarray(0, 20)
    }
    const server = yield* ScriptedServer.make((response, { headers, url }) => {
      const [path = "", tag] = url.split("?")
      if (tag !== "untagged" && headers["if-none-match"] === '"1"') response.writeHead(304).end()
      else response.writeHead(200, tag === "untagged" ? {} : { etag: '"1"' }).end(files[path])
    })
    const inner = makeDocuments(server.url)
    return {
      ...inner,
      server,
      files,
      start: (more = {}) => makeFetch({ ...settings, ...more }, inner.source)
    }
  })

const find = ["**.image"]
const images = { widths: [20] }

/** As vendors have it that fix the paths of files. */
const reader: MediaSettings["reader"] = ({ file }) =>
  Predicate.isString(file)
    ? Option.some({ url: file, localPath: `attachments${new URL(file).pathname}` })
    : Option.none()

describe("the warning about a file", () => {
  const cases: ReadonlyArray<
    readonly [what: string, settings: Partial<MediaSettings>, record: object, warning: string]
  > = [
    ["no browser shows", { find }, { image: "/photo.heic" }, "it is HEIC"],
    ["no browser shows, in a fixed path", { reader }, { file: "/photo.heic" }, "it is HEIC"],
    ["names others", { find }, { image: "/map.svg" }, "Put the pictures into the SVG"],
    ["names others, in a fixed path", { reader }, { file: "/map.svg" }, "Put the pictures into the SVG"],
    ["names others, beside sizes", { find, images }, { image: "/map.svg" }, "Put the pictures into the SVG"],
    ["its decoder warns of", { find, images }, { image: "/odd.jpg" }, "Invalid SOS"],
    ["its decoder warns of, and has no tag", { find, images }, { image: "/odd.jpg?untagged" }, "Invalid SOS"],
    ["its decoder warns of, in a fixed path", { reader, images }, { file: "/odd.jpg" }, "Invalid SOS"],
    ["its decoder warns of, of the source", { images }, { own: { localPath: "own.jpg" } }, "Invalid SOS"],
    ["is cut, and optional", { find, images, optional: true }, { image: "/cut.jpg" }, "its end is missing"],
    ["is missing in the source", { images }, { own: { localPath: "no.jpg" } }, "has no such file"]
  ]

  it.scoped.each(cases)("that %s comes with each fetch", ([, settings, record, warning]) =>
    Effect.gen(function* () {
      const { files, server, set, start } = yield* setUp(settings)
      const linked = "file" in record ? { file: `${server.url}${record.file}` } : record
      const give = (count: number) =>
        set({
          "objects.json": Array.from({ length: count }, (_, id) => ({ ...linked, id })),
          ...("own" in record && { "own.jpg": files["/odd.jpg"], "other.jpg": files["/odd.jpg"] })
        })
      const expected = [expect.stringContaining(warning)]
      give(1)
      const fetch = yield* start()
      const first = yield* fetch()
      expect(textsOf(first.fetched.warnings)).toEqual(expected)
      const unchanged = yield* fetch(first)
      expect(unchanged.fetched.fingerprint).toBe(first.fetched.fingerprint)
      expect(textsOf(unchanged.fetched.warnings)).toEqual(expected)
      expect(textsOf((yield* (yield* start())(first)).fetched.warnings)).toEqual(expected)
      give(2)
      const second = yield* (yield* start())(first)
      expect(second.fetched.fingerprint).not.toBe(first.fetched.fingerprint)
      expect(textsOf(second.fetched.warnings)).toEqual(expected)
      expect(textsOf((yield* (yield* start())(second)).fetched.warnings)).toEqual(expected)
    }).pipe(run)
  )

  it.scoped("is at the places that the documents have today", () =>
    Effect.gen(function* () {
      const { set, start } = yield* setUp({ find })
      set({ "objects.json": [{ id: "1", image: "/photo.heic" }] })
      const first = yield* (yield* start())()
      set({ "objects.json": [{ id: "2", image: "/photo.heic" }] })
      const second = yield* (yield* start())(first)
      expect(textsOf(second.fetched.warnings)).toEqual([expect.stringContaining("record 2")])
      set({ "objects.json": [{ id: "2" }] })
      expect((yield* (yield* start())(second)).fetched.warnings?.join()).not.toContain("HEIC")
    }).pipe(run)
  )

  it.scoped("stays if a file of the source gets another name", () =>
    Effect.gen(function* () {
      const { files, set, start } = yield* setUp({ images })
      const give = (name: string) =>
        set({ "objects.json": [{ id: 1, own: { localPath: name } }], [name]: files["/odd.jpg"] })
      give("a.jpg")
      const first = yield* (yield* start())()
      give("b.jpg")
      const second = yield* (yield* start())(first)
      expect(textsOf(second.fetched.warnings)).toEqual([expect.stringMatching(/"b\.jpg".*Invalid SOS/)])
      expect(second.read("media/files.json")).toEqual({
        [Object.keys(Object(second.read("media/files.json")))[0] ?? ""]: {
          path: "b.jpg",
          flaw: { wrong: "picture", detail: expect.stringContaining("Invalid SOS") }
        }
      })
    }).pipe(run)
  )

  it.scoped("ends with the mistake, and with the option that it is about", () =>
    Effect.gen(function* () {
      const { files, set, start } = yield* setUp({ find, optional: true })
      set({
        "objects.json": [{ id: 1, image: "/cut.jpg", own: { localPath: "own.jpg" } }],
        "own.jpg": files["/odd.jpg"]
      })
      const first = yield* (yield* start({ images }))()
      expect(textsOf(first.fetched.warnings)).toHaveLength(2)
      const without = yield* (yield* start())(first)
      expect(textsOf(without.fetched.warnings)).toEqual([expect.stringContaining("its end is missing")])
      const whole = yield* Effect.promise(() => plain(64, 48).jpeg().toBuffer())
      set({ "objects.json": [{ id: 1, own: { localPath: "own.jpg" } }], "own.jpg": whole })
      const mended = yield* (yield* start({ images, find: undefined, optional: undefined }))(first)
      expect(textsOf(mended.fetched.warnings)).toBeUndefined()
      expect(Object.keys(mended.files)).not.toContain("media/files.json")
    }).pipe(run)
  )

  const counts = { reads: 0, parts: 0, stats: 0 }
  it.scoped("is found without opening a file", () =>
    Effect.gen(function* () {
      const { set, start } = yield* setUp({ find })
      set({ "objects.json": [{ id: 1, image: "/map.svg" }] })
      const first = yield* (yield* start())()
      set({ "objects.json": [{ id: 1, image: "/map.svg" }, { id: 2 }] })
      expect(textsOf((yield* (yield* start())(first)).fetched.warnings)).toHaveLength(1)
      expect(counts.reads).toBe(0)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          withCountedFiles(counts, (path) => path.endsWith(".svg")),
          mediaServices
        )
      )
    )
  )
})
