import * as diagnostics from "node:diagnostics_channel"
import { getEventListeners } from "node:events"
import { createServer } from "node:http"
import type { Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errAsync, okAsync, ResultAsync } from "neverthrow"
import { issuesOf } from "../src/internal/Options.ts"
import { listen } from "../src/layers/http/Listen.ts"
import { decode } from "../src/layers/httpTransport/HttpTransportOptions.ts"
import {
  type HttpTransportConfig,
  httpTransport,
  type PlainContext,
  PluginSetupFailed
} from "../src/plain.ts"
import { messages } from "./support/eventStream.ts"
import { freePort } from "./support/freePort.ts"
import * as lifetime from "./support/lifetime.ts"
import { makePlainController, type PlainController } from "./support/plainController.ts"
import { fromResult, openEvents, postCommand, setUp, setUpIn } from "./support/plainTransport.ts"
import { type Connection, connect, format, parse, request } from "./support/rawHttp.ts"
import { eventually } from "./support/waiting.ts"

const promoted = "content:version:promoted"

/** The events that a client has been given when one with that data is there. */
const eventsUntil = ({ received }: Connection, data: string) =>
  Effect.map(
    received.until((text) => text.endsWith(`data: ${data}\n\n`)),
    (text) => messages(Buffer.from(parse(text).body))
  )

const setUpFails = (controller: PlainController, options: HttpTransportConfig) =>
  Effect.flip(Effect.scoped(setUp(controller, options)))

const isFree = (port: number) =>
  Effect.isSuccess(Effect.scoped(Effect.suspend(() => listen(createServer(), { host: "127.0.0.1", port }))))

/** What no compiler lets pass, and a plain controller does all the same. */
const nonsense = (value: unknown) => value as never

const throwing = () => {
  throw new Error("no")
}

describe("events", () => {
  it.scoped("of the ready phase reach connected clients live, and later ones by replay", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { port } = yield* setUp(controller)
      const early = yield* openEvents(port)
      const content = {
        name: "content",
        setup: () => okAsync({ ready: () => controller.emit(promoted, { versionId: "v1" }) })
      }
      yield* fromResult(controller.start([content]))
      const announcement = { event: promoted, data: '{"versionId":"v1"}' }
      expect(yield* eventsUntil(early, announcement.data)).toEqual([announcement])
      expect(yield* eventsUntil(yield* openEvents(port), announcement.data)).toEqual([announcement])
    })
  )

  it.scoped("are remembered from the moment that setup returns, even before its result", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const setup = httpTransport({ port: 0 }).setup(controller.contextOf("http-transport"))
      controller.emit(promoted, 1)
      const { address, disconnect } = yield* fromResult(setup)
      const client = yield* openEvents(address?.port ?? 0)
      expect(yield* eventsUntil(client, "1")).toEqual([{ event: promoted, data: "1" }])
      yield* fromResult(disconnect())
    })
  )

  it.scoped("keep the order of emission, even within a handler", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { port } = yield* setUp(controller, { events: ["*"] })
      controller.contextOf("other").eventBus.onAny((name) => {
        if (name === "a") {
          controller.emit("b", 2)
        }
      })
      const client = yield* openEvents(port)
      controller.emit("a", 1)
      controller.emit("c", 3)
      expect((yield* eventsUntil(client, "3")).map(({ event }) => event)).toEqual(["a", "b", "c"])
    })
  )

  it.scoped("are forwarded, whatever other handlers do", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      controller.contextOf("before").eventBus.onAny(throwing)
      const { port } = yield* setUp(controller)
      controller.contextOf("behind").eventBus.onAny(throwing)
      const client = yield* openEvents(port)
      controller.emit("content:x", 1)
      expect(yield* eventsUntil(client, "1")).toHaveLength(1)
    })
  )

  it.scoped("without a name are ignored, with one log message", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { port } = yield* setUp(controller, { events: ["*"] })
      const client = yield* openEvents(port)
      for (const name of [undefined, 5, Symbol("s"), { toString: throwing }]) {
        controller.emit(nonsense(name), 0)
      }
      controller.emit("content:x", 1)
      expect(yield* eventsUntil(client, "1")).toHaveLength(1)
      expect(controller.lines.filter((line) => line.includes("whose name is no string"))).toHaveLength(1)
    })
  )

  it.scoped("have a placeholder for values that JSON cannot represent", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { port } = yield* setUp(controller)
      const client = yield* openEvents(port)
      const cycle: Record<string, unknown> = {
        big: 1n,
        get bad() {
          return throwing()
        }
      }
      cycle.self = cycle
      controller.emit("content:odd", cycle)
      controller.emit("content:odd", undefined)
      expect((yield* eventsUntil(client, "null")).map(({ data }) => data)).toEqual([
        '{"big":"[BigInt 1]","bad":"[Unserializable]","self":"[Circular]"}',
        "null"
      ])
      expect(controller.lines).toContainEqual(
        expect.stringMatching(/^WARN An event "content:odd" contains a value that JSON/)
      )
    })
  )

  it.scoped("are written in the same turn of the event loop, without a timer", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const sockets: Array<Socket> = []
      const onSocket = (message: unknown) => sockets.push((message as { readonly socket: Socket }).socket)
      yield* Effect.acquireRelease(
        Effect.sync(() => diagnostics.subscribe("net.server.socket", onSocket)),
        () => Effect.sync(() => diagnostics.unsubscribe("net.server.socket", onSocket))
      )
      const { port } = yield* setUp(controller)
      const client = yield* openEvents(port)
      const written = () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
      const frame = "event: content:x\ndata: 1\n\n"
      const before = written()
      vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "setImmediate"] })
      const inSameTurn = yield* Effect.promise(
        () =>
          new Promise<number>((resolve) => {
            nextTurn(() => resolve(written() - before))
            controller.emit("content:x", 1)
          })
      ).pipe(Effect.ensuring(Effect.sync(() => vi.useRealTimers())))
      expect(inSameTurn).toBe(frame.length)
      yield* client.received.until((text) => text.endsWith(frame))
    })
  )
})

