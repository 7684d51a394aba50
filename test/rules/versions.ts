/**
 * Rules about versions as a whole: secrets, budgets, and what makes a new one.
 */
import { expect } from "@effect/vitest"
import { compileModules } from "../support/pageTypes.ts"
import { png } from "./bytes.ts"
import { inDocument, published, refused, rule, warned } from "./harness.ts"
import { linked, type ReaderName, type World } from "./readers.ts"

const other = Buffer.concat([png, Buffer.from("other")])

const worldOf = (titles: ReadonlyArray<string>, picture: Buffer): World => ({
  documents: {
    objects: titles.map((title, number) => ({
      id: title.slice(0, 4),
      number,
      title,
      picture: linked("bell.png")
    }))
  },
  files: { "bell.png": picture }
})

/** What people do, one after the other. */
const steps: Readonly<Record<string, World>> = {
  "nothing is edited": worldOf(["bell", "loom"], png),
  "a title is edited": worldOf(["bell of brass", "loom"], png),
  "a picture is replaced": worldOf(["bell of brass", "loom"], other),
  "the order is changed": worldOf(["loom", "bell of brass"], other),
  "a record is removed": worldOf(["loom"], other),
  "all is as it was": worldOf(["bell", "loom"], png)
}

/** Without the signatures in links to attachments of tables. */
const unsigned = (text: string) => text.replaceAll(/\/v1\/[^"]*/g, "/v1/")

export const versions = [
  rule(
    25,
    "Signed links: expired ones are asked for again; ones that are not saved are named",
    "right; warn",
    "● ● ● ● ● ● ●",
    function* ({ each, open, reader }) {
      const signed = "https://files.museum.example/bell.png?X-Amz-Expires=60&X-Amz-Signature=0c5a0c5a0c5a"
      const links = {
        parts: signed,
        Airtable: "bell.jpg (https://v5.airtableusercontent.com/v3/u/40/40/0c5a/bell.jpg)",
        Supabase: "https://files.museum.example/storage/v1/object/sign/a/bell.png?token=0c5a",
        Instagram: "https://scontent.cdninstagram.com/v/bell.jpg?stp=a&_nc_ohc=0c5a&oh=0c5a&oe=0c5a",
        Discord: "https://cdn.discordapp.com/attachments/1/2/bell.png?ex=0c5a&is=0c5a&hm=0c5a",
        Bunny: "https://museum.b-cdn.net/bell.mp4?token=0c5a&expires=1790000000"
      }
      const rows = Object.entries(links).map(([id, text]) => ({ id, [id]: [{ photo: text }] }))
      const unsaved = yield* (yield* open({ documents: { objects: rows } })).fetch
      yield* each(links, function* (text, field) {
        warned(unsaved, "file:signed", "objects", field, /https:\/\/[^/]+/.exec(text)?.[0] ?? "")
      })
      expect(JSON.stringify(unsaved.warnings)).not.toContain("0c5a")
      if (["folder", "Directus", "Sanity"].includes(reader)) return
      let signature = 0
      const museum = yield* open({
        ...worldOf(["bell"], png),
        change: (given) => {
          if (given.url.includes("objects")) {
            return inDocument("objects", (text) => text.replace('/bell.png"', `/bell.png?sig=${signature}"`))(
              given
            )
          }
          signature += 1
          return signature === 1 ? { status: 403, body: Buffer.from("The link has expired.") } : {}
        }
      })
      const outcome = published(yield* museum.fetch)
      expect(outcome.file(outcome.records("objects")[0]?.picture)).toEqual(png)
    }
  ),

  rule(
    26,
    "No secret is in a message, log, state, metric, alert or file",
    "right",
    "s ● ● ● ● ● ●",
    function* ({ open, reader }) {
      let secret = ""
      const museum = yield* open({
        ...worldOf(["bell"], png),
        change: ({ asked }) => {
          secret = asked.authorization?.replace("Bearer ", "") ?? ""
          const said = { message: secret, extensions: { code: secret } }
          const refusals: Partial<Record<ReaderName, unknown>> = {
            Strapi: { error: { status: 403, name: secret, message: secret, details: { key: secret } } },
            Directus: { errors: [said] }
          }
          const body = refusals[reader] ?? { message: secret, error: secret }
          return { status: 403, body: Buffer.from(JSON.stringify(body)) }
        }
      })
      const outcome = yield* museum.fetch
      refused(outcome)
      expect(secret.length).toBeGreaterThan(12)
      expect([outcome.error, ...outcome.log].join("\n")).not.toContain(secret.slice(0, 8))
    }
  ),

  rule(
    29,
    "More than the budget (values, depth, bytes, links, files) is refused, and the controller answers meanwhile",
    "refuse",
    "● ● ● ● ● ● ●",
    function* ({ each, open, reader }) {
      const depth = 100_000
      const texts = {
        deep: `${"[".repeat(depth)}${"]".repeat(depth)}`,
        "many values": `[${"0,".repeat(10_000_000)}0]`
      }
      yield* each(texts, function* (value) {
        const museum = yield* open({
          documents: { objects: [{ id: "bell", text: "deep" }] },
          change: inDocument("objects", (text) => text.replace('"deep"', () => value))
        })
        refused(yield* museum.fetch, reader === "function" ? "museum" : "objects")
      })
    }
  ),

  rule(33, "The generated types describe what was saved", "right", "● ● ● ● ● ● ●", function* ({ open }) {
    const museum = yield* open(
      {
        documents: {
          objects: [
            { id: "bell", title: "Bell", year: 1642, size: { width: 4 }, picture: linked("bell.png") },
            { id: "loom", title: "Loom", year: "about 1790", tags: ["wood"] }
          ]
        },
        files: { "bell.png": png }
      },
      { expect: { objects: { fields: { title: "text" } } } }
    )
    const outcome = published(yield* museum.fetch)
    const page = `import type { Content } from "vitrine/client"
const objects = ${outcome.text("objects")}
export const saved: Content["museum"]["objects"] = objects
export const read: ReadonlyArray<readonly [string, string | number | undefined, number | undefined, ReadonlyArray<string> | undefined]> =
  saved.map(({ title, year, size, tags }) => [title, year, size?.width, tags])`
    expect(compileModules(yield* museum.types, { page })).toBe("")
  }),

  rule(
    35,
    "An incremental version is the fresh version, byte for byte (random steps), except Strapi's numeric ids and dates, signatures, and lists of files",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ each, open }) {
      const museum = yield* open(worldOf(["bell", "loom"], png))
      published(yield* museum.fetch)
      yield* each(steps, function* (world) {
        museum.give(world)
        const [after, fresh] = [published(yield* museum.fetch), published(yield* museum.fresh)]
        expect(after.files).toEqual(fresh.files)
        expect(unsigned(after.text("objects"))).toBe(unsigned(fresh.text("objects")))
        expect(after.file(after.records("objects")[0]?.picture)).toEqual(world.files?.["bell.png"])
      })
    }
  ),

  rule(
    36,
    "`check` and `diff` say what the fetch does (random steps)",
    "right",
    "● ● ● ● ● ● ●",
    function* ({ each, open }) {
      const museum = yield* open(worldOf(["bell", "loom"], png))
      published(yield* museum.fetch)
      yield* each(steps, function* (world) {
        museum.give(world)
        const check = yield* museum.check
        expect(check).toBe(published(yield* museum.fetch).changed)
      })
    }
  )
]
