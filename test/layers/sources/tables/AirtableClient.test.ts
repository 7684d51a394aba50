import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Queue from "effect/Queue"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import * as AirtableClient from "../../../../src/layers/sources/tables/AirtableClient.ts"
import { RequestPacing } from "../../../../src/services/RequestPacing.ts"
import {
  type PageRequest,
  type TableError,
  type TableRecord,
  TableSourceClient
} from "../../../../src/services/TableSourceClient.ts"
import { tableSourceClientContract, withAdvancingClock } from "../../../../src/testing.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { json, silence, stalledBody, text } from "../../../support/ScriptedServer.ts"

const token = "pat123.topsecret"

const options = (endpointUrl: string) => ({
  endpointUrl,
  baseId: "app1",
  apiKey: Redacted.make(token),
  maxTimeout: 60_000
})

/** Without pacing, with penalties. */
const onlyPenalties = Layer.sync(RequestPacing, () => {
  let free = 0
  const pacer = {
    take: Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(free - now)),
    hold: (duration: Duration.DurationInput) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        free = now + Duration.toMillis(duration)
      })
  }
  return RequestPacing.of({ pacer: () => Effect.succeed(pacer) })
})

const list = { table: "Objects", view: "Grid view" }

const emptyPage = json(200, { records: [] })

const production = httpClient.layer

/** Collects the log, down to debug messages, instead of printing it. */
const collectInto = (logs: Queue.Queue<string>) =>
  Layer.merge(
    Logger.minimumLogLevel(LogLevel.Debug),
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => {
        logs.unsafeOffer(String(message))
      })
    )
  )

/** A client, and everything it logs. */
const setUpClient = (url: string, httpClient: Layer.Layer<HttpClient.HttpClient> = production) =>
  Effect.gen(function* () {
    const environment = yield* Layer.build(Layer.merge(httpClient, RequestPacingMemory.layer))
    const client = yield* Effect.provide(AirtableClient.make(options(url)), environment)
    const logs = yield* Queue.unbounded<string>()
    return {
      logs,
      listPage: (request: PageRequest) => Effect.provide(client.listPage(request), collectInto(logs)),
      readRecord: (recordId: string) =>
        Effect.provide(client.readRecord({ table: "Objects", recordId }), collectInto(logs))
    }
  })

/** A client of a scripted server. */
const setUp = (
  answer: ScriptedServer.Answer = emptyPage,
  httpClient: Layer.Layer<HttpClient.HttpClient> = production
) =>
  Effect.gen(function* () {
    const server = yield* ScriptedServer.make(answer)
    return { ...server, ...(yield* setUpClient(server.url, httpClient)) }
  })

const refusal = (answer: ScriptedServer.Answer, request: { table: string; view: string | null } = list) =>
  Effect.flatMap(setUp(answer), ({ listPage }) => Effect.flip(listPage(request)))

describe("a request", () => {
  it.scoped("asks for a full page of a view, with the token", () =>
    Effect.gen(function* () {
      const { listPage, received } = yield* setUp()
      yield* listPage({ table: "Räume/1 & 2", view: "a&b" })
      const { headers, method, url } = yield* Queue.take(received)
      expect(method).toBe("GET")
      expect(url).toBe("/v0/app1/R%C3%A4ume%2F1%20%26%202?pageSize=100&view=a%26b")
      expect(headers.authorization).toBe(`Bearer ${token}`)
    })
  )

  it.scoped("returns records with fields of any name unchanged", () =>
    Effect.gen(function* () {
      const record = '{"id":"rec0","fields":{"__proto__":{"a":1},"constructor":2}}'
      const { listPage, next, readRecord } = yield* setUp()
      next(text(200, `{"records":[${record}]}`))
      expect(JSON.stringify(yield* listPage(list))).toBe(`{"records":[${record}]}`)
      next(text(200, record))
      expect(JSON.stringify((yield* withAdvancingClock(readRecord("rec0"))).value)).toBe(record)
    })
  )

  it.scoped("asks for the whole table without a view, and continues at the cursor", () =>
    Effect.gen(function* () {
      const { listPage, received } = yield* setUp()
      yield* listPage({ table: "Objects", view: null, cursor: "itr/1+2=&" })
      const { url } = yield* Queue.take(received)
      expect(url).toBe("/v0/app1/Objects?pageSize=100&offset=itr%2F1%2B2%3D%26")
    })
  )

  it.scoped("waits for the pacing of the base", () =>
    Effect.gen(function* () {
      const { listPage, received } = yield* setUp()
      yield* listPage(list)
      const second = yield* Effect.fork(listPage(list))
      yield* TestClock.adjust("214 millis")
      expect(yield* Queue.size(received)).toBe(1)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(second)
    })
  )

  it.scoped("is never sent for a name that would change the path of the URL", () =>
    Effect.gen(function* () {
      const { listPage, received } = yield* setUp()
      for (const table of ["", ".", "..", "\ud800"]) {
        expect(yield* Effect.flip(listPage({ table, view: null }))).toMatchObject({ reason: "Refused" })
      }
      expect(yield* Queue.size(received)).toBe(0)
    })
  )
})

