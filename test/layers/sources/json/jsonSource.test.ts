import * as HttpClient from "@effect/platform/HttpClient"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import type { JsonDocument, JsonSourceConfig } from "../../../../src/layers/sources/json/JsonSourceOptions.ts"
import { jsonSource } from "../../../../src/layers/sources/json/jsonSource.ts"
import { contentSourceContract } from "../../../../src/testing/contentSourceContract.ts"
import { reaching } from "../../../support/elsewhere.ts"
import { httpClient } from "../../../support/httpClientWithoutKeepAlive.ts"
import { openSource } from "../../../support/openSource.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { textsOf } from "../../../support/warnings.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)
const run = Effect.provide(environment)

type Config = Omit<JsonSourceConfig, "id">

const setUp = (config: Config) => openSource(jsonSource({ id: "museum", ...config }))

const failure = (config: Config) =>
  Effect.flatMap(setUp(config), ({ fetch }) => Effect.map(Effect.flip(fetch()), ({ message }) => message))

const issues = (documents: unknown) =>
  jsonSource({ id: "museum", documents } as never).issues.map(({ message, path }) => `${path}: ${message}`)

describe("a source of JSON at URLs", () => {
  it.scopedLive("saves a response unchanged, and a list inside of a response", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make((response, request) =>
        ScriptedServer.json(
          200,
          request.url === "/settings" ? { title: "Museum" } : { data: { items: [{ id: 2 }, { id: 1 }] } }
        )(response, request)
      )
      const { fetch } = yield* setUp({
        documents: {
          settings: `${server.url}/settings`,
          events: { url: `${server.url}/events?token=secret`, items: "data.items", key: ["id", "locale"] }
        }
      })
      const { read, ...fetched } = yield* fetch()
      expect(fetched).toMatchObject({
        records: 2,
        values: 1,
        documents: {
          "settings.json": { url: `${server.url}/settings` },
          "events.json": { url: `${server.url}/events`, key: ["id", "locale"] }
        }
      })
      expect(yield* read("settings")).toEqual({ title: "Museum" })
      expect(yield* read("events")).toEqual([{ id: 2 }, { id: 1 }])
    }).pipe(run)
  )

  it.scopedLive("saves the rows of CSV as records", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(
        ScriptedServer.text(200, '\ufeffid,title\r\n1,"Opening, in May"\r\n', { "content-type": "text/csv" })
      )
      const { fetch } = yield* setUp({ documents: { events: { url: server.url, as: "csv" } } })
      const { read } = yield* fetch()
      expect(yield* read("events")).toEqual([{ id: "1", title: "Opening, in May" }])
    }).pipe(run)
  )

  it.scopedLive("sends its headers with the request for each page, and keeps the other parameters", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.json(200, []))
      server.next(ScriptedServer.json(200, [{ id: 1 }]))
      const { fetch } = yield* setUp({
        documents: {
          events: {
            url: `${server.url}/events?_fields=id,title&limit=5`,
            headers: { "X-Api-Key": Redacted.make("secret") },
            page: "page[number]"
          }
        }
      })
      yield* fetch()
      const asked = Chunk.toReadonlyArray(yield* Queue.takeAll(server.received))
      expect(asked.map(({ url }) => url)).toEqual([
        "/events?_fields=id,title&limit=5",
        "/events?_fields=id,title&limit=5&page%5Bnumber%5D=2"
      ])
      expect(asked.map(({ headers }) => headers["x-api-key"])).toEqual(["secret", "secret"])
    }).pipe(run)
  )

  it.scopedLive("follows a link to another protocol or port of its host at its own", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.json(200, { records: [{ id: 2 }], next: "" }))
      server.next(
        ScriptedServer.json(200, { records: [{ id: 1 }], next: "https://127.0.0.1:9/events?page=2" })
      )
      const { fetch } = yield* setUp({
        documents: { events: { url: `${server.url}/events`, items: "records", next: "next" } }
      })
      const { read } = yield* fetch()
      expect(yield* read("events")).toEqual([{ id: 1 }, { id: 2 }])
    }).pipe(run)
  )

  it.scopedLive("does not transfer unchanged pages again", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make((response, request) => {
        if (request.headers["if-none-match"] === '"1"') response.writeHead(304).end()
        else
          ScriptedServer.json(200, request.url.includes("page=2") ? [] : [{ id: 1 }], { etag: '"1"' })(
            response,
            request
          )
      })
      const { fetch } = yield* setUp({ documents: { events: { url: server.url, page: "page" } } })
      const first = yield* fetch()
      yield* Queue.takeAll(server.received)
      expect((yield* fetch()).fingerprint).toBe(first.fingerprint)
      const asked = Chunk.toReadonlyArray(yield* Queue.takeAll(server.received))
      expect(asked.map(({ headers }) => headers["if-none-match"])).toEqual(['"1"', '"1"'])
    }).pipe(run)
  )

  it.scopedLive.each<readonly [string, Partial<JsonDocument>]>([
    ["a whole answer", {}],
    ["a list", { items: "data.objects" }],
    ["a list in pages", { items: "data.objects", next: "data.next" }]
  ])("warns of the errors of GraphQL beside the data of %s, without their texts", ([, options]) =>
    Effect.gen(function* () {
      const objects = [
        { id: 1, text: "x" },
        { id: 2, text: null }
      ]
      const errors = [{ message: "secret", path: ["objects", 1, "text"] }, { message: "secret" }]
      const server = yield* ScriptedServer.make(
        ScriptedServer.json(200, { data: { objects, next: null }, errors })
      )
      const { fetch } = yield* setUp({ documents: { objects: { url: server.url, ...options } } })
      expect(textsOf((yield* fetch()).warnings)).toEqual([
        expect.stringMatching(
          /^Document "objects".*: the server reports 2 errors beside its data \(objects\.1\.text\): a part may be missing$/
        )
      ])
    }).pipe(run)
  )

  it.scopedLive("has no warning about errors that are not those of GraphQL", () =>
    Effect.gen(function* () {
      const errors = [{ sys: { id: "notResolvable", type: "error" } }]
      const server = yield* ScriptedServer.make(
        ScriptedServer.json(200, { items: [{ id: 1 }], data: [{ id: 1 }], errors })
      )
      const { fetch } = yield* setUp({ documents: { objects: { url: server.url, items: "items" } } })
      expect(textsOf((yield* fetch()).warnings)).toBeUndefined()
    }).pipe(run)
  )

  const page = { page: 1, nextPage: 2 }
  it.scopedLive.each<readonly [string, Partial<JsonDocument>, object]>([
    ["a misspelled path", { next: "meta.next", cursor: "page" }, { meta: page }],
    ["a path that begins elsewhere", { next: "nextPage", cursor: "page" }, { meta: page }],
    ["a Link header that is not sent", { next: "link" }, { meta: { next: "/objects?page=2" } }],
    ["nothing", {}, { meta: { pagination: page } }],
    ["nothing, and a link of HAL", {}, { _links: { next: { href: "/objects?page=2" } } }]
  ])("warns that only the first page is read if the next page is asked for by %s", ([, options, json]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.json(200, { data: [{ id: 1 }], ...json }))
      const warningsOf = (more: Partial<JsonDocument>) =>
        Effect.gen(function* () {
          const url = `${server.url}/objects`
          const { fetch } = yield* setUp({
            documents: { objects: { url, items: "data", ...options, ...more } }
          })
          return textsOf((yield* fetch()).warnings)
        })
      expect(yield* warningsOf({})).toEqual([
        expect.stringMatching(
          /^Document "objects".*: 1 record, and the server states that there is another page\. "next"/
        )
      ])
      expect(yield* warningsOf({ total: false })).toBeUndefined()
    }).pipe(run)
  )

  it.scopedLive.each<readonly [string, Partial<JsonDocument>, object]>([
    ["null", {}, { meta: { next: null } }],
    ["empty", {}, { next: "" }],
    ["absent", { next: "meta.next" }, { meta: { page: 1 } }]
  ])("has no warning about a single page whose next page is %s", ([, options, json]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.json(200, { data: [{ id: 1 }], ...json }))
      const { fetch } = yield* setUp({
        documents: { objects: { url: server.url, items: "data", ...options } }
      })
      expect(textsOf((yield* fetch()).warnings)).toBeUndefined()
    }).pipe(run)
  )

  it.scopedLive.each(["json", "csv"] as const)("warns of letters that were lost in %s", (as) =>
    Effect.gen(function* () {
      const rows = as === "csv" ? "id,title\n1,M\ufffdller\n2,GrÃ¶ÃŸe\n" : '["M\ufffdller",\n"GrÃ¶ÃŸe"]'
      const server = yield* ScriptedServer.make(ScriptedServer.text(200, rows))
      const { fetch } = yield* setUp({ documents: { events: { url: server.url, as } } })
      expect(textsOf((yield* fetch()).warnings)).toEqual([
        expect.stringMatching(/^Document "events", .*: has "\ufffd"/),
        expect.stringMatching(/^Document "events", .*: has "Ã¶"/)
      ])
    }).pipe(run)
  )
})

