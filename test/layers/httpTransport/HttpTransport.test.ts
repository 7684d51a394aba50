import * as os from "node:os"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { type InvalidOptions, issuesOf } from "../../../src/internal/Options.ts"
import { runPersistent } from "../../../src/layers/controller/Controller.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import * as Plugin from "../../../src/layers/controller/Plugin.ts"
import type { BindError } from "../../../src/layers/http/Listen.ts"
import * as HttpTransportLayer from "../../../src/layers/httpTransport/HttpTransport.ts"
import { HttpTransport } from "../../../src/layers/httpTransport/HttpTransport.ts"
import { decode } from "../../../src/layers/httpTransport/HttpTransportOptions.ts"
import type { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import type { ReplayBacklog } from "../../../src/services/ReplayBacklog.ts"
import { messages } from "../../support/eventStream.ts"
import { freePort } from "../../support/freePort.ts"
import * as lifetime from "../../support/lifetime.ts"
import { withLog } from "../../support/logged.ts"
import { type Connection, connect, format, parse } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventLoopTurn, eventually, nextPause } from "../../support/waiting.ts"

const inTaskMode = (options: object) =>
  Layer.provide(HttpTransportLayer.layer(options), transport.memoryServices("task"))

describe("HttpTransport.layer", () => {
  it("needs the buses, the backlog and the state, and nothing else", () => {
    expectTypeOf(HttpTransportLayer.layer).returns.toEqualTypeOf<
      Layer.Layer<
        HttpTransport,
        InvalidOptions | BindError,
        EventBus | CommandBus | ReplayBacklog | ControllerState
      >
    >()
  })

  it.effect("shows its URL and its clients in the log, the state and the status", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const url = `http://127.0.0.1:${yield* transport.port}`
      const { state, status } = yield* ControllerState
      const rows = Effect.map(status, ({ sections }) => sections.flatMap(({ rows }) => rows))
      expect(lines).toEqual([expect.stringContaining(`INFO HTTP transport on ${url}`)])
      expect((yield* state).plugins).toEqual({
        "http-transport": {
          kind: "http-transport",
          consumers: [],
          url,
          maxClients: 1,
          clients: 0,
          streams: [],
          mostClients: 0,
          eventsForwarded: 0,
          framesMissed: 0,
          clientsDropped: 0
        }
      })
      expect(yield* rows).toEqual([
        { type: "kv", label: "Address", value: url },
        { type: "kv", label: "Event streams", value: "0 of 1, 0 at most so far", tone: "ok" },
        { type: "kv", label: "Events forwarded", value: "0" },
        {
          type: "kv",
          label: "Missed by clients",
          value: "0 events, 0 clients disconnected",
          tone: "ok"
        },
        { type: "kv", label: "Last event", value: "none yet" }
      ])
      const { received } = yield* transport.openEvents
      yield* transport.publish("content:fetch:start", {})
      yield* received.until((text) => text.includes("content:fetch:start"))
      const later = yield* rows
      expect(later).toContainEqual({
        type: "kv",
        label: "Event streams",
        value: "1 of 1, 1 at most so far",
        tone: "warn"
      })
      expect(later).toContainEqual({ type: "kv", label: "Events forwarded", value: "1" })
      expect(later).toContainEqual({
        type: "kv",
        label: "Last event",
        value: "content:fetch:start at 1970-01-01T00:00:00.000Z"
      })
      expect((yield* state).plugins["http-transport"]).toMatchObject({
        mostClients: 1,
        eventsForwarded: 1,
        lastEvent: { name: "content:fetch:start", at: "1970-01-01T00:00:00.000Z" }
      })
      yield* nextPause
      yield* eventually(
        Effect.map(state, ({ plugins }) => JSON.stringify(plugins["http-transport"]).includes('"clients":1'))
      )
      expect((yield* state).plugins["http-transport"]).toMatchObject({
        streams: [{ origin: "", userAgent: "", streams: 1 }]
      })
    }).pipe(Effect.scoped, Effect.provide(transport.layer({ maxClients: 1 })), withLog(lines))
  })

  it.effect.runIf(
    Object.values(os.networkInterfaces())
      .flat()
      .some((one) => one?.address === "::1")
  )("writes an IPv6 address as in URLs", () =>
    Effect.gen(function* () {
      const { state } = yield* ControllerState
      expect((yield* state).plugins["http-transport"]).toMatchObject({
        url: `http://[::1]:${yield* transport.port}`
      })
    }).pipe(Effect.provide(transport.layer({ host: "::1" })))
  )
})

