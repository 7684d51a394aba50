import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { lockHolder } from "../../../src/files/folderLock.ts"
import * as IpcClientSocket from "../../../src/layers/control/IpcClientSocket.ts"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import { runPersistent, runTask } from "../../../src/layers/controller/Controller.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import { fromLayer } from "../../../src/layers/controller/Plugin.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ControllerState, type Mode } from "../../../src/services/ControllerState.ts"
import type { Plugin } from "../../../src/services/Plugin.ts"
import { register, temporaryFolder } from "../../support/control.ts"
import { withLog } from "../../support/logged.ts"
import { eventLoopTurn, somebodySleeps } from "../../support/waiting.ts"

const platform = Layer.merge(NodeContext.layer, NodeHttpClient.layer)
const environment = (mode: Mode) => Layer.provideMerge(ControllerServices.layer(mode), platform)

const cwd = "/exhibit"

/** Plugins that note what the controller does with them. */
const makeDiary = Effect.gen(function* () {
  const diary = yield* Queue.unbounded<string>()
  const note = (line: string) => Queue.offer(diary, line)
  const plugin = (
    name: string,
    parts: {
      readonly setup?: Effect.Effect<void, Error, Scope.Scope>
      readonly ready?: Effect.Effect<void, Error>
    } = {}
  ): Plugin => ({
    name,
    issues: [],
    setup: (context) =>
      Effect.gen(function* () {
        yield* note(`set up ${name} in ${context.cwd}`)
        yield* Effect.addFinalizer(() => note(`shut down ${name}`))
        yield* parts.setup ?? Effect.void
        return Effect.zipRight(note(`ready ${name}`), parts.ready ?? Effect.void)
      })
  })
  return { plugin, lines: Effect.map(Queue.takeAll(diary), (lines) => [...lines]), next: Queue.take(diary) }
})