it.scopedLive("lost letters on many pages of a list are one warning of a JSON source", () =>
  Effect.gen(function* () {
    const server = yield* ScriptedServer.make((response, request) => {
      const page = Number(new URL(request.url, "http://a").searchParams.get("page") ?? 1)
      return ScriptedServer.json(200, page > 3 ? [] : [{ id: page, title: "M\ufffdller" }])(response, request)
    })
    const { fetch } = yield* setUp({ documents: { events: { url: server.url, page: "page" } } })
    expect(textsOf((yield* fetch()).warnings)).toEqual([expect.stringMatching(/has "\ufffd"/)])
  }).pipe(run)
)

describe("a list of a JSON source that becomes an error", () => {
  const list = [{ id: 1, title: "Bell" }]

  const next = (document: object, first: unknown, second: unknown, config: Partial<Config> = {}) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make((response) => response.end())
      const answer = (body: unknown) =>
        ScriptedServer.text(200, typeof body === "string" ? body : JSON.stringify(body))
      server.next(answer(first), answer(second))
      const documents = { events: { url: server.url, ...document } }
      const opened = setUp({ documents, ...config })
      const before = yield* Effect.flatMap(opened, ({ fetch }) => fetch())
      // After a restart.
      const { fetch } = yield* opened
      return yield* Effect.match(fetch(before), {
        onFailure: ({ message }) => message,
        onSuccess: () => "saved"
      })
    })

  it.scopedLive.each<readonly [string, object, unknown, unknown, RegExp]>([
    [
      "an object",
      {},
      list,
      { success: false, cause: "Key throttle" },
      /was a list before, and is no list now: \{"success":false,"cause":"Key throttle"\}\. .*another name/
    ],
    ["a text", {}, list, '"Over limit"', /was a list before, and is no list now: "Over limit"/],
    [
      "no items, and no success",
      { items: "data" },
      { success: true, data: list },
      { success: false, cause: "Key throttle", data: [] },
      /"items": "data" is empty, and the server reports an error: \{"success":false,"cause":"Key throttle"/
    ],
    [
      "no items, and the status of an error",
      { items: "data" },
      { status: "ok", data: list },
      { status: "error", message: "Rate limit exceeded", data: [] },
      /"items": "data" is empty, and the server reports an error: .*Rate limit exceeded/
    ],
    [
      "one line in the place of CSV",
      { as: "csv" },
      "id,title\n1,Bell\n",
      "ERROR! Over request limit\n",
      /it is one line, without a column of the version before: ERROR! Over request limit$/
    ]
  ])("is refused with the words of the server: %s", ([, document, first, second, message]) =>
    Effect.gen(function* () {
      expect(yield* next(document, first, second)).toMatch(message)
    }).pipe(run)
  )

  it.scopedLive.each<readonly [string, object, unknown, unknown, Partial<Config>?]>([
    ["a document that was never a list", {}, { success: true }, { success: false, cause: "Key throttle" }],
    ["a value that becomes a list", {}, { title: "Museum" }, list],
    ["a list that becomes empty", {}, list, []],
    ["items that become none", { items: "data" }, { status: "ok", data: list }, { status: "ok", data: [] }],
    ["CSV with nothing but its columns", { as: "csv" }, "id,title\n1,Bell\n", "id,name\n"],
    ["a list that steps make of an answer", {}, { a: list }, { a: [] }, { steps: [() => list] }]
  ])("is no error: %s", ([, document, first, second, config]) =>
    Effect.gen(function* () {
      expect(yield* next(document, first, second, config)).toBe("saved")
    }).pipe(run)
  )
})

