/**
 * Common behaviour of all requests: retries, redirects, limits, codings, encodings, and the cache.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as Requests from "../../../src/layers/httpClient/Requests.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { type Answer, text } from "../../support/ScriptedServer.ts"
import { scenarios } from "../../support/scenario.ts"
import { eventually, nextPause } from "../../support/waiting.ts"

const maxTimeout = 60_000

const setUp = Effect.gen(function* () {
  const server = yield* ScriptedServer.make(text(200, "12345"))
  const requests = yield* Requests.make({ maxBytes: 100, maxTimeout })
  const get = (headers?: Record<string, string>) => requests.get(`${server.url}/events?sig=1`, headers)
  return {
    server,
    requests,
    get,
    text: Effect.map(get(), ({ text }) => text),
    asked: (header: string) =>
      Effect.map(Queue.takeAll(server.received), (requests) =>
        [...requests].map(({ headers }) => headers[header])
      )
  }
})

const coded =
  (coding: string, body: Uint8Array | string, length = body.length): Answer =>
  (response) =>
    response.writeHead(200, { "content-encoding": coding, "content-length": length }).end(body)

const typed =
  (type: string, body: Uint8Array): Answer =>
  (response) =>
    response.writeHead(200, { "content-type": type }).end(body)

const run = Effect.provide(HttpClientNode.layer)

/** Tests by the clock of the machine, and by a test clock. */
const scenario = scenarios(HttpClientNode.layer, setUp, { isLive: true })
const timed = scenarios(HttpClientNode.layer, setUp)

