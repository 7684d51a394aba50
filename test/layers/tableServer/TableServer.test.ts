import { readFileSync } from "node:fs"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import Airtable from "airtable"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { withLog } from "../../support/logged.ts"
import * as rawHttp from "../../support/rawHttp.ts"
import { errorType, offsetOf, start } from "../../support/tableServer.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const twelve = JSON.stringify(Array.from({ length: 12 }, (_, n) => ({ n })))

describe("TableServer", () => {
  it.scoped("responses with records, and leads on with an offset", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "Objects.json": twelve,
        "Rooms.csv": "Name,Floor\nHall,\n,\n"
      })
      const { get } = yield* start(directory)
      const { body, status } = yield* get("/v0/appX/Rooms?view=Grid+view")
      assert.strictEqual(status, 200)
      const { records, ...rest } = body as { records: ReadonlyArray<{ id: string; createdTime: string }> }
      assert.deepStrictEqual(rest, {})
      assert.deepStrictEqual(
        records.map(({ createdTime, id, ...record }) => [
          id.slice(0, 3),
          new Date(createdTime).toISOString(),
          record
        ]),
        [
          ["rec", "2000-01-01T00:00:00.000Z", { fields: { Name: "Hall" } }],
          ["rec", "2000-01-01T00:00:00.000Z", { fields: {} }]
        ]
      )
      const page = yield* get("/v0/appX/Objects?pageSize=7")
      const last = yield* get(`/v0/appX/Objects?pageSize=7&offset=${encodeURIComponent(offsetOf(page.body))}`)
      assert.lengthOf((last.body as { records: [] }).records, 5)
      assert.notProperty(last.body, "offset")
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("warns of a fault for a table that is not there", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": twelve })
      const log: Array<string> = []
      const faults = ["Objects 503", "all 503 x1", "Objetcs reset x2"]
      yield* start(directory, { faults }).pipe(withLog(log))
      assert.deepStrictEqual(
        log.filter((line) => line.startsWith("WARN")),
        ['WARN The fault "Objetcs reset x2" waits for a table "Objetcs", which is not there.']
      )
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("asks for a token", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": twelve })
      const open = yield* start(directory)
      for (const headers of [
        {},
        { authorization: "" },
        { authorization: "Bearer " },
        { authorization: "Basic x" }
      ]) {
        const { body, status } = yield* open.get("/v0/appX/Objects", headers)
        assert.deepStrictEqual([status, errorType(body)], [401, "AUTHENTICATION_REQUIRED"])
      }
      const closed = yield* start(directory, { token: "patSecret" })
      const refused = yield* closed.get("/v0/appX/Objects")
      assert.strictEqual(refused.status, 401)
      assert.notInclude(JSON.stringify(refused.body), "patSecret")
      assert.strictEqual(
        (yield* closed.get("/v0/appX/Objects", { authorization: "Bearer patSecret" })).status,
        200
      )
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("refuses what it does not have or know", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": twelve })
      const { get } = yield* start(directory, { baseId: "appX", rateLimit: false })
      const unknown = "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND"
      const iterator = { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" } }
      const expected: ReadonlyArray<readonly [string, number, unknown]> = [
        ["/v0/appY/Objects", 403, unknown],
        ["/v0/appX/Rooms", 403, unknown],
        ["/v0/appX/In%2FOut", 403, unknown],
        ["/v0/appX/..%2FObjects", 403, unknown],
        ["/v0/appX/objects", 403, unknown],
        [`/v0/appX/${"x".repeat(300)}`, 403, unknown],
        ["/", 404, { error: "NOT_FOUND" }],
        ["/v0/appX", 404, { error: "NOT_FOUND" }],
        ["/v0/appX/Objects/", 404, { error: "NOT_FOUND" }],
        ["/v0//appX/Objects", 404, { error: "NOT_FOUND" }],
        ["/v0/appX/Objects/rec1", 404, { error: "NOT_FOUND" }],
        ["/V0/appX/Objects", 404, { error: "NOT_FOUND" }],
        ["/v0/appX/%zz", 404, { error: "NOT_FOUND" }],
        ["/v0/appX/Objects;x?pageSize=1", 403, unknown],
        ["/v0/appX/Objects?pageSize=101", 422, "INVALID_REQUEST_UNKNOWN"],
        ["/v0/appX/Objects?filterByFormula=1", 422, "INVALID_REQUEST_UNKNOWN"],
        ["/v0/appX/Objects?view=Gone", 422, "VIEW_NAME_NOT_FOUND"],
        ["/v0/appX/Objects?fields%5B%5D=Gone", 422, "UNKNOWN_FIELD_NAME"],
        ["/v0/appX/Objects?offset=garbage", 422, "LIST_RECORDS_ITERATOR_NOT_AVAILABLE"]
      ]
      for (const [path, status, what] of expected) {
        const answer = yield* get(path)
        assert.deepStrictEqual([path, answer.status, errorType(answer.body)], [path, status, what])
      }
      assert.deepStrictEqual((yield* get("/v0/appX/Objects?offset=garbage")).body, iterator)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("forgets an offset after five minutes, and does not know another server's", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": twelve, "Rooms.json": twelve })
      const { get } = yield* start(directory)
      const other = yield* start(directory)
      const { body } = yield* get("/v0/appX/Objects?pageSize=5")
      const query = `pageSize=5&offset=${encodeURIComponent(offsetOf(body))}`
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* get(`/v0/appX/Objects?${query}`)).status, 200)
      assert.strictEqual((yield* other.get(`/v0/appX/Objects?${query}`)).status, 422)
      assert.strictEqual((yield* get(`/v0/appX/Rooms?${query}`)).status, 422)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* get(`/v0/appX/Objects?${query}`), {
        status: 422,
        body: { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" } }
      })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("refuses a base for 30 seconds when it is asked too often", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": twelve })
      const { get } = yield* start(directory)
      const status = Effect.map(get("/v0/appX/Objects"), (answer) => answer.status)
      assert.deepStrictEqual(yield* Effect.replicateEffect(status, 7), [200, 200, 200, 200, 200, 429, 429])
      assert.strictEqual((yield* get("/v0/appY/Objects")).status, 200)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* status, 429)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("serves the views of views.json, and everything else when that file is malformed", () =>
    Effect.gen(function* () {
      const { directory, write } = yield* temporaryFolder({
        "Objects.json": twelve,
        "views.json": '{"Objects":{"Grid view":{"removed":true},"Three":{"filter":{"n":3}}}}'
      })
      const { get } = yield* start(directory, { rateLimit: false })
      const three = yield* get("/v0/appX/Objects?view=Three")
      assert.deepStrictEqual(
        (three.body as { records: ReadonlyArray<{ fields: unknown }> }).records[0]?.fields,
        { n: 3 }
      )
      assert.strictEqual(
        errorType((yield* get("/v0/appX/Objects?view=Grid%20view")).body),
        "VIEW_NAME_NOT_FOUND"
      )
      yield* write("views.json", "{")
      assert.strictEqual(errorType((yield* get("/v0/appX/Objects?view=Three")).body), "INVALID_TABLE_FILE")
      assert.strictEqual((yield* get("/v0/appX/Objects")).status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("responses a malformed file with what is wrong, and goes on", () =>
    Effect.gen(function* () {
      const { directory, write } = yield* temporaryFolder({ "Objects.csv": "a,b\n1\n" })
      const { get } = yield* start(directory)
      const { body, status } = yield* get("/v0/appX/Objects")
      assert.deepStrictEqual([status, errorType(body)], [422, "INVALID_TABLE_FILE"])
      assert.include(JSON.stringify(body), "Objects.csv, line 2: ")
      yield* write("Objects.csv", "a,b\n1,2\n")
      assert.strictEqual((yield* get("/v0/appX/Objects")).status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("survives what is not HTTP", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": twelve })
      const { get, port } = yield* start(directory)
      const garbage = yield* rawHttp.exchange(port, "\u0000garbage\r\n\r\n")
      assert.match(garbage, /^HTTP\/1\.1 400 [\s\S]*application\/json[\s\S]*\r\n\r\n{"error":{"type":/)
      const huge = yield* rawHttp.exchange(port, `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)
      assert.match(huge, /^HTTP\/1\.1 431 [\s\S]*{"error":{"type":/)
      const nowhere = yield* rawHttp.exchange(port, "GET http://[ HTTP/1.1\r\nConnection: close\r\n\r\n")
      assert.match(nowhere, /^HTTP\/1\.1 400 [\s\S]*{"error":{"type":/)
      assert.strictEqual((yield* get("/v0/appX/Objects")).status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("keeps a connection for longer than clients keep one for their next request", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": "[]" })
      const { port } = yield* start(directory)
      const { received, send } = yield* rawHttp.connect(port)
      send(rawHttp.format({ target: "/v0/appX/Objects", headers: { Connection: "keep-alive" } }))
      const response = yield* received.until((text) => text.includes("\r\n\r\n"))
      assert.include(response, "\r\nKeep-Alive: timeout=15\r\n")
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("logs where it serves what", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": "[]", "Rooms.csv": "a\n" })
      const { url } = yield* start(directory)
      assert.deepStrictEqual(log, [`INFO Serving the tables of ${directory} at ${url}: Objects, Rooms`])
    }).pipe(withLog(log), Effect.provide(NodeContext.layer))
  })

  it.scoped("does not start without a folder, with a taken port, or with wrong options", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.json": "[]" })
      const missing = yield* Effect.flip(start(`${directory}/none`))
      assert.strictEqual(
        missing.message,
        `Cannot read the folder of tables ${directory}/none: there is no such folder.`
      )
      assert.include((yield* Effect.flip(start(`${directory}/Objects.json`))).message, "it is not a folder")
      const { port } = yield* start(directory)
      assert.strictEqual((yield* Effect.flip(start(directory, { port })))._tag, "vitrine/BindError")
      const misspelt = { prot: 1, port: 70_000, token: "" }
      const wrong = yield* Effect.flip(start(directory, misspelt))
      assert.strictEqual(wrong._tag, "vitrine/InvalidOptions")
      for (const part of [
        "prot: there is no such key; known are: ",
        "port: expected an integer from 0 to 65535",
        "token: expected"
      ]) {
        assert.include(wrong.message, part)
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is read to its end by the official client", () =>
    Effect.gen(function* () {
      const file = new URL("../../../node_modules/vega-datasets/data/movies.json", import.meta.url)
      const movies = readFileSync(file, "utf8")
      const { directory } = yield* temporaryFolder({ "movies.json": movies })
      const { url } = yield* start(directory, { rateLimit: false })
      const client = new Airtable({ apiKey: "any", endpointUrl: url })
      const table = client.base("appMovies").table("movies")
      const records = yield* Effect.promise(() => table.select({ view: "Grid view" }).all())
      const rows = JSON.parse(movies) as ReadonlyArray<Record<string, unknown>>
      assert.strictEqual(records.length, 3201)
      assert.deepStrictEqual(
        records.map(({ fields }) => fields as Record<string, unknown>),
        rows.map((row) =>
          Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== ""))
        )
      )
      assert.strictEqual(new Set(records.map(({ id }) => id)).size, rows.length)
      const few = yield* Effect.promise(() =>
        table
          .select({
            fields: ["Title", "IMDB Rating"],
            sort: [{ field: "IMDB Rating", direction: "desc" }],
            maxRecords: 3,
            pageSize: 2,
            cellFormat: "json"
          })
          .all()
      )
      assert.deepStrictEqual(
        few.map((record) => record.get("IMDB Rating")),
        [9.2, 9.2, 9.1]
      )
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
