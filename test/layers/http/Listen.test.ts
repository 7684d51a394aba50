import { createServer, type RequestListener } from "node:http"
import type { NetworkInterfaceInfo } from "node:os"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { BindError, type ListenOptions, listen, urlOf } from "../../../src/layers/http/Listen.ts"
import { connect, format, request } from "../../support/rawHttp.ts"

const host = "127.0.0.1"

const answer: RequestListener = (_request, response) => {
  response.end("here")
}

/** A server in its own scope. */
const start = (handler: RequestListener, options: Partial<ListenOptions> = {}) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const server = createServer(handler)
    const { port } = yield* Scope.extend(listen(server, { host, port: 0, ...options }), scope)
    return { close: Scope.close(scope, Exit.void), port, server }
  })

describe("listen", () => {
  it.effect("returns the bound address", () =>
    Effect.gen(function* () {
      const server = createServer(answer)
      const address = yield* listen(server, { host, port: 0 })
      expect(address).toEqual(server.address())
      expect(address).toMatchObject({ address: host, family: "IPv4", port: expect.any(Number) })
      expect(yield* request(address.port, { target: "/" })).toMatchObject({ status: 200, body: "here" })
    }).pipe(Effect.scoped)
  )

  it.scopedLive.each(["0.0.0.0", "::"])("on %s has a URL that a browser can open", (host) =>
    Effect.gen(function* () {
      const { port } = yield* listen(createServer(answer), { host, port: 0 })
      const url = urlOf(host, port)
      expect(url).not.toContain(host)
      const response = yield* Effect.promise(() => fetch(url))
      expect(response.status).toBe(200)
    })
  )

  it.effect("fails where the port is in use, and binds nothing", () =>
    Effect.gen(function* () {
      const { close, port } = yield* start(answer)
      const server = createServer(answer)
      const error = yield* Effect.flip(Effect.scoped(listen(server, { host, port })))
      expect(error).toMatchObject({ _tag: "vitrine/BindError", host, port, code: "EADDRINUSE" })
      expect(error.cause).toBeInstanceOf(Error)
      expect(server.listening).toBe(false)
      yield* close
      const again = yield* Effect.scoped(listen(server, { host, port }))
      expect(again.port).toBe(port)
    })
  )

  it.effect("refuses connections and closes idle ones when the scope ends", () =>
    Effect.gen(function* () {
      const { close, port, server } = yield* start(answer)
      const idle = yield* connect(port)
      idle.send(format({ target: "/", headers: { Connection: "keep-alive" } }))
      yield* idle.received.until((text) => text.endsWith("here"))
      yield* close
      yield* idle.received.whole
      expect(server.listening).toBe(false)
      expect(yield* Effect.flip(connect(port))).toMatchObject({ code: "ECONNREFUSED" })
    }).pipe(Effect.scoped)
  )

  it.effect("completes a running request at the end, after other finalizers", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<() => void>()
      const order: Array<string> = []
      const { close, port, server } = yield* start(
        (_request, response) => {
          Deferred.unsafeDone(
            arrived,
            Effect.succeed(() => void response.end("finished"))
          )
        },
        {
          beforeDrain: Effect.sync(() => {
            order.push(server.listening ? "listening" : "closed")
          })
        }
      )
      const connection = yield* connect(port)
      connection.send(format({ target: "/", headers: { Connection: "keep-alive" } }))
      const finish = yield* Deferred.await(arrived)
      const closing = yield* Effect.fork(close)
      yield* Effect.yieldNow()
      expect(order).toEqual(["closed"])
      finish()
      expect(yield* connection.received.whole).toMatch(/finished$/)
      yield* Fiber.join(closing)
      expect(order).toEqual(["closed"])
    }).pipe(Effect.scoped)
  )

  it.effect("waits at the end only for a moment", () =>
    Effect.gen(function* () {
      const { close, port } = yield* start((_request, response) => {
        response.write("begun")
      })
      const unfinished = yield* connect(port)
      unfinished.send(format({ target: "/" }))
      yield* unfinished.received.until((text) => text.includes("begun"))
      const halfSent = yield* connect(port)
      halfSent.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
      const silent = yield* connect(port)
      yield* close
      yield* Effect.forEach([unfinished, halfSent, silent], ({ received }) => received.whole)
    }).pipe(Effect.scoped)
  )

  it.effect("accepts that a server was closed before", () =>
    Effect.gen(function* () {
      const { close, server } = yield* start(answer)
      server.close()
      yield* close
      expect(server.listening).toBe(false)
    })
  )
})

describe("the URL of a server on all interfaces", () => {
  const address = (address: string, internal: boolean, scopeid?: number): NetworkInterfaceInfo => ({
    address,
    internal,
    netmask: "",
    mac: "",
    cidr: null,
    ...(scopeid === undefined ? { family: "IPv4" } : { family: "IPv6", scopeid })
  })
  const loopback = [address("127.0.0.1", true), address("::1", true, 0)]
  const localOnly = address("fe80::1", false, 2)
  const wired = address("fd00::2", false, 0)
  const wireless = address("10.0.0.7", false)

  it.each([
    ["0.0.0.0", [localOnly, wired, wireless], "http://10.0.0.7:8710"],
    ["0.0.0.0", [localOnly, wired], "http://127.0.0.1:8710"],
    ["::", [localOnly, wired, wireless], "http://10.0.0.7:8710"],
    ["::", [localOnly, wired], "http://[fd00::2]:8710"],
    ["::", [localOnly], "http://[::1]:8710"],
    ["::", [], "http://[::1]:8710"]
  ])("on %s is one that reaches it", (host, network, url) => {
    expect(urlOf(host, 8710, { lo: loopback, eth0: network })).toBe(url)
  })
})

describe("BindError", () => {
  it.each([
    ["127.0.0.1", "EADDRNOTAVAIL", "::1"],
    ["127.0.0.2", "EADDRNOTAVAIL", "::1"],
    ["::1", "EADDRNOTAVAIL", "127.0.0.1"],
    ["::1", "EAFNOSUPPORT", "127.0.0.1"],
    ["192.0.2.1", "EADDRNOTAVAIL", "127.0.0.1"]
  ])("never advises %s, which has just failed", (host, code, advised) => {
    const { message } = new BindError({ host, port: 8710, code, cause: new Error("no") })
    expect(message).toContain(`an address of this machine, such as "${advised}".`)
  })

  it.each([
    ["EADDRINUSE", /port 8710 is already in use\. Stop .*, or set another "port"/],
    ["EACCES", /the system reserves port 8710\. Set another "port"; "netsh/],
    ["EADDRNOTAVAIL", /no interface "exhibit"\. Set "host" to an address of this machine/],
    ["ENOTFOUND", /no interface "exhibit"\. Set "host"/],
    ["EAI_AGAIN", /no interface "exhibit"\. Set "host"/],
    ["EMFILE", /: too many open files$/]
  ])("explains after %s what to do", (code, advice) => {
    const error = new BindError({
      host: "exhibit",
      port: 8710,
      code,
      cause: new Error("too many open files")
    })
    expect(error.message).toMatch(/^Cannot listen on exhibit:8710: /)
    expect(error.message).toMatch(advice)
  })

  it("explains that a port below 1024 needs privileges", () => {
    const error = new BindError({ host: "::1", port: 80, code: "EACCES", cause: new Error("refused") })
    expect(error.message).toBe(
      'Cannot listen on [::1]:80: this user may not use port 80. Set a "port" above 1023.'
    )
  })
})
