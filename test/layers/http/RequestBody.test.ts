import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { maxBodyBytes as maxBytes } from "../../../src/layers/http/RequestBody.ts"
import { format, parse } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

const layer = transport.layer({ allowedCommands: ["work"] })

/** A command of exactly so many bytes, some of which are parts of larger characters. */
const command = (bytes: number) => {
  const start = '{"type":"work","text":"ö€😀'
  return `${start}${"x".repeat(bytes - Buffer.byteLength(start) - 2)}"}`
}

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const withLength = (body: string, headers: Record<string, string> = {}) =>
  format({ method: "POST", target: "/command", headers, body })

/** The same, in chunks that split characters and the limit. */
const inChunks = (body: string) => {
  const bytes = Buffer.from(body)
  const pieces = [bytes.subarray(0, 25), bytes.subarray(25, 40_000), bytes.subarray(40_000)]
  return Buffer.concat([
    Buffer.from(
      "POST /command HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    ),
    ...pieces.flatMap((piece) => [
      Buffer.from(`${piece.length.toString(16)}\r\n`),
      piece,
      Buffer.from("\r\n")
    ]),
    Buffer.from("0\r\n\r\n")
  ])
}

const expectTooLarge = (text: string) => {
  const answer = parse(text)
  expect(answer.status).toBe(413)
  expect(answer.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "content-type": "application/json"
  })
  expect(JSON.parse(answer.body)).toEqual({ error: { message: "The body exceeds 65536 bytes." } })
}

