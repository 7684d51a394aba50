import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { issuesOf } from "../../../src/internal/Options.ts"
import { decode, withoutEffect } from "../../../src/layers/httpTransport/HttpTransportOptions.ts"

const issues = (options: unknown) => issuesOf(decode(options))

const secret = "a-token-that-nobody-guesses"

const defaults = {
  port: 8710,
  host: "127.0.0.1",
  name: "http-transport",
  allowedCommands: ["content.ack", "content.manifest.read"],
  events: ["content:*"],
  replayEvents: ["content:version:promoted"],
  keepAliveMs: 15_000,
  maxClients: 32,
  exposeState: false
}

describe("the options of the HTTP transport", () => {
  it("has the defaults of the specification", () => {
    expect(decode({})).toEqual(Either.right(defaults))
    expect(decode(Object.fromEntries(Object.keys(defaults).map((key) => [key, undefined])))).toEqual(
      Either.right(defaults)
    )
  })

  it("accepts the address of a host in URL form", () => {
    expect(decode({ host: "[::1]" })).toEqual(Either.right({ ...defaults, host: "::1" }))
  })

  it.each([
    ["port", 0],
    ["port", 65_535],
    ["host", "::1"],
    ["name", "desk-2"],
    ["allowedCommands", []],
    ["events", ["*", "a"]],
    ["replayEvents", []],
    ["keepAliveMs", 1],
    ["keepAliveMs", 2_147_483_647],
    ["keepAliveMs", "15 seconds"],
    ["maxClients", 1],
    ["maxClients", 100_000],
    ["exposeState", true],
    ["allowedOrigins", []],
    ["allowedOrigins", ["http://127.0.0.1:8720", "https://museum.example", "http://[::1]:8720", "null"]],
    ["allowedOrigins", ["chrome-extension://abcdefgh"]],
    ["allowedHosts", ["localhost", "127.0.0.1", "[::1]", "kiosk-1.museum.example"]],
    ["requireJson", true]
  ])("accepts %s %j", (key, value) => {
    expect(decode({ [key]: value })).toEqual(Either.right({ ...defaults, [key]: value }))
  })

  it.each([
    ["port", "an integer from 0 to 65535", [-1, 65_536, 1.5, "8710", null, Number.NaN, true]],
    ["host", "the name or address of an interface", ["", 127, null, []]],
    [
      "keepAliveMs",
      'milliseconds, or a duration such as "15 seconds"',
      [0, 2_147_483_648, 0.5, "1", Number.POSITIVE_INFINITY]
    ],
    ["name", "a name such as", ["", "Desk", "../x", 1]],
    ["maxClients", "an integer from 1 to 100000", [0, 100_001, -1, 2.5, "32"]],
    ["exposeState", "true or false", [1, "true", null]],
    ["allowedCommands", "an array, each entry the name of a command", ["content.ack", null, {}, 1]],
    ["events", "an array, each entry the name of an event", ["*", null, { 0: "*" }]],
    ["replayEvents", "an array, each entry the name of an event", ["a", 7]],
    ["allowedOrigins", "an array, each entry an origin as browsers send it", ["*", null, "http://a"]],
    ["allowedHosts", "an array, each entry a host name or an address", ["localhost", null, {}]],
    ["requireJson", "true or false", [1, "true", null]]
  ] as const)("requires %s to be %s", (key, expected, values) => {
    for (const value of values) {
      expect(issues({ [key]: value })).toEqual([
        { path: key, message: expect.stringMatching(`^expected ${expected}.*, got `) }
      ])
    }
  })

  it("names the entry that is wrong", () => {
    expect(issues({ events: ["a", ""], allowedCommands: [7], replayEvents: [null] })).toEqual(
      expect.arrayContaining([
        { path: "events[1]", message: 'expected the name of an event, got ""' },
        { path: "allowedCommands[0]", message: "expected the name of a command, got 7" },
        { path: "replayEvents[0]", message: "expected the name of an event, got null" }
      ])
    )
  })

  it("refuses commands that ask screens for actions or mute problems", () => {
    const refused = ["content.accept", "content.screen", "problem.mute", "problem.unmute"]
    expect(issues({ allowedCommands: ["content.ack", ...refused] })).toEqual(
      refused.map((command, index) => ({
        path: `allowedCommands[${index + 1}]`,
        message: `"${command}" is for the dashboard and the controller's own socket only`
      }))
    )
  })

  it("names entries of events and replayEvents that have no effect, and accepts them", () => {
    const found = (options: { events: ReadonlyArray<string>; replayEvents?: ReadonlyArray<string> }) => {
      expect(issues(options)).toEqual([])
      return withoutEffect({ ...defaults, ...options }).map(({ message, path }) => `${path}: ${message}`)
    }
    expect(found({ events: ["door:*"], replayEvents: ["door:open", "doors:open", "door:*"] })).toEqual([
      'replayEvents[1]: clients never get "doors:open": no entry of "events" includes it',
      'replayEvents[2]: clients never get "door:*": an exact name is needed'
    ])
    expect(found({ events: ["*", "open", "a\n*"], replayEvents: ["error", "a\nb", "content:x"] })).toEqual([
      expect.stringMatching(/^events\[1\]: clients never get "open": .*EventSource/),
      expect.stringMatching(/^events\[2\]: clients never get "a\\n\*": .*line break/),
      expect.stringMatching(/^replayEvents\[0\]: clients never get "error": .*EventSource/),
      expect.stringMatching(/^replayEvents\[1\]: clients never get "a\\nb": .*line break/)
    ])
    expect(found({ events: ["door:*"] })).toEqual([])
  })

  it("reports all mistakes at once, unknown keys among them", () => {
    const found = issues({
      port: -1,
      host: "",
      allowedCommand: ["content.fetch"],
      allowedCommands: "content.ack",
      events: [""],
      replayEvents: 1,
      keepAliveMs: "soon",
      maxClients: 0,
      exposeState: "no"
    })
    expect(found.map(({ path }) => path).sort()).toEqual([
      "allowedCommand",
      "allowedCommands",
      "events[0]",
      "exposeState",
      "host",
      "keepAliveMs",
      "maxClients",
      "port",
      "replayEvents"
    ])
    expect(found).toContainEqual({
      path: "allowedCommand",
      message: expect.stringContaining('"allowedCommands"')
    })
  })

  it.each([
    "*",
    "",
    "localhost",
    "http://localhost/",
    "http://LOCALHOST",
    "http://localhost:80",
    "https://a:443",
    "http://a b",
    "http://*.museum.example",
    "http://user@a"
  ])("rejects the origin %j, which no browser sends", (origin) => {
    expect(issues({ allowedOrigins: [origin] })).toMatchObject([{ path: "allowedOrigins[0]" }])
  })

  it.each(["", "localhost:8710", "LOCALHOST", "*", "::1", "http://localhost", "a/b"])(
    "rejects the host %j",
    (host) => {
      expect(issues({ allowedHosts: [host] })).toMatchObject([{ path: "allowedHosts[0]" }])
    }
  )

  it.each([secret, Redacted.make(secret)])(
    "accepts a token as text and redacted, and shows neither",
    (token) => {
      const options = Either.getOrThrow(decode({ token }))
      expect(options.token).toSatisfy(Redacted.isRedacted)
      expect(Redacted.value(options.token ?? Redacted.make(""))).toBe(secret)
      expect([String(options), inspect(options), JSON.stringify(options)].join()).not.toContain(secret)
    }
  )

  it.each([
    "",
    "fifteen-letters",
    `${secret} `,
    `${secret}ü`,
    "with a space in it, and long",
    7,
    null,
    Redacted.make("short")
  ])("requires a token that cannot be guessed, and does not show a rejected one: %j", (token) => {
    expect(issues({ token })).toEqual([
      {
        path: "token",
        message: expect.stringMatching(/^expected a token: at least 16 of .*set\? --env-file .*\)$/)
      }
    ])
  })
})
