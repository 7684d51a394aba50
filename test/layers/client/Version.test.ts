import { afterEach, describe, expect, it, vi } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fileName } from "../../../src/files/fileName.ts"
import { makeVersion, openVersion, pictureOf } from "../../../src/layers/client/Version.ts"

const manifest = {
  schemaVersion: 1,
  versionId: "1",
  versionPath: "versions/1",
  sources: [{ sourceId: "museum", path: "museum" }]
}

const context = {
  content: "/content",
  signal: new AbortController().signal,
  report: () => {},
  used: new Map(),
  kept: undefined
}

afterEach(() => {
  vi.unstubAllGlobals()
})

it("a table has the file name that the controller gives it", async () => {
  const asked: Array<string> = []
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url)
    return Response.json([])
  })
  const version = makeVersion(manifest, context)
  const character = FastCheck.oneof(
    FastCheck.constantFrom(...'<>:"/\\|?*%. \u0000\u0007\u007f\u0085aBé漢'),
    FastCheck.string({ maxLength: 1, unit: "grapheme" })
  )
  const characters = (limits: FastCheck.ArrayConstraints) =>
    FastCheck.array(character, limits).map((parts) => parts.join(""))
  const device = FastCheck.constantFrom("Aux", "con", "Com1", "LPT¹", "CONIN$", "nul")
  const names = FastCheck.oneof(
    characters({ minLength: 1, maxLength: 20 }),
    FastCheck.tuple(device, characters({ maxLength: 3 })).map((parts) => parts.join("")),
    characters({ minLength: 60, maxLength: 150 }),
    FastCheck.string({ unit: "binary", maxLength: 20 })
  )
  await FastCheck.assert(
    FastCheck.asyncProperty(names, async (name) => {
      await version.table("museum", name)
      expect(asked.pop()).toBe(`/content/versions/1/museum/${encodeURIComponent(fileName(name))}.json`)
    })
  )
})

describe("a picture", () => {
  const url = (path: string) => `/versions/1/exhibits/${path}`
  const size = (name: string, type: string, width: number) => ({
    localPath: `images/${name}`,
    type,
    width,
    height: width / 2
  })

  it("has its addresses by type, and the largest of the last type as a fallback", () => {
    const sizes = [
      size("a-640.avif", "image/avif", 640),
      size("a-1920.avif", "image/avif", 1920),
      size("a-640.jpg", "image/jpeg", 640),
      size("a-1920.jpg", "image/jpeg", 1920)
    ]
    expect(pictureOf({ localPath: "media/a.tiff", sizes }, url)).toEqual({
      src: "/versions/1/exhibits/images/a-1920.jpg",
      width: 1920,
      height: 960,
      sources: [
        {
          type: "image/avif",
          srcset: "/versions/1/exhibits/images/a-640.avif 640w, /versions/1/exhibits/images/a-1920.avif 1920w"
        },
        {
          type: "image/jpeg",
          srcset: "/versions/1/exhibits/images/a-640.jpg 640w, /versions/1/exhibits/images/a-1920.jpg 1920w"
        }
      ]
    })
  })

  it.each([{}, { sizes: [] }])("is the file itself if it has no sizes: %j", (sizes) => {
    expect(pictureOf({ localPath: "media/a.svg", ...sizes }, url)).toEqual({
      src: "/versions/1/exhibits/media/a.svg",
      sources: []
    })
  })

  it("can be made from a path alone", () => {
    expect(pictureOf("media/a.svg", url)).toEqual({ src: "/versions/1/exhibits/media/a.svg", sources: [] })
  })
})

it("a file without a path has no address", () => {
  const version = makeVersion(manifest, context)
  // As what comes out of JSON: an object of an embed that is an error, for example.
  const { localPath } = JSON.parse("{}")
  const message = 'a file of "museum" has no path: is there no localPath?'
  expect(() => version.url("museum", localPath)).toThrow(message)
  expect(() => version.picture("museum", { localPath })).toThrow(message)
  expect(version.url("museum", "media/a b.jpg")).toBe("/content/versions/1/museum/media/a%20b.jpg")
})

describe("a version that is opened", () => {
  const digests = { "bell.jpg": "d1", "Objects.json": "d2", "model.gltf": "d3", "tour/film.MP4": "d4" }
  const files = Object.fromEntries(
    Object.entries(digests).map(([path, sha256]) => [path, { size: 1, sha256 }])
  )
  const list = { sources: [{ sourceId: "museum", files }] }

  const open = async (answer: () => Promise<Response>) => {
    const asked: Array<string> = []
    vi.stubGlobal("fetch", (url: string) => {
      asked.push(url)
      return url.endsWith("files.json") ? answer() : Promise.resolve(Response.json([]))
    })
    const version = await openVersion(manifest, context)
    await version.table("museum", "Objects")
    const paths = ["bell.jpg", "tour/film.MP4", "model.gltf", "new.jpg", "constructor", "__proto__.png"]
    return { asked, urls: paths.map((path) => version.url("museum", path)) }
  }

  it("has addresses with the digest, which are the same in all versions for tables and files that refer to no others", async () => {
    const answer = async () => Response.json(list, { headers: { "Vitrine-Files": "versions/files" } })
    expect(await open(answer)).toEqual({
      asked: ["/content/versions/1/files.json", "/content/versions/files/d2/museum/Objects.json"],
      urls: [
        "/content/versions/files/d1/museum/bell.jpg",
        "/content/versions/files/d4/museum/tour/film.MP4",
        "/content/versions/1/museum/model.gltf?d3",
        "/content/versions/1/museum/new.jpg",
        "/content/versions/1/museum/constructor",
        "/content/versions/1/museum/__proto__.png"
      ]
    })
  })

  it.each<[string, () => Promise<Response>]>([
    ["is a copy of the folder", async () => Response.json(list)],
    ["has no list", async () => Response.json({}, { status: 404 })],
    ["gives no list", async () => new Response("no", { status: 403 })],
    ["cannot be reached", () => Promise.reject(new TypeError("Failed to fetch"))]
  ])("has the addresses of its folder where the server %s", async (_, answer) => {
    const { asked, urls } = await open(answer)
    expect(asked[1]).toBe("/content/versions/1/museum/Objects.json")
    expect(urls[0]).toBe("/content/versions/1/museum/bell.jpg")
  })

  it("knows which files it has, also from a copy of the folder and from the browser's cache", async () => {
    vi.stubGlobal("fetch", async () => Response.json(list))
    const version = await openVersion(manifest, context)
    const paths = ["tour/film.MP4", "tour/film.de.vtt", "constructor"]
    expect(paths.map((path) => version.has("museum", path))).toEqual([true, false, false])
    const kept = new Map([["museum/tour/film.de.vtt", "blob:1"]])
    const cached = await openVersion(manifest, { ...context, kept })
    expect(paths.map((path) => cached.has("museum", path))).toEqual([false, true, false])
  })
})