describe("options with mistakes", () => {
  it.effect.each(["task", "persistent"] as const)("are all found in %s mode, of every option", (mode) =>
    Effect.gen(function* () {
      const options = {
        port: -1,
        host: "",
        allowedCommands: [""],
        events: "content:*",
        replayEvents: [7],
        keepAliveMs: 0,
        maxClients: 100_001,
        exposeState: "no",
        keepAlive: 1
      } as object
      const layer = Layer.provide(HttpTransportLayer.layer(options), transport.memoryServices(mode))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      expect(error).toMatchObject({
        _tag: "vitrine/InvalidOptions",
        subject: "the options of the HTTP transport",
        issues: issuesOf(decode(options))
      })
      expect(error).toMatchObject({ issues: { length: Object.keys(options).length } })
    })
  )

  it.effect("bind nothing", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      yield* Effect.flip(Effect.scoped(Layer.build(transport.layer({ port, keepAliveMs: 0 }))))
      expect(yield* Effect.provide(transport.port, transport.layer({ port }))).toBe(port)
    })
  )
})

describe("in task mode", () => {
  it.effect("nothing is bound", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      yield* Effect.gen(function* () {
        const { address, clients } = yield* HttpTransport
        expect(address).toEqual(Option.none())
        expect(yield* clients).toBe(0)
        expect(yield* Effect.provide(transport.port, transport.layer({ port }))).toBe(port)
      }).pipe(Effect.provide(inTaskMode({ port })))
    })
  )
})

describe("options of the event stream", () => {
  it.effect("select which events are forwarded and replayed, in the order of their last emission", () =>
    Effect.gen(function* () {
      const early = yield* transport.openEvents
      for (const [name, payload] of [
        ["b", 1],
        ["a:one", 2],
        ["c", 3],
        ["a:two", 4],
        ["b", 5],
        ["bb", 6],
        ["a:", 7]
      ] as const) {
        yield* transport.publish(name, payload)
      }
      const whole = yield* early.received.until((text) => text.endsWith("data: 7\n\n"))
      expect(messages(Buffer.from(parse(whole).body))).toEqual([
        { event: "b", data: "1" },
        { event: "a:one", data: "2" },
        { event: "a:two", data: "4" },
        { event: "b", data: "5" },
        { event: "a:", data: "7" }
      ])
      const late = yield* transport.openEvents
      expect(parse(late.received.text()).body).toBe(
        "retry: 2000\n\nevent: a:one\ndata: 2\n\nevent: b\ndata: 5\n\n"
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(transport.layer({ events: ["a:*", "b"], replayEvents: ["b", "a:one"] }))
    )
  )

  it.effect("are warnings where they have no effect, and the events are neither sent nor remembered", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const text = 'have no effect: replayEvents[0]: clients never get "b": no entry of "events" includes it'
      expect(lines).toContainEqual(expect.stringMatching(/^WARN Some options of the HTTP transport have no/))
      const { problems } = yield* (yield* ControllerState).state
      expect(problems).toMatchObject([
        { code: "transport:options", severity: "warning", text: expect.stringContaining(text) }
      ])
      yield* transport.publish("b", 1)
      yield* transport.publish("a", 2)
      const { received } = yield* transport.openEvents
      expect(parse(received.text()).body).toBe("retry: 2000\n\n")
    }).pipe(
      Effect.scoped,
      Effect.provide(transport.layer({ events: ["a"], replayEvents: ["b"] })),
      withLog(lines)
    )
  })

  it.live("allow the longest interval of a timer for pings", () =>
    Effect.gen(function* () {
      const { received } = yield* transport.openEvents
      yield* transport.publish("content:over", null)
      const whole = yield* received.until((text) => text.includes("over"))
      expect(parse(whole).body).toBe("retry: 2000\n\nevent: content:over\ndata: null\n\n")
    }).pipe(Effect.scoped, Effect.provide(transport.layer({ keepAliveMs: 2_147_483_647 })))
  )
})

