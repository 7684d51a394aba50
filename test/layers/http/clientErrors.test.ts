import { createServer } from "node:http"
import { Duplex } from "node:stream"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { handleClientErrors } from "../../../src/layers/http/HttpServer.ts"
import { listen } from "../../../src/layers/http/Listen.ts"
import { holdCommand } from "../../support/heldCommand.ts"
import * as lifetime from "../../support/lifetime.ts"
import { exchange, format, parse } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventually } from "../../support/waiting.ts"

const body = '{"type":"content.ack"}'

/** A command on a connection on which more may follow. */
const command = format({ method: "POST", target: "/command", headers: { Connection: "keep-alive" }, body })

describe("input that is not HTTP", () => {
  it.effect.each<readonly [string, string, number]>([
    ["garbage", "hello\r\n\r\n", 400],
    ["garbage that is no text", "\0\x01\x02\xff\r\n\r\n", 400],
    ["the beginning of a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["a target with a space", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a target that is not ASCII", "GET /st\xc3\xa4tus HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a target with a NUL", "GET /status\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["a method in pieces, and unknown", "FR", 400],
    ["a version that does not exist", "GET /status HTTP/1.2\r\nHost: a\r\n\r\n", 400],
    ["lines that end in LF alone", "GET /status HTTP/1.1\nHost: a\n\n", 400],
    ["a header without a colon", "GET / HTTP/1.1\r\nHost a\r\n\r\n", 400],
    [
      "two lengths",
      "POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400
    ],
    ["a negative length", "POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400],
    [
      "a length and chunks",
      "POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400
    ],
    [
      "a length beyond all numbers",
      `POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: ${"9".repeat(30)}\r\n\r\n`,
      400
    ],
    [
      "a coding that is not chunked",
      "POST /command HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
      400
    ],
    ["a bad chunk", "POST /command HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400],
    ["no host", "GET /status HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    // A proxy might have gone by the other.
    ["two hosts", "GET /status HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", 400],
    ["a preflight without a host", "OPTIONS /status HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["a target beyond measure", `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ["headers beyond measure", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431]
  ])("gets an error response without other effects: %s", ([, data, status]) =>
    Effect.gen(function* () {
      const answer = parse(yield* transport.exchange(Buffer.from(data, "latin1")))
      expect(answer.status).toBe(status)
      expect(answer.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "content-type": "application/json",
        connection: "close"
      })
      expect(JSON.parse(answer.body)).toEqual({ error: { message: expect.any(String) } })
      expect((yield* transport.request({ target: "/status" })).status).toBe(200)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("does not include unusual, but valid HTTP", () =>
    Effect.gen(function* () {
      for (const data of [
        "GET /status HTTP/1.0\r\n\r\n",
        "GET /status HTTP/1.1\r\nHost: a\r\nExpect: patience\r\nConnection: close\r\n\r\n",
        "GET /status HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n",
        "\r\n\r\nGET /status HTTP/1.1\r\nHost:a\r\nConnection:close\r\n\r\n"
      ]) {
        const answer = parse(yield* transport.exchange(data))
        expect(answer.status).toBe(200)
        expect(answer.headers["access-control-allow-origin"]).toBe("*")
      }
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect.each<readonly [string, string]>([
    ["FROB /status HTTP/1.1\r\nHost: a\r\n\r\n", "Not found: FROB /status"],
    ["get /status?now HTTP/1.1\r\nHost: a\r\n\r\n", "Not found: get /status"],
    ["GET /x HTTP/1.1\r\nHost: a\r\n\r\n*~ / HTTP/1.0\r\n\r\n", "Not found: *~ /"]
  ])("does not include an unknown method: %s", ([data, message]) =>
    Effect.gen(function* () {
      const responses = yield* transport.exchange(data)
      const last = parse(responses.slice(responses.lastIndexOf("HTTP/1.1")))
      expect(last).toMatchObject({ status: 404, headers: { "access-control-allow-origin": "*" } })
      expect(JSON.parse(last.body)).toEqual({ error: { message } })
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("gets its response after the requests before it", () =>
    Effect.gen(function* () {
      const { release, started } = yield* holdCommand("content.ack")
      const { received, send } = yield* transport.connect
      send(Buffer.concat([command, Buffer.from("garbage\r\n\r\n")]))
      yield* started
      yield* release("done")
      const whole = yield* received.whole
      expect(whole.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"])
      expect(whole).toContain('{"result":"done"}')
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect.each<readonly [string, ReadonlyArray<string>]>([
    ["in pieces", ["garbage\r\n\r\n", "more garbage\r\n\r\n", "x".repeat(100_000)]],
    ["with a method that is unknown, and a body", ["FROB /x HTTP/1.1\r\nHost: a\r\n\r\n", "body"]]
  ])("does not prevent the response to the request before it: %s", ([, pieces]) =>
    Effect.gen(function* () {
      const { release, started } = yield* holdCommand("content.ack")
      const { received, send } = yield* transport.connect
      send(command)
      yield* started
      for (const piece of pieces) {
        send(piece)
        yield* transport.request({ target: "/status" })
      }
      yield* release("done")
      const whole = yield* received.whole
      expect(whole.match(/HTTP\/1\.1 \d+/g)?.[0]).toBe("HTTP/1.1 200")
      expect(whole).toContain('{"result":"done"}')
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("leaves no upgraded connection open", () =>
    Effect.gen(function* () {
      const { ended, release } = yield* holdCommand("content.ack")
      const { received, send } = yield* transport.connect
      send(Buffer.concat([command, Buffer.from("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")]))
      expect(yield* received.whole).toBe("")
      yield* release("late")
      yield* ended
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("leaves no connection open if its client does not read the response", () =>
    Effect.gen(function* () {
      const server = handleClientErrors(createServer(), () => ({ headers: {}, body: {} }))
      const unread = new Duplex({ read: () => {}, write: () => {} })
      server.emit("connect", undefined, unread)
      yield* eventually(Effect.sync(() => unread.closed))
    })
  )

  it.effect("gets a response if it ends too early, whatever protocol it asks for", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const { finish, received, send } = yield* transport.connect
      send(
        "POST /command HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 9\r\n\r\nhalf"
      )
      finish()
      expect(parse(yield* received.whole).status).toBe(400)
      yield* before.isAllAgain()
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("has no other effects where its client disconnects", () =>
    Effect.gen(function* () {
      for (let count = 0; count < 100; count++) {
        const { reset, send } = yield* transport.connect
        send("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
        reset()
      }
      expect((yield* transport.request({ target: "/status" })).status).toBe(200)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect.each<readonly [string, string, number, string]>([
    ["its headers", "GET /status HTTP/1.1\r\nHos", 408, "The request took too long to arrive."],
    [
      "its body",
      "POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf",
      400,
      "The body took too long to arrive."
    ]
  ])("gets a response where it takes too long to send %s", ([, data, status, message]) =>
    Effect.gen(function* () {
      const server = createServer({ connectionsCheckingInterval: 10, headersTimeout: 20, requestTimeout: 20 })
      handleClientErrors(server, ({ message }) => ({ headers: { "X-From": "here" }, body: { message } }))
      const { port } = yield* listen(server, { host: "127.0.0.1", port: 0 })
      expect(parse(yield* exchange(port, data))).toMatchObject({
        status,
        headers: { "x-from": "here", connection: "close" },
        body: JSON.stringify({ message })
      })
    }).pipe(Effect.scoped)
  )

  it.effect("does not include a body after Expect: 100-continue", () =>
    Effect.gen(function* () {
      yield* transport.register("content.ack", Effect.succeed(1))
      const [head = "", rest = ""] = format({
        method: "POST",
        target: "/command",
        headers: { Expect: "100-continue" },
        body
      })
        .toString()
        .split(/(?<=\r\n\r\n)/)
      const connection = yield* transport.connect
      connection.send(head)
      yield* connection.received.until((text) => text === "HTTP/1.1 100 Continue\r\n\r\n")
      connection.send(rest)
      expect(yield* connection.received.whole).toContain('{"result":1}')
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect.each([
    "garbage\r\n\r\n",
    "POST /command HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"
  ])("gets a response after another request on the same connection, too: %j", (data) =>
    Effect.gen(function* () {
      const { received, send } = yield* transport.connect
      send("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
      yield* received.until((text) => text.endsWith("}}"))
      send(data)
      const whole = yield* received.whole
      expect(whole.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 400"])
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("gets no response within an event stream", () =>
    Effect.gen(function* () {
      const connection = yield* transport.openEvents
      connection.send("garbage\r\n\r\n")
      expect(yield* connection.received.whole).toMatch(/\r\n\r\nretry: 2000\n\n$/)
      yield* transport.clientsBecome(0)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("does not delay the end, even if the client stays connected", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(transport.layer(), scope)
      const connections = yield* Effect.forEach(
        ["hello\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
        (data) =>
          Effect.tap(Effect.provide(transport.connect, context), ({ received, send }) => {
            send(data)
            return received.until((text) => text.includes("message"))
          })
      )
      yield* Scope.close(scope, Exit.void)
      expect(connections).toHaveLength(2)
    }).pipe(Effect.scoped)
  )
})
