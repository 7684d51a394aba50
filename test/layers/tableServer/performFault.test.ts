import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as rawHttp from "../../support/rawHttp.ts"
import { errorType, offsetOf, start } from "../../support/tableServer.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const picture = "0123456789"

const museum = temporaryFolder({
  "Objects.json": JSON.stringify([{ Title: "Astrolabe", Pictures: [{ file: "a.txt" }] }, { Title: "Globe" }]),
  "Rooms.csv": "Name\nHall\n",
  "a.txt": picture
})

const target = "/v0/appX/Objects"
const headers = { Authorization: "Bearer any" }

const pictureOf = (body: unknown): string =>
  (body as { records: ReadonlyArray<{ fields: { Pictures: ReadonlyArray<{ url: string }> } }> }).records[0]
    ?.fields.Pictures[0]?.url ?? ""

/** Asks, and waits until that much has come; whether the connection ended then is in what is received. */
const ask = (port: number, request: rawHttp.Request) =>
  Effect.gen(function* () {
    const connection = yield* rawHttp.connect(port)
    connection.send(rawHttp.format(request))
    return connection
  })

describe("a fault of the table server", () => {
  it.scoped("is a status with the API's words", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum
      const { faults, get, port } = yield* start(directory, { rateLimit: false })
      for (const [what, status, type] of [
        ["401", 401, "AUTHENTICATION_REQUIRED"],
        ["403", 403, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND"],
        ["404", 404, { error: "NOT_FOUND" }],
        ["410", 410, "INVALID_REQUEST_UNKNOWN"],
        ["422", 422, "INVALID_REQUEST_UNKNOWN"],
        ["500", 500, "SERVER_ERROR"],
        ["503", 503, "SERVICE_UNAVAILABLE"]
      ] as const) {
        yield* faults.add(`Objects ${what} x1`)
        const answer = yield* get(target)
        assert.deepStrictEqual([answer.status, errorType(answer.body)], [status, type])
      }
      yield* faults.add("Objects 429 x1")
      yield* faults.add("Objects 429 retry-after=7 x1")
      yield* faults.add("Objects quota x1")
      const [plain, later, spent] = yield* Effect.replicateEffect(
        rawHttp.request(port, { target, headers }),
        3
      )
      assert.notProperty(plain?.headers, "retry-after")
      assert.match(plain?.body ?? "", /^{"errors":\[{"error":"RATE_LIMIT_REACHED"/)
      assert.strictEqual(later?.headers["retry-after"], "7")
      assert.strictEqual(spent?.status, 429)
      assert.match(spent?.body ?? "", /^{"errors":\[{"error":"PUBLIC_API_BILLING_LIMIT_EXCEEDED"/)
      assert.strictEqual((yield* get(target)).status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is a 200 with something else", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum
      const { faults, port } = yield* start(directory, { rateLimit: false })
      const answer = rawHttp.request(port, { target, headers })
      const whole = yield* answer
      yield* faults.add("Objects html x1")
      const html = yield* answer
      assert.deepStrictEqual([html.status, html.headers["content-type"]], [200, "text/html"])
      assert.match(html.body, /^<!doctype html>/)
      yield* faults.add("Objects no-records x1")
      assert.strictEqual((yield* answer).body, "{}")
      yield* faults.add("Objects short x1")
      const short = yield* answer
      const half = Math.floor(Number(whole.headers["content-length"]) / 2)
      assert.deepStrictEqual(
        [short.status, short.headers["content-length"], short.headers["content-type"]],
        [200, String(half), "application/json"]
      )
      assert.strictEqual(short.body.length, half)
      assert.throws(() => JSON.parse(short.body))
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is a connection that ends too early, or goes silent", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum
      const { faults, port } = yield* start(directory, { rateLimit: false })
      const whole = yield* rawHttp.request(port, { target, headers })
      const begins = (text: string) => {
        const { body, headers, status } = rawHttp.parse(text)
        return (
          status === 200 &&
          headers["content-length"] === whole.headers["content-length"] &&
          body.length === Math.floor(Number(headers["content-length"]) / 2)
        )
      }

      yield* faults.add("Objects reset x1")
      assert.strictEqual(yield* rawHttp.exchange(port, rawHttp.format({ target, headers })), "")

      yield* faults.add("Objects cut x1")
      assert.isTrue(begins(yield* rawHttp.exchange(port, rawHttp.format({ target, headers }))))

      yield* faults.add("Objects stall-body x1")
      const stalled = yield* ask(port, { target, headers })
      yield* stalled.received.until(begins)
      const ended = yield* Effect.fork(stalled.received.whole)

      yield* faults.add("Objects stall x1")
      const silent = yield* ask(port, { target, headers })
      // What comes after it on the same server is answered, so that the silence is not that of a slow server.
      assert.strictEqual((yield* rawHttp.request(port, { target: `${target}?a`, headers })).status, 422)
      assert.strictEqual(silent.received.text(), "")
      assert.isTrue(begins(stalled.received.text()))
      assert.isTrue(Option.isNone(yield* Fiber.poll(ended)))
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is an iterator that is gone, for who asks with an offset", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum
      const { get, post } = yield* start(directory, { rateLimit: false, faults: ["Objects iterator x2"] })
      const first = yield* get(`${target}?pageSize=1`)
      assert.strictEqual(first.status, 200)
      const offset = offsetOf(first.body)
      const gone = { status: 422, body: { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" } } }
      assert.deepStrictEqual(
        yield* post(`${target}/listRecords`, JSON.stringify({ pageSize: 1, offset })),
        gone
      )
      const next = get(`${target}?pageSize=1&offset=${encodeURIComponent(offset)}`)
      assert.deepStrictEqual(yield* next, gone)
      assert.strictEqual((yield* next).status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is one of an attachment, too", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum
      const { attachmentAddress, faults, get } = yield* start(directory)
      const link = new URL(pictureOf((yield* get(target)).body)).pathname
      const answer = rawHttp.request(attachmentAddress.port, { target: link })
      yield* faults.add("tables 500")
      assert.strictEqual((yield* answer).body, picture)
      yield* faults.add("attachments 403 x1")
      assert.strictEqual((yield* answer).status, 403)
      yield* faults.add("attachments short x1")
      const short = yield* answer
      assert.deepStrictEqual(
        [short.status, short.headers["content-length"], short.body],
        [200, "5", picture.slice(0, 5)]
      )
      yield* faults.add("attachments cut x1")
      const cut = yield* answer
      assert.deepStrictEqual([cut.headers["content-length"], cut.body], ["10", picture.slice(0, 5)])
      yield* faults.add("attachments reset x1")
      assert.isNaN((yield* answer).status)
      assert.strictEqual((yield* answer).body, picture)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("is not wasted on a request that is refused anyway, and counts in the limit", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum
      const { get, requests } = yield* start(directory, { faults: ["Objects 503 x2"] })
      assert.strictEqual((yield* get(target, {})).status, 401)
      const status = Effect.map(get(target), (answer) => answer.status)
      assert.deepStrictEqual(yield* Effect.replicateEffect(status, 7), [503, 503, 200, 200, 200, 429, 429])
      yield* get("/v0/appY/Rooms")
      assert.deepStrictEqual(yield* requests, {
        tables: { Objects: 8, Rooms: 1 },
        attachments: 0,
        payloads: 0,
        webhooks: 0,
        schema: 0,
        rateLimited: 2
      })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* status, 200)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("has to be written right", () =>
    Effect.gen(function* () {
      const { directory } = yield* museum
      const wrong = yield* Effect.flip(start(directory, { faults: ["Objects 503", "Objects sulk"] }))
      assert.strictEqual(wrong._tag, "vitrine/InvalidOptions")
      assert.match(wrong.message, /faults\[1\]: expected "WHERE WHAT .*got "Objects sulk"/)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
