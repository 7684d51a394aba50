/**
 * Servers and networks that are broken in every way: each request ends with the right text or a typed error, after a
 * bounded number of tries and within a bounded time.
 */
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as Requests from "../../../src/layers/httpClient/Requests.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import * as certificates from "../../support/certificates.ts"
import { atTheSameTime, outcome, timed } from "../../support/outcomes.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { holding, ok, oneConnection, raw, silence, stalledBody, text } from "../../support/ScriptedServer.ts"
import { scoped } from "../../support/scenario.ts"

/** Four tries, and a second, two and four between them. */
const triedAgain = { requests: 4, took: 7000 }

/** Four tries of a minute each. */
const timedOut = { requests: 4, took: 247_000 }

const atOnce = { requests: 1, took: 0 }

const ask = (url: string, client: Layer.Layer<HttpClient.HttpClient> = HttpClientNode.layer) =>
  Effect.gen(function* () {
    const requests = yield* Effect.provide(
      Requests.make({ maxBytes: 100_000, maxTimeout: 60_000, isWhole: true }),
      yield* Layer.build(client)
    )
    return Effect.map(requests.get(url), ({ text }) => text)
  })

/** The outcome of one request to such a server. */
const asking = (answer: ScriptedServer.Answer) =>
  Effect.gen(function* () {
    const server = yield* ScriptedServer.make(answer)
    return {
      ...(yield* timed(yield* ask(server.url))),
      requests: yield* Queue.size(server.received)
    }
  })

const page = "a page of some length"

const chunk = `${page.length.toString(16)}\r\n${page}\r\n`

/** As many chunks as the text has characters. */
const bytewise = (text: string): string =>
  `${[...text].map((character) => `1\r\n${character}\r\n`).join("")}0\r\n\r\n`

const switching = "HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"

/** The behaviour of a server, a part of the error's message, and the number and duration of the tries. */
type Fault = readonly [
  name: string,
  answer: ScriptedServer.Answer,
  words: string,
  bounds: { readonly requests: number; readonly took: number }
]

