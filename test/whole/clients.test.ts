import type { Socket } from "node:net"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestServices from "effect/TestServices"
import { maxEvents } from "../../src/internal/keptEvents.ts"
import { HttpTransport } from "../../src/layers/httpTransport/HttpTransport.ts"
import type { EventBus } from "../../src/services/EventBus.ts"
import * as clientProcess from "../support/clientProcess.ts"
import * as crowd from "../support/crowd.ts"
import { messages } from "../support/eventStream.ts"
import { start, whatIsThere } from "../support/lifetime.ts"
import { memory } from "../support/memory.ts"
import { format, parse } from "../support/rawHttp.ts"
import * as transport from "../support/transport.ts"
import { eventually } from "../support/waiting.ts"

// Seconds of work become many where the machine has other work, too.
vi.setConfig({ testTimeout: 90_000 })

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

const headers = { Connection: "keep-alive" }
const events = format({ target: "/events", headers })
const status = format({ target: "/status", headers })

const many = <A, E, R>(count: number, one: Effect.Effect<A, E, R>) =>
  Effect.replicateEffect(one, count, { concurrency: "unbounded" })

const connectAndSend = (data: string | Uint8Array) =>
  Effect.tap(transport.connect, ({ send }) => Effect.sync(() => send(data)))

/** Waits until the transport has read what was sent to it before. */
const readUpToHere = transport.request({ target: "/status" })

describe("ten thousand clients", () => {
  it.live("leave nothing behind, however they disconnect", () =>
    Effect.gen(function* () {
      const manners: ReadonlyArray<Visit> = [
        { go: closedOrReset, visits: 5200, atOnce: 200 },
        { go: halfClosed, visits: 1600, atOnce: 200 },
        { go: pipelined, visits: 1600, atOnce: 200 },
        { go: duringTheHeaders, visits: 800, atOnce: 200 },
        { go: duringADrain, visits: 200, atOnce: 40 },
        { go: withTheirProcess, visits: 600, atOnce: maxClients }
      ]
      yield* Effect.gen(function* () {
        // What is compiled and cached at the first visit stays.
        yield* visit({ go: closedOrReset, visits: 200, atOnce: 200 })
        const { isAllAgain } = yield* whatIsThere
        const before = yield* memory
        yield* Effect.forEach(manners, visit, { discard: true })
        // The bus keeps its latest events, which are to be small ones.
        yield* Effect.repeatN(transport.publish("content:n", null), maxEvents)
        expect(manners.reduce((sum, { visits }) => sum + visits, 0)).toBe(10_000)
        expect(yield* (yield* HttpTransport).clients).toBe(0)
        yield* isAllAgain()
        expect((yield* memory) - before).toBeLessThan(8 * mebibyte)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* many(maxClients, transport.openEvents)
            expect((yield* transport.request({ target: "/events" })).status).toBe(503)
          })
        )
      }).pipe(Effect.provide(transport.layer({ maxClients })))
    })
  )
})

const maxClients = 300

/** Lets so many clients come and go; what is left of them is closed with the scope. */
type Go = (count: number) => Effect.Effect<unknown, Error, HttpTransport | EventBus | Scope.Scope>

interface Visit {
  readonly go: Go
  readonly visits: number
  readonly atOnce: number
}

/** The next ones come when the slots of the last ones are free. */
const visit = ({ atOnce, go, visits }: Visit) =>
  Effect.zipRight(Effect.scoped(go(atOnce)), transport.clientsBecome(0)).pipe(
    Effect.repeatN(visits / atOnce - 1)
  )

const connect = (count: number, data: string | Uint8Array) =>
  Effect.flatMap(transport.port, (port) => crowd.connect(port, count, data))

/** So many event streams, begun. */
const stream = (count: number, requests: Uint8Array = events) =>
  Effect.zipLeft(connect(count, requests), transport.clientsBecome(count))

const resetHalf = (sockets: ReadonlyArray<Socket>) =>
  Effect.sync(() => {
    for (const socket of sockets.slice(sockets.length / 2)) {
      socket.resetAndDestroy()
    }
  })

