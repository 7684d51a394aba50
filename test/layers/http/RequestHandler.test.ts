/**
 * How long the handler of a request runs.
 */
import { createServer } from "node:http"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { makeAwaitEnd } from "../../../src/internal/background.ts"
import * as application from "../../../src/layers/http/Application.ts"
import { json } from "../../../src/layers/http/Application.ts"
import * as ConnectionLimit from "../../../src/layers/http/ConnectionLimit.ts"
import { listen } from "../../../src/layers/http/Listen.ts"
import { stallTimeout } from "../../../src/layers/http/stallTimeout.ts"
import * as HttpTransport from "../../../src/layers/httpTransport/HttpTransport.ts"
import * as control from "../../support/control.ts"
import { holdCommand } from "../../support/heldCommand.ts"
import { connect, format } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventLoopTurn, eventually, somebodySleepsFor } from "../../support/waiting.ts"

const command = format({ method: "POST", target: "/command", body: '{"type":"work"}' })

const options = { allowedCommands: ["work"], keepAliveMs: 2_147_483_647 }

const mounted = HttpLayerRouter.serve(HttpTransport.routes(options), { disableLogger: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(transport.memoryServices())
)

const mountedPort = Effect.map(HttpServer.HttpServer, ({ address }) =>
  address._tag === "TcpAddress" ? address.port : 0
)

/** A server with one route, `GET /work`. */
const serve = (work: Effect.Effect<unknown>, connections?: ConnectionLimit.ConnectionLimit) =>
  application
    .make({
      routes: [HttpLayerRouter.route("GET", "/work", Effect.map(work, json))],
      refuse: Option.none,
      headers: () => ({}),
      connections
    })
    .pipe(Effect.flatMap((server) => listen(server, { host: "127.0.0.1", port: 0 })))

const ask = Effect.fnUntraced(function* (port: number) {
  const connection = yield* connect(port)
  connection.send(format({ target: "/work" }))
  return connection
})

describe("a command whose client disconnects", () => {
  it.scoped.each(["finish", "reset"] as const)("continues on the port of the transport: %s", (leave) =>
    Effect.gen(function* () {
      const { ended, release, started } = yield* holdCommand("work")
      const connection = yield* transport.connect
      connection.send(command)
      yield* started
      connection[leave]()
      if (leave === "finish") {
        yield* somebodySleepsFor(stallTimeout)
        yield* TestClock.adjust(stallTimeout)
        yield* connection.received.whole
      }
      yield* Effect.repeatN(eventLoopTurn, 100)
      yield* release("late")
      expect(yield* ended).toBe("done")
    }).pipe(Effect.provide(transport.layer(options)))
  )

  it.scoped.each(["finish", "reset"] as const)("continues on a server of the platform: %s", (leave) =>
    Effect.gen(function* () {
      const { ended, release, started } = yield* holdCommand("work")
      const connection = yield* Effect.flatMap(mountedPort, connect)
      connection.send(command)
      yield* started
      connection[leave]()
      yield* Effect.repeatN(eventLoopTurn, 100)
      yield* release("late")
      expect(yield* ended).toBe("done")
    }).pipe(Effect.provide(mounted))
  )

  control.scenario(
    "continues on the socket of the controller",
    Effect.gen(function* () {
      const { connect } = yield* control.start
      const { ended, release, started } = yield* holdCommand("work")
      yield* Effect.scoped(
        Effect.flatMap(connect, ({ send }) => {
          send(command)
          return started
        })
      )
      yield* Effect.repeatN(eventLoopTurn, 100)
      yield* release("late")
      expect(yield* ended).toBe("done")
    })
  )

  it.scoped("counts as a connection until it is done, for at most half a minute", () =>
    Effect.gen(function* () {
      const connections = ConnectionLimit.make(8)
      const released = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const work = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(released))
      const { port } = yield* serve(work, connections)
      const openBecome = (count: number) => eventually(Effect.sync(() => connections.open() === count))
      const leaving = yield* ask(port)
      yield* Deferred.await(begun)
      leaving.reset()
      yield* somebodySleepsFor(stallTimeout)
      expect(connections.open()).toBe(1)
      yield* TestClock.adjust(stallTimeout)
      yield* openBecome(0)
      const other = yield* ask(port)
      yield* openBecome(1)
      yield* Effect.repeatN(eventLoopTurn, 20)
      other.reset()
      yield* somebodySleepsFor(stallTimeout)
      yield* Deferred.succeed(released, undefined)
      yield* openBecome(0)
    })
  )
})

