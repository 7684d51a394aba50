/**
 * What the sources of Strapi and Directus have in common.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import { directusSource } from "../../../src/layers/sources/directus/directusSource.ts"
import { strapiSource } from "../../../src/layers/sources/strapi/strapiSource.ts"
import type { ContentSourceDefinition } from "../../../src/services/ContentSource.ts"
import { httpClient } from "../../support/httpClientWithoutKeepAlive.ts"
import { withLog } from "../../support/logged.ts"
import { messageOf, openWithTestClock } from "../../support/openSource.ts"
import { json, make, text } from "../../support/ScriptedServer.ts"

const token = "token-of-a-reader"

interface Vendor {
  readonly name: string
  /** The path that people add to the address of the server. */
  readonly path: string
  readonly source: (url: string, token?: string) => ContentSourceDefinition
  readonly page: (numbers: ReadonlyArray<number>, total: number) => unknown
  /** Where pages of 100 entries begin. */
  readonly starts: ReadonlyArray<number>
  readonly unauthorized: unknown
  readonly deep: (value: string) => string
  /** A response of another server, and its error. */
  readonly other: readonly [answer: unknown, words: string]
}

const vendors: ReadonlyArray<Vendor> = [
  {
    name: "Strapi",
    path: "api",
    source: (url, own = token) => strapiSource({ id: "museum", url, token: own, types: { articles: {} } }),
    page: (numbers, total) => ({
      data: numbers.map((number) => ({ documentId: String(number) })),
      meta: { pagination: { pageSize: 100, pageCount: Math.ceil(total / 100), total } }
    }),
    starts: [0, 100, 200],
    unauthorized: { data: null, error: { name: "UnauthorizedError", message: `No ${token}` } },
    deep: (value) => `{"data":{"documentId":"a","deep":${value}}}`,
    other: [{ data: [{ id: 1, attributes: {} }], meta: {} }, "version 4"]
  },
  {
    name: "Directus",
    path: "admin",
    source: (url, own = token) =>
      directusSource({ id: "museum", url, token: own, collections: { articles: {} }, status: [] }),
    page: (numbers, filter_count) => ({ data: numbers.map((id) => ({ id })), meta: { filter_count } }),
    // Each page begins with the last item of the page before.
    starts: [0, 99, 198],
    unauthorized: {
      errors: [{ message: `No ${token}`, extensions: { code: "INVALID_CREDENTIALS" } }]
    },
    deep: (value) => `{"data":{"id":1,"deep":${value}}}`,
    other: [[{ id: 1 }], 'Check "url"']
  }
]

const environment = Layer.mergeAll(NodeContext.layer, httpClient, RequestPacingMemory.layer)
const numbers = Array.from({ length: 250 }, (_, index) => index)

describe.each(vendors)(
  "a source of $name",
  ({ deep, name, other, page, path, source, starts, unauthorized }) => {
    const setUp = Effect.gen(function* () {
      const server = yield* make(json(200, page([1], 1_000_000)))
      return { ...server, ...(yield* openWithTestClock(source(server.url))) }
    })

    const run = <A, E, R>(test: Effect.Effect<A, E, R>) => test.pipe(Effect.provide(environment), withLog([]))

    it.scoped("ends if a server returns the same page for ever", () =>
      Effect.gen(function* () {
        const { fetch, received } = yield* setUp
        yield* Effect.exit(fetch())
        expect(yield* Queue.size(received)).toBeLessThan(10)
      }).pipe(run)
    )

    it.scoped("reads on after a full page, even if the server states a smaller total", () =>
      Effect.gen(function* () {
        const { fetch, next } = yield* setUp
        for (const total of [100, 199, 200]) {
          next(...starts.map((start) => json(200, page(numbers.slice(start, start + 100), total))))
          expect((yield* fetch()).records).toBe(250)
        }
      }).pipe(run)
    )

    it.scoped("is read at each tick, whatever changes the server reports", () =>
      Effect.gen(function* () {
        expect((yield* source("http://127.0.0.1:1").make).poll).toBeUndefined()
      }).pipe(run)
    )

    it.scoped("says where to write the address if the token is not sent to the target of a redirect", () =>
      Effect.gen(function* () {
        const { fetch, next } = yield* setUp
        const target = yield* make(json(401, { error: { name: "UnauthorizedError" } }))
        next(text(301, "", { location: `${target.url}/articles` }))
        expect(yield* messageOf(fetch())).toMatch(
          `redirects to ${target.url}, which is not sent "token": write that into "url"`
        )
      }).pipe(run)
    )

    it.scoped("says that the token is wrong, and never shows it", () =>
      Effect.gen(function* () {
        const { fetch, next } = yield* setUp
        next(json(401, unauthorized))
        const message = yield* messageOf(fetch())
        expect(message).toMatch(`${name} does not accept the token`)
        expect(message).not.toContain(token)
      }).pipe(run)
    )

    it.scoped("says what to check if the server is another one", () =>
      Effect.gen(function* () {
        const { fetch, next } = yield* setUp
        const [answer, words] = other
        for (const [response, expected] of [
          [json(200, answer), words],
          [text(200, deep(`${"[".repeat(50_000)}${"]".repeat(50_000)}`)), "nested too deeply"],
          [json(404, { message: "no such page" }), 'Check "url"']
        ] as const) {
          next(response)
          expect(yield* messageOf(fetch())).toMatch(expected)
        }
      }).pipe(run)
    )

    it("accepts an address with the path of its app, and shows no token in mistakes", () => {
      expect(source(`https://cms.example/${path}/`).issues).toEqual([])
      const { issues } = source("https://user@cms.example/", "two words")
      expect(issues.map(({ path }) => path)).toEqual(["url", "token"])
      expect(JSON.stringify(issues)).not.toContain("two words")
    })
  }
)
