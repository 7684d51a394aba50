/**
 * The two stand-ins of the hosted API, that of the tests and that of the demos, answer as its documentation says:
 * pages, offsets, views, attachments, and webhooks that list what changed.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { serveTables, urlOf } from "../scratchpad/table-server/serveTables.ts"
import { withLog } from "./support/logged.ts"
import * as TableServer from "./support/tableServer.ts"
import { temporaryFolder } from "./support/temporaryFolder.ts"

const startOfDemos = (directory: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => serveTables(directory, 0)),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    urlOf
  )

const startOfTests = (directory: string) =>
  Effect.map(TableServer.start(directory, { rateLimit: false }), ({ url }) => url).pipe(withLog([]))

const objects = `name,room,picture (attachments)
Bell,1,bell.svg
Lamp,2,
Globe,2,
`

const webhook = { specification: { options: { filters: { dataTypes: ["tableData"] } } } }

describe.each([
  ["the tests", startOfTests],
  ["the demos", startOfDemos]
] as const)("the table server of %s", (_, start) => {
  const make = Effect.gen(function* () {
    const folder = yield* temporaryFolder({
      "Objects.csv": objects,
      "Rooms.csv": "name\nHall\n",
      "bell.svg": "<svg/>",
      "views.json": JSON.stringify({ Objects: { "Room 2": { filter: { room: "2" } } } })
    })
    const url = yield* start(folder.directory)
    const ask = (path: string, method = "GET", body?: object) =>
      Effect.promise(async () => {
        const headers = { authorization: "Bearer any", "content-type": "application/json" }
        const response = await fetch(`${url}/v0/${path}`, {
          method,
          headers,
          ...(body && { body: JSON.stringify(body) })
        })
        const text = await response.text()
        return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
      })
    return { ...folder, url, ask }
  })
  const names = ({ body }: { body: { records: ReadonlyArray<{ fields: { name: string } }> } }) =>
    body.records.map(({ fields }) => fields.name)

  it.scopedLive("lists records in pages, each with the offset of the next", () =>
    Effect.gen(function* () {
      const { ask } = yield* make
      const first = yield* ask("appX/Objects?pageSize=2")
      expect(names(first)).toEqual(["Bell", "Lamp"])
      const [bell, lamp] = first.body.records
      expect(bell).toEqual({
        id: expect.stringMatching(/^rec\w+$/),
        createdTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        fields: { name: "Bell", room: "1", picture: expect.any(Array) }
      })
      expect(lamp.fields).toEqual({ name: "Lamp", room: "2" })
      const last = yield* ask(`appX/Objects?pageSize=2&offset=${encodeURIComponent(first.body.offset)}`)
      expect(names(last)).toEqual(["Globe"])
      expect(last.body).not.toHaveProperty("offset")
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("lists the records of a view, and rejects unknown views", () =>
    Effect.gen(function* () {
      const { ask } = yield* make
      expect(names(yield* ask("appX/Objects?view=Room+2"))).toEqual(["Lamp", "Globe"])
      expect(names(yield* ask("appX/Objects?view=Grid+view"))).toEqual(["Bell", "Lamp", "Globe"])
      expect(yield* ask("appX/Objects?view=Room+3")).toMatchObject({
        status: 422,
        body: { error: { type: "VIEW_NAME_NOT_FOUND" } }
      })
      expect(yield* ask("appX/Nothing")).toMatchObject({
        status: 403,
        body: { error: { type: "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND" } }
      })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("lists a table by its id from the schema of the base", () =>
    Effect.gen(function* () {
      const { ask } = yield* make
      const { body } = yield* ask("meta/bases/appX/tables")
      expect(body.tables).toMatchObject([
        { name: "Objects", fields: [{ name: "name" }, { name: "room" }, { type: "multipleAttachments" }] },
        { name: "Rooms" }
      ])
      expect(names(yield* ask(`appX/${body.tables[1].id}`))).toEqual(["Hall"])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("links to the files of cells, which need no token", () =>
    Effect.gen(function* () {
      const { ask, write } = yield* make
      const picture = Effect.map(
        ask("appX/Objects?pageSize=1"),
        ({ body }) => body.records[0].fields.picture[0]
      )
      const before = yield* picture
      expect(before).toMatchObject({ filename: "bell.svg", size: 6, type: "image/svg+xml" })
      const text = yield* Effect.promise(async () => (await fetch(before.url)).text())
      expect(text).toBe("<svg/>")
      yield* write("bell.svg", "<svg></svg>")
      expect((yield* picture).id).not.toBe(before.id)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("requires a token", () =>
    Effect.gen(function* () {
      const { url } = yield* make
      const { status } = yield* Effect.promise(() => fetch(`${url}/v0/appX/Objects`))
      expect(status).toBe(401)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("lists edited tables at a webhook", () =>
    Effect.gen(function* () {
      const { ask, write } = yield* make
      const { tables } = (yield* ask("meta/bases/appX/tables")).body
      const { id } = (yield* ask("bases/appX/webhooks", "POST", webhook)).body
      const payloads = (cursor: number) => ask(`bases/appX/webhooks/${id}/payloads?cursor=${cursor}&limit=50`)
      expect((yield* payloads(1)).body).toEqual({ payloads: [], cursor: 1, mightHaveMore: false })
      yield* write("Objects.csv", objects.replace("Lamp,2", "Lamp,11"))
      const { body } = yield* payloads(1)
      expect(body).toMatchObject({ cursor: 2, mightHaveMore: false })
      expect(Object.keys(body.payloads[0].changedTablesById)).toEqual([tables[0].id])
      expect((yield* ask("bases/appX/webhooks")).body.webhooks).toMatchObject([
        { id, isHookEnabled: true, cursorForNextPayload: 2, notificationUrl: null }
      ])
      yield* ask(`bases/appX/webhooks/${id}`, "DELETE")
      expect((yield* payloads(2)).status).toBe(404)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
