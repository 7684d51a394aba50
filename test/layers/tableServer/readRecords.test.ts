import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import Airtable from "airtable"
import * as Effect from "effect/Effect"
import { maxBodyBytes as maxBytes } from "../../../src/layers/http/errors.ts"
import { fieldId, tableId } from "../../../src/layers/tableServer/identifiers.ts"
import { errorType, start } from "../../support/tableServer.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const objects = {
  "Objects.json": JSON.stringify([
    { Title: "Astrolabe", Year: 1520, Room: "" },
    { Title: "Barometer", Year: 1798 },
    {}
  ])
}

const recordsOf = (body: unknown) =>
  (body as { records: ReadonlyArray<{ id: string; fields: Record<string, unknown> }> }).records

describe("TableServer", () => {
  it.scoped("has every record by its id, with the same words as in the listing", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder(objects)
      const { get } = yield* start(directory, { rateLimit: false })
      const records = recordsOf((yield* get("/v0/appX/Objects")).body)
      for (const record of records) {
        for (const table of ["Objects", tableId("Objects")]) {
          const answer = yield* get(`/v0/appX/${table}/${record.id}`)
          assert.deepStrictEqual(answer, { status: 200, body: record })
        }
      }
      assert.deepStrictEqual(records[2]?.fields, {})
      assert.deepStrictEqual(yield* get("/v0/appX/Objects/recNone"), {
        status: 404,
        body: { error: "NOT_FOUND" }
      })
      assert.strictEqual((yield* get(`/v0/appX/Rooms/${records[0]?.id}`)).status, 403)
      assert.strictEqual((yield* get(`/v0/appX/Objects/${records[0]?.id}?view=x`)).status, 422)
      assert.strictEqual((yield* get(`/v0/appX/Objects/${records[0]?.id}`, {})).status, 401)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("counts what is asked of a record and of listRecords in the limit", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder(objects)
      const { get, post } = yield* start(directory)
      yield* Effect.replicateEffect(get("/v0/appX/Objects/rec1"), 3)
      yield* Effect.replicateEffect(post("/v0/appX/Objects/listRecords", "{}"), 2)
      assert.strictEqual((yield* get("/v0/appX/Objects")).status, 429)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("responses with the ids of fields where they are asked for", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder(objects)
      const { get } = yield* start(directory, { rateLimit: false })
      const expected = { [fieldId("Objects", "Title")]: "Astrolabe", [fieldId("Objects", "Year")]: 1520 }
      const [record] = recordsOf((yield* get("/v0/appX/Objects?returnFieldsByFieldId=true")).body)
      assert.deepStrictEqual(record?.fields, expected)
      const { body } = yield* get(`/v0/appX/Objects/${record?.id}?returnFieldsByFieldId=true`)
      assert.deepStrictEqual(body, record)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("lists by POST, page after page", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder(objects)
      const { get, post } = yield* start(directory, { rateLimit: false })
      const list = (body: object) => post("/v0/appX/Objects/listRecords", JSON.stringify(body))
      const query = { pageSize: 1, sort: [{ field: "Year", direction: "desc" }], maxRecords: 2 }
      const first = yield* list(query)
      assert.strictEqual(first.status, 200)
      const { offset } = first.body as { offset: string }
      const last = yield* list({ ...query, offset })
      assert.notProperty(last.body, "offset")
      assert.deepStrictEqual(
        [first, last].flatMap(({ body }) => recordsOf(body)),
        recordsOf(
          (yield* get("/v0/appX/Objects?sort[0][field]=Year&sort[0][direction]=desc&maxRecords=2")).body
        )
      )
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("refuses a body that is too large, no JSON, or not said to be, and goes on", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder(objects)
      const { post } = yield* start(directory, { rateLimit: false })
      const path = "/v0/appX/Objects/listRecords"
      const padded = (length: number) => `{${" ".repeat(length - 2)}}`
      const wrong = yield* Effect.all([
        post(path, "{"),
        post(path, ""),
        post(path, Buffer.from('{"view":"\xff"}', "latin1")),
        post(path, "{}", { "content-type": "text/plain" }),
        post(path, '{"filterByFormula":"1"}')
      ])
      for (const { body, status } of wrong) {
        assert.deepStrictEqual([status, errorType(body)], [422, "INVALID_REQUEST_UNKNOWN"])
      }
      assert.strictEqual((yield* post(path, padded(maxBytes + 1))).status, 413)
      assert.strictEqual((yield* post(path, padded(8 * maxBytes))).status, 413)
      assert.strictEqual((yield* post(path, padded(maxBytes))).status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("gives the official client records by id, and listings by POST", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder(objects)
      const { url } = yield* start(directory, { rateLimit: false })
      const table = new Airtable({ apiKey: "any", endpointUrl: url }).base("appX").table("Objects")
      const records = yield* Effect.promise(() =>
        table.select({ method: "post", pageSize: 2, fields: ["Title"] }).all()
      )
      assert.deepStrictEqual(
        records.map(({ fields }) => ({ ...fields })),
        [{ Title: "Astrolabe" }, { Title: "Barometer" }, {}]
      )
      const record = yield* Effect.promise(() => table.find(records[1]?.id ?? ""))
      assert.strictEqual(record.get("Year"), 1798)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
