import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { maxWaiting, serialized } from "../../../src/layers/http/HttpServer.ts"
import { holdCommand } from "../../support/heldCommand.ts"
import * as lifetime from "../../support/lifetime.ts"
import { format } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"

/** Requests that more may follow on the same connection. */
const headers = { Connection: "keep-alive" }
const command = format({ method: "POST", target: "/command", headers, body: '{"type":"content.ack"}' })
const get = (target: string) => format({ target, headers })

const answered = (text: string) =>
  [...text.matchAll(/Not found: GET \/(\d+)"/g)].map(([, number]) => Number(number))

describe("pipelined requests", () => {
  it.effect("are handled and answered one after the other", () =>
    Effect.gen(function* () {
      const first = yield* Deferred.make<string>()
      const started = yield* Deferred.make<void>()
      const results = [
        Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(first)),
        Effect.succeed("second")
      ]
      yield* transport.register(
        "content.ack",
        Effect.suspend(() => results.shift() ?? Effect.fail("too often"))
      )
      const { received, send } = yield* transport.connect
      send(Buffer.concat([command, command, format({ target: "/3" })]))
      yield* Deferred.await(started)
      expect(results).toHaveLength(1)
      yield* Deferred.succeed(first, "first")
      expect((yield* received.whole).match(/\{.*\}/g)).toEqual([
        '{"result":"first"}',
        '{"result":"second"}',
        '{"error":{"message":"Not found: GET /3"}}'
      ])
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("may be many, as long as few are waiting", () =>
    Effect.gen(function* () {
      const { received, send } = yield* transport.connect
      const numbers = Array.from({ length: 5 * maxWaiting }, (_, number) => number)
      for (let from = 0; from < numbers.length; from += maxWaiting) {
        const batch = numbers.slice(from, from + maxWaiting)
        send(Buffer.concat(batch.map((number) => get(`/${number}`))))
        yield* received.until((text) => text.includes(`GET /${batch.at(-1)}"`))
      }
      expect(answered(received.text())).toEqual(numbers)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("close a connection where too many are waiting, for example after an event stream", () =>
    Effect.gen(function* () {
      const { received, send } = yield* transport.connect
      send(get("/events"))
      yield* received.until((text) => text.includes("retry"))
      send(Buffer.concat(Array.from({ length: maxWaiting }, () => get("/status"))))
      yield* transport.publish("content:over", null)
      yield* received.until((text) => text.includes("content:over"))
      send(get("/status"))
      expect(yield* received.whole).toMatch(/retry: 2000\n\nevent: content:over\ndata: null\n\n$/)
      yield* transport.clientsBecome(0)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("leave only started work behind, however large their bodies are", () =>
    Effect.gen(function* () {
      const body = "x".repeat(200_000)
      const large = format({ method: "POST", target: "/command", headers, body })
      const before = yield* lifetime.whatIsThere
      const { release, started } = yield* holdCommand("content.ack")
      const connections = yield* Effect.forEach(
        [
          format({ target: "/events", headers, body }),
          Buffer.concat([get("/events"), large]),
          Buffer.concat([command, large])
        ],
        (data) => Effect.tap(transport.connect, ({ send }) => Effect.sync(() => send(data)))
      )
      yield* transport.clientsBecome(2)
      yield* started
      for (const { reset } of connections) {
        reset()
      }
      yield* release("late")
      yield* transport.clientsBecome(0)
      yield* before.isAllAgain()
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect("leave nothing behind where the client disconnects before the responses", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      for (let count = 0; count < 100; count++) {
        const { reset, send } = yield* transport.connect
        send(Buffer.concat([get("/x"), get("/x")]))
        reset()
      }
      yield* before.isAllAgain()
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.each([
    [false, 1],
    [true, 0]
  ])("wait for their turn, and are dropped if the client has disconnected: %j", (gone, expected) => {
    let handled = 0
    const socket = new Socket()
    const request = new IncomingMessage(socket)
    const response = new ServerResponse(request)
    const told: Array<IncomingMessage> = []
    const handle = serialized(
      () => {
        handled++
      },
      (request) => told.push(request)
    )
    handle(request, response)
    expect(handled).toBe(0)
    expect(told).toEqual([request])
    if (gone) {
      socket.destroy()
    }
    response.assignSocket(socket)
    expect(handled).toBe(expected)
  })
})
