/**
 * How many connections a port serves, and for whom.
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as application from "../../../src/layers/http/Application.ts"
import { json } from "../../../src/layers/http/Application.ts"
import * as ConnectionLimit from "../../../src/layers/http/ConnectionLimit.ts"
import { listen } from "../../../src/layers/http/Listen.ts"
import { connect, request } from "../../support/rawHttp.ts"
import { openSocket } from "../../support/socket.ts"
import * as transport from "../../support/transport.ts"
import { eventually } from "../../support/waiting.ts"

const host = "127.0.0.1"

/** The address of the loopback interface that stands for another machine. */
const elsewhere = "127.0.0.2"

/** A server that answers `GET /healthz`. */
const serve = Effect.fnUntraced(function* (connections: ConnectionLimit.ConnectionLimit) {
  const server = yield* application.make({
    routes: [HttpLayerRouter.route("GET", "/healthz", json("well"))],
    refuse: Option.none,
    headers: () => ({}),
    connections
  })
  server.prependListener("connection", (socket) => {
    if (socket.remoteAddress === elsewhere) {
      Object.defineProperty(socket, "remoteAddress", { value: "192.0.2.7" })
    }
  })
  const { port } = yield* listen(server, { host, port: 0 })
  return {
    port,
    /** Connects from another machine, and asks for nothing. */
    connectSlowly: Effect.map(openSocket({ host, port, localAddress: elsewhere }), ({ received }) => received)
  }
})

describe("a port whose connections slow clients of the network take", () => {
  it.scoped("still answers clients on its own machine", () =>
    Effect.gen(function* () {
      const limit = 16
      const connections = ConnectionLimit.make(limit)
      const { connectSlowly, port } = yield* serve(connections)
      const taken = limit + ConnectionLimit.surplus
      yield* Effect.replicateEffect(connectSlowly, taken)
      yield* eventually(Effect.sync(() => connections.open() === taken))
      expect(yield* (yield* connectSlowly).whole).toBe("")
      expect(yield* request(port, { target: "/healthz" })).toMatchObject({ status: 200, body: '"well"' })
    })
  )

  it.scoped("serves clients of the network again when some have left", () =>
    Effect.gen(function* () {
      const connections = ConnectionLimit.make(4)
      const { connectSlowly, port } = yield* serve(connections)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.replicateEffect(connectSlowly, 4)
          yield* connect(port)
          yield* eventually(Effect.sync(() => connections.open() === 5))
          expect((yield* request(port, { target: "/healthz" })).status).toBe(503)
        })
      )
      yield* eventually(Effect.sync(() => connections.open() === 0))
      expect((yield* request(port, { target: "/healthz" })).status).toBe(200)
    })
  )
})

describe("the port of the HTTP transport", () => {
  it.scoped("refuses a connection more than 1,024 and one for each event stream, and says why", () =>
    Effect.gen(function* () {
      const limit = ConnectionLimit.maxConnections + 2
      yield* Effect.replicateEffect(transport.connect, limit + ConnectionLimit.loopbackPlaces(limit))
      yield* eventually(
        Effect.map(transport.request({ target: "/status" }), ({ body, status }) => {
          return status === 503 && body.includes(`Too many connections: all ${limit} are in use.`)
        })
      )
    }).pipe(Effect.provide(transport.layer({ maxClients: 2 })))
  )
})
