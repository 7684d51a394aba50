import net from "node:net"
import { expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as Requests from "../../../src/layers/httpClient/Requests.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"

it.scopedLive("a client sends requests after its first request was interrupted", () =>
  Effect.gen(function* () {
    const { url } = yield* ScriptedServer.make(ScriptedServer.text(200, "here"))
    const { get } = yield* Requests.make({ maxBytes: 100, maxTimeout: 60_000 })
    const first = yield* Effect.fork(get(url))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(first)
    expect((yield* get(url)).text).toBe("here")
  }).pipe(Effect.provide(HttpClientNode.layer))
)

it.scopedLive("a client keeps no connection that has ended", () =>
  Effect.gen(function* () {
    const connecting = yield* Effect.acquireRelease(
      Effect.sync(() => vi.spyOn(net, "connect")),
      (spy) => Effect.sync(() => spy.mockRestore())
    )
    const { url } = yield* ScriptedServer.make((response) =>
      response.writeHead(200, { connection: "close" }).end("here")
    )
    const { get } = yield* Requests.make({ maxBytes: 100, maxTimeout: 60_000 })
    yield* Effect.repeatN(get(url), 2)
    // Node never removes its listeners from a signal.
    expect(connecting.mock.calls.map(([options]) => Predicate.hasProperty(options, "signal"))).toEqual([
      false,
      false,
      false
    ])
  }).pipe(Effect.provide(HttpClientNode.layer))
)