describe("the body of a request", () => {
  it("may have 64 KiB", () => {
    expect(maxBytes).toBe(65_536)
    expect(Buffer.byteLength(command(maxBytes))).toBe(65_536)
  })

  for (const [how, send] of [
    ["with a length", withLength],
    ["in chunks", inChunks]
  ] as const) {
    it.effect(`is accepted up to the limit, and answered with 413 beyond it, ${how}`, () =>
      Effect.gen(function* () {
        yield* transport.register("work", Effect.succeed("done"))
        for (const bytes of [maxBytes - 1, maxBytes]) {
          expect(parse(yield* transport.exchange(send(command(bytes)))).body).toBe('{"result":"done"}')
        }
        expectTooLarge(yield* transport.exchange(send(command(maxBytes + 1))))
        expectTooLarge(yield* transport.exchange(send(command(maxBytes * 100))))
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  }

  it.effect("is refused before it arrives where its Content-Length is too large", () =>
    Effect.gen(function* () {
      const head = "POST /command HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 65537\r\n"
      expectTooLarge(yield* transport.exchange(`${head}\r\n`))
      const expected = yield* transport.exchange(`${head}Expect: 100-continue\r\n\r\n`)
      expectTooLarge(expected.replace("HTTP/1.1 100 Continue\r\n\r\n", ""))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("leaves the connection usable where it was refused but arrived completely", () =>
    Effect.gen(function* () {
      const connection = yield* transport.connect
      connection.send(withLength(command(maxBytes + 1), { Connection: "keep-alive" }))
      yield* connection.received.until((text) => text.includes("413"))
      connection.send(format({ target: "/nothing" }))
      expect(yield* connection.received.whole).toMatch(/^HTTP\/1.1 413 [\s\S]*HTTP\/1.1 404 /)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is not read for ever after it was refused", () =>
    Effect.gen(function* () {
      const { received, send } = yield* transport.connect
      send("POST /command HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.zipRight(
            eventLoopTurn,
            Effect.sync(() => send(chunk("x".repeat(10_000))))
          )
        )
      )
      yield* received.until((text) => text.startsWith("HTTP/1.1 413 ") && text.endsWith("}"))
      expectTooLarge(yield* received.whole)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("may have the same size where requests are pipelined", () =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed("done"))
      const body = command(maxBytes)
      const kept = withLength(body, { Connection: "keep-alive" })
      const responses = yield* transport.exchange(Buffer.concat([kept, kept, inChunks(body)]))
      expect(responses.match(/\{.*\}/g)).toEqual(Array.from({ length: 3 }, () => '{"result":"done"}'))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect(
    "closes the connection where bodies of more than 131,072 bytes wait, before a token is checked",
    () =>
      Effect.gen(function* () {
        const { received, send } = yield* transport.connect
        send(
          format({
            target: "/events",
            headers: { Connection: "keep-alive", Authorization: "Bearer 0123456789abcdef" }
          })
        )
        yield* received.until((text) => text.includes("retry"))
        const kept = withLength("x".repeat(maxBytes), { Connection: "keep-alive" })
        send(Buffer.concat([kept, kept, withLength("x", { Connection: "keep-alive" })]))
        expect(yield* received.whole).toMatch(/retry: 2000\n\n$/)
      }).pipe(
        Effect.scoped,
        Effect.provide(transport.layer({ token: "0123456789abcdef", keepAliveMs: 2_147_483_647 }))
      )
  )

  it.effect("does not wait any more when the request is handled, however many come", () =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed("done"))
      const kept = withLength(command(maxBytes), { Connection: "keep-alive" })
      const { received, send } = yield* transport.connect
      for (let count = 1; count <= 5; count++) {
        send(Buffer.concat([kept, kept]))
        yield* received.until((text) => text.split('{"result":"done"}').length > 2 * count)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("may come from an HTTP/1.0 client, with a length", () =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed("done"))
      const body = '{"type":"work"}'
      const answer = yield* transport.exchange(
        `POST /command HTTP/1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      )
      expect(parse(answer)).toMatchObject({ status: 200, body: '{"result":"done"}' })
      expect(parse(yield* transport.exchange("POST /command HTTP/1.0\r\n\r\n")).status).toBe(400)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is not executed where it is incomplete", () =>
    Effect.gen(function* () {
      let runs = 0
      const ran = yield* Deferred.make<void>()
      yield* transport.register(
        "work",
        Effect.sync(() => ++runs).pipe(Effect.zipLeft(Deferred.succeed(ran, undefined)))
      )
      const body = '{"type":"work"}'
      const cut = withLength(body).subarray(0, -1)
      const endless = `POST /command HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(body)}`
      for (const data of [cut, endless]) {
        const finishing = yield* transport.connect
        finishing.send(data)
        finishing.finish()
        expect(parse(yield* finishing.received.whole)).toMatchObject({
          status: 400,
          headers: { "access-control-allow-origin": "*" }
        })
      }
      const resetting = yield* transport.connect
      resetting.send(cut)
      resetting.reset()
      yield* transport.postCommand('{"type":"work"}')
      yield* Deferred.await(ran)
      expect(runs).toBe(1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is refused in its turn, even if it never arrives", () =>
    Effect.gen(function* () {
      const release = yield* Deferred.make<string>()
      yield* transport.register("work", Deferred.await(release))
      const { received, send } = yield* transport.connect
      const unfinished = "POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n"
      send(Buffer.concat([withLength(command(50), { Connection: "keep-alive" }), Buffer.from(unfinished)]))
      yield* transport.request({ target: "/status" })
      yield* Deferred.succeed(release, "done")
      const whole = yield* received.whole
      expect(whole.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 413"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("gets no 100 Continue unless an HTTP/1.1 client asks for it", () =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed("done"))
      const body = '{"type":"work"}'
      const head = `Content-Length: ${body.length}\r\nConnection: close\r\n`
      for (const request of [
        `POST /command HTTP/1.0\r\n${head}Expect: 100-continue\r\n\r\n${body}`,
        `POST /command HTTP/1.1\r\nHost: a\r\n${head}Expect: patience\r\n\r\n${body}`
      ]) {
        expect(yield* transport.exchange(request)).toMatch(/^HTTP\/1\.1 200 /)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is refused in its turn where it is too large, after 100 Continue too", () =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed("done"))
      const kept = { Connection: "keep-alive" }
      const responses = yield* transport.exchange(
        Buffer.concat([
          withLength(command(50), kept),
          withLength(command(maxBytes + 1), kept),
          withLength(command(60), { ...kept, Expect: "100-continue" }),
          withLength(command(50))
        ])
      )
      expect(responses.match(/HTTP\/1\.1 \d+/g)).toEqual(
        [200, 413, 100, 200, 200].map((status) => `HTTP/1.1 ${status}`)
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
