import type * as HttpClient from "@effect/platform/HttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import * as AirtableClient from "../../../../src/layers/sources/tables/AirtableClient.ts"
import type { Pages } from "../../../../src/layers/sources/tables/tableDocuments.ts"
import { RequestPacing } from "../../../../src/services/RequestPacing.ts"
import { type TableRecord, TableSourceClient } from "../../../../src/services/TableSourceClient.ts"
import { records } from "../../../../src/testing/tableSourceClientContract.ts"
import { withAdvancingClock } from "../../../../src/testing.ts"
import { atTheSameTime, outcome, timed } from "../../../support/outcomes.ts"
import { readTable } from "../../../support/readTable.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import {
  hangUp,
  holding,
  json,
  ok,
  raw,
  silence,
  stalledBody,
  text
} from "../../../support/ScriptedServer.ts"

const atOnce = { requests: 1, took: 0 }

const list = { table: "Objects", view: null }

const unpaced = Layer.succeed(RequestPacing, {
  pacer: () => Effect.succeed({ take: Effect.void, hold: () => Effect.void })
})

const makeClient = (
  endpointUrl: string,
  environment: Layer.Layer<HttpClient.HttpClient | RequestPacing> = Layer.merge(
    httpClient.layer,
    RequestPacingMemory.layer
  ),
  apiKey = "pat.secret"
) =>
  Effect.flatMap(Layer.build(environment), (environment) =>
    AirtableClient.make({
      endpointUrl,
      baseId: "app1",
      apiKey: Redacted.make(apiKey),
      maxTimeout: 60_000
    }).pipe(Effect.provide(environment))
  )

/** The outcome of one request to such a server. */
const asking = (answer: ScriptedServer.Answer) =>
  Effect.gen(function* () {
    const server = yield* ScriptedServer.make(answer)
    const client = yield* makeClient(server.url)
    return { ...(yield* timed(client.listPage(list))), requests: yield* Queue.size(server.received) }
  })

const page = JSON.stringify({ records: records(1) })

const nested = `${"[".repeat(100_000)}${"]".repeat(100_000)}`

it.scopedLive("keeps the digits of numbers in cells as text", () =>
  Effect.gen(function* () {
    const body = '{"records":[{"id":"rec1","fields":{"Nr":12345678901234567890,"Price":12.50}}]}'
    const server = yield* ScriptedServer.make(text(200, body))
    const client = yield* makeClient(server.url)
    expect(yield* client.listPage(list)).toEqual({
      records: [{ id: "rec1", fields: { Nr: "12345678901234567890", Price: 12.5 } }]
    })
  })
)

describe("a malformed response", () => {
  const cases = [
    ["more than was said", raw(ok("content-length: 9\r\n", page)), "UnexpectedAnswer", atOnce, "no JSON"],
    ["a body cut off unseen", raw(ok("", page.slice(0, 20))), "UnexpectedAnswer", atOnce, "no JSON"],
    ["no content", text(204, ""), "UnexpectedAnswer", atOnce, "no JSON"],
    ["half the content", text(206, page.slice(0, 20)), "UnexpectedAnswer", atOnce, "no JSON"],
    ["a redirect to nowhere", text(304, ""), "UnexpectedAnswer", atOnce, "HTTP 304"],
    [
      "a web page",
      text(200, "<title>Sign in</title>"),
      "UnexpectedAnswer",
      atOnce,
      "the answer is no JSON: Sign in"
    ],
    ["records nested deep", text(200, `{"records":${nested}}`), "UnexpectedAnswer", atOnce, "records.0"],
    [
      "an offset nested deep",
      text(200, `{"records":[],"offset":${nested}}`),
      "UnexpectedAnswer",
      atOnce,
      "offset"
    ],
    ["an error nested deep", text(422, `{"error":${nested}}`), "Refused", atOnce, "HTTP 422"],
    [
      "a penalty without end",
      holding((response) => response.writeHead(429).write("{")),
      "RateLimited",
      { requests: 4, took: 3 * 35_000 + 5000 },
      "HTTP 429"
    ]
  ] satisfies ReadonlyArray<
    readonly [string, ScriptedServer.Answer, string, { requests: number; took: number }, string]
  >

  it.scoped("is a typed error after the expected number of requests and time", () =>
    Effect.gen(function* () {
      const all = yield* atTheSameTime(cases, ([, answer]) => asking(answer))
      expect(all).toHaveLength(cases.length)
      for (const [[name, , reason, bounds, words], { answer, requests, took }] of all) {
        expect({ name, answer, requests, took }).toMatchObject({
          name,
          answer: { _tag: "vitrine/TableError", reason },
          ...bounds
        })
        expect(`${name}: ${answer}`).toContain(words)
      }
    })
  )

  const pages = [
    ["a byte order mark", text(200, `\ufeff${page}`)],
    ["keys that mean something in JavaScript", text(200, page.replace("{", '{"__proto__":{"offset":"x"},'))]
  ] as const

  it.scoped("is accepted if the page in it can be read", () =>
    Effect.gen(function* () {
      for (const [[name], outcome] of yield* atTheSameTime(pages, ([, answer]) => asking(answer))) {
        expect({ name, ...outcome }).toEqual({ name, answer: { records: records(1) }, ...atOnce })
      }
    })
  )
})