const closedOrReset: Go = (count) => Effect.flatMap(stream(count), resetHalf)

const halfClosed: Go = Effect.fnUntraced(function* (count) {
  for (const socket of yield* stream(count)) {
    socket.end()
  }
  yield* transport.clientsBecome(0)
})

const pipelined: Go = (count) =>
  Effect.flatMap(stream(count, Buffer.concat([events, events, events])), resetHalf)

const duringTheHeaders: Go = Effect.fnUntraced(function* (count) {
  const sockets = yield* connect(count, "GET /events HTTP/1.1\r\nHos")
  yield* readUpToHere
  yield* resetHalf(sockets)
})

const duringADrain: Go = Effect.fnUntraced(function* (count) {
  const { statistics } = yield* HttpTransport
  const forwarded = Effect.map(statistics, ({ eventsForwarded }) => eventsForwarded)
  const publish = (payload: unknown) =>
    Effect.gen(function* () {
      const before = yield* forwarded
      yield* transport.publish("content:n", payload)
      yield* eventually(Effect.map(forwarded, (now) => now === before + 1))
    })
  const sockets = yield* stream(count)
  for (const socket of sockets) {
    socket.pause()
  }
  // More than the system takes: the rest is queued in this process.
  yield* publish("x".repeat(6 * mebibyte))
  yield* resetHalf(sockets)
})

const withTheirProcess: Go = Effect.fnUntraced(function* (count) {
  const { kill } = yield* clientProcess.openStreams(yield* transport.port, count)
  yield* transport.clientsBecome(count)
  yield* kill
  yield* transport.clientsBecome(0)
})

describe("eight hundred slow clients", () => {
  it.effect("do not slow down others, and do not delay the end", () =>
    Effect.gen(function* () {
      const before = yield* memory
      const { isAllAgain } = yield* whatIsThere
      const { context, end } = yield* start({ maxClients: 32 })
      yield* Effect.gen(function* () {
        yield* transport.register("content.ack", Effect.succeed("x".repeat(256 * kibibyte)))
        yield* transport.register("content.manifest.read", Effect.succeed("ok"))
        const trickling = yield* openSlowClients(200)
        const healthy = yield* many(32, transport.openEvents)
        expect((yield* transport.request({ target: "/events" })).status).toBe(503)
        for (let event = 0; event < 50; event++) {
          for (const { send } of trickling) {
            send("x")
          }
          yield* transport.publish("content:n", event)
          yield* Effect.forEach(healthy, ({ received }) =>
            received.until((text) => text.endsWith(`data: ${event}\n\n`))
          )
        }
        for (const { received } of healthy) {
          expect(messages(Buffer.from(parse(received.text()).body)).map(({ data }) => Number(data))).toEqual(
            Array.from({ length: 50 }, (_, event) => event)
          )
        }
        expect((yield* transport.request({ target: "/status" })).status).toBe(200)
        const answer = yield* transport.postCommand('{"type":"content.manifest.read"}')
        expect(JSON.parse(answer.body)).toEqual({ result: "ok" })
        expect((yield* memory) - before).toBeLessThan(100 * mebibyte)
        yield* TestServices.provideLive(end)
        // Their own ends, which nobody reads from, may still be there.
        yield* isAllAgain(832)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
})

/** So many each that are slow with their headers, with their body, to read and to ask for something. */
const openSlowClients = Effect.fnUntraced(function* (each: number) {
  const headers = yield* many(each, connectAndSend("GET /events HTTP/1.1\r\nHost: a\r\nX-Slow: "))
  const bodies = yield* many(
    each,
    connectAndSend(`POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n${" ".repeat(32_768)}`)
  )
  yield* many(
    each,
    Effect.tap(transport.connect, ({ send, stall }) => {
      stall()
      send(format({ method: "POST", target: "/command", body: '{"type":"content.ack"}' }))
      return Effect.void
    })
  )
  const idle = yield* many(each, transport.connect)
  yield* Effect.forEach(idle.slice(each / 2), ({ received, send }) => {
    send(status)
    return received.until((text) => text.includes("sections"))
  })
  yield* readUpToHere
  return [...headers, ...bodies]
})
