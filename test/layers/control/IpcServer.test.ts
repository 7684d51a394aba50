import { lstat } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as SseFrame from "../../../src/layers/http/SseFrame.ts"
import { define } from "../../../src/layers/memory/definedCommands.ts"
import { CommandBus, CommandUnavailable } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { NoSuchWarning } from "../../../src/services/Warning.ts"
import { liveScenario, publish, register, scenario, start } from "../../support/control.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import * as rawHttp from "../../support/rawHttp.ts"
import { eventLoopTurn, eventually } from "../../support/waiting.ts"

const failing = Effect.fail(new Error("The disk is full", { cause: new Error("ENOSPC") }))

const transportMetrics = Effect.map(Metric.snapshot, (metrics) =>
  metrics
    .filter(({ metricKey }) => metricKey.name.startsWith("vitrine_http_transport"))
    .map(({ metricKey, metricState }) => [metricKey.name, metricKey.tags, metricState])
)

describe("the controller's socket", () => {
  scenario(
    "is accessible for its user only, and is removed at the end with the files beside it",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { end, folder, pidFile, socket } = yield* start
      const mode = (path: string) =>
        Effect.map(
          Effect.promise(() => lstat(path)),
          ({ mode }) => mode & 0o777
        )
      expect(yield* mode(folder)).toBe(0o700)
      expect(yield* mode(socket)).toBe(0o600)
      expect(yield* fs.readFileString(pidFile)).toBe(`${process.pid}\n`)
      yield* end
      expect(yield* fs.readDirectory(folder)).toEqual([])
    })
  )

  scenario(
    "is made again if somebody removes its folder, and only if no other controller is there",
    Effect.gen(function* () {
      const { client, configurationFolder, end, folder, pidFile } = yield* start
      const fs = yield* FileSystem.FileSystem
      const look = TestClock.adjust(IpcServer.lookMs)
      const isServed = eventually(Effect.isSuccess(client.process))
      yield* fs.remove(folder, { recursive: true })
      expect(yield* Effect.flip(client.process)).toMatchObject({ _tag: "vitrine/ControllerNotRunning" })
      yield* look
      yield* isServed
      expect(yield* fs.readFileString(pidFile)).toBe(`${process.pid}\n`)
      const again = IpcServer.make({ folder: configurationFolder, stop: Effect.void })
      expect(yield* Effect.scoped(Effect.flip(again))).toMatchObject({
        _tag: "vitrine/ControllerAlreadyRunning"
      })

      // Only the socket: the lock of the folder is still this controller's.
      yield* fs.remove(`${folder}/controller.sock`)
      yield* look
      yield* isServed
      yield* end
      expect(yield* fs.readDirectory(folder)).toEqual([])
    })
  )

  scenario(
    "serves the same routes as HTTP, and its process id",
    Effect.gen(function* () {
      const { client } = yield* start
      const controller = pluginsOf(yield* ControllerState)
      yield* controller.addReport("content", () => ({
        sections: [
          {
            name: "content",
            order: 1,
            title: "Content",
            rows: [
              { type: "list", label: "Versions", items: [{ type: "text", text: "one", tone: "ok" }] },
              { type: "kv", label: "Active", value: "none" }
            ]
          }
        ]
      }))
      yield* controller.updateSlice("content", () => ({ fetching: false, bytes: 1n }))
      expect(yield* client.view).toEqual((yield* controller.read).view)
      expect(yield* client.process).toEqual({ pid: process.pid })
    })
  )

  scenario(
    "executes every command, and reports failures as POST /command does",
    Effect.gen(function* () {
      const { client } = yield* start
      yield* register("content.fetch", Effect.succeed({ changed: true }))
      yield* register("nothing", Effect.void)
      yield* register("content.broken", failing)
      expect(yield* client.dispatch({ type: "content.fetch" })).toEqual({ changed: true })
      expect(yield* client.dispatch({ type: "nothing" })).toBe(null)
      const broken = yield* Effect.flip(client.dispatch({ type: "content.broken" }))
      expect(broken).toMatchObject({
        _tag: "vitrine/CommandRefused",
        name: "Error",
        message: "The disk is full",
        cause: { name: "Error", message: "ENOSPC" }
      })
      const unknown = yield* Effect.flip(client.dispatch({ type: "content.fitch" }))
      expect(unknown.message).toBe(
        'There is no command "content.fitch". Known are: content.broken, content.fetch, nothing.'
      )
    })
  )

  scenario(
    "gives the failure that the definition of a command describes",
    Effect.gen(function* () {
      const { client } = yield* start
      const accept = define({
        type: "content.accept",
        fields: Schema.Struct({}),
        success: Schema.Null,
        failure: NoSuchWarning
      })
      const failure = new NoSuchWarning({ code: "gone:field", subject: "", warnings: [] })
      yield* accept.register(() => failure)
      const refusal = yield* Effect.flip(client.dispatch({ type: "content.accept" }))
      expect(refusal).toMatchObject({
        _tag: "vitrine/CommandRefused",
        message: failure.message,
        failure: Schema.encodeSync(NoSuchWarning)(failure)
      })
    })
  )

  scenario(
    "reports that too many of a command run already",
    Effect.gen(function* () {
      const commands = yield* CommandBus
      const { client } = yield* Effect.provideService(start, CommandBus, {
        ...commands,
        dispatch: ({ type }) => new CommandUnavailable({ type, reason: "busy", mayHaveRun: false })
      })
      expect(yield* Effect.flip(client.dispatch({ type: "content.fetch" }))).toMatchObject({
        _tag: "vitrine/CommandRefused",
        message: expect.stringContaining("too many commands are running already")
      })
    })
  )

  scenario(
    "reports that the process with a command is away",
    Effect.gen(function* () {
      const commands = yield* CommandBus
      const { client } = yield* Effect.provideService(start, CommandBus, {
        ...commands,
        dispatch: ({ type }) => new CommandUnavailable({ type, reason: "unreachable", mayHaveRun: false })
      })
      expect(yield* Effect.flip(client.dispatch({ type: "content.fetch" }))).toMatchObject({
        _tag: "vitrine/CommandRefused",
        name: "CommandUnavailable",
        message:
          'The command "content.fetch" is unavailable: the process that has registered it cannot be reached. ' +
          "It has not run: send it again later."
      })
    })
  )

  scenario(
    "sends every event from the connection on, in order",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      yield* publish("before", 0)
      const events = yield* client.events
      const other = yield* connect
      other.send(rawHttp.format({ target: "/events" }))
      const head = yield* other.received.until((text) => text.endsWith("\r\n\r\nretry: 2000\n\n"))
      expect(head).toContain("\r\nCache-Control: no-store, no-transform\r\n")
      const published = Array.from({ length: 5000 }, (_, number) => ({
        name: `content:${number % 7}`,
        payload: { number, text: "\n\u2028" }
      }))
      for (const { name, payload } of published) {
        yield* publish(name, payload)
        if (payload.number % 500 === 0) {
          yield* eventLoopTurn
        }
      }
      const received = yield* Stream.runCollect(Stream.take(events, published.length))
      expect(Chunk.toReadonlyArray(received)).toEqual(published)
      const frames = published.map(({ name, payload }) => SseFrame.formatSseEvent(name, payload))
      expect(yield* other.received.until((text) => text.includes('"number":4999,'))).toContain(
        `retry: 2000\n\n${frames.join("")}`
      )
      // No frame can contain this name.
      yield* publish("a\ndata: 1", 0)
      yield* publish("after", undefined)
      expect(yield* Stream.runHead(events)).toMatchObject({ value: { name: "after", payload: null } })
    })
  )

  scenario(
    "ends the event streams when the feed of the bus is lost, so that their clients reconnect",
    Effect.gen(function* () {
      const { endFeeds, layer } = eventEngine.make().instance()
      const { connect } = yield* Effect.provide(start, layer)
      const reader = yield* connect
      reader.send(rawHttp.format({ target: "/events" }))
      yield* reader.received.until((text) => text.endsWith("retry: 2000\n\n"))
      endFeeds("fails")
      expect(yield* reader.received.whole).toMatch(/\r\n\r\nretry: 2000\n\n$/)
    }).pipe(withLog([]))
  )

  scenario(
    "ends the event streams when the bus has dropped events, so that no client takes them for complete",
    Effect.gen(function* () {
      const { layer, lose } = eventEngine.make().instance()
      yield* Effect.gen(function* () {
        const { connect } = yield* start
        const reader = yield* connect
        reader.send(rawHttp.format({ target: "/events" }))
        yield* reader.received.until((text) => text.endsWith("retry: 2000\n\n"))
        yield* publish("a", 1)
        lose(1)
        yield* publish("a", 2)
        yield* publish("a", 3)
        expect(yield* reader.received.whole).toMatch(/retry: 2000\n\nevent: a\ndata: 1\n\n$/)
      }).pipe(Effect.provide(layer))
    }).pipe(withLog([]))
  )

  scenario(
    "sends events that pages could not get, and counts nothing as a transport",
    Effect.gen(function* () {
      const before = yield* transportMetrics
      const { client } = yield* start
      const events = yield* client.events
      yield* publish("open", 1)
      yield* publish("error", 2)
      expect(Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(events, 2)))).toEqual([
        { name: "open", payload: 1 },
        { name: "error", payload: 2 }
      ])
      expect(yield* transportMetrics).toEqual(before)
    })
  )

  scenario(
    "responds to a request to stop, and stops the controller once",
    Effect.gen(function* () {
      const { client, stoppers, stops } = yield* start
      yield* client.stop("anna@desk")
      yield* client.stop("ben@desk")
      yield* client.process
      expect(stops()).toBe(1)
      expect(stoppers).toEqual(["anna@desk", "ben@desk"])
    })
  )

  scenario(
    "stops for requests without a name, or with a name that is too long",
    Effect.gen(function* () {
      const { connect, stoppers, stops } = yield* start
      const asking = (body: string) =>
        Effect.flatMap(connect, (connection) => {
          connection.send(rawHttp.format({ method: "POST", target: "/stop", body }))
          return connection.received.until((text) => text.includes("null"))
        })
      for (const body of ["", "{", '{ "by": 7 }', '{ "by": "" }']) {
        yield* asking(body)
      }
      expect(stoppers).toEqual([])
      yield* asking(JSON.stringify({ by: `\u001b[2J${"x".repeat(5000)}` }))
      expect(stoppers).toEqual([expect.stringMatching(/^\[2Jx{61}…$/)])
      expect(stops()).toBe(1)
    })
  )

  scenario(
    "rejects invalid commands as the HTTP transport does",
    Effect.gen(function* () {
      const { place } = yield* start
      yield* register("echo", Effect.succeed("done"))
      const post = (body: string) => rawHttp.request(place, { method: "POST", target: "/command", body })
      const command = JSON.stringify({ type: "echo" })
      const refusals: ReadonlyArray<readonly [body: string, status: number]> = [
        ["{", 400],
        ["[]", 400],
        [JSON.stringify({ type: 1 }), 400],
        [JSON.stringify({ type: "a" }), 500],
        [command.padEnd(65_537), 413]
      ]
      for (const [body, status] of refusals) {
        const response = yield* post(body)
        expect([status, JSON.parse(response.body)]).toEqual([
          response.status,
          { error: expect.objectContaining({ message: expect.any(String) }) }
        ])
      }
      expect(yield* post(command.padEnd(65_536))).toMatchObject({ status: 200, body: '{"result":"done"}' })
      for (const [method, target] of [
        ["GET", "/"],
        ["GET", "/stop"],
        ["GET", "/command"],
        ["HEAD", "/status"],
        ["OPTIONS", "/command"]
      ] as const) {
        expect(yield* rawHttp.request(place, { method, target })).toMatchObject({ status: 404 })
      }
    })
  )

  scenario(
    "closes the connection of an earlier version, which sends JSON-RPC, at once",
    Effect.gen(function* () {
      const { client, place } = yield* start
      const response = yield* rawHttp.exchange(place, '{"jsonrpc":"2.0","id":1,"method":"status"}\n')
      expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
      yield* client.view
    })
  )

  scenario(
    "does not interrupt a command when its client disconnects",
    Effect.gen(function* () {
      const { client } = yield* start
      const release = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      yield* register(
        "slow",
        Deferred.succeed(begun, undefined).pipe(
          Effect.zipRight(Deferred.await(release)),
          Effect.zipRight(Deferred.succeed(done, undefined))
        )
      )
      const asking = yield* Effect.fork(client.dispatch({ type: "slow" }))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(asking)
      yield* Effect.replicateEffect(eventLoopTurn, 5)
      yield* Deferred.succeed(release, undefined)
      yield* Deferred.await(done)
    })
  )

  scenario(
    "reports an unexpected failure, and logs it",
    Effect.gen(function* () {
      const lines: Array<string> = []
      const state = yield* ControllerState
      const broken = ControllerState.of({ ...state, read: Effect.dieMessage("a bug") })
      const { client } = yield* start.pipe(Effect.provideService(ControllerState, broken), withLog(lines))
      const error = yield* Effect.flip(client.view)
      expect(error._tag).toBe("vitrine/IpcProtocolError")
      expect(error.message).toContain("a bug")
      expect(lines).toContain("ERROR A request failed unexpectedly")
    })
  )

  liveScenario(
    "ends within two seconds, despite uninterruptible commands, open event streams and stalled clients",
    Effect.gen(function* () {
      const { client, connect, end } = yield* start
      const begun = yield* Deferred.make<void>()
      const release = yield* Effect.acquireRelease(Deferred.make<void>(), (release) =>
        Deferred.succeed(release, undefined)
      )
      yield* register(
        "stubborn",
        Deferred.succeed(begun, undefined).pipe(
          Effect.zipRight(Deferred.await(release)),
          Effect.uninterruptible
        )
      )
      yield* register("large", Effect.succeed("x".repeat(4 * 1024 * 1024)))
      const stubborn = yield* Effect.fork(Effect.flip(client.dispatch({ type: "stubborn" })))
      const stalled = yield* connect
      stalled.stall()
      stalled.send(rawHttp.format({ method: "POST", target: "/command", body: '{"type":"large"}' }))
      const halfSent = yield* connect
      halfSent.send("POST /command HTTP/1.1\r\nHost: x\r\n")
      const unread = yield* connect
      unread.stall()
      unread.send(rawHttp.format({ target: "/events" }))
      const idle = yield* connect
      const events = yield* client.events
      yield* Deferred.await(begun)
      yield* end
      expect(yield* idle.received.whole).toBe("")
      expect(yield* halfSent.received.whole).toBe("")
      expect(yield* Effect.flip(Stream.runDrain(events))).toMatchObject({ _tag: "vitrine/IpcConnectionLost" })
      expect(yield* Fiber.join(stubborn)).toMatchObject({ _tag: "vitrine/IpcConnectionLost" })
      expect(yield* Effect.flip(client.view)).toMatchObject({ _tag: "vitrine/ControllerNotRunning" })
    })
  )

  liveScenario(
    "completes responses that are nearly done when it ends",
    Effect.gen(function* () {
      const { client, end } = yield* start
      const begun = yield* Deferred.make<void>()
      yield* register(
        "quick",
        Deferred.succeed(begun, undefined).pipe(
          Effect.zipRight(Effect.replicateEffect(eventLoopTurn, 3)),
          Effect.as("done")
        )
      )
      const asking = yield* Effect.fork(client.dispatch({ type: "quick" }))
      yield* Deferred.await(begun)
      yield* end
      expect(yield* Fiber.join(asking)).toBe("done")
    })
  )
})
