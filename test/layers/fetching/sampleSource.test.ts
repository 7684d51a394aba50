/**
 * Finding out what one source would save, without saving it.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Content from "../../../src/layers/fetching/Content.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import { jsonSource } from "../../../src/layers/sources/json/jsonSource.ts"
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
  it.scopedLive("fetches the first page without files, and describes it", () =>
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

  it.scopedLive("names the known sources for an unknown one", () =>
    Effect.gen(function* () {
      yield* setUp
      expect((yield* Effect.flip(sample("musem"))).message).toContain(
        'There is no source "musem"; there are: museum'
      )
    }).pipe(run)
  )
})
