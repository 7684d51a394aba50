/**
 * What ten thousand requests leave in memory.
 */
import { Agent, get } from "node:http"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ContentServer } from "../../src/services/ContentServer.ts"
import * as server from "../support/contentServer.ts"
import { memory } from "../support/memory.ts"

const version = `/versions/${server.versionId}`

const running = Layer.unwrapScoped(
  Effect.gen(function* () {
    const downloads = yield* server.makeFolder
    yield* server.addVersion(downloads, { "small.txt": "small" })
    return server.layer({ downloadPath: downloads })
  })
).pipe(Layer.provideMerge(server.environment))

/** One request of each kind: text, a file, a part of it, and an error. */
const kinds = [
  { path: "/manifest.json" },
  { path: `${version}/exhibits/small.txt` },
  { path: `${version}/exhibits/small.txt`, headers: { Range: "bytes=0-1" } },
  { path: `${version}/nothing` }
]

// The clock of tests would keep every sleep that was interrupted.
it.scopedLive("ten thousand requests leave nothing in memory", () =>
  Effect.gen(function* () {
    const port = yield* server.port
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 8 })),
      (agent) => Effect.sync(() => agent.destroy())
    )
    const request = (kind: (typeof kinds)[number] | undefined) =>
      Effect.async<number | undefined>((resume) => {
        get({ agent, host: "127.0.0.1", port, ...kind }, (response) => {
          response.resume()
          response.once("end", () => resume(Effect.succeed(response.statusCode)))
        })
      })
    const requests = (count: number) =>
      Effect.forEach(
        Array.from({ length: count }, (_, index) => kinds[index % kinds.length]),
        request,
        { concurrency: 8 }
      )
    yield* requests(2000)
    const before = yield* memory
    expect(new Set(yield* requests(10_000))).toEqual(new Set([200, 206, 404]))
    expect((yield* memory) - before).toBeLessThan(4 * 1024 * 1024)
    const { statistics } = yield* ContentServer
    expect(yield* statistics).toMatchObject({ openResponses: 0, requests: 12_000 })
  }).pipe(Effect.provide(running))
)