describe("an error of a JSON source", () => {
  const mistakes: ReadonlyArray<{
    readonly what: string
    readonly answers: ReadonlyArray<unknown>
    readonly document: object
    readonly message: RegExp
  }> = [
    {
      what: "a path that is not there",
      answers: [{ data: [], meta: {} }],
      document: { items: "posts" },
      message:
        /^Source "museum": Document "events": "items": "posts" is not in the answer; it has: data, meta$/
    },
    {
      what: "a path that ends early",
      answers: [{ data: { articles: [] } }],
      document: { items: "data.posts", page: "page" },
      message: /page 1: "items": "data.posts" is not in the answer; its "data" has: articles$/
    },
    {
      what: "a path to no list",
      answers: [{ data: { 1: {}, 2: {} } }],
      document: { items: "data" },
      message: /"items": "data" is no list; its "data" has: 1, 2$/
    },
    {
      what: "an answer that is no list",
      answers: [{ code: "rest_no_route", message: "no" }],
      document: { page: "page" },
      message: /page 1: the answer is no list: it has: code, message. "items" is the path to its list$/
    },
    {
      what: "another host for the next page",
      answers: [{ items: [], next: "http://elsewhere.example/?page=2" }],
      document: { items: "items", next: "next" },
      message: /page 1: the next page is on another host, elsewhere\.example: .*"page" or "offset"/
    },
    {
      what: "an object in the place of the next page",
      answers: [{ items: [], next: { href: "/2" } }],
      document: { items: "items", next: "next" },
      message: /page 1: "next": "next" is neither a text nor a number$/
    },
    {
      what: "a parameter that the server does not know",
      answers: [],
      document: { page: "pge" },
      message: /page 4: it has the records of page 1 again. Does the server know the parameter "pge"\?$/
    },
    {
      what: "a path to the next page in a list",
      answers: [[{ id: 1 }, { id: 2 }]],
      document: { next: "links.next" },
      message: /page 1: "next": "links\.next" can be in no answer that is a list; it is a list of 2 items$/
    }
  ]

  it.scopedLive.each(mistakes)("is reported with its place: $what", ({ answers, document, message }) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.json(200, [{ id: 1 }]))
      server.next(...answers.map((answer) => ScriptedServer.json(200, answer)))
      expect(yield* failure({ documents: { events: { url: server.url, ...document } } })).toMatch(message)
    }).pipe(run)
  )

  it.scopedLive("is reported if a server refuses, without query and headers", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.text(401, "secret"))
      const url = `${server.url}/events`
      const headers = { Authorization: "Bearer secret" }
      expect(yield* failure({ documents: { events: { url: `${url}?token=secret`, headers } } })).toBe(
        `Source "museum": Document "events": ${url}: the server responds with HTTP 401; "headers" may need a credential`
      )
    }).pipe(run)
  )

  it.scopedLive.each<readonly [location: string, reason: string]>([
    ["http://127.0.0.1:1/latest", "127.0.0.1 is an address of this machine"],
    ["http://169.254.169.254/latest/meta-data", "169.254.169.254 is an address of a cloud's metadata service"]
  ])("is reported if a server on another machine redirects to %s", ([location, reason]) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.text(302, "", { location }))
      const url = "http://192.0.2.1"
      const message = yield* failure({ documents: { events: { url: `${url}/events` } } }).pipe(
        Effect.provideServiceEffect(HttpClient.HttpClient, reaching({ [url]: server.url }))
      )
      expect(message).toContain(`: its link or a redirect leads to ${new URL(location).origin}, but `)
      expect(message).toContain(reason)
    }).pipe(run)
  )

  it.scopedLive("is reported if the configuration or a local redirect leads to a metadata service", () =>
    Effect.gen(function* () {
      const url = "http://[::ffff:169.254.169.254]/"
      const server = yield* ScriptedServer.make(ScriptedServer.text(302, "", { location: url }))
      for (const named of [url, server.url]) {
        expect(yield* failure({ documents: { events: { url: named } } })).toContain(
          "::ffff:a9fe:a9fe is an address of a cloud's metadata service, which is never asked"
        )
      }
    }).pipe(run)
  )

  it.scopedLive("is reported if a redirect leads to a server that does not get the headers", () =>
    Effect.gen(function* () {
      const other = yield* ScriptedServer.make(ScriptedServer.text(401, "who asks?"))
      const server = yield* ScriptedServer.make(
        ScriptedServer.text(301, "", { location: `${other.url}/events` })
      )
      const headers = { Authorization: "Bearer secret" }
      expect(yield* failure({ documents: { events: { url: `${server.url}/events`, headers } } })).toBe(
        `Source "museum": Document "events": ${other.url}/events: the server responds with HTTP 401; ${server.url} redirects to ${other.url}, which is not sent "headers": write that into "url"`
      )
    }).pipe(run)
  )

  it.scopedLive.each([
    {
      says: { code: "rest_invalid_param", message: "Invalid parameter(s):\nper_page" },
      words: ': "Invalid parameter(s): per_page"'
    },
    { says: { message: "key 0123456789 is wrong" }, words: ': "key <apiKey> is wrong"' },
    { says: { message: "Bearer abcdefgh is wrong" }, words: ': "Bearer <apiKey> is wrong"' },
    { says: ["message"], words: "" }
  ])("is reported in the words of the server, without secrets: $says", ({ says, words }) =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make(ScriptedServer.json(400, says))
      const url = `${server.url}/events`
      const headers = { Authorization: "Bearer abcdefgh" }
      expect(
        yield* failure({ documents: { events: { url: `${url}?per_page=1000&key=0123456789`, headers } } })
      ).toBe(`Source "museum": Document "events": ${url}: the server responds with HTTP 400${words}`)
    }).pipe(run)
  )

  it.scopedLive("is reported if a document is too large, with the option for it", () =>
    Effect.gen(function* () {
      const part = Buffer.alloc(1024 * 1024, " ")
      const server = yield* ScriptedServer.make((response) => {
        const write = () => {
          while (!response.destroyed && response.write(part)) {}
        }
        response.writeHead(200).on("drain", write)
        write()
      })
      const before = process.memoryUsage().rss
      expect(yield* failure({ documents: { events: server.url } })).toMatch(
        /gave more than 32\.0 MiB \("maxBytes"\)$/
      )
      expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 ** 2)
    }).pipe(run)
  )
})