describe("the end of a server", () => {
  /** A server in its own scope. What it uses says when it ends. */
  const start = (work: (said: Array<string>) => Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const begun = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      yield* Scope.addFinalizer(
        scope,
        Effect.sync(() => said.push("services ended"))
      )
      const { port } = yield* Scope.extend(
        serve(Effect.zipRight(Deferred.succeed(begun, undefined), work(said))),
        scope
      )
      const connection = yield* ask(port)
      yield* Deferred.await(begun)
      return { said, connection, end: Scope.close(scope, Exit.void) }
    })

  it.scopedLive("waits for a handler beyond its connection", () =>
    Effect.gen(function* () {
      const { connection, end, said } = yield* start((said) =>
        Effect.delay(
          Effect.sync(() => said.push("done")),
          "700 millis"
        )
      )
      const ending = yield* Effect.fork(end)
      expect(yield* connection.received.whole).toBe("")
      expect(said).toEqual([])
      yield* Fiber.join(ending)
      expect(said).toEqual(["done", "services ended"])
    })
  )

  it.scopedLive("interrupts a handler that takes longer, and waits until it has cleaned up", () =>
    Effect.gen(function* () {
      const { end, said } = yield* start((said) =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.delay(
            Effect.sync(() => said.push("cleaned up")),
            "200 millis"
          )
        )
      )
      yield* Effect.timeout(Effect.disconnect(end), "2 seconds")
      expect(said).toEqual(["cleaned up", "services ended"])
    })
  )

  it.scopedLive("takes at most two seconds, whatever a handler does", () =>
    Effect.gen(function* () {
      const release = yield* Effect.acquireRelease(Deferred.make<void>(), (release) =>
        Deferred.succeed(release, undefined)
      )
      const { end, said } = yield* start(() => Effect.uninterruptible(Deferred.await(release)))
      yield* Effect.timeout(Effect.disconnect(end), "2 seconds")
      expect(said).toEqual(["services ended"])
    })
  )
})

/** A program in whose scope the work is waited for: as under `NodeRuntime.runMain`, its own fiber is interrupted. */
const programWith = Effect.fnUntraced(function* (work: Effect.Effect<unknown>) {
  const begun = yield* Deferred.make<void>()
  const program = yield* Effect.gen(function* () {
    const awaitEnd = yield* makeAwaitEnd
    awaitEnd.add(yield* Effect.forkDaemon(Effect.zipRight(Deferred.succeed(begun, undefined), work)))
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.fork)
  yield* Deferred.await(begun)
  return program
})

describe("work in flight when its program is interrupted", () => {
  it.live("is finished before the program ends", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const say = (text: string) => Effect.sync(() => said.push(text))
      const release = yield* Deferred.make<void>()
      const program = yield* programWith(Effect.zipRight(Deferred.await(release), say("finished")))
      const end = yield* Effect.fork(Effect.zipRight(Fiber.interrupt(program), say("ended")))
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      expect(said).toEqual([])
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(end)
      expect(said).toEqual(["finished", "ended"])
    })
  )

  it.live("is interrupted with its finalizers if it takes too long", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const say = (text: string) => Effect.sync(() => said.push(text))
      const program = yield* programWith(Effect.onInterrupt(Effect.never, () => say("interrupted")))
      yield* Fiber.interrupt(program)
      expect(said).toEqual(["interrupted"])
    })
  )
})
