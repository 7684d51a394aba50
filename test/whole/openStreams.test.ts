import { createServer } from "node:http"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { runPersistent } from "../../src/layers/controller/Controller.ts"
import * as ControllerServices from "../../src/layers/controller/ControllerServices.ts"
import * as Plugin from "../../src/layers/controller/Plugin.ts"
import { listen } from "../../src/layers/http/Listen.ts"
import type { HttpTransport } from "../../src/layers/httpTransport/HttpTransport.ts"
import * as HttpTransportLayer from "../../src/layers/httpTransport/HttpTransport.ts"
import type { CommandBus } from "../../src/services/CommandBus.ts"
import { ControllerState } from "../../src/services/ControllerState.ts"
import type { EventBus } from "../../src/services/EventBus.ts"
import * as lifetime from "../support/lifetime.ts"
import { withLog } from "../support/logged.ts"
import { type Connection, exchange, format, parse } from "../support/rawHttp.ts"
import * as transport from "../support/transport.ts"
import { eventLoopTurn } from "../support/waiting.ts"

/** Requests that more may follow on the same connection. */
const headers = { Connection: "keep-alive" }
const command = format({ method: "POST", target: "/command", headers, body: '{"type":"content.ack"}' })
const events = format({ target: "/events", headers })
const status = format({ target: "/status", headers })

/** The clients of a transport that is about to end. */
interface Clients {
  /** They notice the end. */
  readonly reading: ReadonlyArray<Connection>
  /** How many others there are, which do not. */
  readonly stalled?: number
  /** Done when the transport has ended. */
  readonly afterwards?: Effect.Effect<unknown>
}

type Services = HttpTransport | CommandBus | EventBus | Scope.Scope

/** A client that opens a stream, again as soon as it ends or cannot be opened, for ever. */
const comeBack = Effect.flatMap(transport.port, (port) =>
  exchange(port, events).pipe(
    Effect.ignore,
    Effect.zipRight(eventLoopTurn),
    Effect.forever,
    Effect.forkScoped
  )
)

const opening = (text: string) => Effect.tap(transport.connect, ({ send }) => Effect.sync(() => send(text)))

/** Sends the same again and again, for as long as there is somebody to send it to. */
const goOn = ({ received, send }: Connection, text: string) =>
  Effect.sync(() => send(text)).pipe(
    Effect.zipRight(eventLoopTurn),
    Effect.forever,
    Effect.race(received.whole),
    Effect.forkScoped
  )

/** Registers a command that is held up like this, and returns an Effect that waits until it runs. */
const holdCommand = (hold: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    yield* transport.register("content.ack", Effect.zipRight(Deferred.succeed(started, undefined), hold))
    return Deferred.await(started)
  })

