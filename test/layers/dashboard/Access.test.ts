import { hostname } from "node:os"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/layers/dashboard/Access.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import * as dashboard from "../../support/dashboard.ts"
import { register } from "../../support/transport.ts"

const secret = "a-token-that-nobody-guesses"
const token = Redacted.make(secret)

type Headers = Readonly<Record<string, string | undefined>>

const own: Headers = { host: "127.0.0.1:8720", "content-type": "application/json" }

const tagOf = (refusal: Option.Option<Access.Refusal>) =>
  Option.getOrUndefined(Option.map(refusal, ({ _tag }) => _tag.replace("vitrine/", "")))

const act = (headers: Headers, options: Partial<Parameters<typeof Access.make>[0]> = {}) =>
  tagOf(
    Access.make({ host: "127.0.0.1", ...options }).refuseAction({
      headers: { ...own, ...headers },
      method: "POST",
      url: "/command"
    })
  )

const read = (headers: Headers, options: Partial<Parameters<typeof Access.make>[0]> = {}) =>
  tagOf(
    Access.make({ host: "127.0.0.1", ...options }).refuseReading({ headers, method: "GET", url: "/state" })
  )

describe("reading", () => {
  it.each([
    "127.0.0.1:8720",
    "192.168.0.5:8720",
    "[::1]:8720",
    "[fe80::1]",
    "localhost",
    "LOCALHOST:8720",
    `${hostname()}:8720`,
    `${hostname()}.local:8720`
  ])("is allowed by %s", (host) => expect(read({ host })).toBeUndefined())

  it("is allowed by a name that the machine was given after the start", () => {
    let name = "unnamed"
    const { refuseReading } = Access.make({ host: "127.0.0.1" }, () => name)
    const refusal = (host: string) => tagOf(refuseReading({ headers: { host }, method: "GET", url: "/" }))
    expect(refusal("Hall-3:8720")).toBe("HostNotAllowed")
    name = "Hall-3"
    expect([refusal("hall-3:8720"), refusal("hall-3.local")]).toEqual([undefined, undefined])
    expect(refusal("unnamed")).toBe("HostNotAllowed")
  })

  it.each([
    "evil.example",
    "evil.example:8720",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "",
    "[",
    undefined
  ])("is refused by the name %s, which may lead here", (host) =>
    expect(read({ host })).toBe("HostNotAllowed")
  )

  it("is allowed by a name of the options", () =>
    expect(read({ host: "desk.museum:8720" }, { allowedHosts: ["desk.museum"] })).toBeUndefined())
})

