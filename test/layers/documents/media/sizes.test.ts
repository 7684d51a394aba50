/**
 * Smaller pictures beside the pictures of documents.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { makeDocuments, makeFetch, mediaServices } from "../../../support/media.ts"
import { plain } from "../../../support/pictures.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { textsOf } from "../../../support/warnings.ts"

const run = Effect.provide(mediaServices)

const setUp = Effect.gen(function* () {
  const [photo, own] = yield* Effect.promise(() =>
    Promise.all([plain(200, 100).jpeg().toBuffer(), plain(100, 200).png().toBuffer()])
  )
  const server = yield* ScriptedServer.make((response, { headers, url }) =>
    url === "/broken.jpg"
      ? response.writeHead(200, { "content-type": "image/jpeg" }).end(photo.subarray(0, 20))
      : headers["if-none-match"] === '"1"'
        ? response.writeHead(304).end()
        : response.writeHead(200, { "content-type": "image/jpeg", etag: '"1"' }).end(photo)
  )
  const inner = makeDocuments(server.url)
  inner.set({
    "objects.json": [
      { id: "1", image: { url: "/a.jpg" }, focused: { url: "/a.jpg", focus: 0 } },
      { id: "2", file: { localPath: "attachments/own.png" }, other: { localPath: "../own.png" } }
    ],
    "attachments/own.png": own
  })
  const settings = {
    reader: (value: Readonly<Record<string, unknown>>) =>
      Predicate.isString(value.url)
        ? Option.some({ url: value.url, ...(value.focus === 0 ? { focus: { x: 0, y: 0 } } : {}) })
        : Option.none()
  }
  const images = { widths: [50], crop: "1:1" }
  return {
    ...inner,
    settings,
    fetch: yield* makeFetch({ ...settings, images }, inner.source)
  }
})

const sizesIn = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value)
    ? value.flatMap(sizesIn)
    : Predicate.isReadonlyRecord(value)
      ? [...("sizes" in value ? [value.sizes] : []), ...Object.values(value).flatMap(sizesIn)]
      : []

const one = [
  { height: 50, width: 50, type: "image/webp", localPath: expect.stringMatching(/^images\/.*\.webp$/) }
]

describe("the sizes of pictures", () => {
  it.scoped("are listed beside media and beside files of the source, cropped around their focal points", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp
      const { fetched, files, read } = yield* fetch()
      const sizes = sizesIn(read("objects.json"))
      expect(sizes).toEqual([one, one, one])
      expect(sizes[0]).not.toEqual(sizes[1])
      for (const [name, digest] of Object.entries(fetched.digests ?? {})) {
        expect([name, files[name]?.sha256]).toEqual([name, digest])
      }
      expect(Object.keys(files).filter((name) => name.startsWith("images/"))).toHaveLength(3)
    }).pipe(run)
  )

  it.scoped("are reused from the previous version, and removed with the option", () =>
    Effect.gen(function* () {
      const { fetch, settings, source } = yield* setUp
      const first = yield* fetch()
      const same = yield* fetch(first)
      expect(same.fetched.fingerprint).toBe(first.fetched.fingerprint)

      const without = yield* Effect.flatten(Effect.map(makeFetch(settings, source), (fetch) => fetch(first)))
      expect(sizesIn(without.read("objects.json"))).toEqual([])
      expect(Object.keys(without.files).filter((name) => name.startsWith("images/"))).toEqual([])
      expect(without.files["attachments/own.png"]).toEqual(first.files["attachments/own.png"])

      const again = yield* fetch(without)
      expect(again.files).toEqual(first.files)
      expect(again.fetched.fingerprint).toBe(first.fetched.fingerprint)
    }).pipe(run)
  )

  it.scoped("are made once for files with the same content, with any names", () =>
    Effect.gen(function* () {
      const { fetch, set } = yield* setUp
      set({
        "objects.json": [
          { id: "1", image: { url: "/pics/Foto.jpg" }, other: { url: "/pics/foto.jpg" } },
          { id: "2", image: { url: "/b1.jpg" }, focused: { url: "/b2.jpg", focus: 0 } }
        ]
      })
      const { fetched, files, media, read } = yield* fetch()
      expect(media).toHaveLength(4)
      const sizes = sizesIn(read("objects.json"))
      expect(sizes).toHaveLength(4)
      expect(new Set(sizes.map((size) => JSON.stringify(size))).size).toBe(2)
      const pictures = Object.entries(files).filter(([name]) => !name.endsWith(".json"))
      expect(pictures).toHaveLength(6)
      const bytes = pictures.reduce((sum, [, { size }]) => sum + size, 0)
      expect(fetched.bytes).toBeGreaterThanOrEqual(bytes)
    }).pipe(run)
  )

  it.scoped("fail the fetch if a picture is broken, with its place in the message", () =>
    Effect.gen(function* () {
      const { fetch, set } = yield* setUp
      set({
        "objects.json": [{ id: "7", file: { localPath: "attachments/own.png" } }],
        "attachments/own.png": "<html>404"
      })
      expect((yield* Effect.flip(fetch())).message).toContain(
        'Document "objects.json", record 7, field "file": the picture "attachments/own.png" cannot be made smaller: it is no picture'
      )
      set({ "objects.json": [{ id: "8", images: [{ url: "/broken.jpg" }] }] })
      expect((yield* Effect.flip(fetch())).message).toMatch(
        /Document "objects.json", record 8, field "images.0": the file "\/broken.jpg" cannot be saved: .*its end is missing/
      )
    }).pipe(run)
  )

  it.scoped("are left out with a warning if a broken picture is optional", () =>
    Effect.gen(function* () {
      const { settings, set, source } = yield* setUp
      const fetch = yield* makeFetch({ ...settings, images: {}, optional: ["**.image", "*.file"] }, source)
      set({
        "objects.json": [
          { id: "7", file: { localPath: "attachments/own.png" } },
          { id: "8", image: { url: "/broken.jpg" } }
        ],
        "attachments/own.png": "<html>404"
      })
      const first = yield* fetch()
      const { fetched, media, read } = first
      expect(textsOf(fetched.warnings)).toEqual([
        expect.stringContaining('record 7, field "file": the picture'),
        expect.stringContaining('record 8, field "image": the file')
      ])
      expect(read("objects.json")).toEqual([
        { id: "7", file: { localPath: "attachments/own.png" } },
        { id: "8", image: { url: "/broken.jpg", localPath: media[0] } }
      ])
      expect(textsOf((yield* fetch(first)).fetched.warnings)).toEqual(textsOf(fetched.warnings))
    }).pipe(run)
  )
})
