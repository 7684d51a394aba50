/**
 * Rules about what is in documents: their encoding, their values, their languages.
 */
import { expect } from "@effect/vitest"
import { language } from "../../src/layers/client/helpers/language.ts"
import { inDocument, published, quiet, refused, rule, warned } from "./harness.ts"
import { linked, type ReaderName, related, translated } from "./readers.ts"

const latin1 = (text: string) => Buffer.from(text, "latin1")

export const texts = [
  rule(
    4,
    "A document in another encoding is found, or read by what its server says; a subtitle in another encoding is named",
    "refuse; warn",
    "● ● ● ● ● ● ●",
    function* ({ open, reader }) {
      const documents = { objects: [{ id: "bell", title: "Glöckchen" }] }
      const document = yield* open({ documents, change: inDocument("objects", latin1) })
      refused(yield* document.fetch, "objects")
      if (reader !== "folder") {
        const told = yield* open({
          documents,
          change: (given) => ({
            ...inDocument("objects", latin1)(given),
            headers: { ...given.headers, "content-type": "application/json; charset=iso-8859-1" }
          })
        })
        expect(published(yield* told.fetch).records("objects")[0]?.title).toBe("Glöckchen")
      }
      const subtitle = yield* open({
        documents: { objects: [{ id: "bell", subtitle: linked("bell.vtt") }] },
        files: { "bell.vtt": latin1("WEBVTT\n\n00:00.000 --> 00:02.000\nGlöckchen\n") }
      })
      warned(yield* subtitle.fetch, "file:encoding", "bell")
    }
  ),

  rule(
    8,
    "A language that `locales` asks for and that no entry has is named",
    "warn",
    "s s s ● ● s s",
    function* ({ open }) {
      const title = translated({ de: "Glocke", en: "Bell" })
      const museum = yield* open(
        { documents: { objects: [{ id: "bell", title }] } },
        { locales: ["de", "fr"] }
      )
      warned(yield* museum.fetch, "gone:language", "fr")
    }
  ),

  rule(
    9,
    "Nothing unpublished is saved: items, related items at any depth, translations, singletons. What the system sends and we leave out is counted",
    "right",
    "s s s ● ● ● s",
    function* ({ open }) {
      const room = { id: "room", isDraft: true, name: "Secret room" }
      const inside = { room: related(room), deep: related({ id: "wing", room: related(room) }) }
      const museum = yield* open({
        documents: {
          objects: [
            { id: "bell", isDraft: false, title: "Bell", ...inside },
            { id: "loan", isDraft: true, title: "Secret loan" }
          ]
        }
      })
      const outcome = published(yield* museum.fetch)
      expect(outcome.text("objects")).toContain("Bell")
      expect(outcome.text("objects")).not.toContain("Secret")
      warned(outcome, "content:note", "objects", "2 unpublished items")
    }
  ),

  rule(
    10,
    "A right that the token lacks is distinguished from a field that does not exist, and named. If the system does not distinguish them, one warning names the line of the configuration that settles it",
    "warn; refuse if the configuration asks for it",
    "s ● ● ● ● s g",
    function* ({ open, reader }) {
      const documents = { objects: [{ id: "bell", title: "Bell" }] }
      if (reader === "Directus") {
        const forbidden = { errors: [{ message: "no", extensions: { code: "FORBIDDEN" } }] }
        const museum = yield* open({
          documents,
          change: ({ url }) =>
            url.startsWith("/permissions") || decodeURIComponent(url).includes("status")
              ? { status: 403, body: Buffer.from(JSON.stringify(forbidden)) }
              : {}
        })
        warned(yield* museum.fetch, "rights:field", "objects", "status")
        quiet(yield* (yield* open({ documents })).fetch)
        return
      }
      const messages = []
      for (const status of [403, 404]) {
        const refusal = { error: { status, name: "Error", type: "ERROR", message: "no", details: {} } }
        const museum = yield* open({
          documents,
          change: () => ({ status, body: Buffer.from(JSON.stringify(refusal)) })
        })
        const outcome = yield* museum.fetch
        refused(outcome, "objects", String(status))
        messages.push(outcome.error?.replaceAll(/\d/g, ""))
      }
      expect(messages[0]).not.toBe(messages[1])
    }
  ),

  rule(
    22,
    "A link to somebody's computer (`file:`, `smb:`, `blob:`, `C:\\`, `\\\\server`, `/Users/`) is named, also inside text",
    "warn",
    "● ● ● ● ● ● ●",
    function* ({ each, open }) {
      const links = {
        file: "file:///home/ann/bell.png",
        smb: "smb://nas/photos/loom.png",
        blob: "blob:https://cms.museum.example/0c5a/lamp.png",
        drive: "C:\\Users\\Ann\\jug.png",
        "drive with slashes": "C:/Users/Ann/plate.png",
        Mac: "/Users/ann/Desktop/spoon.png",
        "in text": '<p><img src="file:///C:/Users/Ann/cup.png"></p>',
        share: "\\\\server\\photos\\clock.png",
        "copied from Windows": "\u202aC:\\Users\\Ann\\fork.png",
        "a share on Linux": "//nas/photos/pan.png",
        "a system that is being set up": "see http://localhost:1337/uploads/bowl.png",
        "on Linux": "/home/ann/Pictures/knife.png",
        "in Markdown": "![A chair](file:///C:/Users/Ann/chair.png)",
        "pasted from Safari": '<img src="webkit-fake-url://0c5a/table.png">',
        "pasted from Outlook": '<img src="cid:lamp2.png@01DA">'
      }
      const museum = yield* open({
        documents: {
          objects: Object.entries(links).map(([id, text]) => ({ id, [id.replaceAll(" ", "")]: text }))
        }
      })
      const outcome = yield* museum.fetch
      yield* each(links, function* (text) {
        warned(outcome, "file:elsewhere", /(\w+)\.png/.exec(text)?.[1] ?? "")
      })
    }
  ),

  rule(
    23,
    "`de_DE` is found where `de-DE` is asked for; two languages that are both there are two",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ open, reader }) {
      const title = translated({ de_DE: "Glocke", en: "Bell" })
      const museum = yield* open(
        { documents: { objects: [{ id: "bell", title }] } },
        { locales: [reader === "Strapi" ? "de_DE" : "de-DE", "en"] }
      )
      const outcome = yield* museum.fetch
      quiet(outcome)
      const [bell] = outcome.records("objects")
      expect(language({ ...bell }, "de-DE", "en")).toHaveProperty("title", "Glocke")
      expect(language({ ...bell }, "en", "de-DE")).toHaveProperty("title", "Bell")
    }
  ),

  rule(
    24,
    "An integer that a double cannot hold keeps its digits",
    "right, warn",
    "● ● ● ● ● ● g",
    function* ({ open }) {
      const museum = yield* open({
        documents: { objects: [{ id: "bell", inventory: "9007199254740993" }] },
        change: inDocument("objects", (text) => text.replaceAll('"9007199254740993"', "9007199254740993"))
      })
      const outcome = yield* museum.fetch
      expect(published(outcome).text("objects")).toContain("9007199254740993")
      warned(outcome, "number:large", "objects", "9007199254740993")
    }
  ),

  rule(
    31,
    "Text with commas at a linked field stays text, unless a part is an id",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ open }) {
      const museum = yield* open(
        {
          documents: {
            objects: [
              { id: "bell", title: "Bell", maker: "Smith, Jones and sons" },
              { id: "loom", title: "Loom", maker: "m1, m2" }
            ],
            makers: [
              { id: "m1", name: "Smith" },
              { id: "m2", name: "Jones" }
            ]
          }
        },
        { links: { maker: "makers" } }
      )
      const [bell, loom] = published(yield* museum.fetch).records("objects")
      expect(bell?.maker).toBe("Smith, Jones and sons")
      expect(loom?.maker).toMatchObject([{ name: "Smith" }, { name: "Jones" }])
    }
  ),

  rule(
    32,
    'In CSV the errors of spreadsheets (`#REF!`, `####`) are empty, with a warning, numbers that they have shortened (`4.01E+12`) and words of programs (`NULL`) are named, `="007"` is `007`, and `TRUE` is true where `expect` says boolean',
    "right, warn",
    "● ● s s s s s",
    function* ({ open }) {
      const museum = yield* open(
        {
          documents: {
            objects: [
              {
                id: "bell",
                year: "#REF!",
                weight: "Err:502",
                width: "####",
                code: "4.00638E+12",
                isLoan: "TRUE",
                note: "NULL",
                number: '="007"',
                title: "Bell"
              }
            ]
          },
          isCsv: true
        },
        { expect: { objects: { fields: { isLoan: "boolean", year: "any?", weight: "any?" } } } }
      )
      const outcome = yield* museum.fetch
      const [bell] = published(outcome).records("objects")
      expect([bell?.isLoan, bell?.year ?? null, bell?.number]).toEqual([true, null, "007"])
      warned(outcome, "cell:error", "objects", "year")
      warned(outcome, "cell:error", "objects", "weight")
      warned(outcome, "cell:error", "objects", "width")
      warned(outcome, "number:large", "objects", "code", "4.00638E+12")
      warned(outcome, "cell:error", "objects", "note", "NULL")
    }
  ),

  rule(
    38,
    "A web page in the place of a document is refused",
    "refuse",
    "● ● ● ● ● ● g",
    function* ({ each, open, reader }) {
      const words: Partial<Record<ReaderName, string>> = { tables: "no JSON", Directus: "not from Directus" }
      const pages = {
        whole: "<!doctype html><p>Log in</p>",
        "a part": "<script>location='/login'</script>\n"
      }
      yield* each(pages, function* (page) {
        for (const isCsv of reader === "folder" || reader === "JSON" ? [false, true] : [false]) {
          const museum = yield* open({
            documents: { objects: [{ id: "bell", title: "Bell" }] },
            isCsv,
            change: (given) =>
              given.url.startsWith("/files/")
                ? {}
                : { headers: { "content-type": "text/html" }, body: Buffer.from(page) }
          })
          refused(yield* museum.fetch, "objects", words[reader] ?? "HTML")
        }
      })
    }
  )
]