const situations: Record<string, Effect.Effect<Clients, unknown, Services>> = {
  "clients that come back at once, for ever": Effect.gen(function* () {
    const returning = yield* Effect.replicateEffect(comeBack, 8)
    yield* transport.clientsBecome(8)
    return { reading: [yield* transport.openEvents], afterwards: Fiber.interruptAll(returning) }
  }),

  "streams with megabytes that nobody reads": Effect.gen(function* () {
    const stalled = yield* Effect.replicateEffect(transport.openEvents, 8)
    for (const { stall } of stalled) {
      stall()
    }
    const reader = yield* transport.openEvents
    const text = "x".repeat(100_000)
    for (let number = 0; number < 30; number++) {
      yield* transport.publish("content:much", { number, text })
    }
    yield* reader.received.until((text) => text.includes('"number":29'))
    return { reading: [reader], stalled: stalled.length }
  }),

  "a stream in the middle of a burst": Effect.gen(function* () {
    const stream = yield* transport.openEvents
    const numbers = Array.from({ length: 4000 }, (_, number) => number)
    yield* Effect.forEach(numbers, (number) => transport.publish("content:burst", number))
    yield* stream.received.until((text) => text.includes("burst"))
    const wholeFramesInOrder = Effect.sync(() => {
      const { body } = parse(stream.received.text())
      const frames = numbers.map((number) => `event: content:burst\ndata: ${number}\n\n`)
      expect(`retry: 2000\n\n${frames.join("")}`.startsWith(body)).toBe(true)
      expect(body).toMatch(/\n\n$/)
    })
    return { reading: [stream], afterwards: wholeFramesInOrder }
  }),

  "a command that cannot be interrupted": Effect.gen(function* () {
    const release = yield* Deferred.make<void>()
    const started = yield* holdCommand(Effect.uninterruptible(Deferred.await(release)))
    const connection = yield* transport.connect
    connection.send(command)
    yield* started
    return { reading: [connection], afterwards: Deferred.succeed(release, undefined) }
  }),

  "requests that wait behind a stream, or behind a command without end": Effect.gen(function* () {
    const started = yield* holdCommand(Effect.never)
    const behindStream = yield* transport.openEvents
    behindStream.send(Buffer.concat([status, command, events, events]))
    const behindCommand = yield* transport.connect
    behindCommand.send(Buffer.concat([command, events, command, status]))
    yield* started
    return { reading: [behindStream, behindCommand] }
  }),

  "clients that never cease to send: headers, bodies, refused bodies, requests": Effect.gen(function* () {
    const post = "POST /command HTTP/1.1\r\nHost: a\r\n"
    const header = yield* opening("GET /status HTTP/1.1\r\nHost: a\r\nX: ")
    const body = yield* opening(`${post}Content-Length: 65536\r\n\r\n`)
    const chunks = yield* opening(`${post}Transfer-Encoding: chunked\r\n\r\n`)
    const refused = yield* opening(`${post}Content-Length: 99999999\r\n\r\n`)
    const again = yield* transport.connect
    yield* goOn(header, "x")
    yield* goOn(body, " ")
    yield* goOn(chunks, "1\r\n \r\n")
    yield* goOn(refused, "x")
    yield* goOn(again, status.toString())
    yield* refused.received.until((text) => text.includes("413"))
    yield* again.received.until((text) => text.includes("sections"))
    return { reading: [header, body, chunks, refused, again] }
  }),

  "a body that was asked for with Expect: 100-continue and does not come": Effect.gen(function* () {
    const connection = yield* opening(
      "POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    )
    yield* connection.received.until((text) => text.includes("100 Continue"))
    return { reading: [connection] }
  })
}

describe("the transport ends within two seconds and leaves nothing behind:", () => {
  for (const [situation, clients] of Object.entries(situations)) {
    it.scopedLive(situation, () => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const before = yield* lifetime.whatIsThere
        const { context, end } = yield* lifetime.start()
        yield* Effect.gen(function* () {
          const port = yield* transport.port
          const { afterwards = Effect.void, reading, stalled = 0 } = yield* clients
          yield* Effect.zip(end, end, { concurrent: true })
          const again = yield* Effect.provide(
            transport.request({ target: "/status" }),
            transport.layer({ port })
          )
          expect(again.status).toBe(200)
          yield* Effect.forEach(reading, ({ received }) => received.whole)
          yield* afterwards
          yield* before.isAllAgain(stalled)
          yield* end
        }).pipe(Effect.scoped, Effect.provide(context))
        yield* before.isAllAgain()
        expect(lines.filter((line) => !line.startsWith("INFO"))).toEqual([])
      }).pipe(withLog(lines))
    })
  }
})

describe("a port in use leaves nothing behind", () => {
  const usedPort = Effect.map(listen(createServer(), { host: "127.0.0.1", port: 0 }), ({ port }) => port)

  it.scoped("of the transport: no socket, fiber, state or section of the status", () =>
    Effect.gen(function* () {
      const port = yield* usedPort
      const { state, status } = yield* ControllerState
      const stateBefore = yield* state
      const before = yield* lifetime.whatIsThere
      yield* Effect.flip(Effect.scoped(Layer.build(HttpTransportLayer.layer({ port }))))
      expect(yield* state).toEqual(stateBefore)
      expect((yield* status).sections).toEqual([])
      yield* before.isAllAgain()
    }).pipe(Effect.provide(transport.memoryServices()))
  )

  it.scoped("of earlier plugins: their streams end, their ports are free", () =>
    Effect.gen(function* () {
      const port = yield* usedPort
      const before = yield* lifetime.whatIsThere
      const subscribed = yield* Deferred.make<readonly [number, Connection], Error>()
      const scope = yield* Effect.scope
      const subscribe = Effect.all([transport.port, Scope.extend(transport.openEvents, scope)])
      const subscribedTransport = Layer.tap(HttpTransportLayer.layer({ port: 0 }), (context) =>
        Deferred.complete(subscribed, Effect.provide(subscribe, context))
      )
      const plugins = [subscribedTransport, HttpTransportLayer.layer({ port, name: "second" })].map(
        (layer, index) => Plugin.fromLayer(`transport ${index}`, layer)
      )
      const error = yield* Effect.flip(runPersistent({ cwd: "/", plugins }))
      expect(error.message).toMatch(/"transport 1" could not be set up\. Cannot listen on .*already in use/)
      const [earlierPort, stream] = yield* Deferred.await(subscribed)
      yield* stream.received.whole
      yield* before.isAllAgain()
      expect(yield* Effect.provide(transport.port, transport.layer({ port: earlierPort }))).toBe(earlierPort)
    }).pipe(
      Effect.provide(ControllerServices.layer("persistent")),
      Effect.provide(Layer.merge(NodeContext.layer, NodeHttpClient.layer))
    )
  )
})
