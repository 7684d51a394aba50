/**
 * Several sources of one base in a content, and the calls that they make at the server.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Content from "../../../../src/layers/fetching/Content.ts"
import * as CommandBusMemory from "../../../../src/layers/memory/CommandBusMemory.ts"
import * as ControllerStateMemory from "../../../../src/layers/memory/ControllerStateMemory.ts"
import * as EventBusMemory from "../../../../src/layers/memory/EventBusMemory.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { tableSource } from "../../../../src/layers/sources/airtable/AirtableSource.ts"
import { VersionStore } from "../../../../src/services/VersionStore.ts"
import { withAdvancingClock } from "../../../../src/testing/advancingClock.ts"
import { contentState, sourceRows, temporaryStore } from "../../../support/content.ts"
import { httpClient } from "../../../support/httpClientWithoutKeepAlive.ts"
import { withLog } from "../../../support/logged.ts"
import { start } from "../../../support/tableServer.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

const environment = temporaryStore.pipe(
  Layer.merge(EventBusMemory.layer),
  Layer.merge(CommandBusMemory.layer),
  Layer.merge(ControllerStateMemory.layer("persistent")),
  Layer.merge(RequestPacingMemory.layer),
  Layer.merge(httpClient),
  Layer.provideMerge(NodeContext.layer)
)

it.scoped(
  "sources of one base share one request for changes, and each reads its own tables that have changed",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder({
        "Objects.csv": "Title\nAstrolabe\n",
        "Rooms.csv": "Name\nHall\n",
        "Tours.csv": "Name\nEast\n"
      })
      const server = yield* start(folder.directory, { rateLimit: false })
      const source = (id: string, ...tables: ReadonlyArray<string>) =>
        tableSource({
          id,
          baseId: "appX",
          apiKey: "pat123.topsecret",
          endpointUrl: server.url,
          tables,
          changes: "webhook"
        })
      const { start: begin } = yield* Content.make({
        fetchEvery: "10 seconds",
        settle: 0,
        sources: [source("objects", "Objects"), source("rooms", "Rooms"), source("tours", "Tours")]
      })
      /** The calls in a stretch of time, which ends between two ticks. */
      const callsIn = (seconds: number) =>
        Effect.gen(function* () {
          const before = yield* server.requests
          yield* withAdvancingClock(Effect.sleep(`${seconds} seconds`))
          const { payloads, schema, tables, webhooks } = yield* server.requests
          return {
            looks: payloads + schema + webhooks - before.payloads - before.schema - before.webhooks,
            read: Object.keys(tables)
              .filter((table) => tables[table] !== before.tables[table])
              .sort()
          }
        })
      yield* begin
      // The webhooks, one made, the webhooks and the tables of the base.
      expect(yield* callsIn(5)).toEqual({ looks: 4, read: ["Objects", "Rooms", "Tours"] })
      expect(yield* callsIn(100)).toEqual({ looks: 10, read: [] })
      yield* folder.write("Rooms.csv", "Name\nAttic\n")
      expect(yield* callsIn(10)).toEqual({ looks: 1, read: ["Rooms"] })
      expect(yield* callsIn(10)).toEqual({ looks: 1, read: [] })
      expect(yield* Effect.flatMap(VersionStore, ({ versions }) => versions)).toHaveLength(2)
      // Who asks is one of them, and the sum is right.
      const rows = (yield* Effect.forEach(["objects", "rooms", "tours"], sourceRows)).flat()
      const counts = rows.flatMap((row) =>
        Array.isArray(row) && row[0] === "API calls" ? [Number.parseInt(String(row[1]), 10)] : []
      )
      expect(counts.reduce((sum, count) => sum + count)).toBe(4 + 3 + 10 + 2 + 1)
      const { sources } = yield* contentState
      expect(Object.values(sources).map(({ data }) => Object(data?.calls).today)).toEqual(counts)
      expect(sources.rooms?.data).toMatchObject({ changes: {} })
    }).pipe(Effect.provide(environment), withLog([]))
)
