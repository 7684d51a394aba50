/**
 * Hostile and broken peers of the controller's socket.
 */
import { describe, expect } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { maxQueuedBytes } from "../../src/layers/fanOut/slowClients.ts"
import { maxConnections } from "../../src/layers/ipc/IpcServer.ts"
import { liveScenario, type Peer, publish, register, request, scenario, start } from "../support/ipc.ts"
import { withLog } from "../support/logged.ts"
import { memory } from "../support/memory.ts"
import { eventLoopTurn, eventually } from "../support/waiting.ts"

const line = (method: string, params?: unknown) => `${JSON.stringify(request(method, 1, params))}\n`

/** Sends the same for so many turns of the event loop. */
const keepSending = ({ send }: Peer, data: string | Uint8Array, turns: number) =>
  Effect.replicateEffect(
    Effect.zipRight(
      Effect.sync(() => send(data)),
      eventLoopTurn
    ),
    turns,
    { discard: true }
  )

describe("the controller's socket under attack", () => {
  liveScenario(
    "survives garbage, however it is cut, and goes on serving others",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      const bait = FastCheck.constantFrom(
        ..."\n|\r\n|{|}|[|]|null|[[[[[[[[|\\u0000|\ufeff".split("|"),
        line("status"),
        line("dispatch", { command: { type: "__proto__" } }),
        '{"jsonrpc":"2.0","id":{"a":[1]},"method":"constructor","params":7}\n',
        '{"jsonrpc":"2.0","id":1e999,"method":"toString"}\n',
        `{"jsonrpc":"2.0","method":"dispatch","params":${"[".repeat(30_000)}${"]".repeat(30_000)}}\n`
      )
      const piece = FastCheck.oneof(
        FastCheck.uint8Array({ maxLength: 200 }),
        bait.map((text) => Buffer.from(text))
      )
      const attacks = FastCheck.sample(FastCheck.array(piece, { maxLength: 12 }), { numRuns: 100, seed: 1 })
      for (const pieces of attacks) {
        const peer = yield* Effect.scoped(
          Effect.tap(connect, (peer) =>
            Effect.gen(function* () {
              for (const piece of pieces) {
                peer.send(piece)
                yield* eventLoopTurn
              }
              // What is left unended there ends here.
              peer.send(`\n${JSON.stringify(request("process", "last"))}\n`)
              peer.finish()
              yield* peer.received.whole
            })
          )
        )
        const responses = peer.received.text().split("\n").slice(0, -1)
        const parsed = responses.map((answer): unknown => JSON.parse(answer))
        expect(parsed).toContainEqual({ jsonrpc: "2.0", id: "last", result: { pid: process.pid } })
      }
      yield* client.status
    })
  )

  liveScenario(
    "costs little memory where a line never ends, and says once what is wrong with it",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      const peer = yield* connect
      const before = yield* memory
      yield* keepSending(peer, Buffer.alloc(1024 * 1024, "x"), 64)
      yield* peer.received.until((text) => text.includes("must not exceed 65536 bytes"))
      yield* client.status
      peer.send(`\n${line("process")}`)
      expect(yield* peer.line(2)).toMatchObject({ id: 1, result: { pid: process.pid } })
      expect((yield* memory) - before).toBeLessThan(8 * 1024 * 1024)
    })
  )

  liveScenario(
    "reads no more from who reads nothing, and responses others meanwhile",
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
      const command = line("dispatch", { command: { type: "count" } })
      const block = command.repeat(10_000)
      // A million requests; what the server does not take waits in the peer.
      for (let sent = 0; sent < 1_000_000; sent += 10_000) peer.send(block)
      let before = -1
      yield* eventually(
        Effect.gen(function* () {
          yield* Effect.replicateEffect(client.process, 5)
          const isStill = carriedOut === before
          before = carriedOut
          return isStill
        })
      )
      expect(carriedOut).toBeGreaterThan(16)
      expect(carriedOut).toBeLessThan(20_000)
      peer.close()
      yield* client.status
    })
  )

  liveScenario(
    "gives everybody else turns while requests pour in",
    Effect.gen(function* () {
      const { connect } = yield* start
      const peer = yield* connect
      const floods: ReadonlyArray<readonly [text: string, count: number, turns: number]> = [
        ["\n", 1024 * 1024, 16],
        ["x\n", 8192, 128],
        [line("process"), 4096, 64],
        ['{"jsonrpc":"2.0","method":"process"}\n', 4096, 64]
      ]
      for (const [index, [text, count, least]] of floods.entries()) {
        let turns = 0
        const counting = yield* Effect.fork(
          Effect.forever(Effect.tap(eventLoopTurn, () => Effect.sync(() => ++turns)))
        )
        const last = JSON.stringify(request("process", `last ${index}`))
        peer.send(`${text.repeat(count)}${last}\n`)
        yield* peer.received.until((text) => text.includes(`"last ${index}"`))
        yield* Fiber.interrupt(counting)
        expect(turns).toBeGreaterThanOrEqual(least)
      }
    })
  )

  liveScenario(
    "disconnects a reader of events that is a mebibyte behind, and nobody else notices",
    Effect.gen(function* () {
      const log: Array<string> = []
      const { client, connect } = yield* withLog(log)(start)
      const reader = yield* client.events
      const stalled = yield* Effect.replicateEffect(connect, 4)
      for (const peer of stalled) {
        yield* peer.ask(request("subscribe"))
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
      yield* client.status
    })
  )

  liveScenario(
    "lets a reader have an event of megabytes, and the answer to a command of as many",
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

  scenario(
    "refuses one connection more than it serves, with a reason, and takes another when one is gone",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      const idle = yield* Effect.replicateEffect(
        Effect.tap(connect, ({ ask }) => ask(request("process"))),
        maxConnections
      )
      const refused = yield* connect
      refused.send(line("status").repeat(1000))
      expect(JSON.parse(yield* refused.received.whole)).toEqual({
        jsonrpc: "2.0",
        id: null,
        error: { code: -32001, message: expect.stringContaining(`All ${maxConnections} connections`) }
      })
      const error = yield* Effect.flip(client.status)
      expect(error).toMatchObject({ _tag: "vitrine/IpcProtocolError" })
      expect(error.message).toContain("Close one first.")
      idle[0]?.close()
      yield* eventually(Effect.map(Effect.option(client.status), ({ _tag }) => _tag === "Some"))
    })
  )

  liveScenario(
    "leaves nothing behind of peers that come and go as they like",
    Effect.gen(function* () {
      const { connect } = yield* start
      const never = yield* Deferred.make<void>()
      yield* register("slow", Effect.timeoutOption(Deferred.await(never), "50 millis"))
      const opening = line("subscribe") + line("dispatch", { command: { type: "slow" } }) + line("status")
      const comeAndGo = (index: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            const peer = yield* connect
            peer.send(opening.slice(0, opening.length - (index % opening.length)))
            yield* index % 3 === 0 ? Effect.void : eventLoopTurn
            yield* publish("event", { index })
          })
        )
      for (let round = 0; round < 10; round++) {
        yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => round * 20 + index),
          comeAndGo,
          {
            concurrency: 8
          }
        )
      }
      const askAll = Effect.replicateEffect(
        Effect.flatMap(connect, ({ ask }) => ask(request("process"))),
        maxConnections
      ).pipe(Effect.scoped)
      const answer = { jsonrpc: "2.0", id: 1, result: { pid: process.pid } }
      yield* eventually(
        Effect.map(
          askAll,
          (responses) => JSON.stringify(responses) === JSON.stringify(responses.map(() => answer))
        )
      )
    })
  )
})