describe("a server that answers wrongly", () => {
  const faults: ReadonlyArray<Fault> = [
    ["no HTTP", raw("220 smtp.example\r\n"), "does not match the HTTP/1.1 protocol", triedAgain],
    ["nothing", raw(""), "other side closed", triedAgain],
    ["a reset connection", raw("", "reset"), "ECONNRESET", triedAgain],
    ["no response", holding(silence), "within 60000 ms", timedOut],
    ["half a response", holding(stalledBody), "within 60000 ms", timedOut],
    ["headers that are cut off", raw("HTTP/1.1 200 OK\r\ncontent-"), "other side closed", triedAgain],
    ["headers without an end", raw("HTTP/1.1 200 OK\r\nx: y\r\n", "hold"), "60000 ms", timedOut],
    ["too many headers", raw(ok("x: y\r\n".repeat(60_000), page)), "headers", atOnce],
    ["hints without an end", raw("HTTP/1.1 103 Hints\r\n\r\n", "hold"), "60000 ms", timedOut],
    ["an impossible status", raw("HTTP/1.1 99 OK\r\n\r\n"), "status", triedAgain],
    ["another protocol", raw(switching), "bad upgrade", triedAgain],
    ["a body that is cut off", raw(ok("content-length: 1000\r\n", page)), "other side closed", triedAgain],
    ["a body without an end", raw(ok("content-length: 1000\r\n", page), "hold"), "60000 ms", timedOut],
    [
      "two lengths",
      raw(ok("content-length: 9\r\ncontent-length: 8\r\n", page)),
      "content-length",
      triedAgain
    ],
    [
      "chunks that are cut off",
      raw(ok("transfer-encoding: chunked\r\n", chunk)),
      "other side closed",
      triedAgain
    ],
    ["broken chunks", raw(ok("transfer-encoding: chunked\r\n", `z${chunk}`)), "", triedAgain],
    ["a status that does not exist", text(999, ""), "HTTP 999", triedAgain],
    ["a refusal that is cut off", raw("HTTP/1.1 401 No\r\ncontent-length: 9\r\n\r\n{"), "HTTP 401", atOnce],
    [
      "a refusal without an end",
      holding((response) => response.writeHead(401).write("{")),
      "HTTP 401",
      { requests: 1, took: 5000 }
    ]
  ]

  scoped("is an error, after a bounded number of requests and a bounded time", function* () {
    const all = yield* atTheSameTime(faults, ([, answer]) => asking(answer))
    expect(all).toHaveLength(faults.length)
    for (const [[name, , words, bounds], { answer, requests, took }] of all) {
      expect({ name, answer, requests, took }).toMatchObject({
        name,
        answer: { _tag: "vitrine/RequestFailed", isTransient: bounds.requests > 1 },
        ...bounds
      })
      expect(`${name}: ${answer}`).toContain(words)
    }
  })

  scoped("may be unusual, and still be understood", function* () {
    const strange = [
      ["no length", raw(ok("", page))],
      ["hints before it", raw(`HTTP/1.1 103 Hints\r\n\r\n`.repeat(50) + ok("", page))],
      ["one byte at a time", raw(ok("transfer-encoding: chunked\r\n", bytewise(page)))]
    ] as const
    for (const [[name], outcome] of yield* atTheSameTime(strange, ([, answer]) => asking(answer))) {
      expect({ name, ...outcome }).toEqual({ name, answer: page, ...atOnce })
    }
  })

  scoped("leaves no connection open", function* () {
    const refusing = holding((response) => response.writeHead(404).write("{"))
    for (const answer of [raw(switching, "hold"), refusing]) {
      const server = yield* ScriptedServer.make(answer)
      yield* withAdvancingClock(Effect.flip(yield* ask(server.url)))
      yield* Deferred.await((yield* Queue.take(server.received)).closed)
    }
  })
})

it.scoped.each([
  ["60", 60_000],
  ["0", 1000],
  ["Tue, 01 Jan 2030 00:01:30 GMT", 90_000],
  ["Mon, 01 Jan 2029 00:00:00 GMT", 1000],
  ["99999999999999999999999", 300_000],
  ["-5", 1000],
  ["soon", 1000],
  ["", 1000]
] as const)("a server that says Retry-After: %j is left alone for %d ms", ([retryAfter, pause]) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2030, 0, 1))
    const server = yield* ScriptedServer.make(text(200, page))
    server.next(text(503, "", { "retry-after": retryAfter }))
    expect(yield* outcome(yield* ask(server.url))).toEqual({ answer: page, took: pause })
  })
)

