/**
 * Records in the place of their ids, in documents of any source.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { budget, counted, readSoFar, withinBudget } from "../../../src/layers/documents/budget.ts"
import { type Document, failedIn, Records, Value, wholeOf } from "../../../src/layers/documents/Document.ts"
import * as DocumentSource from "../../../src/layers/documents/DocumentSource.ts"
import { type Links, linkRecords } from "../../../src/layers/documents/linkRecords.ts"
import { notice, withWarnings } from "../../../src/layers/documents/warnings.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import type { SourceError } from "../../../src/services/SourceError.ts"
import { note, textsOf } from "../../support/warnings.ts"

const list = (name: string, records: ReadonlyArray<unknown>): Document<never> => ({
  name,
  content: Records({ pages: Stream.rechunk(Stream.fromIterable(records.map((record) => [record])), 1) })
})

/** The documents after linking, by their names, with the warnings. */
const linking = (links: Links, documents: ReadonlyArray<Document<SourceError>>) =>
  withWarnings(
    Effect.gen(function* () {
      const linked = yield* linkRecords(links, { documents }, (document) => failedIn({ document }))
      const contents = yield* Effect.forEach(linked.documents, ({ content, name }) =>
        Effect.map(wholeOf(content), (value) => [name, value] as const)
      )
      yield* linked.end
      return Object.fromEntries(contents)
    })
  )

const makers = [
  { id: "m1", name: "Ada" },
  { id: 2, name: "Ben", teacher: "m1" }
]
const [ada, ben] = makers