describe("clients that connect", () => {
  it.scoped("before plugins are started get their first events live, and later clients by replay", () =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const early = yield* Deferred.make<readonly [Connection, number], Error>()
      const subscribe = Effect.all([Scope.extend(transport.openEvents, scope), transport.port])
      const subscribedTransport = Layer.tap(HttpTransportLayer.layer({ port: 0 }), (context) =>
        Deferred.complete(early, Effect.provide(subscribe, context))
      )
      const announcing: Plugin.Plugin = {
        name: "content",
        issues: [],
        setup: () => Effect.map(EventBus, (bus) => bus.publish("content:version:promoted", 1))
      }
      yield* Effect.forkScoped(
        runPersistent({ cwd: "/", plugins: [Plugin.fromLayer("transport", subscribedTransport), announcing] })
      )
      const announcement = "retry: 2000\n\nevent: content:version:promoted\ndata: 1\n\n"
      const [{ received }, port] = yield* Deferred.await(early)
      const live = yield* received.until((text) => text.endsWith("data: 1\n\n"))
      expect(parse(live).body).toBe(announcement)
      const late = yield* connect(port)
      late.send(format({ target: "/events" }))
      const replayed = yield* late.received.until((text) => text.endsWith("data: 1\n\n"))
      expect(parse(replayed).body).toBe(announcement)
    }).pipe(
      Effect.provide(ControllerServices.layer("persistent")),
      Effect.provide(Layer.merge(NodeContext.layer, NodeHttpClient.layer))
    )
  )
})

describe("layerConfig", () => {
  it.effect("reads options from the environment, and reports mistakes in them", () =>
    Effect.gen(function* () {
      const layer = Layer.provide(
        HttpTransportLayer.layerConfig({
          port: Config.integer("PORT"),
          maxClients: Config.integer("CLIENTS")
        }),
        transport.memoryServices()
      )
      const build = (clients: string) =>
        Layer.build(layer).pipe(
          Effect.withConfigProvider(
            ConfigProvider.fromMap(
              new Map([
                ["PORT", "0"],
                ["CLIENTS", clients]
              ])
            )
          )
        )
      yield* Effect.scoped(Effect.provide(transport.port, yield* build("2")))
      expect((yield* Effect.flip(build("0"))).message).toContain("maxClients: expected an integer from 1")
      expect(yield* Effect.flip(build("many"))).toHaveProperty("_op", "InvalidData")
    }).pipe(Effect.scoped)
  )
})

describe("traceRequests", () => {
  it.scoped("creates spans of requests without their query, and none if it is off", () =>
    Effect.gen(function* () {
      const names: Array<string> = []
      const nativeTracer = Effect.runSync(Effect.tracer)
      const tracer = Tracer.make({
        context: (f) => f(),
        span: (name, parent, context, links, startTime, kind, options) => {
          names.push(name)
          return nativeTracer.span(name, parent, context, links, startTime, kind, options)
        }
      })
      const requests = Effect.all([
        transport.request({ target: "/status" }),
        transport.request({ target: "/status?token=secret" })
      ])
      for (const traceRequests of [false, true]) {
        const layer = Layer.provide(transport.layer({ traceRequests }), Layer.setTracer(tracer))
        yield* Effect.provide(requests, layer)
        expect(names).toEqual(traceRequests ? ["http.server GET"] : [])
      }
    })
  )
})

describe("the span of an event stream", () => {
  it.scoped("has the status 200 and ends with the stream", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.Span> = []
      const nativeTracer = Effect.runSync(Effect.tracer)
      const tracer = Tracer.make({
        context: (f) => f(),
        span: (...options) => {
          const span = nativeTracer.span(...options)
          spans.push(span)
          return span
        }
      })
      const layer = Layer.provide(transport.layer({ traceRequests: true }), Layer.setTracer(tracer))
      yield* Effect.gen(function* () {
        const { finish } = yield* transport.openEvents
        yield* transport.exchange(format({ target: "/status" }))
        const [stream, status] = spans
        yield* eventually(Effect.sync(() => status?.status._tag === "Ended"))
        expect(stream?.status._tag).toBe("Started")
        finish()
        yield* eventually(Effect.sync(() => stream?.status._tag === "Ended"))
        expect(stream?.attributes.get("http.response.status_code")).toBe(200)
      }).pipe(Effect.provide(layer))
      expect(spans).toHaveLength(2)
    })
  )
})

