/**
 * The HTTP client behind a proxy, over real sockets.
 */
import { createServer, type RequestListener } from "node:http"
import { createRequire } from "node:module"
import net, { type AddressInfo, connect, type Socket } from "node:net"
import * as HttpClient from "@effect/platform/HttpClient"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as httpClient from "../../../src/layers/httpClient/HttpClientNode.ts"
import { deepestMessage } from "../../../src/layers/httpClient/httpFailure.ts"
import { naming } from "../../../src/layers/httpClient/localAddress.ts"

const names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"]

const withEnvironment = (variables: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = names.map((name) => [name, process.env[name]] as const)
      for (const name of names) delete process.env[name]
      Object.assign(process.env, variables)
      return before
    }),
    (before) =>
      Effect.sync(() => {
        for (const [name, value] of before) {
          if (value === undefined) delete process.env[name]
          else process.env[name] = value
        }
      })
  )

const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

const portOf = (server: ReturnType<typeof createServer>) => (server.address() as AddressInfo).port

/** A server, and a proxy that sends every name to it and reports its requests. */
const setUp = Effect.gen(function* () {
  const server = yield* serve((_, response) => response.end("reached"))
  const asked: Array<string> = []
  const proxy = yield* serve(({ headers, method, url }, response) => {
    asked.push(`${method} ${url} ${headers["proxy-authorization"] ?? ""}`.trim())
    response.end("forwarded")
  })
  let refusal: number | undefined
  proxy.on("connect", ({ headers, method, url }, socket) => {
    asked.push(`${method} ${url} ${headers["proxy-authorization"] ?? ""}`.trim())
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const upstream = connect(portOf(server), "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"))
    socket.on("error", () => upstream.destroy())
    upstream.on("error", () => socket.destroy())
    upstream.pipe(socket).pipe(upstream)
  })
  return {
    asked,
    proxy: `127.0.0.1:${portOf(proxy)}`,
    refuse: (status: number) => {
      refusal = status
    },
    server: `127.0.0.1:${portOf(server)}`
  }
})

const get = (url: string) => unnamed(url).pipe(naming(url))

const unnamed = (url: string) =>
  Effect.flatMap(HttpClient.get(url), ({ text }) => text).pipe(Effect.provide(httpClient.layer))

const failure = (url: string, ask = get) =>
  Effect.map(Effect.flip(ask(url)), (error) =>
    error._tag === "RequestError" ? deepestMessage(error.cause) : ""
  )

/** The clock of undici's limits, of which its `tick` moves twice for a limit that has just begun. */
const clock: { readonly tick: (millis: number) => void } = createRequire(import.meta.url)(
  "undici/lib/util/timers.js"
)

const nextTurn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const wait = (millis: number) =>
  Effect.gen(function* () {
    for (let turn = 0; turn < 2; turn++) clock.tick(millis)
    for (let turn = 0; turn < 4; turn++) yield* nextTurn
  })

/** A server, or a proxy with a tunnel, that is silent where TLS begins, and its connections. */
const silentTls = (isProxy: boolean) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<Socket>()
    const begins = (socket: Socket) => {
      socket
        .on("error", () => {})
        .once("end", () => socket.destroy())
        .once("data", () => Deferred.unsafeDone(begun, Exit.succeed(socket)))
    }
    const server = yield* serve(() => {})
    if (isProxy) {
      server.on("connect", (_, socket: Socket) => {
        begins(socket)
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
      })
    } else {
      server.removeAllListeners("connection").on("connection", begins)
    }
    return { begun, address: `127.0.0.1:${portOf(server)}` }
  })

describe("a connection", () => {
  it.scopedLive.each([
    ["to a server", () => ({}), false],
    [
      "to a proxy",
      (address: string) => ({ https_proxy: `https://${address.replace("127.0.0.1", "localhost")}` }),
      false
    ],
    ["through a tunnel", (address: string) => ({ https_proxy: address }), true]
  ] as const)("%s may take as long as its request, not only ten seconds", ([, environment, isProxy]) =>
    Effect.gen(function* () {
      const { address, begun } = yield* silentTls(isProxy)
      yield* withEnvironment(environment(address))
      const url =
        isProxy || "https_proxy" in environment("") ? "https://tables.example/" : `https://${address}/`
      const failed = yield* Effect.fork(failure(url))
      const socket = yield* Deferred.await(begun)
      yield* wait(60_000)
      socket.destroy()
      expect(yield* Fiber.join(failed)).toMatch(/disconnected before secure TLS connection|socket hang up/)
    })
  )

  it.scopedLive("that is being made ends with the client, not after its limit", () =>
    Effect.gen(function* () {
      const { address, begun } = yield* silentTls(false)
      yield* withEnvironment({})
      const scope = yield* Scope.make()
      const client = yield* Layer.buildWithScope(httpClient.layer, scope)
      const url = `https://${address}/`
      yield* Effect.fork(HttpClient.get(url).pipe(naming(url), Effect.provide(client)))
      const socket = yield* Deferred.await(begun)
      const closed = new Promise((resolve) => socket.once("close", resolve))
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => closed)
    })
  )

  it.scopedLive(
    "has seconds for each address of a name, also to a proxy: slow lines need more than 250 ms",
    () =>
      Effect.gen(function* () {
        const { proxy, server } = yield* setUp
        const connecting = yield* Effect.acquireRelease(
          Effect.sync(() => vi.spyOn(net, "connect")),
          (spy) => Effect.sync(() => spy.mockRestore())
        )
        yield* withEnvironment({})
        expect(yield* get(`http://${server}/`)).toBe("reached")
        yield* withEnvironment({ http_proxy: proxy })
        expect(yield* get("http://tables.example/a")).toBe("forwarded")
        yield* failure("https://tables.example/a")
        expect(connecting.mock.calls.map(([options]) => options)).toEqual(
          Array(3).fill(expect.objectContaining({ autoSelectFamilyAttemptTimeout: 2500 }))
        )
      })
  )
})