describe("links between documents", () => {
  it.effect("count the values of each document for itself", () =>
    Effect.gen(function* () {
      const large = (name: string, records: ReadonlyArray<unknown>): Document<never> => ({
        name,
        content: Value({
          value: Effect.map(readSoFar, (soFar) => {
            soFar.values += budget.read
            withinBudget("read", soFar.values)
            return records
          })
        })
      })
      const documents = [large("objects", [{ id: 1, maker: "m1" }]), large("makers", makers)]
      const [found] = yield* counted(linking({ maker: "makers" }, documents))
      expect(found.objects).toEqual([{ id: 1, maker: ada }])
    })
  )

  it.effect.each([
    { of: "an id", value: "m1", linked: ada },
    { of: "a number", value: 2, linked: ben },
    { of: "a number as a text", value: "2", linked: ben },
    { of: "a list of ids", value: [2, "m1"], linked: [ben, ada] },
    { of: "a cell of ids", value: "m1,2", linked: [ada, ben] },
    { of: "a cell with blanks", value: " m1 , 2", linked: [ada, ben] },
    { of: "an empty list", value: [], linked: [] },
    { of: "an empty cell", value: "", linked: "" },
    { of: "nothing", value: null, linked: null },
    { of: "a record", value: { id: "m1" }, linked: { id: "m1" } }
  ])("put records in the place of $of", ({ linked, value }) =>
    Effect.gen(function* () {
      const objects = list("objects", [{ id: 1, maker: value }])
      const [{ objects: found }, warnings] = yield* linking({ maker: "makers" }, [
        objects,
        list("makers", makers)
      ])
      expect(found).toEqual([{ id: 1, maker: linked }])
      expect(textsOf(warnings)).toEqual([])
    })
  )

  it.effect("are one level deep, also if a document links to itself", () =>
    Effect.gen(function* () {
      const [{ makers: found }] = yield* linking({ teacher: "makers" }, [list("makers", makers)])
      expect(found).toEqual([ada, { ...ben, teacher: ada }])
    })
  )

  it.effect("leave ids that no record has, and warn of these and of fields that no record has", () =>
    Effect.gen(function* () {
      const objects = list("objects", [
        { id: 1, maker: ["m1", "m9"] },
        { id: 2, maker: "m9" }
      ])
      const [{ objects: found }, warnings] = yield* linking({ maker: "makers", Maker: "makers" }, [
        objects,
        list("makers", makers)
      ])
      expect(found).toEqual([
        { id: 1, maker: [ada, "m9"] },
        { id: 2, maker: "m9" }
      ])
      expect(textsOf(warnings)).toEqual([
        'the field "maker" has 2 ids that no record of "makers" has; kept as they are (m9)',
        '"links" names the field "Maker", which no record has'
      ])
    })
  )

  it.effect("leave a text with commas, unless a part of it is an id", () =>
    Effect.gen(function* () {
      const texts = ["Company, Inc., London", " unknown hand ", "m1, by hand"].map((maker, id) => ({
        id,
        maker
      }))
      const [found, warnings] = yield* linking({ maker: "makers" }, [
        list("objects", texts),
        list("makers", makers)
      ])
      expect(found.objects).toEqual([texts[0], texts[1], { id: 2, maker: [ada, "by hand"] }])
      expect(textsOf(warnings)).toEqual([
        'the field "maker" has 3 ids that no record of "makers" has; kept as they are (Company, Inc., London, unknown hand, by hand)'
      ])
    })
  )

  it.effect("have no empty id between commas, and at the end of a list", () =>
    Effect.gen(function* () {
      const texts = ["m1,", "m1,, m1", " , "].map((maker, id) => ({ id, maker }))
      const [found] = yield* linking({ maker: "makers" }, [list("objects", texts), list("makers", makers)])
      expect(found.objects).toEqual([{ id: 0, maker: ada }, { id: 1, maker: [ada, ada] }, texts[2]])
    })
  )

  it.effect("fail if the document is missing, or is no list", () =>
    Effect.gen(function* () {
      const value: Document<never> = { name: "makers", content: Value({ value: Effect.succeed({}) }) }
      const objects = list("objects", [{ id: 1, maker: "m1" }])
      expect((yield* Effect.flip(linking({ maker: "nobody" }, [objects]))).message).toBe(
        'Document "nobody": "links" names it, but there is no such document; there are: objects'
      )
      expect((yield* Effect.flip(linking({ maker: "makers" }, [objects, value]))).message).toBe(
        'Document "makers": "links" names it, but it is no list of records'
      )
    })
  )

  it.effect("read a document once, even if several fields link to it", () =>
    Effect.gen(function* () {
      let reads = 0
      const slow: Document<never> = {
        name: "makers",
        content: Value({
          value: Effect.suspend(() => {
            reads++
            return Effect.as(Effect.yieldNow(), makers)
          })
        })
      }
      const { documents } = yield* linkRecords(
        { maker: "makers", painter: "makers" },
        { documents: [list("objects", [{ id: 1, maker: "m1" }]), slow] },
        (document) => failedIn({ document })
      )
      const contents = documents.map(({ content }) => wholeOf(content))
      expect(yield* Effect.all(contents)).toEqual([[{ id: 1, maker: ada }], makers])
      expect(reads).toBe(1)
    })
  )

  it.effect.prop(
    "are the records of the ids, in their order, for any ids",
    [FastCheck.array(FastCheck.oneof(FastCheck.nat(20), FastCheck.stringMatching(/^[a-z]{1,3}$/)))],
    ([ids]) =>
      Effect.gen(function* () {
        const known = [...new Set(ids.filter((_, index) => index % 2 === 0).map(String))]
        const records = known.map((id) => ({ id, name: `the ${id}` }))
        const [{ objects }] = yield* linking({ maker: "makers" }, [
          list("objects", [{ id: 1, maker: ids }]),
          list("makers", records)
        ])
        const expected = ids.map((id) =>
          known.includes(String(id)) ? { id: String(id), name: `the ${id}` } : id
        )
        expect(objects).toEqual([{ id: 1, maker: expected }])
      })
  )
})

it.scoped("a source links its documents after their steps, and reports the warnings of each document", () =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "links-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )
    const noticed = Value({ value: Effect.as(notice([note("odd")]), [{ code: "m1", name: "Ada" }]) })
    const source = yield* DocumentSource.make({
      options: {
        id: "museum",
        expect: { objects: { fields: { maker: "text?" } } },
        links: { maker: "makers" },
        steps: [
          (records: unknown, { name }) =>
            name === "makers" && Array.isArray(records)
              ? records.map((record) => ({ ...record, name: "Ada Lovelace" }))
              : records
        ]
      },
      open: () =>
        Effect.succeed({
          documents: [
            { ...list("objects", [{ id: 1, maker: "m1" }]) },
            { name: "makers", key: ["code"], content: noticed }
          ]
        })
    })
    const target = { directory, previous: Option.none(), progress: () => Effect.void }
    const error = yield* Effect.flip(source.fetch(target))
    expect(error.message).toContain('field "maker": expected text')
    const objects: unknown = JSON.parse(readFileSync(join(directory, "objects.json"), "utf8"))
    expect(objects).toEqual([{ id: 1, maker: { code: "m1", name: "Ada Lovelace" } }])
    const sample = yield* source.fetch({ ...target, isCheck: true, isSample: true })
    expect(textsOf(sample.warnings)).toEqual(['Document "makers": odd'])
  }).pipe(Effect.provide(Layer.merge(NodeContext.layer, HttpClientNode.layer)))
)
