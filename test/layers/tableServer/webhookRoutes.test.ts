import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { fieldId, tableId } from "../../../src/layers/tableServer/identifiers.ts"
import { errorType, type Options, start } from "../../support/tableServer.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const webhooks = "/v0/bases/appX/webhooks"

const specification = (...dataTypes: ReadonlyArray<string>) => ({ options: { filters: { dataTypes } } })

interface PayloadList {
  readonly payloads: ReadonlyArray<Record<string, unknown>>
  readonly cursor: number
  readonly mightHaveMore: boolean
}

/** A museum of two tables, a server of it, and what clients of webhooks ask. */
const museum = (options: Options = {}) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder({
      "Objects.csv": "Title,Year\nAstrolabe,1520\nGlobe,1622\n",
      "Rooms.json": JSON.stringify([{ Name: "Hall", Floor: 1 }])
    })
    const server = yield* start(folder.directory, { rateLimit: false, ...options })
    const create = (...dataTypes: ReadonlyArray<string>) =>
      Effect.map(
        server.post(webhooks, JSON.stringify({ specification: specification(...dataTypes) })),
        ({ body }) => body as { readonly id: string; readonly expirationTime: string }
      )
    const list = Effect.map(
      server.get(webhooks),
      ({ body }) => (body as { webhooks: ReadonlyArray<Record<string, unknown>> }).webhooks
    )
    const payloads = (id: string, query = "") =>
      Effect.map(server.get(`${webhooks}/${id}/payloads${query}`), ({ body }) => body as PayloadList)
    const records = (table: string) =>
      Effect.map(server.get(`/v0/appX/${table}`), ({ body }) =>
        (body as { records: ReadonlyArray<{ id: string }> }).records.map(({ id }) => id)
      )
    return { ...folder, ...server, create, list, payloads, records, removeFile: folder.remove }
  })

const objects = tableId("Objects")
const time = (text: string) => new Date(text).getTime()