describe("reading by a page", () => {
  const host = "127.0.0.1:8720"

  it.each([
    ["of another origin", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["of another port", { origin: "http://127.0.0.1:8730", "sec-fetch-site": "same-site" }],
    ["without an origin", { origin: "null" }],
    [
      "that names none, by an image for example",
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }
    ]
  ])("is refused to one %s", (_, headers) => expect(read({ host, ...headers })).toBe("OriginNotAllowed"))

  it.each([
    ["its own", { "sec-fetch-site": "same-origin", "sec-fetch-dest": "empty" }],
    ["an address that somebody has typed", { "sec-fetch-site": "none", "sec-fetch-dest": "document" }],
    [
      "a link on any page, which only leads here",
      { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" }
    ]
  ])("is allowed to %s", (_, headers) => expect(read({ host, ...headers })).toBeUndefined())
})

describe("acting", () => {
  it.each([
    ["its own page", { origin: "http://127.0.0.1:8720", "sec-fetch-site": "same-origin" }],
    ["its own page behind a proxy with TLS", { origin: "https://127.0.0.1:8720" }],
    ["a program", {}]
  ])("is allowed to %s", (_, headers) => expect(act(headers)).toBeUndefined())

  it.each([
    ["a page of another origin", { origin: "https://evil.example" }],
    ["a page of another port", { origin: "http://127.0.0.1:8730" }],
    ["a page without an origin", { origin: "null" }],
    ["a page that names none", { "sec-fetch-site": "cross-site" }]
  ])("is refused to %s, with or without the token", (_, headers) => {
    expect(act(headers)).toBe("OriginNotAllowed")
    expect(act({ ...headers, authorization: `Bearer ${secret}` }, { token })).toBe("OriginNotAllowed")
  })

  it("is not allowed to a page that has rebound its name, although the request has its own origin", () =>
    expect(act({ host: "evil.example:8720", origin: "http://evil.example:8720" })).toBe("HostNotAllowed"))

  it("requires what no form can send", () => {
    expect(act({ "content-type": "text/plain" })).toBe("JsonRequired")
    expect(act({ "content-type": undefined })).toBe("JsonRequired")
  })

  it("requires the token, if there is one, in a header", () => {
    expect(act({}, { token })).toBe("TokenRequired")
    expect(act({ authorization: "Bearer another" }, { token })).toBe("TokenRequired")
    expect(act({ authorization: `Bearer ${secret}` }, { token })).toBeUndefined()
  })

  it.each(["0.0.0.0", "::", "192.168.0.5", "desk.museum"])(
    "is off on the network (%s) without a token",
    (host) => {
      expect(act({}, { host })).toBe("CommandNotAllowed")
      expect(act({}, { host, token })).toBe("TokenRequired")
      expect(act({ authorization: `Bearer ${secret}` }, { host, token })).toBeUndefined()
      expect(Access.make({ host }).actions).toBe("off")
      expect(Access.make({ host, token }).actions).toBe("token")
      expect(Access.make({ host: "127.0.0.1" }).actions).toBe("open")
    }
  )
})

describe("over a socket", () => {
  const counted = Effect.gen(function* () {
    let count = 0
    yield* dashboard.setContent({ sources: {} })
    yield* register(
      "content.hold",
      Effect.sync(() => ({ count: ++count }))
    )
    return () => count
  })

  it.effect("a refused action is not executed", () =>
    Effect.gen(function* () {
      const count = yield* counted
      const refused = [
        yield* dashboard.act({ type: "content.hold" }, { Origin: "https://evil.example" }),
        yield* dashboard.act({ type: "content.hold" }, { Host: "evil.example" }),
        yield* dashboard.act(
          { type: "content.hold" },
          { "Content-Type": "text/plain", Authorization: `Bearer ${secret}` }
        ),
        yield* dashboard.act({ type: "content.hold" })
      ]
      expect(refused.map(({ status }) => status)).toEqual([403, 403, 415, 401])
      expect(refused.map(({ headers }) => headers["access-control-allow-origin"])).toEqual(
        refused.map(() => undefined)
      )
      expect(refused[3]?.headers["www-authenticate"]).toBe("Bearer")
      expect(JSON.stringify(refused)).not.toContain(secret)
      expect(count()).toBe(0)
      const allowed = yield* dashboard.act({ type: "content.hold" }, { Authorization: `Bearer ${secret}` })
      expect(allowed).toMatchObject({ status: 200, body: '{"result":{"count":1}}' })
    }).pipe(Effect.scoped, Effect.provide(dashboard.layer({ token: secret })))
  )

  it.effect("a screen can be asked to reload or to show its name, and for nothing else", () =>
    Effect.gen(function* () {
      const { register } = yield* CommandBus
      yield* dashboard.setContent({ sources: {} })
      yield* register({
        type: "content.screen",
        fields: Schema.Struct({ by: Schema.String, screen: Schema.String, action: Schema.String }),
        run: (fields) => Effect.succeed(fields)
      })
      const command = { type: "content.screen", screen: "hall-3/left", action: "identify" }
      const { body } = yield* dashboard.act({ ...command, by: "Anna" })
      expect(JSON.parse(body).result).toEqual({
        screen: "hall-3/left",
        action: "identify",
        by: "Anna at the dashboard"
      })
      expect((yield* dashboard.act({ ...command, action: "open" })).status).toBe(400)
    }).pipe(Effect.scoped, Effect.provide(dashboard.layer()))
  )

  it.effect("a problem is muted with who did it, by the page of the dashboard only", () =>
    Effect.gen(function* () {
      const { register } = yield* CommandBus
      const text = Schema.optional(Schema.String)
      yield* register({
        type: "problem.mute",
        fields: Schema.Struct({ name: Schema.String, until: Schema.String, by: text, why: text }),
        run: (fields) => Effect.succeed(fields)
      })
      const fields = { name: "hall-3", until: "2026-11-25T18:00:00.000Z", why: "painting" }
      const muted = yield* dashboard.act({ type: "problem.mute", ...fields, by: "Anna", other: 1 })
      expect(JSON.parse(muted.body).result).toEqual({ ...fields, by: "Anna at the dashboard" })
      const foreign = yield* dashboard.act(
        { type: "problem.mute", ...fields },
        { Origin: "http://127.0.0.1:8730" }
      )
      expect(foreign.status).toBe(403)
      expect((yield* dashboard.act({ type: "content.mute", ...fields })).status).toBe(403)
      expect((yield* dashboard.act({ type: "problem.mute", ...fields, why: {} })).status).toBe(400)
    }).pipe(Effect.scoped, Effect.provide(dashboard.layer()))
  )

  it.effect(
    "only hold, release, rollback, resume, screen and those of problems are accepted, and none with GET",
    () =>
      Effect.gen(function* () {
        yield* register("content.fetch", Effect.die("must not run"))
        expect((yield* dashboard.act({ type: "content.hold" })).status).toBe(403)
        yield* dashboard.setContent({ sources: {} })
        expect((yield* dashboard.act({ type: "content.fetch" })).status).toBe(403)
        expect((yield* dashboard.act({ type: 1 })).status).toBe(400)
        expect((yield* dashboard.act([])).status).toBe(400)
        expect((yield* dashboard.get("/command")).status).toBe(404)
        expect((yield* dashboard.request({ method: "OPTIONS", target: "/command" })).status).toBe(404)
        expect((yield* dashboard.act({ type: "content.hold" })).status).toBe(500)
      }).pipe(Effect.scoped, Effect.provide(dashboard.layer()))
  )

  it.effect("the request names who acts, cut and cleaned, and the dashboard adds the address", () =>
    Effect.gen(function* () {
      const { register } = yield* CommandBus
      yield* dashboard.setContent({ sources: {} })
      yield* register({
        type: "content.rollback",
        fields: Schema.Struct({ by: Schema.String, versionId: Schema.String }),
        run: (fields) => Effect.succeed(fields)
      })
      const by = Effect.fnUntraced(function* (by: unknown) {
        const { body } = yield* dashboard.act({ type: "content.rollback", versionId: "v1", by })
        return JSON.parse(body).result.by
      })
      expect(yield* by("Anna")).toBe("Anna at the dashboard")
      for (const nobody of [undefined, "", " \n"]) {
        expect(yield* by(nobody)).toBe("somebody at the dashboard")
      }
      expect(yield* by("A\u202enna".repeat(9))).toBe("A�nnaA�nnaA�nnaA�nnaA�nn… at the dashboard")
      expect((yield* dashboard.act({ type: "content.rollback", by: 1 })).status).toBe(400)
    }).pipe(Effect.scoped, Effect.provide(dashboard.layer()))
  )

  it.effect("responses cannot be framed or read by other pages", () =>
    Effect.gen(function* () {
      for (const target of [
        "/",
        "/dashboard.js",
        "/dashboard.css",
        "/state",
        "/status",
        "/metrics",
        "/healthz",
        "/nothing"
      ]) {
        const { headers } = yield* dashboard.get(target)
        expect(headers).toMatchObject({
          "x-content-type-options": "nosniff",
          "cross-origin-resource-policy": "same-origin",
          "content-security-policy": expect.stringContaining("frame-ancestors 'none'")
        })
        expect(headers["access-control-allow-origin"]).toBeUndefined()
        expect((yield* dashboard.get(target, { Host: "evil.example" })).status).toBe(403)
        expect((yield* dashboard.get(target, { Origin: "https://evil.example" })).status).toBe(403)
      }
      expect((yield* dashboard.get("/events", { Origin: "https://evil.example" })).status).toBe(403)
    }).pipe(Effect.scoped, Effect.provide(dashboard.layer()))
  )
})
