import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
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
