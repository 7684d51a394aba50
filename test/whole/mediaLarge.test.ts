/**
 * Large documents, and many links: in bounded memory, or a clear error.
 */
import { closeSync, openSync, statSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { findMedia } from "../../src/layers/documents/media/findMedia.ts"
import * as Rules from "../../src/layers/documents/media/Rules.ts"
import type { ContentSource } from "../../src/services/ContentSource.ts"
import { makeDocumentSource, makeFetch, mediaServices } from "../support/media.ts"
import { memoryNow } from "../support/memory.ts"
import * as ScriptedServer from "../support/ScriptedServer.ts"
import { temporaryFolder } from "../support/temporaryFolder.ts"

const run = Effect.provide(mediaServices)
const mebibyte = 1024 ** 2

/** Records in the form that Vitrine saves, each of some 2 KiB and with one of twenty links. */
const writeRecords = (file: string, megabytes: number): number => {
  const handle = openSync(file, "w")
  let records = 0
  writeSync(handle, "[\n")
  while (records * 2048 < megabytes * mebibyte) {
    const page = Array.from({ length: 512 }, () => {
      const record = { id: `rec${records}`, image: { url: `/${records++ % 20}.jpg` }, text: "x".repeat(1950) }
      return JSON.stringify([record], null, 2).slice(2, -2)
    })
    writeSync(handle, `${records === 512 ? "" : ",\n"}${page.join(",\n")}`)
  }
  writeSync(handle, "\n]\n")
  closeSync(handle)
  return records
}

describe("a document of 200 MiB", () => {
  it.scoped("is read and written record by record", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.text(200, "picture"))
      let records = 0
      const inner: ContentSource = {
        id: "museum",
        fetch: ({ directory }) =>
          Effect.sync(() => {
            records = writeRecords(join(directory, "objects.json"), 200)
            return {
              fingerprint: "1",
              records,
              bytes: 0,
              documents: { "objects.json": { url: server.url } }
            }
          })
      }
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
        inner
      )
      const { directory, fetched, media } = yield* fetch()
      expect(objects).toBe(4 * records)
      expect(media).toHaveLength(20)
      expect(most).toBeLessThan(64 * mebibyte)
      expect(statSync(join(directory, "objects.json")).size).toBeGreaterThan(200 * mebibyte)
      expect(fetched.bytes).toBeGreaterThan(records * "media/0-0123456789abcdef.jpg".length)
    }).pipe(run)
  )

  it.scoped("is an error where it is one value, and says so", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder()
      const file = join(directory, "home.json")
      writeFileSync(file, `{"text":"${"x".repeat(65 * mebibyte)}"}`)
      const rules = Rules.fromOptions({ find: ["**"] })
      const { message } = yield* Effect.flip(findMedia([{ name: "home.json", file }], { rules }))
      expect(message).toContain('Document "home.json": it has more than 64.0 MiB')
    }).pipe(run)
  )
})

describe("many links", () => {
  it.scoped("of one document are found in a moment, 100,000 of them", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder()
      const file = join(directory, "home.json")
      const gallery = Array.from({ length: 100_000 }, (_, index) => ({
        url: `https://a.example/${index}.jpg`
      }))
      writeFileSync(file, JSON.stringify({ gallery }))
      const rules = Rules.fromOptions({ find: ["**.url"], types: ["image/*"] })
      const [time, { files }] = yield* Effect.timed(findMedia([{ name: "home.json", file }], { rules }))
      expect(files).toHaveLength(100_000)
      expect(time).toBeDefined()
    }).pipe(run)
  )

  it.scoped("are downloaded once, and then only asked for where nothing proves that they are the same", () =>
    Effect.gen(function* () {
      const count = 3000
      const server = yield* ScriptedServer.make((response, { url }) => response.end(url))
      const { set, source } = makeDocumentSource(server.url)
      set({ "home.json": { gallery: Array.from({ length: count }, (_, index) => ({ file: `/${index}` })) } })
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