describe("binding", () => {
  it.effect("a port in use fails the layer with advice, without an effect on the other server", () =>
    Effect.gen(function* () {
      const port = yield* transport.port
      const error = yield* Effect.flip(Effect.scoped(Layer.build(transport.layer({ port }))))
      expect(error).toMatchObject({ _tag: "vitrine/BindError", host: "127.0.0.1", port, code: "EADDRINUSE" })
      expect(error.message).toBe(
        `Cannot listen on 127.0.0.1:${port}: port ${port} is already in use. ` +
          'Stop the program that uses it, or set another "port" (0 picks a free one).'
      )
      expect((yield* transport.request({ target: "/status" })).status).toBe(200)
    }).pipe(Effect.provide(transport.layer()))
  )

  it.scoped("a port in use can be tried again until it is free", () =>
    Effect.gen(function* () {
      const other = yield* Scope.make()
      const { address } = yield* Scope.extend(HttpTransportLayer.make({ port: 0, name: "other" }), other)
      const { port } = Option.getOrThrow(address)
      const before = yield* lifetime.whatIsThere
      const make = HttpTransportLayer.make({ port })
      for (let count = 1; count <= 2; count++) {
        expect(yield* Effect.flip(make)).toMatchObject({ _tag: "vitrine/BindError", port })
        yield* before.isAllAgain()
      }
      yield* Scope.close(other, Exit.void)
      expect((yield* make).address).toMatchObject(Option.some({ port }))
    }).pipe(Effect.provide(transport.memoryServices()))
  )

  it.effect.each(["192.0.2.1", `${"x".repeat(64)}.invalid`])(
    "the host %s fails the layer with advice",
    (host) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(transport.layer({ host }))))
        expect(error).toMatchObject({ _tag: "vitrine/BindError", host })
        expect(error.message).toContain(
          `Cannot listen on ${host}:0: this machine has no interface "${host}". Set "host"`
        )
      })
  )
})

describe("the end of the scope", () => {
  it.effect("ends everything that is open, and cannot be delayed", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const before = Fiber.unsafeRoots().length
      const services = yield* Layer.build(transport.memoryServices())
      const context = yield* Layer.buildWithScope(
        Layer.provideMerge(HttpTransportLayer.layer({ port: 0 }), Layer.succeedContext(services)),
        scope
      )
      const started = yield* Deferred.make<void>()
      const open = Effect.gen(function* () {
        yield* transport.register(
          "content.ack",
          Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
        )
        const half = yield* transport.connect
        half.send("POST /command HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
        const stream = yield* transport.openEvents
        const stalled = yield* transport.openEvents
        stalled.stall()
        yield* transport.publish("content:large", "x".repeat(10_000_000))
        const command = yield* transport.connect
        command.send(format({ method: "POST", target: "/command", body: '{"type":"content.ack"}' }))
        const headers = yield* transport.connect
        headers.send("GET /status HTTP/1.1\r\nHo")
        const silent = yield* transport.connect
        const idle = yield* transport.connect
        idle.send(format({ target: "/status", headers: { Connection: "keep-alive" } }))
        yield* idle.received.until((text) => text.includes("sections"))
        const garbage = yield* transport.connect
        garbage.send("garbage\r\n\r\n")
        yield* garbage.received.until((text) => text.includes("400"))
        yield* Deferred.await(started)
        return { half, stream, others: [command, headers, silent, idle, garbage] }
      })
      const { half, others, stream } = yield* Effect.provide(open, context)
      const ended: Array<string> = []
      const endOfHalf = yield* Effect.fork(
        Effect.tap(half.received.whole, () => ended.push("half-sent body"))
      )
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      expect(yield* stream.received.whole).toMatch(/retry: 2000\n\n/)
      ended.push("stream")
      // Whatever happens meanwhile must not be written to streams that have ended.
      yield* Effect.provide(
        Effect.zipRight(transport.publish("content:late", "x".repeat(10_000_000)), eventLoopTurn),
        services
      )
      yield* Fiber.join(closing)
      yield* Fiber.join(endOfHalf)
      expect(ended).toEqual(["stream", "half-sent body"])
      yield* Effect.forEach(others, ({ received }) => received.whole)
      expect(stream.received.text()).not.toContain("content:late")
      yield* Scope.close(scope, Exit.void)
      yield* eventually(Effect.sync(() => Fiber.unsafeRoots().length <= before))
    }).pipe(Effect.scoped)
  )
})
