import { spawn } from "node:child_process"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Struct from "effect/Struct"
import { liveScenario, publish, register, start } from "../support/control.ts"
import { isMissing } from "../support/programs.ts"
import * as Received from "../support/Received.ts"
import { parse } from "../support/rawHttp.ts"
import * as transport from "../support/transport.ts"

/** Runs a line of shell, with the port that the transport has here, until the scope ends. */
const run = (line: string, input = "") =>
  Effect.flatMap(transport.port, (port) => runLine(line.replace(":8710/", `:${port}/`), input))

const runLine = (line: string, input = "") =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn("sh", ["-c", `exec ${line}`], {
          env: { PATH: process.env.PATH },
          stdio: ["pipe", "pipe", "ignore"]
        })
      ),
      (child) => Effect.sync(() => child.kill())
    )
    const stdout = Received.from(child.stdout)
    child.stdin.end(input)
    return stdout
  })

/** What a line of shell writes that comes to its end by itself. */
const outputOf = (line: string, input?: string) =>
  Effect.scoped(Effect.flatMap(run(line, input), ({ whole }) => whole))

const url = "http://127.0.0.1:8710"

describe.skipIf(isMissing("curl"))("curl", () => {
  const quiet = Logger.minimumLogLevel(LogLevel.Warning)
  const layer = Layer.provideMerge(transport.layer({ maxClients: 1, keepAliveMs: 50 }), quiet)

  it.scopedLive.each(["--http1.1", "--http1.0"])("gets events and the status, with %s", (version) =>
    Effect.gen(function* () {
      const events = yield* run(`curl -N -i ${version} ${url}/events`)
      expect(yield* events.until((text) => text.includes("retry: 2000\n\n"))).toMatch(
        /^HTTP\/1\.1 200 OK\r\n[\s\S]*Content-Type: text\/event-stream\r\n[\s\S]*\r\n\r\nretry: 2000\n\n(: ping\n\n)*$/
      )
      yield* transport.publish("content:fetch:start", { timestamp: "2026-11-21T09:30:00.000Z" })
      yield* events.until((text) =>
        text.includes('event: content:fetch:start\ndata: {"timestamp":"2026-11-21T09:30:00.000Z"}\n\n')
      )
      expect(JSON.parse(yield* outputOf(`curl ${version} ${url}/status`))).toMatchObject({
        header: { mode: "persistent" },
        sections: [{ name: "http-transport" }]
      })
      const refused = parse(yield* outputOf(`curl -i ${version} ${url}/events`))
      expect(refused).toMatchObject({
        status: 503,
        headers: { "content-type": "application/json", "access-control-allow-origin": "*" }
      })
      expect(JSON.parse(refused.body)).toEqual({ error: { message: expect.stringContaining("maxClients") } })
    }).pipe(Effect.provide(layer))
  )

  it.scopedLive.each(["Expect: 100-continue", "Expect:"])("gets a 413 for 70 KB, with %j", (expectation) =>
    Effect.gen(function* () {
      const body = JSON.stringify({ type: "content.ack", text: "x".repeat(70_000) })
      const answer = yield* outputOf(`curl -i -H '${expectation}' --data-binary @- ${url}/command`, body)
      const final = parse(answer.slice(answer.lastIndexOf("HTTP/1.1 ")))
      expect(final).toMatchObject({ status: 413, headers: { "access-control-allow-origin": "*" } })
      expect(JSON.parse(final.body)).toEqual({ error: { message: "The body exceeds 65536 bytes." } })
    }).pipe(Effect.provide(layer))
  )
})

describe.skipIf(isMissing("curl"))("curl over the controller's own socket", () => {
  liveScenario(
    "has the routes of the transport, all commands, and a route to stop the controller",
    Effect.gen(function* () {
      const { client, socket, stops } = yield* start
      yield* register("content.fetch", Effect.succeed("done"))
      const curl = `curl -s --unix-socket ${socket}`
      const json = (line: string) =>
        Effect.flatMap(runLine(`${curl} ${line}`), ({ whole }) =>
          Effect.map(whole, (text): unknown => JSON.parse(text))
        )
      const events = yield* runLine(`${curl} -N http://x/events`)
      yield* events.until((text) => text === "retry: 2000\n\n")
      yield* publish("content:fetch:start", {})
      yield* events.until((text) => text.endsWith("event: content:fetch:start\ndata: {}\n\n"))
      const view = yield* client.view
      expect(yield* json("http://x/view")).toMatchObject({
        ...Struct.omit(view, "now"),
        header: Struct.omit(view.header, "uptimeMs")
      })
      expect(yield* json("http://x/state")).toMatchObject({ system: { mode: "persistent" } })
      expect(yield* json("http://x/status")).toMatchObject({ header: { mode: "persistent" } })
      expect(yield* json("http://x/process")).toEqual({ pid: process.pid })
      expect(yield* json(`-d '{"type":"content.fetch"}' http://x/command`)).toEqual({ result: "done" })
      expect(yield* json("-X POST http://x/stop")).toEqual({ result: null })
      expect(stops()).toBe(1)
    })
  )
})
