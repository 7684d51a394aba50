/**
 * Large documents, and many links: in bounded memory, or a clear error.
 */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { Records } from "../../src/layers/documents/Document.ts"
import { makeSearch } from "../../src/layers/documents/media/findMedia.ts"
import { rulesOf } from "../../src/layers/documents/media/links.ts"
import { atOnce } from "../support/atOnce.ts"
import { makeDocuments, makeFetch, mediaServices } from "../support/media.ts"
import { memoryNow } from "../support/memory.ts"
import * as ScriptedServer from "../support/ScriptedServer.ts"

const run = Effect.provide(mediaServices)
const mebibyte = 1024 ** 2

const perPage = 512

/** Records of some 2 KiB, each with one of twenty links. */
const pageOf = (page: number) =>
  Array.from({ length: perPage }, (_, index) => {
    const record = page * perPage + index
    return { id: `rec${record}`, image: { url: `/${record % 20}.jpg` }, text: "x".repeat(1990) }
  })

describe("a document of 200 MiB", () => {
  it.scoped("is read and written record by record", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.text(200, "picture"))
      const pages = (200 * mebibyte) / 2048 / perPage
      let objects = 0
      let most = 0
      const before = memoryNow()
      const fetch = yield* makeFetch(
        {
          find: ["*.image.url"],
          reader: () => {
            if (++objects % 20_000 === 0) most = Math.max(most, memoryNow() - before)
            return Option.none()
          }
        },
        {
          url: server.url,
          open: () =>
            Effect.succeed({
              documents: [
                {
                  name: "objects",
                  url: server.url,
                  content: Records({ pages: Stream.map(Stream.range(0, pages - 1, 1), pageOf) })
                }
              ]
            })
        }
      )
      const { directory, fetched, media } = yield* fetch()
      expect(objects).toBe(4 * pages * perPage)
      expect(media).toHaveLength(20)
      expect(most).toBeLessThan(96 * mebibyte)
      expect(statSync(join(directory, "objects.json")).size).toBeGreaterThan(200 * mebibyte)
      expect(fetched.bytes).toBeGreaterThan(200 * mebibyte)
      expect(readdirSync(directory).sort()).toEqual(["media", "objects.json"])
    }).pipe(run)
  )
})

describe("many links", () => {
  it.scoped("are found, 100,000 of them in one document", () =>
    Effect.gen(function* () {
      const gallery = Array.from({ length: 100_000 }, (_, index) => ({
        url: `https://a.example/${index}.jpg`
      }))
      const rules = rulesOf({ find: ["**.url"], types: ["image/*"] })
      const { found, look } = makeSearch(
        { isWanted: true, areLinksSigned: true, rules, wantsPictures: false },
        { document: "home.json" }
      )
      atOnce(look({ gallery }))
      expect(found().files.size).toBe(100_000)
    }).pipe(run)
  )

  it.scoped(
    "are downloaded once, and then only requested where the document does not show that they are unchanged",
    () =>
      Effect.gen(function* () {
        const count = 3000
        const server = yield* ScriptedServer.make((response, { url }) => response.end(url))
        const { set, source } = makeDocuments(server.url)
        set({
          "home.json": { gallery: Array.from({ length: count }, (_, index) => ({ file: `/${index}` })) }
        })
        const fetch = yield* makeFetch(
          {
            reader: ({ file }) =>
              Predicate.isString(file) ? Option.some({ url: file, version: "1" }) : Option.none()
          },
          source
        )
        const first = yield* fetch()
        expect(first.fetched.attachments).toMatchObject({ total: count, reused: 0 })
        const second = yield* fetch(first)
        expect(second.fetched).toMatchObject({
          fingerprint: first.fetched.fingerprint,
          attachments: { total: count, reused: count }
        })
      }).pipe(run)
  )
})
