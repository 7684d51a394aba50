/**
 * The worlds of the rules: content without a mistake is saved by every reader, without a warning.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { folderSource, tableSource } from "../../src/index.ts"
import * as TableServer from "../support/tableServer.ts"
import { png } from "./bytes.ts"
import { contentOf, museumOf, quiet } from "./harness.ts"
import { linked, type Row, readerNames, related, translated, type World } from "./readers.ts"

const world: World = {
  documents: {
    objects: [
      { id: "bell", title: "Bell", year: 1642, picture: linked("pictures/bell.png") },
      { id: "loom", title: "Loom", year: 1790, picture: linked("pictures/loom.png") }
    ],
    rooms: [{ id: "hall", name: "Hall" }]
  },
  files: { "pictures/bell.png": png, "pictures/loom.png": Buffer.concat([png, Buffer.from("more")]) }
}

describe("content without a mistake", () => {
  for (const reader of readerNames) {
    it.scoped(`is saved from ${reader}, without a warning`, () =>
      Effect.gen(function* () {
        const museum = yield* museumOf(reader).open(world)
        const outcome = yield* museum.fetch
        quiet(outcome)
        const [bell, loom] = outcome.records("objects")
        expect([bell?.id, bell?.title, bell?.year, loom?.id]).toEqual(["bell", "Bell", 1642, "loom"])
        expect(outcome.file(bell?.picture)).toEqual(png)
        expect(outcome.records("rooms").map(({ id, name }) => [id, name])).toEqual([["hall", "Hall"]])
      })
    )
  }
})

/** The folder of the tables of the demo, and of the venue. */
const demo = join(import.meta.dirname, "../../scratchpad/exhibit/tables")

const demoRows = Schema.decodeUnknownSync(
  Schema.Array(Schema.Record({ key: Schema.String, value: Schema.String }))
)(parse(readFileSync(join(demo, "Objects.csv")), { columns: true }))

/** The content of the demo, as a museum has it in its system. */
const demoOf = (hasLanguages: boolean): World => {
  const objects = demoRows.map((row): Row => {
    const { inventory = "", "picture (attachments)": picture = "", room = "", title = "", ...others } = row
    return {
      ...others,
      id: inventory,
      title: hasLanguages ? translated({ de: `${title}, deutsch`, en: title }) : title,
      room: related({ id: room, name: room, isDraft: false }),
      isDraft: false,
      ...(picture === "" ? {} : { picture: linked(picture) })
    }
  })
  const names = readdirSync(join(demo, "pictures")).map((name) => `pictures/${name}`)
  return {
    documents: { objects },
    files: Object.fromEntries(names.map((name) => [name, readFileSync(join(demo, name))]))
  }
}

describe("the content of the demo", () => {
  for (const reader of readerNames) {
    it.scoped(`gives no warning from ${reader}, when it is new and when it has changed`, () =>
      Effect.gen(function* () {
        const hasLanguages = reader === "Strapi" || reader === "Directus"
        const { documents, files = {} } = demoOf(hasLanguages)
        const museum = yield* museumOf(reader).open(
          { documents, files },
          hasLanguages ? { locales: ["de", "en"] } : {}
        )
        quiet(yield* museum.fetch)
        const [first, ...others] = documents.objects ?? []
        museum.give({ documents: { objects: others.slice(1) }, files })
        quiet(yield* museum.fetch)
        museum.give({ documents: { objects: [...(first ? [first] : []), ...others] }, files })
        quiet(yield* museum.fetch)
      })
    )
  }

  it.scopedLive("gives no warning from its own tables", () =>
    Effect.gen(function* () {
      const { url } = yield* TableServer.start(demo, { rateLimit: false })
      const source = tableSource({
        id: "museum",
        baseId: "appMuseum0000001",
        apiKey: "a-token-of-the-demo",
        endpointUrl: url,
        defaultView: null,
        tables: ["Objects"],
        keyValueTables: ["Settings"]
      })
      quiet(yield* (yield* contentOf(source, undefined, true)).fetch)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})

it.scoped("the content of a new project gives no warning", () =>
  Effect.gen(function* () {
    const directory = join(import.meta.dirname, "../../templates/project/content")
    const source = folderSource({ id: "museum", directory, keyValueTables: ["Settings"] })
    quiet(yield* (yield* contentOf(source)).fetch)
  })
)