describe("a response", () => {
  it.scopedLive.each<readonly [coding: string, body: Uint8Array | string]>([
    ["gzip", gzipSync("äöü")],
    ["GZIP", gzipSync("äöü")],
    ["x-gzip", gzipSync("äöü")],
    ["deflate", deflateSync("äöü")],
    ["deflate", deflateRawSync("äöü")],
    ["br", brotliCompressSync("äöü")],
    ["gzip, br", brotliCompressSync(gzipSync("äöü"))],
    ["UTF-8", "äöü"],
    ["none", "äöü"],
    ["Identity", "äöü"],
    ["utf-8, gzip", gzipSync("äöü")],
    ["constructor", "äöü"]
  ])("is decompressed, and an unknown coding is ignored: %s", ([coding, body]) =>
    Effect.gen(function* () {
      const { asked, server, text } = yield* setUp
      server.next(coded(coding, body, Buffer.byteLength(body)))
      expect(yield* text).toBe("äöü")
      expect(yield* asked("accept-encoding")).toEqual(["gzip"])
    }).pipe(run)
  )

  it.scoped.each<readonly [name: string, answer: Answer]>([
    ["is cut", coded("gzip", gzipSync("12345").subarray(0, 15))],
    ["is none", coded("gzip", "12345")],
    [
      "does not fit its length",
      (response) => {
        response.writeHead(200, { "content-encoding": "gzip", "content-length": 100 })
        response.write(gzipSync("12345"), () => setImmediate(() => response.destroy()))
      }
    ]
  ])("is requested again without a coding where gzip %s", ([, answer]) =>
    Effect.gen(function* () {
      const { asked, server, text } = yield* setUp
      server.next(answer)
      expect((yield* withAdvancingClock(text)).value).toBe("12345")
      expect(yield* asked("accept-encoding")).toEqual(["gzip", "identity"])
    }).pipe(run)
  )

  timed("is refused if no response has the coding that it states", function* ({ server, text }) {
    server.next(...Array.from({ length: 4 }, () => coded("gzip", "12345")))
    const failing = yield* Effect.fork(Effect.flip(text))
    const isPause = Effect.zipWith(TestClock.sleeps(), Clock.currentTimeMillis, (sleeps, now) =>
      Chunk.some(sleeps, (end) => end < now + maxTimeout)
    )
    const hasFailed = Effect.map(Fiber.poll(failing), Option.isSome)
    // Only pauses pass. Node does not say that it decompresses, so that another clock would jump to the limit meanwhile.
    yield* Effect.iterate(false, {
      while: (isOver) => !isOver,
      body: () =>
        Effect.zipRight(
          eventually(Effect.zipWith(isPause, hasFailed, (isPause, isOver) => isPause || isOver)),
          Effect.tap(hasFailed, (isOver) => (isOver ? Effect.void : nextPause))
        )
    })
    const value = yield* Fiber.join(failing)
    expect(value.detail).toBe(
      `${server.url} sends a body that is not gzip, as its headers say: incorrect header check`
    )
  })

  scenario("is refused as text if it is gzip without a Content-Encoding", function* ({ server, text }) {
    server.next(typed("text/csv", gzipSync("id,name")))
    const { detail } = yield* Effect.flip(text)
    expect(detail).toContain(
      'sends a gzip file instead of text. Unpack the file on the server, or let the server send "Content-Encoding: gzip"'
    )
  })

  scenario("is refused in an unsupported coding", function* ({ server, text }) {
    server.next(coded("zstd", "12345"))
    const { detail } = yield* Effect.flip(text)
    expect(detail).toBe(`${server.url} sends the body compressed (zstd), which was not requested`)
  })

  scenario("has a limited size, compressed and decompressed", function* ({ asked, server, text: get }) {
    for (const answer of [
      text(200, "1".repeat(101)),
      coded("gzip", gzipSync("1".repeat(10_000))),
      coded("br", brotliCompressSync("1".repeat(10_000)))
    ]) {
      server.next(answer)
      const error = yield* Effect.flip(get)
      expect(error).toMatchObject({ _tag: "vitrine/RequestFailed", isTransient: false, reason: "Answer" })
      expect(error.message).toBe(`${server.url}/events: ${server.url} gave more than 100 bytes ("maxBytes")`)
    }
    expect(yield* asked("accept-encoding")).toHaveLength(3)
  })

  it.scopedLive.each<readonly [type: string, body: Uint8Array, text: string]>([
    ["text/csv", Buffer.from("Köln"), "Köln"],
    ["text/csv; charset=iso-8859-1", Buffer.from("Köln", "latin1"), "Köln"],
    ["text/csv; charset=iso-8859-1", Buffer.from("Köln"), "Köln"],
    ['text/csv; Charset="windows-1252"', Buffer.from([0x80]), "€"],
    ["text/csv; charset=ansi_x3.4-1968", Buffer.from([0x84, 0x96, 0x93]), "„–“"],
    ["text/csv; charset=US-ASCII", Buffer.from("Köln"), "Köln"],
    ["text/csv; charset=binary", Buffer.from("Köln"), "Köln"],
    ["text/csv; charset=windows-1251", Buffer.from([0xcf, 0xf0]), "Пр"],
    ["text/csv; charset=shift_jis", Buffer.from([0x83, 0x65]), "テ"],
    ["text/csv; charset=utf-8", Buffer.from("\ufeffKöln", "utf16le"), "Köln"],
    ["text/csv; charset=iso-8859-1", Buffer.from("\ufeffKöln"), "Köln"],
    ["text/csv", Buffer.from("\ufeff\ufeffKöln"), "Köln"],
    ["application/json", Buffer.from("\n\ufeff[]"), "[]"],
    ["text/csv", Buffer.from("Köln", "utf16le"), "Köln"],
    ["text/csv", Buffer.from("Köln", "utf16le").swap16(), "Köln"],
    ["text/csv; charset=utf-16", Buffer.from("Köln", "utf16le").swap16(), "Köln"]
  ])("is read in its charset: %s, %s", ([type, body, expected]) =>
    Effect.gen(function* () {
      const { server, text } = yield* setUp
      server.next(typed(type, body))
      expect(yield* text).toBe(expected)
    }).pipe(run)
  )

  scenario("that is not in its stated charset is an error", function* ({ server, text }) {
    for (const charset of ["utf-8", "binary"]) {
      server.next(typed(`text/csv; charset=${charset}`, Buffer.from("Köln", "latin1")))
      expect((yield* Effect.flip(text)).detail).toBe(
        `${server.url} sends text that is not in its declared or default encoding, ${charset}`
      )
    }
  })

  scenario("has headers of up to 64 KiB", function* ({ server, text: get }) {
    server.next(text(200, "large", { "x-large": "x".repeat(40_000) }))
    expect(yield* get).toBe("large")
    server.next(text(200, "larger", { "x-large": "x".repeat(70_000) }))
    expect((yield* Effect.flip(get)).detail).toBe(`the headers of ${server.url} have more than 64.0 KiB`)
  })

  scenario(
    "that says it is compressed 300 times is refused, in a short sentence",
    function* ({ get, server }) {
      server.next(coded(Array.from({ length: 300 }, () => "gzip").join(", "), "12345"))
      expect((yield* Effect.flip(get())).detail).toBe(
        `${server.url} sends the body compressed 300 times, more than 5`
      )
    }
  )

  scenario("that redirects to a name of 60,000 letters has a short error", function* ({ requests, server }) {
    server.next(text(302, "", { location: `http://${"x".repeat(60_000)}.example/` }))
    const error = yield* Effect.flip(requests.attempt({ url: server.url, follows: false }))
    expect(error.redirectsTo?.length).toBeLessThan(310)
  })

  scenario("has UTF-8 in its headers, and in the address of a redirect", function* ({ get, server }) {
    const inBytes = (text: string) => Buffer.from(text).toString("latin1")
    server.next(
      text(302, "", { location: inBytes("/Ausstellung/öffentlich") }),
      text(200, "", { link: inBytes("</ö>; rel=next"), "x-latin": "ö" })
    )
    const { headers, url } = yield* get()
    expect(decodeURI(url)).toBe(`${server.url}/Ausstellung/öffentlich`)
    expect(headers).toMatchObject({ link: "</ö>; rel=next", "x-latin": "ö" })
  })
})