describe("a request for a record", () => {
  const record = json(200, { id: "rec1", createdTime: "now", fields: { A: 1 } })

  it.scoped("asks for that record only, with the token", () =>
    Effect.gen(function* () {
      const { readRecord, received } = yield* setUp(record)
      expect(yield* readRecord("rec1")).toMatchObject({ id: "rec1", fields: { A: 1 } })
      const { headers, method, url } = yield* Queue.take(received)
      expect({ method, url }).toEqual({ method: "GET", url: "/v0/app1/Objects/rec1" })
      expect(headers.authorization).toBe(`Bearer ${token}`)
    })
  )

  it.scoped("waits for the pacing of the base as pages do, and is retried", () =>
    Effect.gen(function* () {
      const { listPage, logs, next, readRecord, received } = yield* setUp(record)
      next(emptyPage, json(503, {}))
      yield* listPage(list)
      const fiber = yield* Effect.fork(readRecord("rec1"))
      yield* TestClock.adjust("214 millis")
      expect(yield* Queue.size(received)).toBe(1)
      yield* TestClock.adjust("1 millis")
      expect(yield* Queue.take(logs)).toMatch(/503.*again in 1s$/)
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toMatchObject({ id: "rec1" })
    })
  )

  it.scoped("is never sent for an id that would change the path of the URL", () =>
    Effect.gen(function* () {
      const { readRecord, received } = yield* setUp(record)
      for (const recordId of ["", ".", "..", "\ud800"]) {
        expect(yield* Effect.flip(readRecord(recordId))).toMatchObject({ reason: "Refused" })
      }
      expect(yield* Queue.size(received)).toBe(0)
    })
  )

  it.scoped.each([
    ["a web page", text(200, "<html>login</html>")],
    ["another record", json(200, { id: "rec2", fields: {} })],
    ["a list", json(200, { records: [] })],
    ["an expired list", json(422, { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" } })]
  ] as const)("fails with a readable message if the response is %s", ([, answer]) =>
    Effect.gen(function* () {
      const { readRecord } = yield* setUp(answer)
      expect(yield* Effect.flip(readRecord("rec1"))).toMatchObject({
        _tag: "vitrine/TableError",
        reason: "UnexpectedAnswer"
      })
    })
  )
})

describe("redirects", () => {
  it.each([
    ["fetch", FetchHttpClient.layer],
    ["node:http", NodeHttpClient.layer],
    ["undici", NodeHttpClient.layerUndici]
  ] as const)("are not followed by %s, so that no other server gets the token", (_, httpClient) =>
    Effect.gen(function* () {
      const other = yield* ScriptedServer.make(emptyPage)
      for (const status of [301, 302, 307, 308]) {
        const { listPage } = yield* setUp(text(status, "", { location: `${other.url}/secret` }), httpClient)
        const error = yield* Effect.flip(listPage(list))
        expect(error).toMatchObject({ _tag: "vitrine/TableError", reason: "UnexpectedAnswer", status })
        expect(error.message).toContain(`redirects to ${other.url},`)
        expect(error.message).toContain('"endpointUrl"')
      }
      expect(yield* Queue.size(other.received)).toBe(0)
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})

describe("a refusal", () => {
  const error = (type: string, message?: string) => ({ error: { type, message } })

  it.scoped.each([
    {
      status: 401,
      body: error("AUTHENTICATION_REQUIRED", "Go away"),
      reason: "Unauthorized",
      says: ['"apiKey"', "AUTHENTICATION_REQUIRED: Go away"]
    },
    {
      status: 403,
      body: error("INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND"),
      reason: "NotFound",
      says: ['"baseId"', '"Objects"', "permissions"]
    },
    { status: 404, body: { error: "NOT_FOUND" }, reason: "NotFound", says: ["NOT_FOUND", '"endpointUrl"'] },
    {
      status: 422,
      body: error("VIEW_NAME_NOT_FOUND", "View not found"),
      reason: "NotFound",
      says: ['"Grid view"', "renamed", '"defaultView"']
    },
    {
      status: 422,
      body: { errors: [{ error: "UNKNOWN_FIELD_NAME", message: "No x" }] },
      reason: "NotFound",
      says: ["UNKNOWN_FIELD_NAME: No x", "renamed", '"fields"', '"links"']
    },
    { status: 400, body: {}, reason: "Refused", says: ["HTTP 400"] },
    { status: 418, body: null, reason: "Refused", says: ["HTTP 418"] },
    { status: 429, body: error("PUBLIC_API_BILLING_LIMIT_EXCEEDED"), reason: "RateLimited", says: ["month"] }
  ])(
    "is reported in the server's words, and not retried: $status $reason",
    ({ body, reason, says, status }) =>
      Effect.gen(function* () {
        const { listPage, received } = yield* setUp(json(status, body))
        const refused = yield* Effect.flip(listPage(list))
        expect(refused).toMatchObject({ _tag: "vitrine/TableError", table: "Objects", reason, status })
        expect(refused).toMatchObject({ isTransient: false })
        for (const words of says) {
          expect(refused.message).toContain(words)
        }
        expect(yield* Queue.size(received)).toBe(1)
      })
  )

  it.scoped.each([
    [
      "<html><head><title>Forbidden\n by proxy</title></head><body>…</body></html>",
      "HTTP 403, Forbidden by proxy)"
    ],
    ["<p>No</p>", "HTTP 403, No)"],
    ["plain words\u0007", "HTTP 403, plain words)"],
    ["", "(HTTP 403)"],
    [`{"error":{"message":"${"x".repeat(1000)}"}}`, `${"x".repeat(300)}…)`]
  ] as const)("has a readable message whatever its body is: %j", ([body, words]) =>
    Effect.map(refusal(text(403, body)), ({ message }) => expect(message).toContain(words))
  )

  it.scoped("of a list that has expired has its own error", () =>
    Effect.gen(function* () {
      const expired = yield* refusal(json(422, error("LIST_RECORDS_ITERATOR_NOT_AVAILABLE")))
      expect(expired).toMatchObject({ _tag: "vitrine/CursorExpired", table: "Objects" })
    })
  )
})

describe("a response that is not a page", () => {
  it.scoped.each([
    "<html>login</html>",
    "",
    "{",
    "null",
    "[]",
    "{}",
    '{"records":{}}',
    '{"records":[{"id":"rec1"}]}',
    '{"records":[{"id":"rec1","fields":[]}]}',
    '{"records":[{"id":7,"fields":{}}]}',
    '{"records":[],"offset":3}'
  ])("is an error, and does not end the list: %s", (body) =>
    Effect.gen(function* () {
      const { listPage, received } = yield* setUp(text(200, body))
      expect(yield* Effect.flip(listPage(list))).toMatchObject({ reason: "UnexpectedAnswer", status: 200 })
      expect(yield* Queue.size(received)).toBe(1)
    })
  )

  it.scoped("is an error if it repeats its offset", () =>
    Effect.gen(function* () {
      const { listPage } = yield* setUp(json(200, { records: [], offset: "itr1" }))
      expect(yield* listPage(list)).toEqual({ records: [], next: "itr1" })
      const again = yield* Effect.fork(Effect.flip(listPage({ ...list, cursor: "itr1" })))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(again)).toMatchObject({ reason: "UnexpectedAnswer" })
    })
  )

  it.scoped("is an error if its length is too large", () =>
    Effect.gen(function* () {
      const { listPage, received } = yield* setUp((response) =>
        response.writeHead(200, { "content-length": 32 * 1024 * 1024 + 1 }).write("{")
      )
      const error = yield* Effect.flip(listPage(list))
      expect(error.message).toContain("more than 32.0 MiB")
      yield* Deferred.await((yield* Queue.take(received)).closed)
    })
  )

  it.scoped("is accepted if it has unknown members or an empty offset", () =>
    Effect.gen(function* () {
      for (const offset of [null, "", undefined]) {
        const { listPage } = yield* setUp(
          json(200, {
            records: [{ id: "rec1", createdTime: "now", fields: { A: 1 }, new: 2 }],
            offset,
            more: {}
          })
        )
        expect(yield* listPage(list)).toMatchObject({ records: [{ id: "rec1", fields: { A: 1 } }] })
      }
    })
  )
})

describe("a transient failure", () => {
  it.scoped("is retried with growing pauses, four attempts in all", () =>
    Effect.gen(function* () {
      const server = yield* setUp(json(502, { error: "SERVER_ERROR" }))
      const fiber = yield* Effect.fork(Effect.flip(server.listPage(list)))
      for (const [pause, words] of [
        [1000, "1s"],
        [2000, "2s"],
        [4000, "4s"]
      ] as const) {
        expect(yield* Queue.take(server.logs)).toMatch(
          new RegExp(`^Table "Objects": .*502, SERVER_ERROR.*again in ${words}$`)
        )
        yield* Queue.take(server.received)
        yield* TestClock.adjust(pause - 1)
        expect(yield* Queue.size(server.received)).toBe(0)
        yield* TestClock.adjust(1)
      }
      expect(yield* Fiber.join(fiber)).toMatchObject({ reason: "ServerError", status: 502 })
      expect(yield* Queue.size(server.received)).toBe(1)
    })
  )

  it.scoped.each([
    ["no answer", silence],
    ["half an answer", stalledBody]
  ] as const)("is %s within the time for one request", ([, answer]) =>
    Effect.gen(function* () {
      const server = yield* setUp()
      server.next(answer)
      const fiber = yield* Effect.fork(server.listPage(list))
      const { closed } = yield* Queue.take(server.received)
      yield* TestClock.adjust("59999 millis")
      expect(yield* Queue.size(server.logs)).toBe(0)
      yield* TestClock.adjust("1 millis")
      expect(yield* Queue.take(server.logs)).toContain('within 60000 ms ("maxTimeout")')
      yield* Deferred.await(closed)
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toEqual({ records: [] })
    })
  )
})

describe("a response with HTTP 429", () => {
  it.scoped("is retried three times, each after 30 seconds, with the words of the server in the log", () =>
    Effect.gen(function* () {
      const limit = { error: "RATE_LIMIT_REACHED", message: "Slow down" }
      const { listPage, logs, received } = yield* setUp(json(429, { errors: [limit] }))
      const fiber = yield* Effect.fork(Effect.flip(listPage(list)))
      for (let waits = 0; waits < 3; waits++) {
        expect(yield* Queue.take(logs)).toMatch(/429, RATE_LIMIT_REACHED: Slow down.*Waiting 30s/)
        yield* TestClock.adjust("30 seconds")
      }
      expect(yield* Fiber.join(fiber)).toMatchObject({ reason: "RateLimited", status: 429 })
      expect(yield* Queue.size(received)).toBe(4)
    })
  )
})

/** The response that means the error. */
const refusing = ({ detail, reason, status = 400 }: TableError): ScriptedServer.Answer => {
  switch (reason) {
    case "RateLimited":
      return json(status, { error: { type: "PUBLIC_API_BILLING_LIMIT_EXCEEDED" } })
    case "UnexpectedAnswer":
      return text(status, detail)
    default:
      return json(status, { error: detail })
  }
}

it.scoped("is redacted in options that come from the environment", () =>
  Effect.gen(function* () {
    const server = yield* ScriptedServer.make(emptyPage)
    const client = AirtableClient.layerConfig({
      baseId: Config.string("BASE"),
      apiKey: Config.redacted("KEY"),
      endpointUrl: Config.succeed(server.url)
    })
    const fetched = (environment: ReadonlyArray<readonly [string, string]>) =>
      Effect.flatMap(TableSourceClient, ({ listPage }) => listPage({ table: "Objects", view: null })).pipe(
        Effect.provide(client),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(environment))),
        Effect.provide(Layer.merge(production, RequestPacingMemory.layer))
      )
    yield* fetched([
      ["BASE", "appEnvironment"],
      ["KEY", token]
    ])
    const { headers, url } = yield* Queue.take(server.received)
    expect(url).toMatch(/^\/v0\/appEnvironment\/Objects/)
    expect(headers.authorization).toBe(`Bearer ${token}`)
    expect(Either.isLeft(yield* Effect.either(fetched([["BASE", "appEnvironment"]])))).toBe(true)
  })
)

tableSourceClientContract(
  "AirtableClient",
  ({ pageSize }) =>
    Effect.gen(function* () {
      const tables = new Map<string, ReadonlyArray<TableRecord>>()
      const removedViews = new Set<string | null>()
      let iterators = 0
      let expired = 0
      const server = yield* ScriptedServer.make((response, request) => {
        const url = new URL(request.url, "http://localhost")
        const [, , , table = "", recordId] = url.pathname.split("/").map(decodeURIComponent)
        const names = url.searchParams.getAll("fields[]")
        const records = tables.get(table)
        const record = records?.find(({ id }) => id === recordId)
        const [iterator, start] = (url.searchParams.get("offset") ?? `itr${iterators++}/0`).split("/")
        if (records === undefined) {
          json(403, { error: { type: "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND" } })(response, request)
        } else if (recordId !== undefined) {
          json(record === undefined ? 404 : 200, record ?? { error: "NOT_FOUND" })(response, request)
        } else if (removedViews.has(url.searchParams.get("view"))) {
          json(422, { error: { type: "VIEW_NAME_NOT_FOUND" } })(response, request)
        } else if (Number(iterator?.slice(3)) < expired) {
          json(422, { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" } })(response, request)
        } else if (names.some((name) => !records.some(({ fields }) => Object.hasOwn(fields, name)))) {
          json(422, { error: { type: "UNKNOWN_FIELD_NAME" } })(response, request)
        } else {
          const end = Number(start) + pageSize
          json(200, {
            records: records.slice(Number(start), end).map(({ fields, id }) => ({
              id,
              fields: names.length === 0 ? fields : Record.filter(fields, (_, name) => names.includes(name))
            })),
            ...(end < records.length ? { offset: `${iterator}/${end}` } : {})
          })(response, request)
        }
      })
      const environment = yield* Layer.build(Layer.merge(production, onlyPenalties))
      return {
        client: yield* Effect.provide(Effect.orDie(AirtableClient.make(options(server.url))), environment),
        setTable: (table, records) => Effect.sync(() => tables.set(table, records)),
        failNext: (error) => Effect.sync(() => server.next(refusing(error))),
        delayNext: (reason) => Effect.sync(() => server.next(json(reason === "failure" ? 503 : 429, {}))),
        removeView: (view) => Effect.sync(() => removedViews.add(view)),
        expireCursors: Effect.sync(() => {
          expired = iterators
        })
      }
    }),
  { waits: { failure: 1000, penalty: 30_000 } }
)
