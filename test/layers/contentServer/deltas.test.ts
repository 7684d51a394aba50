/**
 * How often the difference of two lists of files is made, and how many are kept.
 */
import { gunzipSync } from "node:zlib"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { capacity } from "../../../src/layers/contentServer/FileLists.ts"
import * as server from "../../support/contentServer.ts"

const idOf = (index: number) => `20261121T0930${String(index).padStart(2, "0")}Z`

/** Asks for what has changed in the last version since another one. */
const askFor = (last: number) => (since: number) =>
  server.get(`/versions/${idOf(last)}/files.json?since=${idOf(since)}`, { "Accept-Encoding": "gzip" })

/** Serves versions in which one file of 200 differs, and gives how many differences were made so far. */
const serving = Effect.fnUntraced(function* <A, E, R>(
  versions: number,
  test: (made: () => number) => Effect.Effect<A, E, R>
) {
  const downloadPath = yield* server.makeFolder
  for (const index of Array.range(1, versions)) {
    const files = Array.makeBy(200, (file) => [`${file}.jpg`, file === 7 ? `edition ${index}` : ""] as const)
    yield* server.addVersion(downloadPath, Object.fromEntries(files), idOf(index))
  }
  const stringify = yield* Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(JSON, "stringify")),
    (spy) => Effect.sync(() => spy.mockRestore())
  )
  const made = () => stringify.mock.calls.filter(([value]) => Predicate.hasProperty(value, "since")).length
  return yield* Effect.provide(test(made), server.layer({ downloadPath }))
}, Effect.provide(server.environment))

describe("the difference of two lists", () => {
  it.scopedLive("is made once for forty who ask for it at the same time", () =>
    serving(2, (made) =>
      Effect.gen(function* () {
        const given = yield* Effect.all(
          Array.makeBy(40, () => askFor(2)(1)),
          { concurrency: "unbounded" }
        )
        expect(made()).toBe(1)
        const [text = ""] = new Set(given.map(({ body }) => gunzipSync(body).toString()))
        expect(JSON.parse(text)).toMatchObject({ since: idOf(1), sources: [{ removed: [] }] })
        for (const { body, status } of given) {
          expect(status).toBe(200)
          expect(gunzipSync(body).toString()).toBe(text)
        }
      })
    )
  )

  it.scopedLive("is kept while no more than a few others are asked for", () =>
    serving(capacity + 5, (made) =>
      Effect.gen(function* () {
        const last = capacity + 4
        const ask = askFor(last + 1)
        yield* Effect.forEach(Array.range(1, last), ask)
        expect(made()).toBe(last)
        yield* ask(last)
        expect(made()).toBe(last)
        yield* ask(1)
        expect(made()).toBe(last + 1)
      })
    )
  )
})