describe("the options of a source of JSON", () => {
  const url = "https://museum.example/events"

  it("may be a URL or an object", () => {
    expect(
      issues({ a: url, b: { url, next: "@odata.nextLink" }, c: { url: `${url}?n=5`, page: "p", size: "n" } })
    ).toEqual([])
  })

  it.each<[unknown, string]>([
    [{}, "documents: expected at least one document"],
    [
      { a: "ftp://museum.example" },
      'documents.a.url: expected an http or https URL, without credentials (those go into "headers")'
    ],
    [{ a: 1 }, 'documents.a: expected a URL, or an object with "url", got 1'],
    [
      { a: { url, key: ["id", " "] } },
      'documents.a.key: expected a field such as "id", or an array of fields'
    ],
    [{ a: { url, itmes: "a" } }, "documents.a.itmes: there is no such key; known are: "],
    [
      { a: { url, headers: { authorization: "a\nb" } } },
      "documents.a.headers.authorization: expected the text of a header, in one line"
    ],
    [
      { a: { url, headers: { "a b": "c" } } },
      'documents.a.headers.a b: expected the name of a header, such as "Authorization"'
    ],
    [
      { a: { url, items: "a..b" } },
      'documents.a.items: expected a path with dots, such as "data.items", got "a..b"'
    ],
    [{ a: { url, cursor: "c" } }, 'documents.a.cursor: needs the path to a token, as in next: "meta.cursor"'],
    [
      { a: { url, page: "p", next: "link" } },
      'documents.a.page: expected one of "next", "page" and "offset"'
    ],
    [
      { a: { url, page: "p", offset: "o" } },
      'documents.a.offset: expected one of "next", "page" and "offset"'
    ],
    [{ a: { url: `${url}?p=x`, page: "p" } }, 'documents.a.page: expected a number for "p" in "url"'],
    [
      { a: { url, page: "p", size: "n" } },
      'documents.a.size: expected a number for "n" in "url", as in "?n=100"'
    ],
    [{ a: { url, total: "n" } }, 'documents.a.total: needs "next", "page" or "offset"'],
    [{ a: { url, as: "csv", items: "n" } }, "documents.a.items: CSV has no paths: leave it out"]
  ])("are checked: %j", (documents, message) => {
    expect(issues(documents).join("\n")).toContain(message)
    expect(issues(documents)).toHaveLength(1)
  })
})

contentSourceContract(
  "a source of JSON at URLs",
  Effect.gen(function* () {
    let revision = 1
    const server = yield* ScriptedServer.make((response, request) =>
      ScriptedServer.json(200, request.url.includes("page=2") ? [] : [{ id: 1, revision }])(response, request)
    )
    const definition = jsonSource({ id: "museum", documents: { events: { url: server.url, page: "page" } } })
    const withoutKeepAlive = yield* Layer.build(Layer.mergeAll(environment, httpClient))
    const source = yield* Effect.provide(definition.make, withoutKeepAlive)
    return { source, edit: Effect.sync(() => void revision++) }
  })
)