describe("Controller", () => {
  it.effect("sets up in order, then makes ready in order, and shuts down in reverse", () =>
    Effect.gen(function* () {
      const { lines, next, plugin } = yield* makeDiary
      const running = yield* Effect.fork(
        runPersistent({ cwd, plugins: [plugin("a"), plugin("b"), plugin("c")] })
      )
      expect(yield* Effect.replicateEffect(next, 6)).toEqual([
        "set up a in /exhibit",
        "set up b in /exhibit",
        "set up c in /exhibit",
        "ready a",
        "ready b",
        "ready c"
      ])
      yield* Fiber.interrupt(running)
      expect(yield* lines).toEqual(["shut down c", "shut down b", "shut down a"])
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("undoes what was set up when a setup fails, and names the plugin", () =>
    Effect.gen(function* () {
      const { lines, plugin } = yield* makeDiary
      const error = yield* Effect.flip(
        runPersistent({
          cwd,
          plugins: [plugin("a"), plugin("b", { setup: Effect.fail(new Error("no disk")) }), plugin("c")]
        })
      )
      expect(error.message).toBe('The plugin "b" could not be set up. no disk')
      expect(yield* lines).toEqual([
        "set up a in /exhibit",
        "set up b in /exhibit",
        "shut down b",
        "shut down a"
      ])
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("names the plugin whose setup throws, dies, is missing or fails without a message", () =>
    Effect.gen(function* () {
      const setups: ReadonlyArray<readonly [Plugin["setup"], string]> = [
        [
          () => {
            throw new Error("thrown")
          },
          "thrown"
        ],
        [() => Effect.die(new Error("died")), "died"],
        [() => Effect.fail(new Error("", { cause: new Error("the reason") })), "the reason"]
      ]
      for (const [setup, reason] of setups) {
        const error = yield* Effect.flip(runPersistent({ cwd, plugins: [{ name: "p", issues: [], setup }] }))
        expect(error.message).toBe(`The plugin "p" could not be set up. ${reason}`)
      }
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("continues if making ready fails or dies", () =>
    Effect.gen(function* () {
      const { next, plugin } = yield* makeDiary
      const running = yield* Effect.fork(
        runPersistent({
          cwd,
          plugins: [
            plugin("a", { ready: Effect.fail(new Error("not yet")) }),
            plugin("b", { ready: Effect.die("a bug") }),
            plugin("c")
          ]
        })
      )
      expect((yield* Effect.replicateEffect(next, 6)).slice(3)).toEqual(["ready a", "ready b", "ready c"])
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("reports mistakes in all plugins at once, and sets up none", () =>
    Effect.gen(function* () {
      const { lines, plugin } = yield* makeDiary
      const error = yield* Effect.flip(
        runPersistent({
          cwd,
          plugins: [
            { ...plugin("a"), issues: [{ path: "port", message: "expected an integer" }] },
            { ...plugin("b"), issues: [{ path: "", message: "expected an object" }] },
            plugin("a")
          ]
        })
      )
      expect(error.message.split("\n").slice(1)).toEqual([
        "  plugins[0] (a).port: expected an integer",
        "  plugins[1] (b): expected an object",
        "  plugins[2] (a): the same plugin is in the list twice"
      ])
      expect(yield* lines).toEqual([])
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("refuses a plugin whose name the controller uses itself in the state", () =>
    Effect.gen(function* () {
      const { lines, plugin } = yield* makeDiary
      const names = ["alerts", "configuration", "mutes", "stop", "alert"]
      const error = yield* Effect.flip(runPersistent({ cwd, plugins: names.map((name) => plugin(name)) }))
      const reason = "the controller itself uses this name: give the plugin another name"
      expect(error.message.split("\n").slice(1)).toEqual([
        `  plugins[0] (alerts): ${reason}`,
        `  plugins[1] (configuration): ${reason}`,
        `  plugins[2] (mutes): ${reason}`,
        `  plugins[3] (stop): ${reason}`
      ])
      expect(yield* lines).toEqual([])
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("asks for effect 3 if a plugin uses another version", () =>
    Effect.gen(function* () {
      const { lines, plugin } = yield* makeDiary
      // Effect 4 marks its own values like this.
      const foreign = JSON.parse('{ "~effect/Layer": "~effect/Layer", "~effect/Effect": "~effect/Effect" }')
      const ofLayer = yield* Effect.flip(
        runPersistent({ cwd, plugins: [plugin("a"), fromLayer("b", foreign)] })
      )
      expect(ofLayer.message.split("\n").slice(1)).toEqual([
        "  plugins[1] (b): Vitrine needs effect 3: expected a Layer of that version"
      ])
      expect(yield* lines).toEqual([])
      const ofEffect = yield* Effect.flip(
        runPersistent({ cwd, plugins: [{ name: "c", issues: [], setup: () => foreign }] })
      )
      expect(ofEffect.message).toBe(
        'The plugin "c" could not be set up. Vitrine needs effect 3: expected an Effect of that version'
      )
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("executes one command in task mode, and ends", () =>
    Effect.gen(function* () {
      const { lines, plugin } = yield* makeDiary
      const answering: Plugin = {
        name: "answering",
        issues: [],
        setup: () =>
          Effect.gen(function* () {
            const { mode } = yield* ControllerState
            yield* Effect.flatMap(CommandBus, ({ register }) =>
              register({ type: "mode.read", fields: Schema.Struct({}), run: () => Effect.succeed(mode) })
            )
            return Effect.void
          }).pipe(Effect.orDie)
      }
      const dispatching = (type: string) => Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type }))
      const plugins = [plugin("a"), answering]
      expect(yield* runTask({ cwd, plugins }, dispatching("mode.read"))).toBe("task")
      expect((yield* lines).at(-1)).toBe("shut down a")
      const error = yield* Effect.flip(runTask({ cwd, plugins: [answering] }, dispatching("mode.write")))
      expect(error.message).toBe('There is no command "mode.write". Known are: mode.read.')
    }).pipe(Effect.provide(environment("task")))
  )

  it.effect("lets a slow plugin shut down for the time that the others do not need", () =>
    Effect.gen(function* () {
      const { lines, next, plugin } = yield* makeDiary
      const slow = plugin("slow", { setup: Effect.addFinalizer(() => Effect.sleep("1500 millis")) })
      const running = yield* Effect.fork(runPersistent({ cwd, plugins: [plugin("a"), plugin("b"), slow] }))
      yield* Effect.replicateEffect(next, 6)
      const ending = yield* Effect.fork(Fiber.interrupt(running))
      yield* somebodySleeps
      yield* TestClock.adjust("1500 millis")
      yield* Fiber.join(ending)
      expect(yield* lines).toEqual(["shut down slow", "shut down b", "shut down a"])
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("waits at most two seconds for its end, and shuts down every plugin", () =>
    Effect.gen(function* () {
      const { next, plugin } = yield* makeDiary
      const stuck: Plugin = {
        name: "stuck",
        issues: [],
        setup: () =>
          Effect.as(
            Effect.addFinalizer(() => Effect.never),
            Effect.void
          )
      }
      const running = yield* Effect.fork(runPersistent({ cwd, plugins: [plugin("a"), stuck] }))
      yield* Effect.replicateEffect(next, 2)
      const ending = yield* Effect.fork(Fiber.interrupt(running))
      yield* somebodySleeps
      yield* TestClock.adjust("2 seconds")
      expect(yield* next).toBe("shut down a")
      yield* Fiber.join(ending)
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("shuts down a plugin after the start of the next plugin has ended", () =>
    Effect.gen(function* () {
      const { lines, next, plugin } = yield* makeDiary
      const diary: Array<string> = []
      const starting = Effect.onInterrupt(Effect.never, () =>
        Effect.flatMap(Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 100), lines), (before) =>
          Effect.sync(() => diary.push(...before, "b no longer starts"))
        )
      )
      const running = yield* Effect.fork(
        runPersistent({ cwd, plugins: [plugin("a"), plugin("b", { setup: starting })] })
      )
      yield* Effect.replicateEffect(next, 2)
      yield* Fiber.interrupt(running)
      expect([...diary, ...(yield* lines)]).toEqual(["b no longer starts", "shut down b", "shut down a"])
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.effect("shuts down although the start of a plugin cannot be interrupted", () =>
    Effect.gen(function* () {
      const { next, plugin } = yield* makeDiary
      const stuck = plugin("stuck", { setup: Effect.uninterruptible(Effect.never) })
      const running = yield* Effect.fork(runPersistent({ cwd, plugins: [plugin("a"), stuck] }))
      yield* Effect.replicateEffect(next, 2)
      const ending = yield* Effect.fork(Fiber.interrupt(running))
      yield* somebodySleeps
      yield* TestClock.adjust("2 seconds")
      expect(yield* next).toBe("shut down stuck")
      yield* Fiber.join(ending)
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.live("answers at its socket while plugins are set up, and closes it before they shut down", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const paths = yield* IpcServer.claim({ folder })
      const client = yield* IpcClientSocket.make(paths.socket)
      const diary = yield* Queue.unbounded<string>()
      const note = (line: string) => Queue.offer(diary, line)
      const next = Queue.take(diary)
      const command = Effect.zipRight(note("command begins"), Effect.never).pipe(
        Effect.onInterrupt(() => Effect.zipRight(eventLoopTurn, note("command is interrupted")))
      )
      const plugin: Plugin = {
        name: "plugin",
        issues: [],
        setup: () =>
          Effect.gen(function* () {
            yield* Effect.addFinalizer(() =>
              Effect.flatMap(Effect.orDie(lockHolder(paths.folder)), (holder) =>
                note(`plugin ends, its folder is ${Option.isSome(holder) ? "claimed" : "free"}`)
              )
            )
            yield* client.view
            yield* note("status is told")
            yield* Effect.orDie(register("endless", command))
            return Effect.void
          })
      }
      const asked = yield* Deferred.make<void>()
      const server = IpcServer.serve(paths, { stop: Deferred.succeed(asked, undefined) })
      const hooks = { endpoint: Effect.as(server, Deferred.await(asked)), onReady: note("ready") }
      const running = yield* Effect.fork(runPersistent({ cwd, plugins: [plugin] }, hooks))
      expect(yield* Effect.replicateEffect(next, 2)).toEqual(["status is told", "ready"])
      const asking = yield* Effect.fork(Effect.flip(client.dispatch({ type: "endless" })))
      expect(yield* next).toBe("command begins")
      yield* client.stop("anna@desk")
      expect(yield* Fiber.join(asking)).toMatchObject({ _tag: "vitrine/IpcConnectionLost" })
      yield* Effect.timeout(Fiber.join(running), "2 seconds")
      expect(yield* Effect.replicateEffect(next, 2)).toEqual([
        "command is interrupted",
        "plugin ends, its folder is claimed"
      ])
    }).pipe(withLog([]), Effect.scoped, Effect.provide(environment("persistent")))
  )

  it.effect("ends when it is asked to, though a plugin is still being set up", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const setup = () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      const hooks = { endpoint: Effect.succeed(Deferred.await(asked)), onReady: Effect.void }
      const running = yield* Effect.fork(
        runPersistent({ cwd, plugins: [{ name: "projector", issues: [], setup }] }, hooks)
      )
      yield* Deferred.await(begun)
      yield* Deferred.succeed(asked, undefined)
      yield* Fiber.join(running)
      expect(lines.at(-1)).toBe("INFO Stopping")
    }).pipe(withLog(lines), Effect.provide(environment("persistent")))
  })
})
