import { lstat } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { CommandBus, CommandUnavailable } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { liveScenario, publish, register, request, scenario, start } from "../../support/ipc.ts"
import { withLog } from "../../support/logged.ts"
import { eventLoopTurn, eventually, somebodySleeps } from "../../support/waiting.ts"

const failing = Effect.fail(new Error("The disk is full", { cause: new Error("ENOSPC") }))

describe("the controller's socket", () => {
  scenario(
    "can be reached by its user only, and is gone afterwards with all that was beside it",
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
    "says what HTTP says, and which process it is",
    Effect.gen(function* () {
      const { client } = yield* start
      const controller = yield* ControllerState
      yield* controller.addSection({
        name: "content",
        order: 1,
        title: "Content",
        rows: Effect.succeed([
          { type: "list", label: "Versions", items: [{ type: "text", text: "one", tone: "ok" }] },
          { type: "kv", label: "Active", value: "none" }
        ])
      })
      yield* controller.updateSlice("content", () => ({ fetching: false, bytes: 1n }))
      expect(yield* client.status).toEqual(yield* controller.status)
      const { plugins, ...state } = yield* controller.state
      expect(yield* client.state).toEqual({
        ...state,
        plugins: { ...plugins, content: { fetching: false, bytes: "[BigInt 1]" } }
      })
      expect(yield* client.process).toEqual({ pid: process.pid })
    })
  )

  scenario(
    "carries out every command, and says of a failure what the command bus says",
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
        name: "CommandFailed",
        message: 'The command "content.broken" failed: The disk is full',
        cause: { message: "The disk is full", cause: { name: "Error", message: "ENOSPC" } }
      })
      const unknown = yield* Effect.flip(client.dispatch({ type: "content.fitch" }))
      expect(unknown.message).toBe(
        'There is no command "content.fitch". Known are: content.broken, content.fetch, nothing.'
      )
    })
  )

  scenario(
    "says that whoever offers a command is away",
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
    "tells of every event from the subscription on, in order",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      yield* publish("before", 0)
      const events = yield* client.events
      const other = yield* connect
      expect(yield* other.ask(request("subscribe"))).toEqual({ jsonrpc: "2.0", id: 1, result: null })
      // A second time changes nothing.
      yield* other.ask(request("subscribe", 2), 2)
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
      expect(yield* other.line(2 + published.length)).toMatchObject({
        method: "event",
        params: published.at(-1)
      })
      yield* other.ask(request("unsubscribe", 3), 3 + published.length)
      yield* publish("after", 0)
      expect(yield* Stream.runHead(events)).toMatchObject({ value: { name: "after" } })
      expect(yield* other.ask(request("process", 4), 4 + published.length)).toMatchObject({ id: 4 })
    })
  )

  scenario(
    "is asked to stop, responses, and asks the controller once",
    Effect.gen(function* () {
      const { client, stops } = yield* start
      yield* client.stop
      yield* client.stop
      yield* client.process
      expect(stops()).toBe(1)
    })
  )

  scenario(
    "carries out requests side by side, and responses as they are done",
    Effect.gen(function* () {
      const { connect } = yield* start
      const release = yield* Deferred.make<string>()
      yield* register("slow", Deferred.await(release))
      const { ask, line } = yield* connect
      const slow = request("dispatch", "slow", { command: { type: "slow" } })
      yield* Effect.fork(ask(slow))
      expect(yield* ask(request("process", "quick"))).toMatchObject({ id: "quick" })
      yield* Deferred.succeed(release, "done")
      expect(yield* line(2)).toEqual({ jsonrpc: "2.0", id: "slow", result: "done" })
    })
  )

  scenario(
    "carries out sixteen requests of a connection at once, and reads the next when one is answered",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      const release = yield* Deferred.make<void>()
      let begun = 0
      yield* register(
        "slow",
        Effect.suspend(() => {
          begun += 1
          return Deferred.await(release)
        })
      )
      const { line, send } = yield* connect
      for (let id = 1; id <= 40; id++) {
        send(`${JSON.stringify(request("dispatch", id, { command: { type: "slow" } }))}\n`)
      }
      yield* eventually(Effect.sync(() => begun >= 16))
      yield* client.status
      yield* Effect.replicateEffect(eventLoopTurn, 20)
      expect(begun).toBe(16)
      yield* Deferred.succeed(release, undefined)
      yield* line(40)
      expect(begun).toBe(40)
    })
  )

  scenario(
    "responses what cannot be carried out, and goes on",
    Effect.gen(function* () {
      const { connect } = yield* start
      const { line, send } = yield* connect
      const refusals: ReadonlyArray<readonly [string, number | string | null, number]> = [
        ["{", null, -32700],
        ["[]", null, -32600],
        ['{"jsonrpc":"2.0","id":1}', 1, -32600],
        ["x".repeat(65_537), null, -32600],
        [JSON.stringify(request("status ", 2)), 2, -32601],
        [JSON.stringify(request("dispatch", 3)), 3, -32602],
        [JSON.stringify(request("dispatch", 4, { command: { type: 1 } })), 4, -32602],
        [JSON.stringify(request("dispatch", 5, [{ type: "a" }])), 5, -32602],
        [JSON.stringify(request("dispatch", 6, { command: { type: "a" } })), 6, -32000]
      ]
      for (const [index, [text, id, code]] of refusals.entries()) {
        send(`${text}\n`)
        expect(yield* line(index + 1)).toMatchObject({ jsonrpc: "2.0", id, error: { code } })
      }
      // The longest request that is accepted, ended as on Windows, after lines that are none.
      send("\n\r\n")
      const longest = JSON.stringify(request("process"))
      send(`${longest}${" ".repeat(65_536 - longest.length - 1)}\r\n`)
      expect(yield* line(refusals.length + 1)).toMatchObject({ result: { pid: process.pid } })
    })
  )

  scenario(
    "carries notifications out without an answer, whatever comes of them",
    Effect.gen(function* () {
      const { connect, stops } = yield* start
      const { ask, send } = yield* connect
      for (const method of ["stop", "status", "no such method", "dispatch"]) {
        send(`${JSON.stringify({ jsonrpc: "2.0", method })}\n`)
      }
      expect(yield* ask(request("process", "only"))).toMatchObject({ id: "only" })
      expect(stops()).toBe(1)
    })
  )

  scenario(
    "responses whoever has ended the sending side, and closes the connection then",
    Effect.gen(function* () {
      const { connect } = yield* start
      const release = yield* Deferred.make<void>()
      yield* register("slow", Deferred.await(release))
      const { finish, received, send } = yield* connect
      send(`${JSON.stringify(request("dispatch", 1, { command: { type: "slow" } }))}\n`)
      send(`${JSON.stringify(request("subscribe", 2))}\n`)
      yield* received.until((text) => text.includes('"id":2'))
      finish()
      yield* Effect.replicateEffect(eventLoopTurn, 5)
      yield* Deferred.succeed(release, undefined)
      expect(yield* received.whole).toMatch(/\n\{"jsonrpc":"2\.0","id":1,"result":null\}\n$/)
    })
  )

  scenario(
    "takes the end of the sending side for the end of the last request",
    Effect.gen(function* () {
      const { connect, stops } = yield* start
      const whole = JSON.stringify(request("process"))
      const result = { jsonrpc: "2.0", id: 1, result: { pid: process.pid } }
      const refusal = (code: number) => ({ jsonrpc: "2.0", id: null, error: { code } })
      const endings: ReadonlyArray<readonly [sent: string, responses: ReadonlyArray<object>]> = [
        [whole, [result]],
        [`${whole}\n${whole}\r`, [result, result]],
        [`${whole}\n`, [result]],
        [`${whole}\n\r`, [result]],
        ["", []],
        [whole.slice(0, -1), [refusal(-32700)]],
        [whole.padEnd(65_536), [result]],
        [whole.padEnd(65_537), [refusal(-32600)]],
        ['{"jsonrpc":"2.0","method":"stop"}', []]
      ]
      for (const [sent, responses] of endings) {
        const { finish, received, send } = yield* connect
        if (sent !== "") send(sent)
        finish()
        const lines = (yield* received.whole).split("\n")
        expect(lines.pop()).toBe("")
        expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject(responses)
      }
      expect(stops()).toBe(1)
    })
  )

  scenario(
    "is not kept by a peer that asks for nothing; by one that has subscribed or waits for a command it is",
    Effect.gen(function* () {
      const { connect } = yield* start
      const release = yield* Deferred.make<void>()
      yield* register("slow", Deferred.await(release))
      const silent = yield* connect
      const talkative = yield* connect
      const subscriber = yield* connect
      const waiting = yield* connect
      yield* subscriber.ask(request("subscribe", 1))
      waiting.send(`${JSON.stringify(request("dispatch", 1, { command: { type: "slow" } }))}\n`)
      yield* waiting.ask(request("process", 2))
      yield* TestClock.adjust("20 seconds")
      yield* talkative.ask(request("process", 1))
      yield* TestClock.adjust("10 seconds")
      yield* eventually(Effect.sync(silent.closed))
      yield* TestClock.adjust("10 seconds")
      expect(yield* talkative.ask(request("process", 2), 2)).toMatchObject({ id: 2 })
      yield* TestClock.adjust("2 minutes")
      yield* eventually(Effect.sync(talkative.closed))
      expect([subscriber.closed(), waiting.closed()]).toEqual([false, false])
      expect(yield* waiting.ask(request("process", 3), 2)).toMatchObject({ id: 3 })
      yield* Deferred.succeed(release, undefined)
    })
  )

  scenario(
    "does not give up a command when whoever asked for it is gone",
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
    "says that something failed that must not, and logs it",
    Effect.gen(function* () {
      const lines: Array<string> = []
      const state = yield* ControllerState
      const broken = ControllerState.of({ ...state, status: Effect.dieMessage("a bug") })
      const { connect } = yield* start.pipe(Effect.provideService(ControllerState, broken), withLog(lines))
      const { ask } = yield* connect
      expect(yield* ask(request("status"))).toEqual({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32603, message: "a bug" }
      })
      expect(lines).toContain("ERROR A request over the controller's socket failed unexpectedly")
    })
  )

  scenario(
    "disconnects who leaves responses unread for ten seconds",
    Effect.gen(function* () {
      const { client, connect } = yield* start
      yield* register("large", Effect.succeed("x".repeat(4 * 1024 * 1024)))
      const peer = yield* connect
      peer.stall()
      peer.send(`${JSON.stringify(request("dispatch", 1, { command: { type: "large" } }))}\n`)
      peer.send(`${JSON.stringify(request("process", 2))}\n`)
      yield* somebodySleeps
      // Who reads nothing learns of its end by writing.
      const isGone = Effect.sync(() => {
        peer.send("\n")
        return peer.closed()
      })
      yield* TestClock.adjust("9 seconds")
      yield* Effect.replicateEffect(Effect.zipRight(client.process, isGone), 5)
      expect(yield* isGone).toBe(false)
      yield* TestClock.adjust("1 seconds")
      yield* eventually(isGone)
    })
  )

  liveScenario(
    "ends within two seconds, commands that cannot be interrupted, stalled and half-open peers included",
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
      stalled.send(`${JSON.stringify(request("dispatch", 1, { command: { type: "large" } }))}\n`)
      const halfOpen = yield* connect
      halfOpen.send('{"jsonrpc":')
      const idle = yield* connect
      const events = yield* client.events
      yield* Deferred.await(begun)
      yield* end
      expect(yield* idle.received.whole).toBe("")
      expect(yield* halfOpen.received.whole).toBe("")
      expect(yield* Effect.flip(Stream.runDrain(events))).toMatchObject({ _tag: "vitrine/IpcConnectionLost" })
      expect(yield* Fiber.join(stubborn)).toMatchObject({ _tag: "vitrine/IpcConnectionLost" })
      expect(yield* Effect.flip(client.status)).toMatchObject({ _tag: "vitrine/ControllerNotRunning" })
    })
  )

  liveScenario(
    "responses what is nearly done when it ends",
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