describe("a network", () => {
  const connecting = (connect: Undici.buildConnector.BuildOptions) =>
    NodeHttpClient.layerUndiciWithoutDispatcher.pipe(
      Layer.provide(
        Layer.scoped(
          NodeHttpClient.Dispatcher,
          Effect.acquireRelease(
            Effect.sync(() => new Undici.Agent({ connect })),
            (agent) => Effect.promise(() => agent.destroy())
          )
        )
      )
    )

  scoped("that never looks a name up takes the time of four requests", function* () {
    yield* Effect.replicateEffect(oneConnection, 2)
    const lookups: Array<() => void> = []
    const agent = connecting({
      // In real time: an interrupted request ends once it is over.
      timeout: 1000,
      lookup: (_name, _options, callback) => {
        lookups.push(() => callback(new Error("too late"), "", 4))
      }
    })
    yield* Effect.addFinalizer(() =>
      Effect.forEach(lookups, (answer) => Effect.sync(answer), { discard: true })
    )
    expect(yield* outcome(yield* ask("http://cms.example", agent))).toMatchObject({
      answer: { _tag: "vitrine/RequestFailed", reason: "Timeout" },
      took: timedOut.took
    })
    expect(lookups).toHaveLength(4)
  })

  scoped("that does not know a name is asked again", function* () {
    const failure = Object.assign(new Error("getaddrinfo ENOTFOUND cms.example"), { code: "ENOTFOUND" })
    const agent = connecting({ lookup: (_name, _options, callback) => callback(failure, "", 4) })
    const { answer, took } = yield* outcome(yield* ask("http://cms.example", agent))
    expect(String(answer)).toContain("ENOTFOUND")
    expect(took).toBe(triedAgain.took)
  })

  /** A server with a certificate, its requests, and the number of connections. */
  const secure = (cert: string) =>
    Effect.acquireRelease(
      Effect.async<{ readonly url: string; readonly connections: () => number; readonly close: () => void }>(
        (resume) => {
          let connections = 0
          const server = createServer({ key: certificates.key, cert }, (_, response) => {
            response.shouldKeepAlive = false
            response.end(page)
          })
          server.on("connection", () => connections++)
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            resume(
              Effect.succeed({
                url: `https://127.0.0.1:${port}`,
                connections: () => connections,
                close: () => {
                  server.close()
                  server.closeAllConnections()
                }
              })
            )
          })
        }
      ),
      ({ close }) => Effect.sync(close)
    )

  it.scoped.each([
    ["nobody vouches for", certificates.local, undefined, "self-signed certificate"],
    ["is for another host", certificates.other, certificates.other, "altnames"],
    ["has expired", certificates.expired, certificates.expired, "expired"],
    ["is not valid yet, which time heals,", certificates.future, certificates.future, "not yet valid"]
  ] as const)("with a certificate that %s is not asked twice", ([, cert, ca, words]) =>
    Effect.gen(function* () {
      const { connections, url } = yield* secure(cert)
      const { answer, took } = yield* outcome(yield* ask(url, connecting({ ca })))
      expect(answer).toMatchObject({ isTransient: cert === certificates.future })
      expect(String(answer)).toContain(`the certificate of ${url} is not accepted: `)
      expect(String(answer)).toContain(words)
      expect({ connections: connections(), took }).toEqual({ connections: 1, took: 0 })
    })
  )

  scoped("is accepted with a certificate of a known authority", function* () {
    const { url } = yield* secure(certificates.local)
    const agent = connecting({ ca: certificates.local })
    expect(yield* outcome(yield* ask(url, agent))).toEqual({ answer: page, took: 0 })
  })

  scoped("whose server does not speak TLS, or speaks nothing else, is asked again", function* () {
    const plain = yield* ScriptedServer.make(text(200, page))
    const { url } = yield* secure(certificates.local)
    for (const address of [plain.url.replace("http:", "https:"), url.replace("https:", "http:")]) {
      const { answer, took } = yield* outcome(yield* ask(address))
      expect(answer).toMatchObject({ _tag: "vitrine/RequestFailed", isTransient: true })
      expect(took).toBe(triedAgain.took)
    }
  })

  scoped("that closes a connection which is kept for later is asked again", function* () {
    const server = yield* ScriptedServer.make(text(200, page))
    const get = yield* ask(server.url, connecting({}))
    yield* get
    const failures = yield* Queue.unbounded<unknown>()
    const collected = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void failures.unsafeOffer(message))
    )
    server.next(({ socket }) => socket?.resetAndDestroy())
    const again = yield* get.pipe(
      Effect.provide(collected),
      Logger.withMinimumLogLevel(LogLevel.Debug),
      Effect.fork
    )
    expect(String(yield* Queue.take(failures))).toContain("ECONNRESET")
    yield* TestClock.adjust("1 second")
    expect(yield* Fiber.join(again)).toBe(page)
  })
})

scoped("a request carries no trace to others", function* () {
  const server = yield* ScriptedServer.make(text(200, page))
  yield* Effect.withSpan(yield* ask(server.url), "outer")
  const { headers } = yield* Queue.take(server.received)
  expect(headers).not.toHaveProperty("traceparent")
  expect(headers).not.toHaveProperty("b3")
})