describe("webhooks of the table server", () => {
  it.scoped("are created, listed, refreshed and removed", () =>
    Effect.gen(function* () {
      const { create, get, list, post, remove } = yield* museum()
      assert.deepStrictEqual(yield* list, [])
      yield* TestClock.setTime(time("2026-11-01T00:00:00.000Z"))
      const webhook = yield* create("tableData", "tableFields")
      assert.match(webhook.id, /^ach[A-Za-z0-9]{14}$/)
      assert.match(JSON.stringify(webhook), /"macSecretBase64":"[A-Za-z0-9+/]{43}="/)
      assert.strictEqual(webhook.expirationTime, "2026-11-08T00:00:00.000Z")
      assert.deepStrictEqual(yield* list, [
        {
          id: webhook.id,
          specification: specification("tableData", "tableFields"),
          cursorForNextPayload: 1,
          isHookEnabled: true,
          expirationTime: "2026-11-08T00:00:00.000Z",
          notificationUrl: null,
          areNotificationsEnabled: true,
          lastNotificationResult: null,
          lastSuccessfulNotificationTime: null
        }
      ])
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* post(`${webhooks}/${webhook.id}/refresh`, ""), {
        status: 200,
        body: { expirationTime: "2026-11-09T00:00:00.000Z" }
      })
      assert.deepStrictEqual(yield* remove(`${webhooks}/${webhook.id}`), { status: 200, text: "" })
      assert.deepStrictEqual(yield* list, [])
      for (const gone of [
        yield* get(`${webhooks}/${webhook.id}/payloads`),
        yield* post(`${webhooks}/${webhook.id}/refresh`, "")
      ]) {
        assert.deepStrictEqual(gone, { status: 404, body: { error: "NOT_FOUND" } })
      }
      assert.strictEqual((yield* remove(`${webhooks}/${webhook.id}`)).status, 404)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("are ten for a base at most, and of their base alone", () =>
    Effect.gen(function* () {
      const { create, get, list, post } = yield* museum()
      const { id } = yield* create("tableData")
      yield* Effect.replicateEffect(create("tableData"), 9)
      const body = JSON.stringify({ specification: specification("tableData") })
      const refused = yield* post(webhooks, body)
      assert.deepStrictEqual([refused.status, errorType(refused.body)], [422, "TOO_MANY_WEBHOOKS_IN_BASE"])
      assert.lengthOf(yield* list, 10)
      assert.strictEqual((yield* post("/v0/bases/appY/webhooks", body)).status, 200)
      assert.strictEqual((yield* get(`/v0/bases/appY/webhooks/${id}/payloads`)).status, 404)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("have no payloads while nothing is edited, and a number for each after that", () =>
    Effect.gen(function* () {
      const { create, list, payloads, records, write } = yield* museum()
      yield* TestClock.setTime(time("2026-11-01T00:00:00.000Z"))
      const { id } = yield* create("tableData")
      const nothing = { payloads: [], cursor: 1, mightHaveMore: false }
      assert.deepStrictEqual(yield* payloads(id), nothing)
      const [astrolabe = "", globe = ""] = yield* records("Objects")
      yield* write("Objects.csv", "Title,Year\nAstrolabe,1521\nSextant,1770\n")
      const [, sextant = ""] = yield* records("Objects")
      const year = fieldId("Objects", "Year")
      const edited = yield* payloads(id, "?cursor=1")
      assert.deepStrictEqual(edited, {
        payloads: [
          {
            timestamp: "2026-11-01T00:00:00.000Z",
            baseTransactionNumber: edited.payloads[0]?.baseTransactionNumber,
            actionMetadata: { source: "unknown" },
            payloadFormat: "v0",
            changedTablesById: {
              [objects]: {
                createdRecordsById: {
                  [sextant]: {
                    createdTime: "2000-01-01T00:00:00.000Z",
                    cellValuesByFieldId: { [fieldId("Objects", "Title")]: "Sextant", [year]: "1770" }
                  }
                },
                changedRecordsById: { [astrolabe]: { current: { cellValuesByFieldId: { [year]: "1521" } } } },
                destroyedRecordIds: [globe]
              }
            }
          }
        ],
        cursor: 2,
        mightHaveMore: false
      })
      assert.deepStrictEqual(yield* payloads(id, "?cursor=2"), { ...nothing, cursor: 2 })
      assert.deepStrictEqual(yield* payloads(id), edited)
      assert.strictEqual((yield* list)[0]?.cursorForNextPayload, 2)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("tell of tables and fields, as far as they watch them", () =>
    Effect.gen(function* () {
      const { create, payloads, removeFile, rename, write } = yield* museum()
      const fields = yield* create("tableFields")
      const data = yield* create("tableData")
      yield* write("Objects.csv", "Title,Year,Room\nAstrolabe,1520,\nGlobe,1622,\n")
      const changes = (id: string, query = "") =>
        Effect.map(payloads(id, query), (page) =>
          page.payloads.map(
            ({ actionMetadata, baseTransactionNumber, payloadFormat, timestamp, ...body }) => body
          )
        )
      assert.deepStrictEqual(yield* changes(data.id), [])
      assert.deepStrictEqual(yield* changes(fields.id), [
        {
          changedTablesById: {
            [objects]: {
              createdFieldsById: {
                [fieldId("Objects", "Room")]: { name: "Room", type: "singleLineText" }
              }
            }
          }
        }
      ])
      yield* write("Objects.csv", "Title,Year\nAstrolabe,1520\nGlobe,1622\n")
      assert.deepStrictEqual(yield* changes(fields.id, "?cursor=2"), [
        { changedTablesById: { [objects]: { destroyedFieldIds: [fieldId("Objects", "Room")] } } }
      ])
      yield* rename("Rooms.json", "Halls.json")
      const [destroyed, created, ...records] = yield* changes(data.id)
      assert.deepStrictEqual(destroyed, { destroyedTableIds: [tableId("Rooms")] })
      assert.deepStrictEqual(created, {
        createdTablesById: {
          [tableId("Halls")]: {
            metadata: { name: "Halls", description: null },
            fieldsById: {
              [fieldId("Halls", "Name")]: { name: "Name", type: "singleLineText" },
              [fieldId("Halls", "Floor")]: { name: "Floor", type: "number" }
            },
            recordsById: {}
          }
        }
      })
      assert.lengthOf(records, 1)
      assert.property(records[0]?.changedTablesById, tableId("Halls"))
      yield* removeFile("Halls.json")
      assert.deepStrictEqual(yield* changes(fields.id, "?cursor=5"), [
        { destroyedTableIds: [tableId("Halls")] }
      ])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("wait with a table whose file is malformed until it can be read again", () =>
    Effect.gen(function* () {
      const { create, payloads, write } = yield* museum()
      const { id } = yield* create("tableData")
      yield* write("Objects.csv", "Title,Year\nAstrolabe\n")
      assert.deepStrictEqual((yield* payloads(id)).payloads, [])
      yield* write("Objects.csv", "Title,Year\nAstrolabe,1520\nGlobe,1623\n")
      assert.lengthOf((yield* payloads(id)).payloads, 1)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("tell of an attachment whose file has other content", () =>
    Effect.gen(function* () {
      const { create, payloads, write } = yield* museum()
      yield* write("a.txt", "one")
      yield* write("Pictures.json", JSON.stringify([{ Name: "A", Files: [{ file: "a.txt" }] }]))
      const { id } = yield* create("tableData")
      yield* write("a.txt", "other")
      const [payload, ...others] = (yield* payloads(id)).payloads
      assert.deepStrictEqual(others, [])
      assert.include(JSON.stringify(payload), '"filename":"a.txt"')
      assert.notInclude(JSON.stringify(payload), '"url"')
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("split what is much over payloads and pages", () =>
    Effect.gen(function* () {
      const { create, payloads, write } = yield* museum()
      const { id } = yield* create("tableData")
      yield* write("Many.json", JSON.stringify(Array.from({ length: 250 }, (_, n) => ({ n }))))
      const all = yield* payloads(id)
      assert.strictEqual(all.cursor, 5)
      assert.strictEqual(new Set(all.payloads.map((one) => one.baseTransactionNumber)).size, 1)
      const first = yield* payloads(id, "?limit=3")
      assert.deepStrictEqual(first, { payloads: all.payloads.slice(0, 3), cursor: 4, mightHaveMore: true })
      const last = yield* payloads(id, "?limit=3&cursor=4")
      assert.deepStrictEqual(last, { payloads: all.payloads.slice(3), cursor: 5, mightHaveMore: false })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("live for a week after they are read, are listed for another, and keep payloads that long", () =>
    Effect.gen(function* () {
      const { create, get, list, payloads, post, write } = yield* museum()
      const { id } = yield* create("tableData")
      const isEnabled = Effect.map(list, (all) => all.map(({ isHookEnabled }) => isHookEnabled))
      yield* write("Objects.csv", "Title,Year\nAstrolabe,1\n")
      yield* TestClock.adjust("6 days")
      assert.strictEqual((yield* payloads(id)).cursor, 2)
      yield* TestClock.adjust(7 * 24 * 60 * 60 * 1000 - 1)
      assert.deepStrictEqual(yield* isEnabled, [true])
      // The payload was noticed less than a week ago: nobody had looked before.
      assert.lengthOf((yield* payloads(id)).payloads, 1)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* payloads(id), { payloads: [], cursor: 2, mightHaveMore: false })
      yield* TestClock.adjust("7 days")
      assert.deepStrictEqual(yield* isEnabled, [false])
      const expired = yield* post(`${webhooks}/${id}/refresh`, "")
      assert.deepStrictEqual([expired.status, errorType(expired.body)], [422, "INVALID_REQUEST_UNKNOWN"])
      yield* write("Objects.csv", "Title,Year\nAstrolabe,2\n")
      assert.deepStrictEqual(yield* payloads(id, "?cursor=2"), {
        payloads: [],
        cursor: 2,
        mightHaveMore: false
      })
      yield* TestClock.adjust("7 days")
      assert.deepStrictEqual(yield* list, [])
      assert.strictEqual((yield* get(`${webhooks}/${id}/payloads`)).status, 404)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("reject what they do not have or know", () =>
    Effect.gen(function* () {
      const { create, get, post } = yield* museum()
      const { id } = yield* create("tableData")
      for (const [query, words] of [
        ["?cursor=0", "cursor: expected a whole number"],
        ["?cursor=2", "The cursor 2 is too high"],
        ["?cursor=1&cursor=1", "given 2 times"],
        ["?limit=51", "limit: expected a whole number from 1 to 50"],
        ["?offset=1", "offset: there is no such key"]
      ] as const) {
        const { body, status } = yield* get(`${webhooks}/${id}/payloads${query}`)
        assert.strictEqual(status, 422)
        assert.include(JSON.stringify(body), words)
      }
      const valid = { specification: specification("tableData") }
      for (const [body, words] of [
        [{}, "specification"],
        [{ specification: specification() }, "dataTypes"],
        [{ specification: specification("tables") }, "dataTypes"],
        [{ ...valid, notificationUrl: "https://example.org" }, "this server sends no notifications"],
        [
          { specification: { options: { filters: { dataTypes: ["tableData"], recordChangeScope: "tbl" } } } },
          "recordChangeScope"
        ]
      ] as const) {
        const answer = yield* post(webhooks, JSON.stringify(body))
        assert.deepStrictEqual([answer.status, errorType(answer.body)], [422, "INVALID_REQUEST_UNKNOWN"])
        assert.include(JSON.stringify(answer.body), words)
      }
      const accepted = yield* post(webhooks, JSON.stringify({ ...valid, notificationUrl: null }))
      assert.strictEqual(accepted.status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("need the token and count towards the rate limit, as other calls do", () =>
    Effect.gen(function* () {
      const { get, requests } = yield* museum({ rateLimit: true, token: "any", baseId: "appX" })
      assert.strictEqual((yield* get(webhooks, {})).status, 401)
      assert.strictEqual((yield* get("/v0/bases/appY/webhooks")).status, 403)
      const statuses = yield* Effect.forEach(
        [
          webhooks,
          `${webhooks}/ach1/payloads`,
          "/v0/meta/bases/appX/tables",
          "/v0/appX/Objects",
          webhooks,
          `${webhooks}/ach1/payloads`
        ],
        (path) => Effect.map(get(path), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [200, 404, 200, 200, 200, 429])
      assert.deepStrictEqual(yield* requests, {
        tables: { Objects: 1 },
        attachments: 0,
        webhooks: 4,
        payloads: 2,
        schema: 1,
        rateLimited: 1
      })
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
