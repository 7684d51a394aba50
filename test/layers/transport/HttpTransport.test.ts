import * as os from "node:os"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as HttpTransportLayer from "../../../src/layers/transport/HttpTransport.ts"
import type { BindError } from "../../../src/services/BindError.ts"
import type { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import type { EventBus } from "../../../src/services/EventBus.ts"
import { HttpTransport } from "../../../src/services/HttpTransport.ts"
import type { InvalidOptions } from "../../../src/services/Options.ts"
import type { ReplayBacklog } from "../../../src/services/ReplayBacklog.ts"
import { withLog } from "../../support/logged.ts"
import { format } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventLoopTurn, eventually } from "../../support/waiting.ts"

const inTaskMode = (options: object) =>
  Layer.provide(HttpTransportLayer.layer(options), transport.memoryServices("task"))

/** A port that was free a moment ago. */
const freePort = Effect.scoped(Effect.provide(transport.port, transport.layer()))

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

  it.effect("listens on loopback, on a free port if told so", () =>
    Effect.gen(function* () {
      const { address } = yield* HttpTransport
      expect(Option.getOrThrow(address)).toMatchObject({ address: "127.0.0.1", family: "IPv4" })
      expect(Option.getOrThrow(address).port).toBeGreaterThan(0)
    }).pipe(Effect.provide(transport.layer()))
  )

  it.effect("says in log, state and status where it listens and who listens to it", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const url = `http://127.0.0.1:${yield* transport.port}`
      const { state, status } = yield* ControllerState
      const rows = Effect.map(status, ({ sections }) => sections.flatMap(({ rows }) => rows))
      expect(lines).toEqual([expect.stringContaining(`INFO HTTP transport on ${url}`)])
      expect((yield* state).plugins).toEqual({ "http-transport": { url, maxClients: 1 } })
      expect(yield* rows).toEqual([
        { type: "kv", label: "Address", value: url },
        { type: "kv", label: "Event streams", value: "0 of 1, 0 at most so far", tone: "ok" },
        { type: "kv", label: "Events forwarded", value: "0" },
        {
          type: "kv",
          label: "Missed by slow clients",
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
    }).pipe(Effect.scoped, Effect.provide(transport.layer({ maxClients: 1 })), withLog(lines))
  })

  it.effect.runIf(
    Object.values(os.networkInterfaces())
      .flat()
      .some((one) => one?.address === "::1")
  )("writes an IPv6 address as URLs have it", () =>
    Effect.gen(function* () {
      const { state } = yield* ControllerState
      expect((yield* state).plugins["http-transport"]).toMatchObject({
        url: `http://[::1]:${yield* transport.port}`
      })
    }).pipe(Effect.provide(transport.layer({ host: "::1" })))
  )
})

describe("options with mistakes", () => {
  const mistakes = {
    port: 65_536,
    maxClients: 0,
    events: ["content:*", ""],
    allowedCommand: []
  } as object

  for (const mode of ["task", "persistent"] as const) {
    it.effect(`fail the layer with all of them in ${mode} mode`, () =>
      Effect.gen(function* () {
        const layer = Layer.provide(HttpTransportLayer.layer(mistakes), transport.memoryServices(mode))
        const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
        expect(error).toMatchObject({ _tag: "InvalidOptions", subject: "the options of the HTTP transport" })
        for (const path of ["port", "maxClients", "events[1]", "allowedCommand"]) {
          expect(error.message).toContain(`  ${path}: `)
        }
      })
    )
  }

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

describe("binding", () => {
  it.effect("a port in use fails the layer with advice, and the one who has it goes on", () =>
    Effect.gen(function* () {
      const port = yield* transport.port
      const error = yield* Effect.flip(Effect.scoped(Layer.build(transport.layer({ port }))))
      expect(error).toMatchObject({ _tag: "BindError", host: "127.0.0.1", port, code: "EADDRINUSE" })
      expect(error.message).toBe(
        `Cannot listen on 127.0.0.1:${port}: port ${port} is already in use. ` +
          'Stop the program that uses it, or set another "port" (0 picks a free one).'
      )
      expect((yield* transport.request({ target: "/status" })).status).toBe(200)
    }).pipe(Effect.provide(transport.layer()))
  )

  it.effect.each(["192.0.2.1", `${"x".repeat(64)}.invalid`])(
    "the host %s fails the layer with advice",
    (host) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(transport.layer({ host }))))
        expect(error).toMatchObject({ _tag: "BindError", host })
        expect(error.message).toContain(
          `Cannot listen on ${host}:0: this machine has no interface "${host}". Set "host"`
        )
      })
  )
})

describe("the end of the scope", () => {
  it.effect("frees the port", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      for (let round = 0; round < 3; round++) {
        expect(yield* Effect.provide(transport.port, transport.layer({ port }))).toBe(port)
      }
    })
  )

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
