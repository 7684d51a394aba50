import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { RequestHead } from "../../../src/layers/http/RequestHead.ts"
import * as Access from "../../../src/layers/httpTransport/Access.ts"
import type { HttpTransportConfig } from "../../../src/layers/httpTransport/HttpTransportOptions.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { withLog } from "../../support/logged.ts"
import { format, parse, type Request } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"

const page = "http://127.0.0.1:8720"
const foreign = "https://evil.example"
const secret = "a-token-that-nobody-guesses"

/** Why a request is refused, by the tag of the error. */
const refusal = (options: Access.Options, request: RequestHead) =>
  Option.getOrUndefined(
    Option.map(Access.make(options).refuse(request), ({ _tag }) => _tag.replace("vitrine/", ""))
  )

const header = FastCheck.option(
  FastCheck.oneof(
    FastCheck.constantFrom(
      page,
      foreign,
      "null",
      "localhost",
      "localhost:8710",
      "[::1]:8710",
      "[",
      "]:",
      "cross-site",
      "same-origin",
      "application/json",
      "text/plain",
      `Bearer ${secret}`,
      "Bearer",
      ""
    ),
    FastCheck.string({ unit: "binary" })
  ),
  { nil: undefined }
)

const head = FastCheck.record({
  method: FastCheck.constantFrom("GET", "POST", "OPTIONS", "HEAD", "FROB"),
  url: FastCheck.oneof(
    FastCheck.constantFrom(
      "/events",
      `/events?token=${secret}`,
      `/command?token=${secret}`,
      "/events?%zz&token"
    ),
    FastCheck.string({ unit: "binary" })
  ),
  headers: FastCheck.record({
    host: header,
    origin: header,
    "sec-fetch-site": header,
    "content-type": header,
    authorization: header
  })
})

const everything: Access.Options = {
  allowedHosts: ["localhost", "[::1]"],
  allowedOrigins: [page],
  requireJson: true,
  token: Redacted.make(secret)
}

