import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import { EventSource } from "eventsource"
import { maxQueuedBytes } from "../../../src/layers/fanOut/FanOut.ts"
import * as HttpTransportLayer from "../../../src/layers/httpTransport/HttpTransport.ts"
import { HttpTransport } from "../../../src/layers/httpTransport/HttpTransport.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { type Message, messages } from "../../support/eventStream.ts"
import { holdCommand } from "../../support/heldCommand.ts"
import * as lifetime from "../../support/lifetime.ts"
import { withLog } from "../../support/logged.ts"
import { type Connection, format, parse } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventLoopTurn, eventually } from "../../support/waiting.ts"

const promoted = {
  versionId: "20260301T120000Z",
  versionPath: "versions/20260301T120000Z",
  generatedAt: "2026-03-01T12:00:00.000Z"
}

const layer = transport.layer()

const bodyOf = ({ received }: Connection) => parse(received.text()).body

const isOver = (text: string) => text.includes("event: content:over\n")

/** Requests that more may follow on the same connection. */
const headers = { Connection: "keep-alive" }
const command = format({ method: "POST", target: "/command", headers, body: '{"type":"content.ack"}' })
const events = format({ target: "/events", headers })
const status = format({ target: "/status", headers })

describe("an event stream", () => {
  it.effect("has exactly these headers, and begins with retry", () =>
    Effect.gen(function* () {
      const connection = yield* transport.openEvents
      const { body, headers, status } = parse(connection.received.text())
      expect(status).toBe(200)
      expect(headers).toEqual({
        "content-type": "text/event-stream",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
        "access-control-allow-origin": "*",
        connection: "close",
        date: expect.any(String)
      })
      expect(body).toBe("retry: 2000\n\n")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("continues with the backlog, then with live events, byte for byte", () =>
    Effect.gen(function* () {
      const first = yield* transport.openEvents
      yield* transport.publish("content:version:promoted", { versionId: "old" })
      yield* transport.publish("content:fetch:start", { timestamp: promoted.generatedAt })
      yield* transport.publish("other:event", 1)
      yield* transport.publish("content:version:promoted", promoted)
      yield* first.received.until((text) => text.includes(promoted.versionPath))
      const second = yield* transport.openEvents
      yield* transport.publish("content:over", "größe\n\u2028\ud800")
      yield* Effect.forEach([first, second], ({ received }) => received.until(isOver))
      const announcement = `event: content:version:promoted\ndata: ${JSON.stringify(promoted)}\n\n`
      const over = 'event: content:over\ndata: "größe\\n\u2028\\ud800"\n\n'
      expect(bodyOf(first)).toBe(
        `retry: 2000\n\nevent: content:version:promoted\ndata: {"versionId":"old"}\n\n` +
          `event: content:fetch:start\ndata: {"timestamp":"${promoted.generatedAt}"}\n\n${announcement}${over}`
      )
      expect(bodyOf(second)).toBe(`retry: 2000\n\n${announcement}${over}`)
      expect(messages(Buffer.from(bodyOf(second)))).toEqual([
        { event: "content:version:promoted", data: JSON.stringify(promoted) },
        { event: "content:over", data: JSON.stringify("größe\n\u2028\ud800") }
      ])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("can be read by an HTTP/1.0 client, and with a query", () =>
    Effect.gen(function* () {
      const { received, send } = yield* transport.connect
      send("GET /events?client=1 HTTP/1.0\r\n\r\n")
      yield* received.until((text) => text.endsWith("\r\n\r\nretry: 2000\n\n"))
      expect(received.text().toLowerCase()).not.toContain("transfer-encoding")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is understood by another library's client", () =>
    Effect.gen(function* () {
      const seen = yield* Queue.unbounded<Message>()
      const opened = yield* Deferred.make<void>()
      const source = yield* openEventSource(["content:version:promoted", "content:fetch:start"], {
        onOpen: () => Deferred.unsafeDone(opened, Effect.void),
        onMessage: (message) => Queue.unsafeOffer(seen, message)
      })
      yield* Deferred.await(opened)
      expect(source.readyState).toBe(EventSource.OPEN)
      yield* transport.publish("content:fetch:start", null)
      yield* transport.publish("content:version:promoted", promoted)
      expect(yield* Queue.take(seen)).toEqual({ event: "content:fetch:start", data: "null" })
      expect(yield* Queue.take(seen)).toEqual({
        event: "content:version:promoted",
        data: JSON.stringify(promoted)
      })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("has a ping every keepAliveMs, and none before", () =>
    Effect.gen(function* () {
      const connection = yield* transport.openEvents
      const { received } = connection
      yield* TestClock.adjust(15_000 - 1)
      yield* transport.publish("content:before", 1)
      yield* received.until((text) => text.includes("content:before"))
      expect(received.text()).not.toContain("ping")
      for (let count = 1; count <= 3; count++) {
        yield* TestClock.adjust(count === 1 ? 1 : 15_000)
        yield* received.until((text) => text.split(": ping\n\n").length > count)
      }
      yield* TestClock.adjust(15_000 - 1)
      yield* transport.publish("content:over", 1)
      yield* received.until(isOver)
      expect(bodyOf(connection)).toBe(
        "retry: 2000\n\nevent: content:before\ndata: 1\n\n: ping\n\n: ping\n\n: ping\n\nevent: content:over\ndata: 1\n\n"
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("sends a frame of any size to a client that reads", () =>
    Effect.gen(function* () {
      const { received } = yield* transport.openEvents
      yield* transport.publish("content:large", "x".repeat(3 * maxQueuedBytes))
      yield* transport.publish("content:over", null)
      expect(yield* received.until((text) => text.endsWith("data: null\n\n"))).toContain(
        `data: "${"x".repeat(3 * maxQueuedBytes)}"\n\nevent: content:over`
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("is closed where more than 1 MiB is queued, without an effect on others", () =>
    Effect.gen(function* () {
      const { clients, statistics } = yield* HttpTransport
      const stalled = yield* transport.openEvents
      stalled.stall()
      const seen = yield* Queue.unbounded<number>()
      const opened = yield* Deferred.make<void>()
      yield* openEventSource(["content:much"], {
        onOpen: () => Deferred.unsafeDone(opened, Effect.void),
        onMessage: ({ data }) => Queue.unsafeOffer(seen, Number(/^\[(\d+)/.exec(data)?.[1]))
      })
      yield* Deferred.await(opened)
      yield* transport.clientsBecome(2)
      const padding = "x".repeat(256 * 1024)
      let sent = 0
      // The system takes some mebibytes before anything waits in the process.
      while ((yield* clients) === 2) {
        yield* transport.publish("content:much", [sent, padding])
        expect(yield* Queue.take(seen)).toBe(sent++)
      }
      expect(sent * padding.length).toBeGreaterThan(maxQueuedBytes)
      yield* transport.publish("content:much", [sent, padding])
      expect(yield* Queue.take(seen)).toBe(sent)
      expect(yield* statistics).toMatchObject({
        clients: 1,
        mostClients: 2,
        clientsDropped: 1,
        framesMissed: 1
      })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("the end of an event stream", () => {
  it.scopedLive("closes the connection of a client that does not read", () => {
    const { bus, endFeeds, layer } = eventEngine.make().instance()
    return Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const { clients, statistics } = yield* HttpTransport
      const { stall } = yield* transport.openEvents
      stall()
      yield* bus.publish("content:large", "x".repeat(20_000_000))
      yield* eventually(Effect.map(statistics, ({ eventsForwarded }) => eventsForwarded === 1))
      endFeeds("ends")
      yield* eventually(Effect.map(clients, (open) => open === 0))
      // The client's own socket stays.
      yield* before.isAllAgain(1)
    }).pipe(
      Effect.provide(HttpTransportLayer.layer({ port: 0 })),
      Effect.provide(layer),
      Effect.provide(transport.memoryServices()),
      withLog([])
    )
  })
})

describe("the slots of event streams", () => {
  it.effect("are limited, and free again when a socket is closed", () =>
    Effect.gen(function* () {
      const connections = [yield* transport.openEvents, yield* transport.openEvents]
      for (const leave of ["reset", "finish"] as const) {
        const refused = yield* transport.request({ target: "/events" })
        expect(refused.status).toBe(503)
        expect(refused.headers).toMatchObject({
          "access-control-allow-origin": "*",
          "content-type": "application/json"
        })
        expect(JSON.parse(refused.body)).toEqual({
          error: { message: expect.stringMatching(/^Too many SSE clients: all 2 event streams /) }
        })
        connections.shift()?.[leave]()
        yield* transport.publish("content:version:promoted", leave)
        yield* transport.clientsBecome(1)
        connections.push(yield* transport.openEvents)
      }
      expect(yield* (yield* HttpTransport).clients).toBe(2)
    }).pipe(Effect.scoped, Effect.provide(transport.layer({ maxClients: 2 })))
  )

  it.effect("are taken by a pipelined request in its turn", () =>
    Effect.gen(function* () {
      const { clients } = yield* HttpTransport
      const release = yield* Deferred.make<string>()
      yield* transport.register("content.ack", Deferred.await(release))
      const { received, send } = yield* transport.connect
      send(Buffer.concat([command, events]))
      yield* eventLoopTurn
      expect(yield* clients).toBe(0)
      yield* Deferred.succeed(release, "done")
      yield* received.until((text) => text.endsWith("retry: 2000\n\n"))
      expect(received.text()).toContain('{"result":"done"}HTTP/1.1 200 ')
      expect(yield* clients).toBe(1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("log nothing when a client disconnects", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      for (const leave of ["reset", "finish"] as const) {
        const connection = yield* transport.openEvents
        connection[leave]()
        yield* transport.clientsBecome(0)
        yield* eventLoopTurn
      }
      expect(lines).toEqual([expect.stringMatching(/^INFO HTTP transport on/)])
    }).pipe(Effect.scoped, Effect.provide(layer), Logger.withMinimumLogLevel(LogLevel.Debug), withLog(lines))
  })

  it.effect("are free again where the client disconnected before its stream began", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const connection = yield* transport.connect
      connection.send(events)
      connection.reset()
      yield* connection.received.whole
      yield* transport.request({ target: "/status" })
      yield* before.isAllAgain()
      yield* transport.clientsBecome(0)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect.each<readonly [string, ReadonlyArray<Buffer>, "reset" | "finish"]>([
    ["an event stream", [events], "reset"],
    ["an event stream", [events], "finish"],
    ["a command", [command], "reset"],
    ["two event streams in a row", [events, events], "reset"],
    ["requests behind an event stream", [events, command, status], "finish"],
    ["event streams behind a command", [command, events, events], "reset"]
  ])("leave nothing behind of %s", ([, requests, leave]) =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const { release, started } = yield* holdCommand("content.ack")
      const connection = yield* transport.connect
      connection.send(Buffer.concat(requests))
      yield* requests[0] === command ? started : connection.received.until((text) => text.includes("retry"))
      yield* eventLoopTurn
      connection[leave]()
      yield* connection.received.whole
      yield* release("late")
      yield* transport.clientsBecome(0)
      yield* before.isAllAgain()
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

const openEventSource = (
  names: ReadonlyArray<string>,
  { onMessage, onOpen }: { readonly onOpen: () => void; readonly onMessage: (message: Message) => void }
) =>
  Effect.flatMap(transport.port, (port) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const source = new EventSource(`http://127.0.0.1:${port}/events`)
        source.addEventListener("open", onOpen)
        for (const name of names) {
          source.addEventListener(name, ({ data, type }) => onMessage({ event: type, data }))
        }
        return source
      }),
      (source) => Effect.sync(() => source.close())
    )
  )
