import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import * as HttpTransport from "../../../src/layers/httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "../../../src/layers/httpTransport/HttpTransportOptions.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import { CommandBus, CommandUnavailable } from "../../../src/services/CommandBus.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { withLog } from "../../support/logged.ts"
import { pluginsOf } from "../../support/plugins.ts"
import { format, parse, type Request } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"

const json = (body: string): unknown => JSON.parse(body)

/** The whole body of an answer that is not 200 or 500. */
const error = (message: string) => ({ error: { message } })

describe("GET /status", () => {
  it.effect("is the status snapshot", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("5 seconds")
      const { status } = yield* ControllerState
      const answer = yield* transport.request({ target: "/status" })
      expect(answer.status).toBe(200)
      expect(answer.headers["content-type"]).toBe("application/json")
      expect(json(answer.body)).toEqual(yield* status)
      expect(json(answer.body)).toMatchObject({
        header: { startTime: "1970-01-01T00:00:00.000Z", uptimeMs: 5000, mode: "persistent" },
        sections: [{ name: "http-transport" }]
      })
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

describe("GET /state", () => {
  it.effect("is the global state where it is exposed", () =>
    Effect.gen(function* () {
      const { state, updateSlice } = pluginsOf(yield* ControllerState)
      yield* updateSlice("exhibit", () => ({ visitors: 3n, door: new Error("stuck") }))
      const answer = yield* transport.request({ target: "/state" })
      expect(answer.status).toBe(200)
      expect(json(answer.body)).toMatchObject({
        system: { startTime: "1970-01-01T00:00:00.000Z", mode: "persistent" },
        plugins: { exhibit: { visitors: "[BigInt 3]", door: { name: "Error", message: "stuck" } } },
        _version: (yield* state)._version
      })
    }).pipe(Effect.scoped, Effect.provide(transport.layer({ exposeState: true })))
  )

  it.effect("is 404 otherwise", () =>
    Effect.gen(function* () {
      const answer = yield* transport.request({ target: "/state" })
      expect(answer.status).toBe(404)
      expect(json(answer.body)).toEqual(error("Not found: GET /state"))
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

describe("POST /command", () => {
  const layer = transport.layer({ allowedCommands: ["work", "greet", "unregistered"] })

  /** Over a bus on which the process that has registered the commands is away. */
  const layerAway = (reason: CommandUnavailable["reason"], mayHaveRun: boolean) =>
    Layer.effect(
      CommandBus,
      Effect.map(CommandBusMemory.make, (commands) =>
        CommandBus.of({
          ...commands,
          dispatch: ({ type }) => new CommandUnavailable({ type, reason, mayHaveRun })
        })
      )
    ).pipe(
      (commands) => Layer.merge(transport.memoryServices(), commands),
      (services) => Layer.provideMerge(HttpTransport.layer({ port: 0, allowedCommands: ["work"] }), services)
    )

  it.effect("executes the command and returns its result", () =>
    Effect.gen(function* () {
      const commands = yield* CommandBus
      yield* commands.register({
        type: "greet",
        fields: Schema.Struct({ name: Schema.String }),
        run: ({ name }) => Effect.succeed({ greeting: `Hello ${name}` })
      })
      const answer = yield* transport.postCommand('{ "type": "greet", "name": "Zoë", "more": [1] }')
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({
        "content-type": "application/json",
        "access-control-allow-origin": "*"
      })
      expect(answer.body).toBe('{"result":{"greeting":"Hello Zoë"}}')
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic

  it.effect.each<readonly [string, unknown, string]>([
    ["null", null, "null"],
    ["undefined", undefined, "null"],
    ["a function", () => {}, "null"],
    ["a value that is nothing as JSON", { toJSON: () => undefined }, "null"],
    ["false", false, "false"],
    ["text with line breaks", "a\r\nb\u2028", '"a\\r\\nb\u2028"'],
    ["a bigint", 7n, '"[BigInt 7]"'],
    ["a cycle", cyclic, '{"self":"[Circular]"}'],
    [
      "an error",
      new Error("no", { cause: new TypeError("why") }),
      '{"name":"Error","message":"no","cause":{"name":"TypeError","message":"why"}}'
    ]
  ])("always has a result, for %s too", ([, result, text]) =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed(result))
      const answer = yield* transport.postCommand('{"type":"work"}')
      expect(answer.status).toBe(200)
      expect(answer.body).toBe(`{"result":${text}}`)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each<readonly [string, string]>([
    ["a double key, of which the last counts", '{"type":"other","type":"work"}'],
    ["keys that objects inherit", '{"type":"work","__proto__":{"type":1},"constructor":1}'],
    ["white space around it", ' \t\r\n{"type":"work"}\n '],
    ["escapes", '{"\\u0074ype":"wor\\u006b","more":"\\ud800"}'],
    ["any depth", `{"type":"work","more":${"[".repeat(32_000)}${"]".repeat(32_000)}}`]
  ])("accepts a body with %s", ([, body]) =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed(1))
      expect(yield* transport.postCommand(body)).toMatchObject({ status: 200, body: '{"result":1}' })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("accepts any content type, and a query", () =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed(1))
      for (const headers of [{}, { "Content-Type": "text/plain" }, { "Content-Type": "image/png; x" }]) {
        const answer = yield* transport.request({
          method: "POST",
          target: "/command?type=other",
          headers,
          body: '{"type":"work"}'
        })
        expect(answer.status).toBe(200)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  const secondary = new TypeError("the disk is full")
  const primary = new Error("the version could not be read", { cause: secondary })
  const looping = new Error("again")
  looping.cause = looping
  const described = {
    name: "Error",
    message: "the version could not be read",
    cause: { name: "TypeError", message: "the disk is full" }
  }

  it.effect.each<readonly [string, Effect.Effect<unknown, unknown>, unknown]>([
    ["fails", Effect.fail(primary), described],
    ["dies", Effect.die(primary), described],
    ["fails with causes that loop", Effect.fail(looping), expect.objectContaining({ message: "again" })],
    ["fails with a text", Effect.fail("no"), { name: "Error", message: "no" }],
    ["fails with nothing", Effect.fail(undefined), { name: "Error", message: "undefined" }],
    ["is interrupted", Effect.interrupt, { name: expect.any(String), message: expect.any(String) }]
  ])("is 500 with the chain of causes where the command %s", ([, run, described]) =>
    Effect.gen(function* () {
      yield* transport.register("work", run)
      const answer = yield* transport.postCommand('{"type":"work"}')
      expect(answer.status).toBe(500)
      expect(answer.headers["access-control-allow-origin"]).toBe("*")
      expect(json(answer.body)).toEqual({ error: described })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is 503 with a reason, which is logged, if a dispatch interrupts itself", () => {
    const lines: Array<string> = []
    const interrupted = Layer.effect(
      CommandBus,
      Effect.map(CommandBusMemory.make, (commands) =>
        CommandBus.of({ ...commands, dispatch: () => Effect.interrupt })
      )
    )
    return Effect.gen(function* () {
      const answer = yield* transport.postCommand('{"type":"work"}')
      expect(answer.status).toBe(503)
      expect(json(answer.body)).toEqual(
        error(
          "The request was interrupted. It may have been carried out in part: check before you send it again."
        )
      )
      expect(lines).toEqual(
        expect.arrayContaining([expect.stringMatching(/^INFO A request was interrupted/)])
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.provideMerge(
          HttpTransport.layer({ port: 0, allowedCommands: ["work"] }),
          Layer.merge(transport.memoryServices(), interrupted)
        )
      ),
      withLog(lines)
    )
  })

  it.effect("is 500 if an allowed command is not registered, or its fields are invalid", () =>
    Effect.gen(function* () {
      const commands = yield* CommandBus
      yield* commands.register({
        type: "greet",
        fields: Schema.Struct({ name: Schema.String, times: Schema.Number }),
        run: () => Effect.void
      })
      const unknown = yield* transport.postCommand('{"type":"unregistered"}')
      expect(unknown.status).toBe(500)
      expect(json(unknown.body)).toEqual({
        error: { name: "UnknownCommand", message: expect.stringContaining('"unregistered"') }
      })
      const invalid = yield* transport.postCommand('{"type":"greet","name":1}')
      expect(invalid.status).toBe(500)
      expect(json(invalid.body)).toEqual({
        error: {
          name: "InvalidCommandFields",
          message: expect.stringMatching(/"greet".*name: .*times: is required/)
        }
      })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each([
    ["unreachable", false, "cannot be reached. It has not run: send it again later."],
    ["timeout", true, "returned no result within the timeout. It may have run, or still be running"],
    ["lost", true, "the connection to the process that was running it was lost. It may have run"]
  ] as const)("is 500 if the process of a command is away: %s", ([reason, mayHaveRun, says]) =>
    Effect.gen(function* () {
      const answer = yield* transport.postCommand('{"type":"work"}')
      expect(answer.status).toBe(500)
      expect(json(answer.body)).toEqual({
        error: {
          name: "CommandUnavailable",
          message: expect.stringMatching(/^The command "work" is unavailable: /)
        }
      })
      expect(answer.body).toContain(says)
    }).pipe(Effect.scoped, Effect.provide(layerAway(reason, mayHaveRun)))
  )

  it.effect("is 503 with a time to send it again if too many of the command run already", () =>
    Effect.gen(function* () {
      const answer = yield* transport.postCommand('{"type":"work"}')
      expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "10" } })
      expect(json(answer.body)).toEqual({
        error: {
          name: "CommandUnavailable",
          message: expect.stringMatching(
            /too many commands are running already. It has not run: send it again/
          )
        }
      })
    }).pipe(Effect.scoped, Effect.provide(layerAway("busy", false)))
  )

  it.effect("is 403 for a command that is not allowed, whether it exists or not", () =>
    Effect.gen(function* () {
      let ran = false
      yield* transport.register(
        "stop",
        Effect.sync(() => (ran = true))
      )
      for (const type of ["stop", "nothing", "Work", "work ", "", "toString"]) {
        const answer = yield* transport.postCommand(JSON.stringify({ type }))
        expect(answer.status).toBe(403)
        expect(json(answer.body)).toEqual(
          error(
            `Command not allowed: ${JSON.stringify(type)} is not among the "allowedCommands" of the HTTP transport.`
          )
        )
      }
      expect(ran).toBe(false)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("asks a projector for its screen, and never those of a content, whatever its name", () =>
    Effect.gen(function* () {
      for (const type of ["projector.screen", "archive.screen", "archive.manifest.read"]) {
        yield* transport.register(type, Effect.succeed("done"))
      }
      expect(json((yield* transport.postCommand('{"type":"projector.screen"}')).body)).toEqual({
        result: "done"
      })
      const refused = yield* transport.postCommand('{"type":"archive.screen"}')
      expect(refused.status).toBe(403)
      expect(json(refused.body)).toEqual(
        error(
          'Command not allowed: "archive.screen" is for the dashboard and the controller\'s own socket only.'
        )
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(transport.layer({ allowedCommands: ["projector.screen", "archive.screen"] }))
    )
  )

  it.effect.each<HttpTransportConfig>([{}, { allowedCommands: [] }])(
    "is 403 for a command that %j does not allow, whatever the client sends",
    (options) =>
      Effect.gen(function* () {
        let runs = 0
        for (const type of ["content.fetch", "content.ack", "content.manifest.read"]) {
          yield* transport.register(
            type,
            Effect.sync(() => ++runs)
          )
          const answer = yield* transport.postCommand(
            JSON.stringify({ type, allowedCommands: [type], options: { allowedCommands: ["*"] } })
          )
          const isAllowed = options.allowedCommands === undefined && type !== "content.fetch"
          expect(answer.status).toBe(isAllowed ? 200 : 403)
        }
        expect(runs).toBe(options.allowedCommands === undefined ? 2 : 0)
      }).pipe(Effect.scoped, Effect.provide(transport.layer(options)))
  )

  it.effect.each<readonly [string, string | Uint8Array]>([
    ["empty", ""],
    ["no JSON", "{type:'work'}"],
    ["cut off", '{"type":"work"'],
    ["two values", '{"type":"work"}{}'],
    ["null", "null"],
    ["an array", '[{"type":"work"}]'],
    ["an array that has a type", "[]"],
    ["a number", "7"],
    ["a text", '"work"'],
    ["without type", "{}"],
    ["with a type that is a number", '{"type":7}'],
    ["with a type that is null", '{"type":null}'],
    ["with a type that is a list", '{"type":["work"]}'],
    ["with a type that is doubled and no text at last", '{"type":"work","type":7}'],
    ["with a type that is inherited", '{"__proto__":{"type":"work"}}'],
    ["nested beyond measure and cut off", "[".repeat(60_000)],
    ["nothing but a byte order mark", "\ufeff"],
    ["with a byte order mark", '\ufeff{"type":"work"}'],
    ["not UTF-8", Buffer.from('{"type":"work","x":"\xe9"}', "latin1")],
    ["UTF-16", Buffer.from('{"type":"work"}', "utf16le")]
  ])("is 400 where the body is %s", ([, body]) =>
    Effect.gen(function* () {
      yield* transport.register("work", Effect.succeed(1))
      const answer = yield* transport.postCommand(body)
      expect(answer.status).toBe(400)
      expect(answer.headers["access-control-allow-origin"]).toBe("*")
      expect(json(answer.body)).toEqual({ error: { message: expect.stringMatching(/^The body /) } })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("OPTIONS", () => {
  it.effect("gets a response for any target", () =>
    Effect.gen(function* () {
      for (const target of [
        "/command",
        "/events",
        "/nowhere/at?all",
        "*",
        "//localhost",
        "http://localhost/"
      ]) {
        const answer = yield* transport.request({
          method: "OPTIONS",
          target,
          headers: { Origin: "http://example.org", "Access-Control-Request-Method": "POST" }
        })
        expect(answer.status).toBe(204)
        expect(answer.body).toBe("")
        expect(answer.headers).toMatchObject({
          "access-control-allow-origin": "*",
          "access-control-allow-methods": "GET, POST, OPTIONS",
          "access-control-allow-headers": "Content-Type",
          "access-control-max-age": "86400"
        })
      }
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

describe("any other request", () => {
  it.effect("is 404 for the route that stops the controller, whatever is allowed", () =>
    Effect.gen(function* () {
      const answer = yield* transport.request({ method: "POST", target: "/stop", body: '{"type":"stop"}' })
      expect([answer.status, json(answer.body)]).toEqual([404, error("Not found: POST /stop")])
    }).pipe(Effect.provide(transport.layer({ allowedCommands: ["stop"], exposeState: true })))
  )

  it.effect("is 404, with method and path in the message", () =>
    Effect.gen(function* () {
      for (const [method, target, path] of [
        ["GET", "/", "/"],
        ["GET", "/command", "/command"],
        ["POST", "/events", "/events"],
        ["POST", "/status", "/status"],
        ["PUT", "/command", "/command"],
        ["DELETE", "/status?force=1", "/status"],
        ["PATCH", "/state", "/state"],
        ["PROPFIND", "/status", "/status"],
        ["TRACE", "/status", "/status"],
        ["GET", "/Status", "/Status"],
        ["GET", "/status/", "/status/"],
        ["GET", "//status", "//status"],
        ["GET", "/status//", "/status//"],
        ["GET", "/./status", "/./status"],
        ["GET", "/%73tatus", "/%73tatus"],
        ["GET", "/status%20", "/status%20"],
        ["GET", "/status%", "/status%"],
        ["GET", "/status%00", "/status%00"],
        ["GET", "/status;v=1", "/status;v=1"],
        ["GET", "/status%3Bv", "/status%3Bv"],
        ["GET", "/status%3Fv", "/status%3Fv"],
        ["GET", "/statuss", "/statuss"],
        ["GET", "/*", "/*"],
        ["GET", "/:status", "/:status"],
        ["GET", "/stop", "/stop"],
        ["POST", "/stop", "/stop"],
        ["GET", "http://localhost/nothing?x", "/nothing"]
      ] as const) {
        const answer = yield* transport.request({ method, target })
        expect(answer.status).toBe(404)
        expect(answer.headers).toMatchObject({
          "access-control-allow-origin": "*",
          "content-type": "application/json"
        })
        expect(json(answer.body)).toEqual(error(`Not found: ${method} ${path}`))
      }
    }).pipe(Effect.scoped, Effect.provide(transport.layer({ exposeState: true })))
  )

  it.effect("gets no body for HEAD", () =>
    Effect.gen(function* () {
      for (const target of ["/status", "/events", "/command", "/nothing"]) {
        const answer = yield* transport.request({ method: "HEAD", target })
        expect(answer).toMatchObject({ status: 404, body: "" })
        expect(answer.headers["access-control-allow-origin"]).toBe("*")
      }
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

describe("the request target", () => {
  it.effect("may have a query, or be absolute", () =>
    Effect.gen(function* () {
      for (const target of [
        "/status?",
        "/status?a=1&b=%zz;c",
        "/status?/../x",
        "http://localhost/status",
        "HTTP://anywhere.example:99/status?x"
      ]) {
        expect((yield* transport.request({ target })).status).toBe(200)
      }
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )

  it.effect.each<Request>([
    { target: "*" },
    { target: "http://" },
    { target: "http:///status" },
    { target: "ftp://localhost/status" },
    { target: "status" },
    { target: "localhost:80", method: "CONNECT" },
    { target: "http://[::1" },
    { target: "https://a:99999/status" },
    { target: "http://%00/status" },
    { target: "//" },
    { target: "//[::1/status" },
    { target: "//", method: "HEAD" },
    { target: "//", method: "FROB" },
    { target: "http://[::1", method: "OPTIONS" },
    { target: "//", method: "OPTIONS" }
  ])("is 400 where it cannot be read: %j", (request) =>
    Effect.gen(function* () {
      const answer = yield* transport.request(request)
      expect(answer.status).toBe(400)
      expect(answer.headers["access-control-allow-origin"]).toBe("*")
      if (request.method !== "HEAD") {
        expect(json(answer.body)).toEqual({
          error: {
            message: expect.stringMatching(/^The request (target cannot be read|is not valid HTTP)\.$/)
          }
        })
      }
      expect((yield* transport.request({ target: "/status" })).status).toBe(200)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

describe("every response", () => {
  const post = (body: string): Request => ({ method: "POST", target: "/command", body })

  it.effect.each<readonly [number, string, Request]>([
    [200, "the status", { target: "/status" }],
    [200, "the state", { target: "/state" }],
    [200, "a command", post('{"type":"work"}')],
    [204, "a preflight", { method: "OPTIONS", target: "*" }],
    [400, "no body", post("")],
    [400, "a target that is none", { target: "*" }],
    [403, "a command that is not allowed", post('{"type":"stop"}')],
    [404, "an unknown path", { target: "/nothing" }],
    [413, "too large a body", post("x".repeat(65_537))],
    [500, "a command that fails", post('{"type":"fail"}')],
    [503, "a stream too many", { target: "/events" }]
  ])(
    "is open to all origins, with one header and the right Content-Length: %i for %s",
    ([status, , request]) =>
      Effect.gen(function* () {
        yield* transport.register("work", Effect.succeed("größe"))
        yield* transport.register("fail", Effect.fail("größe"))
        yield* transport.openEvents
        const text = yield* transport.exchange(format(request))
        const { body, headers, status: answered } = parse(text)
        expect(answered).toBe(status)
        expect(text.match(/^access-control-allow-origin: .*$/gim)).toEqual(["access-control-allow-origin: *"])
        if (status === 204) {
          expect(body).toBe("")
        } else {
          expect(headers).toMatchObject({
            "content-type": "application/json",
            "content-length": String(Buffer.byteLength(body))
          })
        }
      }).pipe(
        Effect.scoped,
        Effect.provide(
          transport.layer({ allowedCommands: ["work", "fail"], exposeState: true, maxClients: 1 })
        )
      )
  )
})