describe("a decision", () => {
  it.prop("refuses nobody by default, and opens responses to every page", [head], ([head]) => {
    expect(refusal({}, head)).toBeUndefined()
    expect(Access.make({}).corsHeaders(head)).toEqual({ "access-control-allow-origin": "*" })
  })

  it.prop("allows only what all options allow", [head], ([head]) => {
    const { allowedHosts, allowedOrigins, requireJson, token } = everything
    const each = [{ allowedHosts }, { allowedOrigins }, { token }, { requireJson }].map((options) =>
      refusal(options as Access.Options, head)
    )
    expect(refusal(everything, head)).toBe(each.find((reason) => reason !== undefined))
  })

  it.prop("lets no origin read that is not allowed", [head], ([head]) => {
    const cors = Access.make(everything).corsHeaders(head)
    expect(cors).toEqual({
      vary: "Origin",
      ...(head.headers.origin === page ? { "access-control-allow-origin": page } : {})
    })
  })

  it.prop("contains neither the token nor control characters", [head], ([head]) => {
    const refused = Option.getOrUndefined(Access.make(everything).refuse(head))
    const said = [refused?.message, inspect(refused), JSON.stringify(refused)].join()
    if (!Object.values(head.headers).join().includes(secret)) {
      expect(said).not.toContain(secret)
    }
    expect(refused?.message ?? "").not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

const get = (headers: Record<string, string>, url = "/status"): RequestHead => ({
  method: "GET",
  url,
  headers
})

it("quotes a header without invisible characters", () => {
  const { message } = Option.getOrThrow(Access.make(everything).refuse(get({ host: "a\u200d\ufff9\u202eb" })))
  expect(message).toContain('"a\ufffd\ufffd\ufffdb"')
})

describe("allowedHosts", () => {
  it.each([
    ["localhost", true],
    ["localhost:8710", true],
    ["LocalHost:8710", true],
    ["[::1]", true],
    ["[::1]:8710", true],
    ["127.0.0.1:8710", false],
    ["h0.localhost:8710", false],
    ["localhost.evil.example", false],
    ["localhost:8710:1", false],
    ["evil.example", false],
    ["::1", false],
    ["", false]
  ])("%j: %s", (host, allowed) => {
    expect(refusal({ allowedHosts: ["localhost", "[::1]"] }, get({ host }))).toBe(
      allowed ? undefined : "HostNotAllowed"
    )
  })
})

describe("allowedOrigins", () => {
  it.each<readonly [string, Record<string, string>, boolean]>([
    ["a page of an allowed origin", { origin: page }, true],
    ["a page of another origin", { origin: foreign }, false],
    ["a page on another port", { origin: "http://127.0.0.1:8721" }, false],
    ["a sandboxed frame", { origin: "null" }, false],
    ["two origins", { origin: `${page}, ${foreign}` }, false],
    ["curl and .NET, which send none", {}, true],
    ["an image of a foreign page", { "sec-fetch-site": "cross-site" }, false],
    ["an image of a page on another port", { "sec-fetch-site": "same-site" }, false],
    ["somebody who types the address", { "sec-fetch-site": "none" }, true],
    ["a page that was rebound, which allowedHosts is for", { "sec-fetch-site": "same-origin" }, true]
  ])("%s: %j: %s", (_, headers, allowed) => {
    expect(refusal({ allowedOrigins: [page] }, get(headers))).toBe(allowed ? undefined : "OriginNotAllowed")
  })
})

describe("token", () => {
  const options = { token: Redacted.make(secret) }
  it.each<readonly [string, RequestHead, boolean]>([
    ["in the header", get({ authorization: `Bearer ${secret}` }), true],
    ["in small letters", get({ authorization: `bearer  ${secret}` }), true],
    ["in the query of an event stream", get({}, `/events?a&token=${secret}`), true],
    ["encoded there", get({}, `/events?token=${secret.replaceAll("-", "%2D")}`), true],
    ["in the query of anything else", get({}, `/status?token=${secret}`), false],
    ["in the query of a command", { method: "POST", url: `/events?token=${secret}`, headers: {} }, false],
    ["nowhere", get({}), false],
    ["wrong", get({ authorization: `Bearer ${secret}x` }), false],
    [
      "wrong in the header, right in the query",
      get({ authorization: "Bearer x" }, `/events?token=${secret}`),
      false
    ],
    ["cut off", get({ authorization: `Bearer ${secret.slice(1)}` }), false],
    ["by another scheme", get({ authorization: `Basic ${secret}` }), false],
    ["in no preflight", { method: "OPTIONS", url: "/command", headers: {} }, true]
  ])("%s", (_, request, allowed) => {
    expect(refusal(options, request)).toBe(allowed ? undefined : "TokenRequired")
  })
})

describe("requireJson", () => {
  it.each([
    ["application/json", true],
    ["Application/JSON; charset=utf-8", true],
    ["application/json ;x", true],
    ["text/plain", false],
    ["text/plain;application/json", false],
    ["application/jsonp", false],
    ["", false]
  ])("%j: %s", (type, allowed) => {
    const request = { method: "POST", url: "/command", headers: { "content-type": type } }
    expect(refusal({ requireJson: true }, request)).toBe(allowed ? undefined : "JsonRequired")
    expect(refusal({ requireJson: true }, { ...request, method: "GET" })).toBeUndefined()
  })
})

describe("on the wire", () => {
  const scenario = (
    name: string,
    options: HttpTransportConfig,
    requests: ReadonlyArray<readonly [number, Request, Record<string, string | undefined>]>
  ) =>
    it.scoped(name, () =>
      Effect.gen(function* () {
        yield* transport.register("content.ack", Effect.succeed("done"))
        for (const [status, request, headers] of requests) {
          const answer = yield* transport.request(request)
          expect(answer.status).toBe(status)
          expect({
            "access-control-allow-origin": undefined,
            vary: undefined,
            ...answer.headers
          }).toMatchObject(headers)
        }
      }).pipe(Effect.provide(transport.layer(options)))
    )

  const ack = (headers: Record<string, string>): Request => ({
    method: "POST",
    target: "/command",
    headers,
    body: '{"type":"content.ack"}'
  })
  const closed = { vary: "Origin", "access-control-allow-origin": undefined }
  const opened = { vary: "Origin", "access-control-allow-origin": page }

  scenario("allowedOrigins may read responses, and others get 403", { allowedOrigins: [page] }, [
    [200, { target: "/status", headers: { Origin: page } }, opened],
    [200, { target: "/status" }, closed],
    [403, { target: "/status", headers: { Origin: foreign } }, closed],
    [403, { target: "/events", headers: { Origin: foreign } }, closed],
    [403, { target: "/nowhere", headers: { Origin: foreign } }, closed],
    [403, { target: "/command", method: "OPTIONS", headers: { Origin: foreign } }, closed],
    [204, { target: "/command", method: "OPTIONS", headers: { Origin: page } }, opened],
    [404, { target: "/nowhere", headers: { Origin: page } }, opened],
    [400, { target: "//", headers: { Origin: foreign } }, closed],
    [400, { target: "no target" }, closed],
    [403, ack({ Origin: foreign }), closed],
    [200, ack({ Origin: page }), opened],
    [200, ack({}), closed]
  ])

  scenario("allowedHosts are the only hosts that a request may be sent to", { allowedHosts: ["localhost"] }, [
    [200, { target: "/status" }, { "access-control-allow-origin": "*" }],
    [403, { target: "/status", headers: { Host: "h0.localhost:1" } }, { "access-control-allow-origin": "*" }],
    [403, { target: "/events", headers: { Host: "evil.example" } }, {}],
    [403, { target: "*", method: "OPTIONS", headers: { Host: "evil.example" } }, {}]
  ])

  scenario("requireJson refuses requests that need no preflight", { requireJson: true }, [
    [415, ack({}), { "access-control-allow-origin": "*" }],
    [415, ack({ "Content-Type": "text/plain" }), {}],
    [200, ack({ "Content-Type": "application/json" }), {}],
    [200, { target: "/status" }, {}]
  ])

  const bearer = { Authorization: `Bearer ${secret}` }

  scenario("a token is required by every route except the preflight", { token: secret }, [
    [401, { target: "/status" }, { "www-authenticate": "Bearer", "access-control-allow-origin": "*" }],
    [401, { target: "/events" }, {}],
    [401, { target: "/nowhere" }, {}],
    [401, ack({}), {}],
    [200, { target: "/status", headers: bearer }, {}],
    [200, ack(bearer), {}],
    [
      204,
      { target: "/command", method: "OPTIONS", headers: { Origin: page } },
      { "access-control-allow-headers": "Content-Type, Authorization" }
    ]
  ])

  it.effect("a token opens an event stream, and is never shown", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const connection = yield* transport.connect
      connection.send(format({ target: `/events?token=${secret}` }))
      yield* connection.received.until((text) => text.includes("retry: 2000\n\n"))
      const { state, status } = yield* ControllerState
      const headers = { Authorization: `Bearer ${secret}` }
      const responses = yield* Effect.forEach(
        ["/status", "/state", "/nowhere", `/nowhere?token=${secret}`, `//?token=${secret}`],
        (target) => transport.request({ target, headers })
      )
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 404, 404, 400])
      const said = [yield* state, yield* status, responses, connection.received.text(), lines]
      expect(JSON.stringify(said)).not.toContain(secret)
    }).pipe(
      Effect.scoped,
      Effect.provide(transport.layer({ token: Redacted.make(secret), exposeState: true })),
      withLog(lines)
    )
  })

  it.effect("a body that is refused before it is read does not affect the next request", () =>
    Effect.gen(function* () {
      const headers = { Connection: "keep-alive" }
      const text = yield* transport.exchange(
        Buffer.concat([
          format({ method: "POST", target: "/command", headers, body: "x".repeat(100_000) }),
          format({ target: "/status" })
        ])
      )
      expect(parse(text).status).toBe(415)
      expect(text).toContain("HTTP/1.1 200 OK")
    }).pipe(Effect.provide(transport.layer({ requireJson: true })))
  )
})
