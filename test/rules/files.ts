/**
 * Rules about files that records name.
 */
import { gzipSync } from "node:zlib"
import { expect } from "@effect/vitest"
import {
  aiff,
  annexed,
  avi,
  glb,
  jpeg,
  movie,
  mpeg,
  pdf,
  png,
  pointer,
  unended,
  webm,
  webp,
  wma
} from "./bytes.ts"
import { decodeRecords, pathOf, published, quiet, refused, rule, warned } from "./harness.ts"
import { linked, pasted, type ReaderName, type World } from "./readers.ts"

type Bytes = string | Uint8Array

const worldOf = (file: string, bytes: Bytes): World => ({
  documents: { objects: [{ id: "bell", title: "Bell", picture: linked(file) }] },
  files: { [file]: bytes }
})

/** Files that no record needs. In a folder, a record needs each file that it names. */
const unneeded = (reader: ReaderName, files: Readonly<Record<string, Bytes>>): World => ({
  documents: {
    objects: Object.keys(files).map((file) =>
      reader === "folder"
        ? { id: `object of ${file.replace(".", " ")}` }
        : { id: file, picture: linked(file) }
    )
  },
  files
})

export const files = [
  rule(
    1,
    "Something else in the place of a picture, film, sound or PDF is found: a web page, text, JSON, a pointer of Git LFS or git-annex, a file of another kind, nothing",
    "refuse if a record names it and it is not `optional`, and whatever is empty; else warn",
    "● ● ● ● ● ● ●",
    function* ({ each, open, reader }) {
      const others: Record<string, Bytes> = {
        "page.jpg": "<!doctype html><title>Log in</title>",
        "text.png": "The file is not available.",
        "error.mp4": '{"error":"not found"}',
        "pointer.mp3": pointer,
        "annexed.png": annexed,
        "document.jpg": `%PDF-1.7\n${"x".repeat(500)}`,
        "picture.mp4": jpeg,
        "compressed.svg": gzipSync("<svg/>")
      }
      const optional = yield* (yield* open(unneeded(reader, others), { isOptional: true })).fetch
      yield* each(others, function* (_, file) {
        // A file that is text is not even saved.
        const isSaved = reader === "folder" || /^(?:document|picture|compressed)/.test(file)
        warned(optional, isSaved ? "file:wrong" : "file:missing", file)
      })
      yield* each({ page: others["page.jpg"] ?? "", nothing: "" }, function* (bytes) {
        refused(yield* (yield* open(worldOf("bell.jpg", bytes))).fetch, "bell")
      })
    }
  ),

  rule(
    2,
    "A picture, film or sound that is cut is found, also without `sharp` (MP4, QuickTime, M4A, AVIF, HEIC, WebP, WebM and WAV by their length; models in GLB and fonts in WOFF too; JPEG, PNG, GIF, SVG and PDF by their end, films without an index, in a JPEG behind its first scan: phones put bytes behind it, thumbnails have ends of their own)",
    "as 1",
    "● ● ● ● ● ● ●",
    function* ({ each, open, reader }) {
      const thumbnail = Buffer.concat([jpeg.subarray(0, 2), segment(0xe1, jpeg), jpeg.subarray(2)])
      const cuts: Record<string, Bytes> = {
        "thumbnail.jpg": thumbnail.subarray(0, -900),
        "picture.png": png.subarray(0, -14),
        "picture.webp": webp.subarray(0, -14),
        "film.mp4": movie("isom", "avc1").subarray(0, -900),
        "unended.mp4": unended,
        "document.pdf": pdf.subarray(0, -14),
        "model.glb": glb.subarray(0, -14),
        "film.webm": webm.subarray(0, -14)
      }
      const optional = yield* (yield* open(unneeded(reader, cuts), { isOptional: true })).fetch
      const count = Object.keys(cuts).length
      if (reader === "folder") {
        yield* each(cuts, function* (_, file) {
          warned(optional, "file:cut", file)
        })
      } else warned(optional, "file:cut", `${count} files`)
      refused(yield* (yield* open(worldOf("bell.png", png.subarray(0, -14)))).fetch, "bell")
      const { fetch } = yield* open(worldOf("bell.jpg", Buffer.concat([thumbnail, Buffer.alloc(500)])))
      quiet(yield* fetch)
    }
  ),

  rule(
    3,
    "A film, sound or subtitle that browsers do not play is named, by container and codec, if a record names it; pictures as today",
    "warn",
    "● ● ● ● ● ● ●",
    function* ({ each, open }) {
      const films: Record<string, readonly [string, Bytes]> = {
        AVI: ["bell.avi", avi],
        MPEG: ["bell.mpg", mpeg],
        "Windows Media": ["bell.wma", wma],
        AIFF: ["bell.aiff", aiff],
        HEVC: ["bell.mp4", movie("isom", "hvc1")],
        ProRes: ["bell.mov", movie("qt  ", "apch")],
        "no picture": ["bell.jpg", Buffer.alloc(2000, 7)],
        WebVTT: ["bell.vtt", "WEBVTT\n\n00:00:01,000 --> 00:00:02,000\nThe bell\n"],
        xmlns: ["bell.svg", '<svg width="1"><path d="M0 0"/></svg>']
      }
      const rows = Object.values(films).map(([file]) => ({ id: file, film: linked(file) }))
      const museum = yield* open({
        documents: { objects: [...rows, { id: "good", film: linked("good.m4v") }] },
        files: { ...Object.fromEntries(Object.values(films)), "good.m4v": movie("isom", "avc1") }
      })
      const outcome = yield* museum.fetch
      yield* each(films, function* ([file], name) {
        warned(outcome, "file:unplayable", file, name)
      })
      expect(outcome.warnings.filter(({ text }) => text.includes("good"))).toEqual([])
    }
  ),

  rule(
    17,
    "A cell that names a file works with blanks, a line break or an invisible character at its ends; a vertical tab is a line break",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ each, open, reader }) {
      const ends = {
        "a blank": " ",
        "a line break": "\n",
        "a vertical tab": "\v",
        "an invisible character": "\u200b"
      }
      const museum = yield* open({
        documents: {
          objects: Object.entries(ends).map(([id, end]) => ({ id, link: pasted("bell.png", end) }))
        },
        files: { "bell.png": png }
      })
      const outcome = published(yield* museum.fetch)
      yield* each(ends, function* (_, name) {
        const record = outcome.records("objects").find(({ id }) => id === name)
        expect(outcome.file(record?.localPath ?? record?.link)).toEqual(png)
      })
      if (reader !== "folder") return
      const quoted = yield* open({
        documents: { objects: [{ id: "bell", link: '"bell.png"' }] },
        files: { "bell.png": png }
      })
      expect(published(yield* quoted.fetch).records("objects")[0]?.link).toBe("bell.png")
    }
  ),

  rule(
    27,
    "`%`, `#`, `+`, `&`, `;` in names of files and documents reach page, disk and player",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ open, reader }) {
      const name = "50% #1 + 2 & 3; 4"
      const id = "#1 + 2 & 3; 4"
      // There, lists have identifiers as names.
      const document = reader === "Strapi" || reader === "Directus" ? "objects" : name
      const { documents: { objects = [] } = {}, ...files } = worldOf(`${name}.png`, png)
      const museum = yield* open({ documents: { [document]: objects }, ...files }, { id })
      const outcome = published(yield* museum.fetch)
      yield* museum.onPlayer(async ({ table, url }) => {
        const [bell] = decodeRecords(await table(id, document))
        const path = pathOf(bell?.picture)
        const answer = await fetch(url(id, path))
        expect(answer.status, path).toBe(200)
        expect(Buffer.from(await answer.arrayBuffer())).toEqual(png)
        expect(outcome.file(path)).toEqual(png)
      })
    }
  ),

  rule(
    30,
    "A user's own `localPath` is kept, and the links beside it are saved",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ open }) {
      const museum = yield* open({
        documents: { objects: [{ id: "bell", localPath: "my/own.txt", link: pasted("bell.png") }] },
        files: { "bell.png": png }
      })
      const outcome = published(yield* museum.fetch)
      expect(outcome.records("objects")[0]?.localPath).toBe("my/own.txt")
      expect(outcome.files.filter((file) => file.endsWith(".png"))).toHaveLength(1)
    }
  ),

  rule(
    37,
    "A file that a record names and that is not there, or is there in other capitals, is named with the likely name",
    'warn; refuse if `expect` says `"file"`',
    "● ● k k k k ●",
    function* ({ each, open }) {
      const cells = { "not there": "bel.png", "in other capitals": "Loom.PNG" }
      const museum = yield* open(
        {
          documents: { objects: Object.values(cells).map((file) => ({ id: file, picture: linked(file) })) },
          files: { "bell.png": png, "loom.png": png }
        },
        { isOptional: true }
      )
      const outcome = yield* museum.fetch
      yield* each(cells, function* (file) {
        warned(outcome, "file:missing", file)
      })
    }
  )
]

/** A segment of a JPEG, with its length. */
const segment = (marker: number, body: Uint8Array): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(body.length + 2, 2)
  return Buffer.concat([head, body])
}