describe("the proxy of the environment", () => {
  it.scopedLive("forwards http, with its password, and needs no scheme in its address", () =>
    Effect.gen(function* () {
      const { asked, proxy } = yield* setUp
      yield* withEnvironment({ HTTP_PROXY: `http://user:pass@${proxy}` })
      expect(yield* get("http://tables.example/a?b")).toBe("forwarded")
      yield* withEnvironment({ http_proxy: proxy })
      expect(yield* get("http://tables.example/a?b")).toBe("forwarded")
      expect(asked).toEqual([
        "GET http://tables.example/a?b Basic dXNlcjpwYXNz",
        "GET http://tables.example/a?b"
      ])
    })
  )

  it.scopedLive("may answer with headers of up to 64 KiB, as every server", () =>
    Effect.gen(function* () {
      const proxy = yield* serve((_, response) =>
        response.setHeader("x-large", "x".repeat(40_000)).end("large")
      )
      yield* withEnvironment({ HTTP_PROXY: `127.0.0.1:${portOf(proxy)}` })
      expect(yield* get("http://tables.example/")).toBe("large")
    })
  )

  it.scopedLive("is asked for a tunnel for https, and does not see its data", () =>
    Effect.gen(function* () {
      const { asked, proxy } = yield* setUp
      for (const name of ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY"]) {
        yield* withEnvironment({ [name]: `http://user:pass@${proxy}` })
        // The server behind the tunnel does not speak TLS.
        expect(yield* failure("https://tables.example/a")).toMatch(/wrong version number|packet length/)
      }
      expect(asked).toEqual(Array(3).fill("CONNECT tables.example:443 Basic dXNlcjpwYXNz"))
    })
  )

  it.scopedLive("is not used for hosts in NO_PROXY, and for loopback", () =>
    Effect.gen(function* () {
      const { asked, proxy, server } = yield* setUp
      const port = server.split(":")[1]
      for (const [noProxy, host] of [
        ["other.example, 127.0.0.2", "127.0.0.2"],
        ["*", "127.0.0.2"],
        ["", "127.0.0.1"],
        ["", "localhost"]
      ] as const) {
        yield* withEnvironment({ HTTP_PROXY: `http://${proxy}`, NO_PROXY: noProxy })
        if (host !== "127.0.0.2") expect(yield* get(`http://${host}:${port}/`)).toBe("reached")
        else expect(yield* failure(`http://${host}:${port}/`)).toContain("ECONNREFUSED")
      }
      expect(asked).toEqual([])
    })
  )

  it.scopedLive("may have a local address, even if requests may not", () =>
    Effect.gen(function* () {
      const { asked, proxy, server } = yield* setUp
      yield* withEnvironment({ HTTP_PROXY: `http://${proxy}` })
      expect(yield* unnamed("http://tables.example/")).toBe("forwarded")
      for (const [host, address] of [
        [server, "127.0.0.1"],
        ["127.0.0.2", "127.0.0.2"],
        ["[fe80::1]", "fe80::1"]
      ] as const) {
        expect(yield* failure(`http://${host}/`, unnamed)).toContain(
          `${address} is an address of this machine`
        )
      }
      for (const host of ["169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal"]) {
        expect(yield* failure(`http://${host}/`)).toContain("an address of a cloud's metadata service")
      }
      expect(asked).toEqual(["GET http://tables.example/"])
    })
  )

  it.scopedLive("is reported if it refuses, cannot be reached or is invalid", () =>
    Effect.gen(function* () {
      const { proxy, refuse } = yield* setUp
      yield* withEnvironment({ HTTPS_PROXY: `http://user:s3cret@${proxy}` })
      refuse(403)
      expect(yield* failure("https://tables.example/")).toBe("the proxy refuses it with HTTP 403")
      refuse(407)
      expect(yield* failure("https://tables.example/")).toBe(
        "the proxy refuses it with HTTP 407. Put the user and the password into its address: http://user:password@host:port"
      )
      for (const scheme of ["http", "https"]) {
        yield* withEnvironment({ HTTP_PROXY: "http://user:s3cret@127.0.0.1:1" })
        expect(yield* failure(`${scheme}://tables.example/`)).toBe("connect ECONNREFUSED 127.0.0.1:1")
      }
      for (const address of ["http://", "socks5://s3cret:1", "http://s3cret:99999"]) {
        yield* withEnvironment({ https_proxy: address })
        expect(yield* failure("https://tables.example/")).toBe(
          'the environment variable https_proxy or HTTPS_PROXY is not the address of an http or https proxy, such as "http://proxy.example:3128"'
        )
      }
    })
  )
})