describe("commands", () => {
  it.scoped("are passed to the controller with all fields, and return its result", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      controller.register("content.ack", (command) => okAsync({ seen: command }))
      controller.register("content.manifest.read", () => okAsync(undefined))
      const { port } = yield* setUp(controller)
      const command = { type: "content.ack", consumerId: "screen-1", versionId: "v1" }
      expect(yield* postCommand(port, command)).toEqual({ status: 200, body: { result: { seen: command } } })
      expect(yield* postCommand(port, { type: "content.manifest.read" })).toEqual({
        status: 200,
        body: { result: null }
      })
    })
  )

  it.scoped("that fail return the whole chain of causes", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const root = Object.assign(new TypeError("no such version"), { cause: undefined })
      controller.register("content.ack", () =>
        errAsync(new Error("cannot acknowledge", { cause: new RangeError("out of range", { cause: root }) }))
      )
      const loop: Error = new Error("a loop")
      loop.cause = new Error("goes round", { cause: loop })
      controller.register("content.manifest.read", () => errAsync(loop))
      const { port } = yield* setUp(controller)
      expect(yield* postCommand(port, { type: "content.ack" })).toEqual({
        status: 500,
        body: {
          error: {
            name: "Error",
            message: "cannot acknowledge",
            cause: {
              name: "RangeError",
              message: "out of range",
              cause: { name: "TypeError", message: "no such version" }
            }
          }
        }
      })
      expect(yield* postCommand(port, { type: "content.manifest.read" })).toEqual({
        status: 500,
        body: {
          error: { name: "Error", message: "a loop", cause: { name: "Error", message: "goes round" } }
        }
      })
    })
  )

  it.scoped("that are not allowed never reach the controller", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      let ran = false
      controller.register("content.fetch", () => {
        ran = true
        return okAsync(1)
      })
      const { port } = yield* setUp(controller)
      expect((yield* postCommand(port, { type: "content.fetch" })).status).toBe(403)
      expect(ran).toBe(false)
    })
  )

  it.scoped("that throw or never end do not affect others", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const started = new Promise<void>((resolve) => {
        controller.register("content.ack", () => {
          resolve()
          return new ResultAsync(new Promise(() => {}))
        })
      })
      controller.register("content.manifest.read", throwing)
      const { disconnect, port } = yield* setUp(controller)
      expect(yield* postCommand(port, { type: "content.manifest.read" })).toEqual({
        status: 500,
        body: { error: { name: "Error", message: "no" } }
      })
      const waiting = yield* connect(port)
      waiting.send(format({ method: "POST", target: "/command", body: '{"type":"content.ack"}' }))
      yield* Effect.promise(() => started)
      yield* fromResult(disconnect("enough"))
      expect(yield* waiting.received.whole).toBe("")
    })
  )
})

