/**
 * The HTTP client refuses local addresses and addresses of metadata services.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "effect/FastCheck"
import * as Queue from "effect/Queue"
import * as httpClient from "../../../src/layers/httpClient/HttpClientNode.ts"
import { naming, refusedHost } from "../../../src/layers/httpClient/localAddress.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"

const local = [
  "127.0.0.1",
  "127.255.255.254",
  "0.0.0.0",
  "169.254.1.1",
  "[::1]",
  "[::]",
  "[fe80::1]",
  "[febf::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:169.254.1.1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b::169.254.1.1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "localhost",
  "LOCALHOST.",
  "vault.localhost"
]
const remote = [
  "192.0.2.1",
  "10.0.0.1",
  "192.168.1.1",
  "172.16.0.1",
  "128.0.0.1",
  "169.253.1.1",
  "[2001:db8::1]",
  "[fc00::1]",
  "[fec0::1]",
  "[::ffff:192.0.2.1]",
  "[64:ff9b::192.0.2.1]",
  "localhost.example"
]
const metadata = [
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[::a9fe:a9fe]",
  "[64:ff9b::a9fe:a9fe]",
  "[2002:a9fe:a9fe::]",
  "[fe80::a9fe:a9fe]",
  "[fd00:ec2::254]",
  "[FD00:0EC2:0:0::0254]",
  "169.254.170.2",
  "100.100.100.200",
  "168.63.129.16",
  "metadata.google.internal.",
  "metadata.goog"
]

/** The refusal of a host in a URL. */
const refused = (host: string, isNamed: boolean) => refusedHost(new URL(`http://${host}/`).hostname, isNamed)

describe("a host", () => {
  it.each(local)("%s is local: it has to be named", (host) => {
    expect(refused(host, false)).toMatchObject({ isMetadata: false })
    expect(refused(host, true)).toBeUndefined()
  })
  it.each(remote)("%s is not local", (host) => expect(refused(host, false)).toBeUndefined())
  it.each(metadata)("%s is a metadata service: it is never asked", (host) => {
    expect(refused(host, false)).toMatchObject({ isMetadata: true })
    expect(refused(host, true)).toMatchObject({ isMetadata: true })
  })

  it.prop("is as local in IPv6 as in IPv4", [fc.ipV4()], ([address]) => {
    const [first, second] = address.split(".")
    const expected = first === "0" || first === "127" || (first === "169" && second === "254")
    fc.pre(refused(address, true) === undefined)
    for (const host of [address, `[::ffff:${address}]`, `[64:ff9b::${address}]`, `[::${address}]`]) {
      expect(refused(host, false) !== undefined).toBe(expected)
    }
  })
})

describe("a request to a local address", () => {
  const get = (url: string) => Effect.flatMap(HttpClient.get(url), ({ text }) => text)

  it.scopedLive.each(["localhost", "127.0.0.1", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "0.0.0.0"])(
    "fails for %s without a connection, even if a named host has a connection",
    (host) =>
      Effect.gen(function* () {
        const { received, url } = yield* ScriptedServer.make(ScriptedServer.text(200, "in"))
        const asked = get(url.replace("127.0.0.1", host))
        for (const refused of [asked, naming("http://museum.example/")(asked)]) {
          const error = yield* Effect.flip(refused)
          expect(error._tag === "RequestError" && String(error.cause)).toMatch(
            / is an address of this machine or of its local link$/
          )
        }
        expect(yield* naming(url.replace("127.0.0.1", host))(asked)).toBe("in")
        yield* Effect.flip(asked)
        expect(yield* Queue.takeAll(received)).toHaveLength(1)
      }).pipe(Effect.provide(httpClient.layer))
  )

  it.scopedLive("goes to loopback by any of its names, if one of them is named", () =>
    Effect.gen(function* () {
      const { url } = yield* ScriptedServer.make(ScriptedServer.text(200, "in"))
      expect(yield* naming("http://localhost:8080")(get(url))).toBe("in")
      expect(yield* Effect.flip(naming("http://192.168.1.1")(get(url)))).toMatchObject({
        _tag: "RequestError"
      })
    }).pipe(Effect.provide(httpClient.layer))
  )
})