describe("a request", () => {
  it.scoped.each([408, 425, 429, 500, 502, 503, 504])(
    "is retried after HTTP %d, which is transient",
    (status) =>
      Effect.gen(function* () {
        const { asked, server, text: get } = yield* setUp
        server.next(text(status, ""))
        expect((yield* withAdvancingClock(get)).value).toBe("12345")
        expect(yield* asked("accept-encoding")).toEqual(["gzip", "gzip"])
      }).pipe(run)
  )

  timed(
    "is retried while the server is not ready, if it only reads",
    function* ({ requests, server, text: get }) {
      server.next(text(202, "{}"), text(202, "{}"))
      expect((yield* withAdvancingClock(get)).value).toBe("12345")
      server.next(text(202, "accepted"))
      const { status } = yield* requests.ask({ url: server.url, body: "{}" })
      expect(status).toBe(202)
    }
  )

  timed(
    "is not retried after a permanent error, and at most three times",
    function* ({ asked, server, text: get }) {
      for (const status of [304, 400, 401, 404, 410, 451]) {
        server.next(text(status, ""))
        expect(yield* Effect.flip(get)).toMatchObject({ status, isTransient: false })
      }
      expect(yield* asked("host")).toHaveLength(6)
      server.next(...Array.from({ length: 4 }, () => text(503, "")))
      const { value } = yield* withAdvancingClock(Effect.flip(get))
      expect(value).toMatchObject({ status: 503, isTransient: true })
      expect(yield* asked("host")).toHaveLength(4)
    }
  )

  timed(
    "is retried after the time that the server asks for, up to 5 minutes",
    function* ({ server, text: get }) {
      server.next(text(503, "", { "retry-after": "100" }), text(429, "", { "retry-after": "86400" }))
      const { took } = yield* withAdvancingClock(get)
      expect(took).toBeGreaterThanOrEqual(400_000)
      expect(took).toBeLessThan(401_000)
    }
  )

  scenario(
    "is interrupted with its connection when a concurrent one fails",
    function* ({ requests, server }) {
      for (const answer of [ScriptedServer.silence, ScriptedServer.stalledBody]) {
        server.next(answer)
        const failing = Effect.flatMap(Queue.take(server.received), ({ closed }) => Effect.fail(closed))
        const both = [requests.ask({ url: server.url }), failing] as const
        const closed = yield* Effect.flip(Effect.all(both, { concurrency: "unbounded" }))
        yield* closed instanceof Requests.RequestFailed ? closed : Deferred.await(closed)
      }
    }
  )

  scenario(
    "follows redirects, with its credentials to the same origin only",
    function* ({ asked, get, server }) {
      const other = yield* ScriptedServer.make(text(200, "other"))
      server.next(text(307, "", { location: "/b" }), text(302, "", { location: `${other.url}/c` }))
      const headers = { authorization: "Bearer secret", "x-key": "secret-secret", accept: "text/csv" }
      expect(yield* get(headers)).toMatchObject({ text: "other", url: `${other.url}/c` })
      expect(yield* asked("authorization")).toEqual(["Bearer secret", "Bearer secret"])
      const { headers: given } = yield* Queue.take(other.received)
      expect(given).toMatchObject({ accept: "text/csv" })
      expect(given).not.toHaveProperty("authorization")
      expect(given).not.toHaveProperty("x-key")
    }
  )

  scenario(
    "closes the connection of a redirect with a large or endless body, and keeps the connection with a small body",
    function* ({ get, server }) {
      const redirect =
        (...parts: ReadonlyArray<string>): Answer =>
        (response) => {
          response.writeHead(302, { location: "/b" }).flushHeaders()
          for (const part of parts) response.write(part)
        }
      server.next(text(302, "Found.", { location: "/b" }))
      yield* get()
      const { closed: closesSmall } = yield* Queue.take(server.received)
      expect(yield* Deferred.isDone(closesSmall)).toBe(false)
      yield* Queue.takeAll(server.received)
      for (const answer of [redirect("x".repeat(1_000_000)), redirect("Found. "), redirect()]) {
        server.next(answer)
        expect((yield* get()).text).toBe("12345")
        const { closed } = yield* Queue.take(server.received)
        yield* Deferred.await(closed)
        yield* Queue.takeAll(server.received)
      }
    }
  )

  scenario(
    "is posted again if it is redirected, except after a 303, whose address is read",
    function* ({ requests, server }) {
      for (const [status, method] of [
        [307, "POST"],
        [303, "GET"]
      ] as const) {
        server.next(text(status, "", { location: "/done" }))
        yield* requests.ask({ url: server.url, body: "{}" })
        const asked = yield* Queue.takeAll(server.received)
        expect([...asked].map(({ headers, method }) => [method, headers["content-type"]])).toEqual([
          ["POST", "application/json"],
          [method, method === "POST" ? "application/json" : undefined]
        ])
      }
    }
  )

  it.scoped.each([
    ['{"message":"no such table"}', "no such table"],
    ['{"error":{"message":"no such table"}}', "no such table"],
    ['{"error":"no such table"}', "no such table"],
    ['{"detail":"no such table"}', "no such table"],
    ['{"error":"NOT_FOUND","message":"no such table"}', "no such table"]
  ] as const)("quotes what the server says of a failure: %s", ([body, words]) =>
    Effect.gen(function* () {
      const { requests, server } = yield* setUp
      server.next(text(404, body))
      const error = yield* Effect.flip(requests.attempt({ url: server.url }))
      expect(error.message).toContain(`HTTP 404: "${words}"`)
    }).pipe(run)
  )

  scenario(
    "has no secret in its errors, even if the server repeats it",
    function* ({ get, requests, server }) {
      const secret = "Pat4711.SecretOfTheMuseum"
      const headers = { authorization: `Bearer ${secret}` }
      for (const answer of [
        text(400, `{"message":"no ${secret}"}`),
        text(400, `{"error":{"message":"no ${Buffer.from(secret).toString("base64")}"}}`),
        text(401, `${secret.slice(0, 20)}`),
        text(302, "", { location: `http://${secret}.invalid/` }),
        text(302, "", { location: `/${encodeURIComponent(secret)}` }),
        text(200, "x", { "content-encoding": "zstd", "content-type": `text/${secret}` }),
        typed(`text/csv; charset=${secret}`, Buffer.from([0xff]))
      ]) {
        server.next(answer, text(404, secret.toUpperCase()))
        for (const error of [
          yield* Effect.flip(
            Effect.filterOrFail(requests.attempt({ url: server.url, headers }), () => false)
          ),
          yield* Effect.flip(Effect.filterOrFail(get(headers), () => false)).pipe(
            Effect.timeout("1 second"),
            Effect.option
          )
        ]) {
          expect(JSON.stringify(error).toLowerCase()).not.toContain(secret.slice(0, 12).toLowerCase())
        }
      }
    }
  )
})

