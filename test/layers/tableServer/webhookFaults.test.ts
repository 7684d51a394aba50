import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { errorType, type Options, start } from "../../support/tableServer.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const webhooks = "/v0/bases/appX/webhooks"
const specification = { options: { filters: { dataTypes: ["tableData"] } } }

/** A server of one table with a webhook, and what is asked of that webhook. */
const watched = (options: Options = {}) =>
  Effect.gen(function* () {
    const { directory, write } = yield* temporaryFolder({ "Objects.csv": "Title\nAstrolabe\n" })
    const server = yield* start(directory, { rateLimit: false, ...options })
    const create = server.post(webhooks, JSON.stringify({ specification }))
    const { id } = (yield* create).body as { readonly id: string }
    const payloads = (cursor: number) =>
      Effect.map(server.get(`${webhooks}/${id}/payloads?cursor=${cursor}`), ({ body, status }) => ({
        status,
        ...(body as {
          readonly payloads: ReadonlyArray<Record<string, unknown>>
          readonly cursor: number
          readonly mightHaveMore: boolean
        })
      }))
    const list = Effect.map(server.get(webhooks), ({ body }) =>
      (body as { webhooks: ReadonlyArray<{ isHookEnabled: boolean }> }).webhooks.map(
        ({ isHookEnabled }) => isHookEnabled
      )
    )
    const edit = (title: string) => write("Objects.csv", `Title\nAstrolabe\n${title}\n`)
    return { ...server, id, create, payloads, list, edit }
  })

describe("a fault of webhooks", () => {
  it.scoped("is a payload that is an error, and the webhook goes on", () =>
    Effect.gen(function* () {
      const { edit, faults, list, payloads } = yield* watched()
      for (const [index, [fault, code]] of [
        ["invalid-filters", "INVALID_FILTERS"],
        ["invalid-hook", "INVALID_HOOK"],
        ["internal-error", "INTERNAL_ERROR"],
        ["unknown-error", "SOMETHING_NEW"]
      ].entries()) {
        yield* faults.add(`payloads ${fault} x1`)
        const page = yield* payloads(index + 1)
        assert.strictEqual(page.cursor, index + 2)
        assert.lengthOf(page.payloads, 1)
        assert.include(page.payloads[0], { error: true, code, payloadFormat: "v0" })
      }
      assert.deepStrictEqual(yield* list, [true])
      yield* edit("Globe")
      const after = yield* payloads(5)
      assert.deepStrictEqual([after.cursor, after.payloads.map((one) => "error" in one)], [6, [false]])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is a webhook that is disabled, or gone", () =>
    Effect.gen(function* () {
      const { create, edit, faults, list, payloads } = yield* watched()
      yield* faults.add("payloads disabled x1")
      assert.deepStrictEqual(yield* list, [true])
      yield* edit("Globe")
      assert.strictEqual((yield* payloads(1)).cursor, 2)
      yield* edit("Sextant")
      assert.deepStrictEqual(yield* payloads(2), {
        status: 200,
        payloads: [],
        cursor: 2,
        mightHaveMore: false
      })
      assert.deepStrictEqual(yield* list, [false])
      yield* create
      assert.deepStrictEqual(yield* list, [false, true])
      yield* faults.add("payloads deleted x1")
      assert.strictEqual((yield* payloads(1)).status, 404)
      assert.deepStrictEqual(yield* list, [])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is a cursor that is too old", () =>
    Effect.gen(function* () {
      const { edit, faults, payloads } = yield* watched()
      yield* edit("Globe")
      yield* faults.add("payloads dropped x1")
      assert.deepStrictEqual(yield* payloads(1), {
        status: 200,
        payloads: [],
        cursor: 3,
        mightHaveMore: false
      })
      yield* edit("Sextant")
      const after = yield* payloads(3)
      assert.deepStrictEqual([after.cursor, after.payloads.length], [4, 1])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is a feed without an end", () =>
    Effect.gen(function* () {
      const { edit, faults, payloads } = yield* watched()
      yield* edit("Globe")
      yield* faults.add("payloads endless")
      let cursor = 1
      for (let page = 0; page < 30; page++) {
        const { mightHaveMore, ...rest } = yield* payloads(cursor)
        assert.isTrue(mightHaveMore)
        assert.strictEqual(rest.cursor, cursor + 50)
        cursor = rest.cursor
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is a right that the token lacks", () =>
    Effect.gen(function* () {
      const { create, faults, get, id, list, payloads, post, remove } = yield* watched()
      yield* faults.add("webhooks no-creator")
      const refused = yield* create
      assert.deepStrictEqual([refused.status, errorType(refused.body)], [403, "INVALID_PERMISSIONS"])
      assert.strictEqual((yield* post(`${webhooks}/${id}/refresh`, "")).status, 403)
      assert.strictEqual((yield* remove(`${webhooks}/${id}`)).status, 403)
      assert.deepStrictEqual(yield* list, [true])
      assert.strictEqual((yield* payloads(1)).status, 200)
      yield* faults.clear
      yield* faults.add("webhooks 403")
      for (const path of [webhooks, `${webhooks}/${id}/payloads`]) {
        const { body, status } = yield* get(path)
        assert.deepStrictEqual([status, errorType(body)], [403, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND"])
      }
      assert.strictEqual((yield* get("/v0/meta/bases/appX/tables")).status, 200)
      yield* faults.add("schema 403")
      assert.strictEqual((yield* get("/v0/meta/bases/appX/tables")).status, 403)
      assert.strictEqual((yield* get("/v0/appX/Objects")).status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is a response that comes late, or a status", () =>
    Effect.gen(function* () {
      const { faults, get, list, payloads } = yield* watched()
      yield* faults.add("payloads 503 x1")
      assert.strictEqual((yield* payloads(1)).status, 503)
      yield* faults.add("payloads slow x1")
      const late = yield* Effect.fork(payloads(1))
      // The request has come when the clock has somebody to wake.
      yield* Effect.repeat(get("/v0/appX/Objects"), {
        until: () => Effect.map(TestClock.sleeps(), Chunk.isNonEmpty)
      })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(late)).status, 200)
      assert.deepStrictEqual(yield* list, [true])
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
