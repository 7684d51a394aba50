/**
 * Hostile and broken peers of the controller's socket.
 */
import { describe, expect } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Stream from "effect/Stream"
import { maxConnections } from "../../src/layers/control/IpcServer.ts"
import { maxQueuedBytes } from "../../src/layers/fanOut/FanOut.ts"
import { liveScenario, publish, register, start } from "../support/control.ts"
import { withLog } from "../support/logged.ts"
import { memory } from "../support/memory.ts"
import * as rawHttp from "../support/rawHttp.ts"
import { eventLoopTurn, eventually } from "../support/waiting.ts"

const command = (type: string) =>
  rawHttp.format({
    method: "POST",
    target: "/command",
    headers: { Connection: "keep-alive" },
    body: JSON.stringify({ type })
  })

const isAnswered = { status: 200, body: JSON.stringify({ pid: process.pid }) }

describe("the controller's socket under attack", () => {
  liveScenario(
    "survives invalid input in any chunks, and continues to serve others",
    Effect.gen(function* () {
      const { client, connect, place } = yield* start
      const bait = FastCheck.constantFrom(
        ..."\n|\r\n\r\n|{|\u0000|\ufeff|GET |POST /stop|Content-Length: 9\r\n".split("|"),
        rawHttp.format({ target: "/status" }).toString(),
        command("__proto__").toString(),
        '{"jsonrpc":"2.0","id":1,"method":"status"}\n',
        `POST /command HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n${"[".repeat(30_000)}`
      )
      const piece = FastCheck.oneof(
        FastCheck.uint8Array({ maxLength: 200 }),
        bait.map((text) => Buffer.from(text))
      )
      const attacks = FastCheck.sample(FastCheck.array(piece, { maxLength: 12 }), { numRuns: 100, seed: 1 })
      for (const pieces of attacks) {
        yield* Effect.scoped(
          Effect.tap(connect, (peer) =>
            Effect.gen(function* () {
              for (const piece of pieces) {
                peer.send(piece)
                yield* eventLoopTurn
              }
            })
          )
        )
        expect(yield* rawHttp.request(place, { target: "/process" })).toMatchObject(isAnswered)
      }
      yield* client.view
    })
  )

  liveScenario(
    "uses little memory for a line without an end, and reports what is wrong",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      const peer = yield* connect
      const before = yield* memory
      peer.send("GET /status HTTP/1.1\r\nHost: ")
      yield* Effect.replicateEffect(
        Effect.zipRight(
          Effect.sync(() => peer.send(Buffer.alloc(1024 * 1024, "x"))),
          eventLoopTurn
        ),
        64,
        { discard: true }
      )
      expect(yield* peer.received.whole).toMatch(/^HTTP\/1\.1 431 /)
      yield* client.view
      expect((yield* memory) - before).toBeLessThan(8 * 1024 * 1024)
    })
  )

  liveScenario(
    "stops executing requests of a client that reads no responses",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      let carriedOut = 0
      yield* register(
        "count",
        Effect.sync(() => {
          carriedOut += 1
          return "x".repeat(1000)
        })
      )
      const peer = yield* connect
      peer.stall()
      const block = Buffer.concat(Array.from({ length: 10_000 }, () => command("count")))
      for (let sent = 0; sent < 100_000; sent += 10_000) peer.send(block)
      yield* eventually(Effect.map(client.process, () => carriedOut > 0))
      yield* Effect.replicateEffect(client.process, 5)
      expect(carriedOut).toBeLessThan(100)
      yield* client.view
    })
  )

  liveScenario(
    "disconnects a reader of events that is 1 MiB behind, and affects no others",
    Effect.gen(function* () {
      const log: Array<string> = []
      const { client, connect } = yield* withLog(log)(start)
      const reader = yield* client.events
      const stalled = yield* Effect.replicateEffect(connect, 4)
      for (const peer of stalled) {
        peer.send(rawHttp.format({ target: "/events" }))
        yield* peer.received.until((text) => text.includes("retry"))
        peer.stall()
      }
      const before = yield* memory
      const count = 100
      const text = "x".repeat(64 * 1024)
      const reading = yield* Effect.fork(Stream.runCount(Stream.take(reader, count)))
      for (let number = 0; number < count; number++) {
        yield* publish("content:large", { number, text })
        yield* eventLoopTurn
      }
      expect(yield* reading).toBe(count)
      yield* eventually(Effect.sync(() => log.length === stalled.length))
      expect(log[0]).toContain("fell behind")
      // What is in the pipes themselves is the system's.
      expect((yield* memory) - before).toBeLessThan(stalled.length * maxQueuedBytes + 4 * 1024 * 1024)
      yield* client.view
    })
  )

  liveScenario(
    "sends an event of several megabytes, and a response of the same size",
    Effect.gen(function* () {
      const { client } = yield* start
      const text = "\u00e9".repeat(3 * maxQueuedBytes)
      yield* register("large", Effect.succeed({ text }))
      const events = yield* client.events
      yield* publish("large", { text })
      const [event] = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(events, 1)))
      expect(event?.payload).toEqual({ text })
      expect(yield* client.dispatch({ type: "large" })).toEqual({ text })
    })
  )

  liveScenario(
    "refuses a connection above its limit with a reason, and accepts another when one is closed",
    Effect.gen(function* () {
      const { client, connect, place } = yield* start
      const idle = yield* Effect.replicateEffect(
        Effect.tap(connect, ({ received, send }) => {
          send(rawHttp.format({ target: "/process", headers: { Connection: "keep-alive" } }))
          return received.until((text) => text.endsWith("}"))
        }),
        maxConnections
      )
      const refused = yield* rawHttp.request(place, { target: "/status" })
      expect([refused.status, JSON.parse(refused.body)]).toEqual([
        503,
        { error: { message: expect.stringContaining(`all ${maxConnections} are in use`) } }
      ])
      const error = yield* Effect.flip(client.view)
      expect(error).toMatchObject({ _tag: "vitrine/IpcProtocolError" })
      expect(error.message).toContain("Close one first.")
      idle[0]?.finish()
      yield* eventually(Effect.map(Effect.option(client.view), ({ _tag }) => _tag === "Some"))
    })
  )

  liveScenario(
    "leaves nothing behind of clients that connect and disconnect in any way",
    Effect.gen(function* () {
      const { connect, place } = yield* start
      const never = yield* Deferred.make<void>()
      yield* register("slow", Effect.timeoutOption(Deferred.await(never), "50 millis"))
      const opening = Buffer.concat([command("slow"), rawHttp.format({ target: "/events" })])
      const comeAndGo = (index: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            const peer = yield* connect
            peer.send(opening.subarray(0, opening.length - (index % opening.length)))
            yield* index % 3 === 0 ? Effect.void : eventLoopTurn
            yield* publish("event", { index })
          })
        )
      for (let round = 0; round < 10; round++) {
        yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => round * 20 + index),
          comeAndGo,
          { concurrency: 8 }
        )
      }
      const askAll = Effect.all(
        Array.from({ length: maxConnections }, () => rawHttp.request(place, { target: "/process" })),
        { concurrency: "unbounded" }
      )
      yield* eventually(Effect.map(askAll, (responses) => responses.every(({ status }) => status === 200)))
    })
  )
})