describe("a dispatch that returns", () => {
  it.scoped.each<[string, unknown, string]>([
    ["nothing", undefined, "expected a promise, got undefined"],
    ["a promise of a value", Promise.resolve("done"), 'expected a Result in the promise, got "done"']
  ])("%s gets an error that names the expected result", ([, returned, issue]) =>
    Effect.gen(function* () {
      const context = makePlainController().contextOf("http-transport")
      const { port } = yield* setUpIn({ ...context, dispatchCommand: () => nonsense(returned) })
      expect(yield* postCommand(port, { type: "content.ack" })).toEqual({
        status: 500,
        body: {
          error: {
            name: "NoResult",
            message: `"dispatchCommand" must return a ResultAsync of neverthrow, such as okAsync(value): ${issue}`
          }
        }
      })
    })
  )
})

describe("status and state", () => {
  it.scoped("come from the controller, with the transport's slice in the state", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { port } = yield* setUp(controller, { exposeState: true })
      const read = (target: string) =>
        Effect.map(request(port, { target }), ({ body }) => JSON.parse(body) as unknown)
      expect(yield* read("/status")).toEqual(controller.contextOf("any").getStatusSnapshot())
      expect(yield* read("/state")).toEqual(controller.state())
      expect(controller.state().plugins).toMatchObject({
        "http-transport": {
          kind: "http-transport",
          consumers: [],
          url: `http://127.0.0.1:${port}`,
          maxClients: 32,
          clients: 0,
          streams: []
        }
      })
    })
  )

  it.scoped("have times as text, even if the controller has dates", () =>
    Effect.gen(function* () {
      const context = makePlainController().contextOf("http-transport")
      const startTime = new Date("2026-03-01T12:00:00.000Z")
      const { port } = yield* setUpIn(
        {
          ...context,
          cwd: "/exhibit",
          onGlobalStatePatch: () => throwing,
          getStatusSnapshot: () => ({ header: { startTime, uptimeMs: 1, mode: "persistent" }, sections: [] }),
          getGlobalState: () => ({ system: { startTime, mode: "persistent" }, plugins: {}, _version: 0 })
        },
        { exposeState: true }
      )
      const read = (target: string) =>
        Effect.map(request(port, { target }), ({ body }) => JSON.parse(body) as unknown)
      const text = { startTime: "2026-03-01T12:00:00.000Z" }
      expect(yield* read("/status")).toMatchObject({ header: text })
      expect(yield* read("/state")).toMatchObject({ system: text })
    })
  )

  it.scoped("that cannot be read are a 500, without other effects", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const context = { ...controller.contextOf("http-transport"), getStatusSnapshot: throwing }
      const { port } = yield* setUpIn(context)
      expect((yield* request(port, { target: "/status" })).status).toBe(500)
      expect(controller.lines).toContain("ERROR A request failed unexpectedly: no")
      expect((yield* request(port, { target: "/state" })).status).toBe(404)
    })
  )
})

