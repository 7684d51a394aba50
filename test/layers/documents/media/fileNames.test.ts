import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { isPortableFileName } from "../../../../src/files/fileName.ts"
import {
  dispositionName,
  type FileKind,
  fits,
  isMediaPath,
  localPathOf,
  nameOfUrl
} from "../../../../src/layers/documents/media/mediaTypes.ts"

const key = "0123456789abcdef"
const named = (name: string, type?: string) => localPathOf(name, key, kind(type))
const kind = (type?: string): FileKind => ({
  names: [],
  type,
  byBytes: undefined
})

describe("the name of a media file", () => {
  it.each([
    ["Glocke über Köln.JPG", undefined, "Glocke-uber-Koln", ".jpg"],
    ["photo.jpeg", "image/jpeg", "photo", ".jpeg"],
    ["photo.png", "image/jpeg", "photo", ".jpg"],
    ["photo", "image/webp", "photo", ".webp"],
    ["photo.php", "image/png", "photo", ".png"],
    ["model.glb", "application/octet-stream", "model", ".glb"],
    ["model.glb", "text/plain", "model", ".glb"],
    ["sound", "audio/mpeg", "sound", ".mp3"],
    ["sound.wav", "audio/x-wav", "sound", ".wav"],
    ["film", "video/quicktime", "film", ".mov"],
    ["x", "application/octet-stream", "x", ".bin"],
    ["x", undefined, "x", ""],
    ["../../etc/passwd", undefined, "etc-passwd", ""],
    ["日本", "image/png", "file", ".png"],
    ["", "image/png", "file", ".png"]
  ])("for %j of type %s begins with %s and ends with %s", (name, type, stem, extension) => {
    expect(named(name, type)).toBe(`media/${stem}-${key}${extension}`)
  })

  it.prop(
    "is a valid path and relative URL on every system",
    [
      FastCheck.fullUnicodeString({ maxLength: 200 }),
      FastCheck.option(FastCheck.constantFrom("image/jpeg", "a/b", "text/html"))
    ],
    ([name, type]) => {
      const path = named(name, type ?? undefined)
      expect(isMediaPath(path)).toBe(true)
      expect(isPortableFileName(path.slice("media/".length))).toBe(true)
      expect(new URL(path, "http://a.example/").pathname).toBe(`/${path}`)
      expect(fits(path, kind(type ?? undefined))).toBe(true)
    }
  )

  it("is kept as long as the type of the file is the same", () => {
    expect(fits(`media/a-${key}.jpg`, kind("image/jpeg"))).toBe(true)
    expect(fits(`media/a-${key}.jpg`, kind("image/png"))).toBe(false)
    expect(fits(`media/a-${key}.jpg`, kind())).toBe(true)
  })
})

describe("the name that a server gives to a file", () => {
  it("is taken from filename* before filename, without folders", () => {
    expect(dispositionName("inline; filename=\"a.jpg\"; filename*=UTF-8''%C3%BC.jpg")).toBe("ü.jpg")
    expect(dispositionName('attachment; filename="../../x.jpg"')).toBe("x.jpg")
    for (const nothing of [undefined, "inline", "", 'attachment; filename=""']) {
      expect(dispositionName(nothing)).toBeUndefined()
    }
  })

  it("is otherwise the last part of the URL, unescaped", () => {
    expect(nameOfUrl(new URL("https://a.example/b/c%20d.jpg?x=/y"))).toBe("c d.jpg")
    expect(nameOfUrl(new URL("https://a.example/b/"))).toBe("b")
    expect(nameOfUrl(new URL("https://a.example/%ff"))).toBe("%ff")
    expect(nameOfUrl(new URL("https://a.example/"))).toBe("")
  })
})
