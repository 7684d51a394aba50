/**
 * What one source would save, found without saving it.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { describeDocument } from "../../../src/layers/fetching/describeDocument.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import { jsonSource } from "../../../src/layers/sources/json/JsonSource.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { readManifest, services } from "../../support/content.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"

const run = Effect.provide(
  Layer.mergeAll(services("persistent"), HttpClientNode.layer, RequestPacingMemory.layer)
)

const sample = (source: string) =>
  Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: "content.check", source }))

const setUp = Effect.gen(function* () {
  const server = yield* ScriptedServer.make((response, request) =>
    ScriptedServer.json(200, [
      { id: 1, title: "Opening", image: { url: `${server.url}/a.jpg?token=secret` } },
      { id: 2, title: null }
    ])(response, request)
  )
  const source = yield* jsonSource({
    id: "museum",
    documents: { events: { url: server.url, page: "page" } },
    media: { find: ["**.image.url"] },
    expect: { events: { minRecords: 100 } }
  }).make
  yield* Content.fromSources({}, [source])
  return server
})

describe("a check of one source", () => {
  it.scopedLive("fetches the first page, without files, and says what is in it", () =>
    Effect.gen(function* () {
      const server = yield* setUp
      const found = yield* sample("museum")
      expect(found).toEqual({
        sourceId: "museum",
        sampled: [
          {
            path: "events.json",
            holds: "records",
            records: 2,
            fields: [
              { field: "id", types: ["number"], example: "1" },
              { field: "image", types: ["nothing", "object"] },
              { field: "image.url", types: ["text"], example: `${server.url}/a.jpg` },
              { field: "title", types: ["nothing", "text"], example: "Opening" }
            ],
            links: [{ path: "*.image.url", count: 1, example: `${server.url}/a.jpg` }]
          }
        ]
      })
      const asked = Chunk.toReadonlyArray(yield* Queue.takeAll(server.received))
      expect(asked.map(({ url }) => url)).toEqual(["/"])
      expect(yield* readManifest).toEqual({ status: "missing" })
    }).pipe(run)
  )

  it.scopedLive("warns of texts that are missing in one of their languages", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        ScriptedServer.json(200, [
          { id: 1, title_de: "Glocke", title_en: "Bell" },
          { id: 2, title_en: "Globe" }
        ])
      )
      const source = yield* jsonSource({ id: "museum", documents: { objects: { url: server.url } } }).make
      yield* Content.fromSources({}, [source])
      expect(yield* sample("museum")).toMatchObject({
        warnings: [
          'objects.json: "title_de" is empty where "title" is there in another language: 1 of 2 records'
        ]
      })
    }).pipe(run)
  )

  it.scopedLive("names the sources that there are", () =>
    Effect.gen(function* () {
      yield* setUp
      expect((yield* Effect.flip(sample("musem"))).message).toContain(
        'There is no source "musem"; there are: museum'
      )
    }).pipe(run)
  )
})

describe("what a document has", () => {
  it("is said of one value, with the places of links as patterns", () => {
    const document = {
      title: "A",
      files: [{ "a.b": "/media/film.mp4" }, { "a.b": "./film.mp4" }],
      page: "https://a.example/"
    }
    expect(describeDocument(document)).toEqual({
      holds: "value",
      records: 1,
      fields: [
        { field: "title", types: ["text"], example: "A" },
        { field: "files", types: ["list"] },
        { field: "page", types: ["text"], example: "https://a.example/" }
      ],
      links: [{ path: "files.*.a\\.b", count: 2, example: "/media/film.mp4" }]
    })
  })

  it("has so many fields and links at most, with the links of all records counted", () => {
    const records = Array.from({ length: 1000 }, (_, id) =>
      Object.fromEntries(Array.from({ length: 200 }, (_, field) => [`f${field}`, `/${id}.jpg`]))
    )
    const { fields, links, records: count } = describeDocument(records)
    expect([count, fields.length, links.length, links[0]?.count]).toEqual([1000, 100, 20, 1000])
  })
})