describe("a server that limits requests", () => {
  const pauses = [
    { retryAfter: "60", pause: 60_000 },
    { retryAfter: "5", pause: 30_000 },
    { retryAfter: "86400", pause: 300_000 },
    { retryAfter: "soon", pause: 30_000 }
  ]

  it.scoped("gets no request for 30 seconds after HTTP 429, or longer if Retry-After says so", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2030, 0, 1))
      const all = yield* atTheSameTime(pauses, ({ retryAfter }) => {
        let requests = 0
        return asking((response, request) =>
          requests++ === 0
            ? text(429, "", { "retry-after": retryAfter })(response, request)
            : text(200, page)(response, request)
        )
      })
      for (const [{ pause, ...asked }, outcome] of all) {
        expect({ ...asked, ...outcome }).toEqual({
          ...asked,
          answer: { records: records(1) },
          requests: 2,
          took: pause
        })
      }
    })
  )

  it.scoped("pauses requests for the whole base with HTTP 429, and none for other bases", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(text(200, page))
      const environment = Layer.succeedContext(
        yield* Layer.build(Layer.merge(httpClient.layer, RequestPacingMemory.layer))
      )
      const client = yield* makeClient(server.url, environment)
      const other = yield* makeClient(`${server.url}/other`, environment)
      server.next(json(429, {}))
      const penalised = yield* Effect.fork(client.listPage(list))
      yield* Queue.take(server.received)
      const starts: Array<readonly [string, number]> = []
      const noting = <A, E>(name: string, effect: Effect.Effect<A, E>) =>
        Effect.zipRight(
          effect,
          Effect.map(Clock.currentTimeMillis, (now) => starts.push([name, now]))
        )
      yield* withAdvancingClock(
        Effect.all(
          [
            noting("penalised", Fiber.join(penalised)),
            noting("table", client.listPage({ ...list, table: "Rooms" })),
            noting("record", Effect.ignore(client.readRecord({ table: "Rooms", recordId: "rec0" }))),
            noting("other base", other.listPage(list))
          ],
          { concurrency: "unbounded" }
        )
      )
      expect(Object.fromEntries(starts)).toEqual({
        "other base": 0,
        table: 30_000,
        record: 30_215,
        penalised: 30_430
      })
    })
  )

  it.scoped("gets at most sixteen requests in 75 minutes if it alternates HTTP 503 and 429", () =>
    Effect.gen(function* () {
      let requests = 0
      const { value } = yield* withAdvancingClock(
        asking((response, request) =>
          text(++requests % 4 === 0 ? 429 : 503, "", { "retry-after": "86400" })(response, request)
        )
      )
      const { answer, ...bounds } = value
      expect(answer).toMatchObject({ _tag: "vitrine/TableError", reason: "RateLimited" })
      expect(bounds).toEqual({ requests: 16, took: 15 * 300_000 })
    })
  )
})