describe("options", () => {
  const mistakes = nonsense({
    port: -1,
    host: "",
    allowedCommands: [""],
    events: "content:*",
    replayEvents: [7],
    keepAliveMs: 0,
    maxClients: 100_001,
    exposeState: "no",
    keepAlive: 1
  })

  it.effect.each(["task", "persistent"] as const)(
    "with mistakes result in an Err in %s mode that names all, and nothing is bound",
    (mode) =>
      Effect.gen(function* () {
        const controller = makePlainController(mode)
        const before = yield* lifetime.whatIsThere
        const error = yield* setUpFails(controller, mistakes)
        expect(error).toBeInstanceOf(Error)
        expect(error.message).toMatch(
          /^The plugin "http-transport" could not be set up\. There are 9 invalid values in /
        )
        for (const { message, path } of issuesOf(decode(mistakes))) {
          expect(error.message).toContain(`  ${path}: ${message}`)
        }
        expect(error.cause).toMatchObject({ _tag: "vitrine/InvalidOptions", issues: { length: 9 } })
        expect(controller.handlers()).toEqual([])
        expect(controller.state()._version).toBe(0)
        yield* before.isAllAgain()
      })
  )

  it.effect("of another type result in an Err", () =>
    Effect.gen(function* () {
      for (const options of [
        null,
        7,
        "8710",
        [],
        () => {},
        {
          get port() {
            return throwing()
          }
        }
      ]) {
        const { contextOf } = makePlainController("task")
        const setup = httpTransport(nonsense(options)).setup(contextOf("http-transport"))
        const error = yield* Effect.flip(fromResult(setup))
        expect(error.message).toContain('The plugin "http-transport" could not be set up.')
        expect(error.cause).toBeInstanceOf(Error)
      }
    })
  )

  it.scoped("bind nothing in task mode, and use neither bus nor state", () =>
    Effect.gen(function* () {
      const controller = makePlainController("task")
      const port = yield* freePort
      const { address, disconnect } = yield* setUp(controller, { port })
      expect(address).toBeNull()
      expect(yield* isFree(port)).toBe(true)
      expect(controller.handlers()).toEqual([])
      expect(controller.state()._version).toBe(0)
      yield* fromResult(disconnect("done"))
      yield* fromResult(disconnect("done"))
    })
  )
})

