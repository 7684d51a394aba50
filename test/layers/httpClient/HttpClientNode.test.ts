import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
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

it.scopedLive("a client prints no warning of Node while it has more than ten connections", () =>
  Effect.gen(function* () {
    const warned: Array<string> = []
    const note = ({ name }: Error) => warned.push(name)
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("warning", note)),
      () => Effect.sync(() => process.off("warning", note))
    )
    const waiting: Array<() => void> = []
    const all = yield* Deferred.make<void>()
    const { url } = yield* ScriptedServer.make((response) => {
      waiting.push(() => response.end("here"))
      if (waiting.length === 20) Deferred.unsafeDone(all, Effect.void)
    })
    const { get } = yield* Requests.make({ maxBytes: 100, maxTimeout: 60_000 })
    const requests = yield* Effect.fork(
      Effect.forEach(
        Array.from({ length: 20 }, (_, index) => `${url}?${index}`),
        (address) => get(address),
        {
          concurrency: "unbounded",
          discard: true
        }
      )
    )
    yield* Deferred.await(all)
    for (const answer of waiting) answer()
    yield* Fiber.join(requests)
    expect(warned).toEqual([])
  }).pipe(Effect.provide(HttpClientNode.layer))
)