describe("an unchanged response", () => {
  const yesterday = new Date(Date.now() - 86_400_000).toUTCString()
  const now = () => new Date().toUTCString()

  scenario("is not transferred again, and has the current headers", function* ({ get, server }) {
    server.next(
      text(200, "first", { etag: '"1"', link: "</2>; rel=next", "content-type": "text/csv" }),
      text(304, "", { etag: '"2"', link: "</3>; rel=next", "content-type": "text/html" }),
      text(304, "", { etag: '"2"' })
    )
    yield* get()
    expect(yield* get()).toMatchObject({
      text: "first",
      headers: { link: "</3>; rel=next", "content-type": "text/csv" }
    })
    expect((yield* get()).text).toBe("first")
  })

  scenario(
    "is requested with the ETag that came with it, not a later one",
    function* ({ asked, get, server }) {
      server.next(
        text(200, "first", { etag: '"1"' }),
        text(304, "", { etag: '"2"' }),
        text(200, "second", { etag: '"2"' })
      )
      yield* get()
      yield* get()
      expect((yield* get()).text).toBe("second")
      expect(yield* asked("if-none-match")).toEqual([undefined, '"1"', '"1"'])
    }
  )

  scenario(
    "is requested with its date if it has no ETag and the date is not in the same second",
    function* ({ asked, get, server }) {
      server.next(
        text(200, "a", { "last-modified": yesterday }),
        text(200, "b", { "last-modified": now() }),
        text(200, "c", { "last-modified": now(), etag: '"1"' }),
        text(200, "d", {})
      )
      for (const expected of ["a", "b", "c", "d", "12345"]) expect((yield* get()).text).toBe(expected)
      expect(yield* asked("if-modified-since")).toEqual([
        undefined,
        yesterday,
        undefined,
        undefined,
        undefined
      ])
    }
  )

  it.scopedLive.each<readonly [what: string, answer: Answer]>([
    [
      "is not known to be of an earlier second",
      (response) => {
        response.sendDate = false
        response.writeHead(200, { "last-modified": now() }).end("a")
      }
    ],
    ["all files of a build have", text(200, "a", { "last-modified": "Thu, 01 Jan 1970 00:00:01 GMT" })],
    ["all files of an archive have", text(200, "a", { "last-modified": "Tue, 01 Jan 1980 00:00:00 GMT" })],
    ["all files of a package have", text(200, "a", { "last-modified": "Sat, 26 Oct 1985 08:15:00 GMT" })]
  ])("is not requested with a date that %s", ([, answer]) =>
    Effect.gen(function* () {
      const { asked, get, server } = yield* setUp
      server.next(answer, (response, { headers }) =>
        response.writeHead("if-modified-since" in headers ? 304 : 200).end()
      )
      for (const expected of ["a", ""]) expect((yield* get()).text).toBe(expected)
      expect(yield* asked("if-modified-since")).toEqual([undefined, undefined])
    }).pipe(run)
  )

  scenario(
    "is requested with its tag if the server says neither the time nor an early date",
    function* ({ asked, get, server }) {
      server.next(
        (response) => {
          response.sendDate = false
          response.writeHead(200, { etag: '"1"', "last-modified": "Thu, 01 Jan 1970 00:00:01 GMT" }).end("a")
        },
        text(304, "")
      )
      for (const _ of [1, 2]) expect((yield* get()).text).toBe("a")
      expect(yield* asked("if-none-match")).toEqual([undefined, '"1"'])
    }
  )

  scenario("depends on the same request headers", function* ({ asked, get, server }) {
    server.next(text(200, "a", { etag: '"1"' }), text(200, "b", { etag: '"2"' }))
    yield* get({ authorization: "one" })
    yield* get({ authorization: "other" })
    yield* get({ authorization: "one" })
    expect(yield* asked("if-none-match")).toEqual([undefined, undefined, '"1"'])
  })

  scenario("is remembered up to 16 MiB in all, the most recently used first", function* () {
    const half = "x".repeat(8 * 1024 * 1024 - 200)
    const server = yield* ScriptedServer.make(text(200, half, { etag: '"1"' }))
    const requests = yield* Requests.make({ maxBytes: 2 ** 24, maxTimeout: 60_000 })
    for (const path of ["a", "b", "a", "c", "a", "b"]) yield* requests.get(`${server.url}/${path}`)
    const asked = [...(yield* Queue.takeAll(server.received))]
    expect(asked.map(({ headers }) => headers["if-none-match"] !== undefined)).toEqual([
      false,
      false,
      true,
      false,
      true,
      false
    ])
  })
})
