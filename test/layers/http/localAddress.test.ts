import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as HttpClient from "@effect/platform/HttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "effect/FastCheck"
import * as httpClient from "../../../src/layers/http/httpClient.ts"
import {
  isLocalAddress,
  LocalAddressesAllowed,
  leadsToLocalAddress
} from "../../../src/layers/http/localAddress.ts"

const local = [
  "127.0.0.1",
  "127.255.255.254",
  "0.0.0.0",
  "169.254.169.254",
  "::1",
  "::",
  "fe80::1",
  "fe80::1%eth0",
  "febf::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:169.254.1.1"
]
const remote = [
  "192.0.2.1",
  "10.0.0.1",
  "192.168.1.1",
  "172.16.0.1",
  "128.0.0.1",
  "169.253.1.1",
  "2001:db8::1",
  "fc00::1",
  "fec0::1",
  "::ffff:192.0.2.1",
  "localhost",
  ""
]

describe("a local address", () => {
  it.each(local)("is %s", (address) => expect(isLocalAddress(address)).toBe(true))
  it.each(remote)("is not %j", (address) => expect(isLocalAddress(address)).toBe(false))

  it.prop("is decided by its first octets alone", [fc.ipV4()], ([address]) => {
    const [first, second] = address.split(".")
    const expected = first === "0" || first === "127" || (first === "169" && second === "254")
    expect(isLocalAddress(address)).toBe(expected)
    expect(isLocalAddress(`::ffff:${address}`)).toBe(expected)
  })

  it.effect.each([
    ["http://localhost:1", true],
    ["http://127.1/x", true],
    ["https://[::1]", true],
    ["http://192.0.2.1", false],
    ["http://nowhere.invalid", false]
  ] as const)("is where %s leads: %s", ([url, expected]) =>
    Effect.map(leadsToLocalAddress(url), (leads) => expect(leads).toBe(expected))
  )
})

describe("a request that may not connect to local addresses", () => {
  const server = Effect.gen(function* () {
    let connections = 0
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((_, response) => response.end("in"))
        server.on("connection", () => connections++)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    return { port: (server.address() as AddressInfo).port, connections: () => connections }
  })

  it.scopedLive.each(["localhost", "127.0.0.1", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "0.0.0.0"])(
    "fails for %s without a connection, also when others have one",
    (host) =>
      Effect.gen(function* () {
        const { connections, port } = yield* server
        const get = Effect.flatMap(HttpClient.get(`http://${host}:${port}/`), ({ text }) => text)
        const { cause } = yield* Effect.flip(
          Effect.provideService(
            Effect.catchTag(get, "ResponseError", Effect.die),
            LocalAddressesAllowed,
            false
          )
        )
        expect(String(cause)).toMatch(/ is an address of this machine or of its local link$/)
        expect(connections()).toBe(0)
        expect(yield* get).toBe("in")
        yield* Effect.flip(Effect.provideService(get, LocalAddressesAllowed, false))
        expect(connections()).toBe(1)
      }).pipe(Effect.provide(httpClient.layer))
  )
})
