/**
 * The transport on somebody else's server: with real sockets, and as a web handler.
 */
import { createServer } from "node:http"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { maxBodyBytes as maxBytes } from "../../../src/layers/http/RequestBody.ts"
import * as HttpTransport from "../../../src/layers/httpTransport/HttpTransport.ts"
import type { RoutesConfig } from "../../../src/layers/httpTransport/HttpTransportOptions.ts"
import { connect, format, parse, request } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"

const hello = HttpLayerRouter.add("GET", "/hello", HttpServerResponse.text("Hello"))

/** Everything in one layer, on the platform's server, with its own route. */
const host = (options: RoutesConfig) =>
  HttpLayerRouter.serve(Layer.mergeAll(HttpTransport.routes(options), hello), { disableLogger: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
    Layer.provideMerge(transport.memoryServices())
  )

const port = Effect.map(HttpServer.HttpServer, ({ address }) =>
  address._tag === "TcpAddress" ? address.port : 0
)

const get = (target: string) => Effect.flatMap(port, (port) => request(port, { target }))

const post = (target: string, body: string) =>
  Effect.flatMap(port, (port) => request(port, { method: "POST", target, body }))

const open = Effect.fnUntraced(function* (target: string) {
  const connection = yield* Effect.flatMap(port, connect)
  connection.send(format({ target }))
  yield* connection.received.until((text) => text.includes("retry: 2000"))
  return connection
})

describe("routes on a server of the platform", () => {
  it.scoped("are beside the server's own, under a prefix", () =>
    Effect.gen(function* () {
      yield* transport.register("lamp.on", Effect.succeed("bright"))
      expect((yield* get("/hello")).body).toBe("Hello")
      expect((yield* get("/events")).status).toBe(404)
      expect((yield* get("/vitrine/status")).status).toBe(200)
      expect(yield* post("/vitrine/command", '{"type":"lamp.on"}')).toMatchObject({
        status: 200,
        body: '{"result":"bright"}'
      })
      expect((yield* post("/vitrine/command", '{"type":"lamp.off"}')).status).toBe(403)
      expect((yield* post("/vitrine/command", "{")).status).toBe(400)
      expect((yield* post("/vitrine/command", " ".repeat(maxBytes + 1))).status).toBe(413)
      const stream = yield* open("/vitrine/events")
      yield* transport.publish("content:version:promoted", 1)
      const text = yield* stream.received.until((text) => text.includes("data: 1"))
      expect(parse(text).headers).toMatchObject({
        "content-type": "text/event-stream",
        "cache-control": "no-store, no-transform",
        "access-control-allow-origin": "*"
      })
    }).pipe(Effect.provide(host({ prefix: "/vitrine", allowedCommands: ["lamp.on"] })))
  )

  it.scoped("match exactly, as on their own port", () =>
    Effect.gen(function* () {
      const statusOf = (method: string, target: string) =>
        Effect.map(
          Effect.flatMap(port, (port) => request(port, { method, target })),
          ({ body, headers, status }) => {
            expect(headers["access-control-allow-origin"]).toBe("*")
            expect(method === "HEAD" || body.includes(`Not found: ${method} ${target}`)).toBe(true)
            return status
          }
        )
      for (const [method, target] of [
        ["GET", "/vitrine/STATUS"],
        ["GET", "/vitrine/status/"],
        ["GET", "/VITRINE/status"],
        ["HEAD", "/vitrine/status"],
        ["GET", "/vitrine/command"],
        ["HEAD", "/vitrine/command"],
        ["POST", "/vitrine/status"],
        ["PUT", "/vitrine/events"]
      ] as const) {
        expect(yield* statusOf(method, target)).toBe(404)
      }
      expect((yield* get("/vitrine/status?now")).status).toBe(200)
    }).pipe(Effect.provide(host({ prefix: "/vitrine" })))
  )

  it.scoped("refuse clients that are not allowed", () =>
    Effect.gen(function* () {
      expect((yield* get("/vitrine/status")).status).toBe(401)
      expect((yield* get("/vitrine/status?token=0123456789abcdef")).status).toBe(401)
      yield* open("/vitrine/events?token=0123456789abcdef")
    }).pipe(Effect.provide(host({ prefix: "/vitrine", token: "0123456789abcdef" })))
  )

  it.scoped("free the slot of a client that has disconnected", () =>
    Effect.gen(function* () {
      const first = yield* open("/events")
      expect((yield* get("/events")).status).toBe(503)
      first.reset()
      yield* Effect.repeat(get("/status"), {
        until: ({ body }) => body.includes("0 of 1")
      })
      yield* open("/events")
    }).pipe(Effect.provide(host({ maxClients: 1 })))
  )

  it.live("let a server with open streams shut down within two seconds", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(host({}), scope)
      const streams = yield* Effect.provide(Effect.all([open("/events"), open("/events")]), context)
      yield* Effect.timeout(Effect.disconnect(Scope.close(scope, Exit.void)), "2 seconds")
      yield* Effect.forEach(streams, ({ received }) => received.whole)
    }).pipe(Effect.scoped)
  )

  it.effect("report mistakes in their options", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(host({ prefix: "vitrine/" })))
      expect(error).toHaveProperty(
        "message",
        expect.stringContaining('prefix: expected a path such as "/vitrine"')
      )
    }).pipe(Effect.scoped)
  )
})

describe("routes behind a web handler", () => {
  it.live("stream events, and end them", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(transport.memoryServices(), scope)
      const { dispose, handler } = HttpLayerRouter.toWebHandler(
        Layer.provide(HttpTransport.routes(), Layer.succeedContext(services)),
        { disableLogger: true }
      )
      const response = yield* Effect.promise(() => handler(new Request("http://museum.example/events")))
      expect(response.status).toBe(200)
      yield* Effect.provide(transport.publish("content:fetch:start", 1), services)
      yield* Effect.provide(transport.publish("content:fetch:done", 2), services)
      let text = ""
      yield* Effect.promise(async () => {
        for await (const bytes of response.body ?? []) {
          text += Buffer.from(bytes)
          if (text.endsWith("data: 2\n\n")) void dispose()
        }
      })
      expect(text).toBe(
        "retry: 2000\n\nevent: content:fetch:start\ndata: 1\n\nevent: content:fetch:done\ndata: 2\n\n"
      )
      yield* Scope.close(scope, Exit.void)
    })
  )
})