describe("setup", () => {
  it.scoped("of a port in use results in an Err with advice, without an effect on the other server", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const first = yield* setUp(controller)
      const error = yield* setUpFails(controller, { port: first.port })
      expect(error.message).toBe(
        `The plugin "http-transport" could not be set up. Cannot listen on 127.0.0.1:${first.port}: ` +
          `port ${first.port} is already in use. ` +
          'Stop the program that uses it, or set another "port" (0 picks a free one).'
      )
      expect(error).toBeInstanceOf(PluginSetupFailed)
      expect(error.cause).toMatchObject({
        _tag: "vitrine/BindError",
        code: "EADDRINUSE",
        cause: { code: "EADDRINUSE", syscall: "listen" }
      })
      expect(controller.handlers()).toHaveLength(1)
      expect((yield* request(first.port, { target: "/status" })).status).toBe(200)
    })
  )

  it.scoped("twice in one process makes two independent transports", () =>
    Effect.gen(function* () {
      const one = makePlainController()
      const other = makePlainController()
      const first = yield* setUp(one)
      const second = yield* setUp(other)
      const third = yield* setUp(other)
      const clients = yield* Effect.forEach([first, second, third], ({ port }) => openEvents(port))
      one.emit("content:x", 1)
      other.emit("content:x", 2)
      yield* Effect.forEach(clients, (client, index) =>
        Effect.map(eventsUntil(client, index === 0 ? "1" : "2"), (events) => expect(events).toHaveLength(1))
      )
      yield* fromResult(second.disconnect("enough"))
      expect(other.handlers()).toHaveLength(1)
      expect((yield* request(first.port, { target: "/status" })).status).toBe(200)
      expect((yield* request(third.port, { target: "/status" })).status).toBe(200)
      expect(yield* isFree(second.port)).toBe(true)
    })
  )

  it.effect.each<[string, object, string]>([
    [
      "no event bus",
      { eventBus: undefined },
      "There is an invalid value in the context that setup was given:\n" +
        "  context.eventBus: expected an object, got undefined"
    ],
    [
      "neither an abort signal nor a method of the logger",
      { abortSignal: undefined, logger: { error() {}, warn() {}, info() {}, debug() {} } },
      "There are 2 invalid values in the context that setup was given:\n" +
        "  context.logger.verbose: expected a function, got undefined\n" +
        "  context.abortSignal: expected an AbortSignal, got undefined"
    ],
    [
      "a bus that takes no handlers",
      { eventBus: { onAny: throwing, offAny: throwing, emit: throwing } },
      "no"
    ],
    ["a state that cannot be updated", { updateState: throwing }, "no"],
    [
      "getters that throw",
      {
        get eventBus() {
          return throwing()
        }
      },
      "no"
    ],
    [
      "a signal whose listeners cannot be added",
      { abortSignal: { aborted: false, addEventListener: throwing, removeEventListener: throwing } },
      "no"
    ]
  ])("with a context that has %s results in an Err, and leaves nothing behind", ([, parts, reason]) =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const port = yield* freePort
      const before = yield* lifetime.whatIsThere
      const context = Object.defineProperties(
        { ...controller.contextOf("http-transport") },
        Object.getOwnPropertyDescriptors(parts)
      )
      const error = yield* Effect.flip(fromResult(httpTransport({ port }).setup(nonsense(context))))
      expect(error.message).toBe(`The plugin "http-transport" could not be set up. ${reason}`)
      expect(error.cause).toBeInstanceOf(Error)
      expect(controller.handlers()).toEqual([])
      yield* before.isAllAgain()
      expect(yield* isFree(port)).toBe(true)
    })
  )

  it.effect("without a context results in an Err that names every missing field", () =>
    Effect.gen(function* () {
      for (const [context, mistakes] of [
        [undefined, 1],
        [{}, 8]
      ] as const) {
        const error = yield* Effect.flip(fromResult(httpTransport().setup(nonsense(context))))
        expect(error.cause).toMatchObject({ _tag: "vitrine/InvalidContext", issues: { length: mistakes } })
      }
    })
  )

  it.scoped("with a logger that throws works as with any other", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const logger = { error: throwing, warn: throwing, info: throwing, debug: throwing, verbose: throwing }
      const { disconnect, port } = yield* setUpIn({ ...controller.contextOf("http-transport"), logger })
      const client = yield* openEvents(port)
      controller.emit("content:odd", 1n)
      yield* eventsUntil(client, '"[BigInt 1]"')
      yield* fromResult(disconnect("enough"))
    })
  )
})