describe("a list", () => {
  const collect = (pages: Pages) => Stream.runFold(pages, records(0), (all, page) => [...all, ...page])

  /** The result of reading a whole list; the n-th response is `answer` of n and the offset. */
  const reading = (answer: (request: number, offset: string | null) => readonly [number, object]) =>
    Effect.gen(function* () {
      let requests = 0
      const server = yield* ScriptedServer.make((response, request) => {
        const offset = new URL(request.url, "http://localhost").searchParams.get("offset")
        json(...answer(requests++, offset))(response, request)
      })
      const client = yield* makeClient(server.url, Layer.merge(httpClient.layer, unpaced))
      const read = readTable(list, collect).pipe(Effect.provideService(TableSourceClient, client))
      return { ...(yield* outcome(read)), requests }
    })

  const expired = [422, { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" } }] as const

  const of = (records: ReadonlyArray<TableRecord>, offset?: unknown) => [200, { records, offset }] as const

  const [first, second, third] = records(3).map((record) => [record])

  it.scoped("continues at any offset", () =>
    Effect.gen(function* () {
      const odd = ["/+=&", "a b%2F#?", "ü€𝄞", "__proto__", "0", "../../.."]
      const offsets: Array<string | null> = []
      const read = yield* reading((request, offset) => {
        offsets.push(offset)
        return of(records(10).slice(request, request + 1), odd[request])
      })
      expect(read).toEqual({ answer: records(7), requests: 7, took: 0 })
      expect(offsets).toEqual([null, ...odd])
    })
  )

  it.scoped.each([
    [
      "that is forgotten at its first page",
      () => expired,
      { answer: { _tag: "vitrine/ListChanged" }, requests: 4, took: 0 }
    ],
    [
      "that has no new records",
      (request: number) => of([], `itr${request}`),
      { answer: { _tag: "vitrine/TableError", reason: "UnexpectedAnswer" }, requests: 100, took: 0 }
    ]
  ] as const)("%s is an error", ([, answer, outcome]) =>
    Effect.gen(function* () {
      expect(yield* reading(answer)).toMatchObject(outcome)
    })
  )

  it.scoped("is complete even if every kind of failure happens between its pages", () =>
    Effect.gen(function* () {
      const faults = [
        hangUp,
        holding(silence),
        holding(stalledBody),
        json(500, {}),
        json(502, {}),
        json(503, {}),
        json(429, {})
      ]
      const server = yield* ScriptedServer.make(json(...of(third ?? [])))
      const pages = faults.map((_, index) => json(...of(index === 0 ? (second ?? []) : [], `itr${index}`)))
      server.next(
        json(...of(first ?? [], "itr")),
        ...faults.flatMap((fault, index) => [fault, ...pages.slice(index, index + 1)])
      )
      const client = yield* makeClient(server.url)
      const read = readTable(list, collect).pipe(Effect.provideService(TableSourceClient, client))
      const { took, value } = yield* withAdvancingClock(read)
      expect(value).toEqual(records(3))
      expect(yield* Queue.size(server.received)).toBe(2 + 2 * faults.length)
      // Two timeouts, six pauses and a penalty, and the pace of the requests between them.
      expect(took).toBeGreaterThanOrEqual(2 * 60_000 + 6000 + 30_000)
      expect(took).toBeLessThan(2 * 60_000 + 6000 + 30_000 + 16 * 215)
    })
  )
})

describe("the API key", () => {
  /** With a quote and a slash, so that all its forms differ. */
  const apiKey = 'pat"12/3.TopSecret'

  it.scoped.each([
    ["HTTP 404", json(404, {})],
    ["another record", json(200, { id: "rec1", fields: {} })]
  ] as const)("is in no message if it is given as the id of a record, and the response is %s", ([, answer]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(answer)
      const client = yield* makeClient(server.url, undefined, apiKey)
      const error = yield* Effect.flip(client.readRecord({ table: "Objects", recordId: apiKey }))
      expect(error.message).toContain("the record <apiKey>")
    })
  )

  it.scoped("is in no message if it is part of a host name", () =>
    Effect.gen(function* () {
      const apiKey = "patABC.TopSecret"
      const server = yield* ScriptedServer.make(text(302, "", { location: `http://${apiKey}.example/` }))
      const client = yield* makeClient(server.url, undefined, apiKey)
      const { message } = yield* Effect.flip(client.listPage(list))
      expect(message).toContain("redirects to http://<apiKey>.example, ")
    })
  )
})