describe("the end", () => {
  it.effect("by disconnect ends streams, frees the port at once and leaves nothing behind", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const before = yield* lifetime.whatIsThere
      const port = yield* freePort
      for (let round = 0; round < 3; round++) {
        yield* Effect.gen(function* () {
          const { disconnect } = yield* setUp(controller, { port })
          const client = yield* openEvents(port)
          yield* fromResult(disconnect("enough"))
          expect(yield* isFree(port)).toBe(true)
          yield* client.received.whole
          expect(controller.handlers()).toEqual([])
          expect(getEventListeners(controller.contextOf("any").abortSignal, "abort")).toEqual([])
        }).pipe(Effect.scoped)
      }
      yield* before.isAllAgain()
      expect(controller.lines).toContain('DEBUG The plugin "http-transport" shuts down: enough')
    })
  )

  it.scoped("comes once, however often and from wherever it is requested", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { disconnect, port } = yield* setUp(controller)
      const client = yield* openEvents(port)
      const both = [disconnect("one"), disconnect("other")]
      controller.abort("and abort")
      yield* Effect.forEach(both, fromResult)
      expect(yield* isFree(port)).toBe(true)
      yield* client.received.whole
      yield* fromResult(disconnect("again"))
      expect(controller.lines.filter((line) => line.includes("shuts down"))).toEqual([
        'DEBUG The plugin "http-transport" shuts down: one'
      ])
    })
  )

  it.scoped.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["empty", ""]
  ])("is logged without a reason where that is %s", ([, reason]) =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const aborting = new AbortController()
      const abortSignal = Object.defineProperty(aborting.signal, "reason", { value: reason })
      const { disconnect } = yield* setUp(controller)
      const other = yield* setUpIn({ ...controller.contextOf("http-transport"), abortSignal })
      yield* fromResult(disconnect(reason))
      aborting.abort()
      yield* fromResult(other.disconnect("enough"))
      expect(controller.lines.filter((line) => line.includes("shuts down"))).toEqual([
        'DEBUG The plugin "http-transport" shuts down.',
        'DEBUG The plugin "http-transport" shuts down.'
      ])
    })
  )

  it.scoped("comes with the abort signal, and disconnect waits for it", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { disconnect, port } = yield* setUp(controller)
      const client = yield* openEvents(port)
      controller.abort("the museum closes")
      yield* client.received.whole
      yield* fromResult(disconnect("enough"))
      expect(yield* isFree(port)).toBe(true)
      expect(controller.handlers()).toEqual([])
      expect(controller.lines).toContain('DEBUG The plugin "http-transport" shuts down: the museum closes')
    })
  )

  it.scoped("takes less than two seconds with clients that do not read", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const { disconnect, port } = yield* setUp(controller)
      const client = yield* openEvents(port)
      client.stall()
      controller.emit("content:much", "x".repeat(1_000_000))
      const startedAt = performance.now()
      yield* fromResult(disconnect("enough"))
      expect(performance.now() - startedAt).toBeLessThan(2000)
      expect(yield* isFree(port)).toBe(true)
    })
  )

  it.scoped("with a bus that does not remove its handlers results in an Err, but everything else ends", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const context = controller.contextOf("http-transport")
      const eventBus = { ...context.eventBus, offAny: throwing }
      const { disconnect, port } = yield* setUpIn({ ...context, eventBus })
      const error = yield* Effect.flip(fromResult(disconnect("enough")))
      expect(error.message).toBe('The plugin "http-transport" did not shut down cleanly. no')
      expect(error.cause).toMatchObject({ message: "no" })
      expect(yield* Effect.flip(fromResult(disconnect("again")))).toBe(error)
      expect(yield* isFree(port)).toBe(true)
      controller.emit("content:late", 1)
    })
  )
})

describe("an abort", () => {
  it.effect("before setup results in an Err, and nothing is bound", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const port = yield* freePort
      controller.abort("early")
      const error = yield* setUpFails(controller, { port })
      expect(error.message).toBe('The plugin "http-transport" could not be set up. The controller stops.')
      expect(controller.handlers()).toEqual([])
      expect(yield* isFree(port)).toBe(true)
    })
  )

  it.effect("during setup undoes it", () =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const before = yield* lifetime.whatIsThere
      const port = yield* freePort
      const setup = httpTransport({ port }).setup(controller.contextOf("http-transport"))
      controller.abort("meanwhile")
      const error = yield* Effect.flip(fromResult(setup))
      expect(error.message).toBe('The plugin "http-transport" could not be set up. The controller stops.')
      expect(controller.handlers()).toEqual([])
      yield* before.isAllAgain()
      expect(yield* isFree(port)).toBe(true)
    })
  )

  it.effect.each(["onAny", "updateState"] as const)("by the controller's own %s undoes the setup", (method) =>
    Effect.gen(function* () {
      const controller = makePlainController()
      const context = controller.contextOf("http-transport")
      const port = yield* freePort
      const aborting: PlainContext =
        method === "onAny"
          ? {
              ...context,
              eventBus: {
                ...context.eventBus,
                onAny: (handler) => {
                  context.eventBus.onAny(handler)
                  controller.abort("within")
                }
              }
            }
          : { ...context, updateState: () => controller.abort("within") }
      const result = yield* Effect.promise(async () => await httpTransport({ port }).setup(aborting))
      yield* eventually(isFree(port))
      expect(controller.handlers()).toEqual([])
      yield* Effect.promise(async () => await result.asyncAndThen(({ disconnect }) => disconnect()))
    })
  )
})
