/**
 * A token that a server repeats appears nowhere: not in an error, an event, the state, the status, a span or the
 * log. `tables/hostileApiSecrets.test.ts` has the same of tables.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { directusSource, jsonSource, sanitySource, strapiSource } from "../../../src/index.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as ReplayBacklogMemory from "../../../src/layers/memory/ReplayBacklogMemory.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import type { ContentSourceDefinition } from "../../../src/services/ContentSource.ts"
import { httpClient } from "../../support/httpClientWithoutKeepAlive.ts"
import { type Answer, hangUp, json, make, text } from "../../support/ScriptedServer.ts"
import { echo, makeWitness, token, tokenInUrl, tracesIn, watchedFetch } from "../../support/secretWitness.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const platform = Layer.mergeAll(
  NodeContext.layer,
  httpClient,
  EventBusMemory.layer,
  CommandBusMemory.layer,
  ReplayBacklogMemory.layer,
  RequestPacingMemory.layer,
  ControllerStateMemory.layer("persistent")
)

/** JSON may escape each letter. */
const escaped = (words: string) =>
  [...words].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")

type Hostile = readonly [what: string, answer: Answer]

/** Refusals with a text of the vendor, of each status and in each form. */
const refusals = (refusal: (words: string) => unknown): ReadonlyArray<Hostile> => [
  ...[400, 401, 403, 404, 429].map(
    (status): Hostile => [`refused with HTTP ${status}`, json(status, refusal(echo))]
  ),
  ["refused in capitals", json(401, refusal(token.toUpperCase()))],
  ["refused with a part of it", json(401, refusal(`${"-".repeat(285)}${token}`))],
  [
    "refused in escaped letters",
    text(400, JSON.stringify(refusal("WORDS")).replaceAll("WORDS", escaped(token)))
  ]
]

/** Answers in which nothing is as the vendor writes it. */
const strange: ReadonlyArray<Hostile> = [
  ["refused as text", text(403, echo)],
  ["failed", text(500, `<h1>${echo}</h1>`)],
  [
    "redirected",
    text(302, echo, { location: `http://${tokenInUrl}@localhost:1/${tokenInUrl}?${tokenInUrl}` })
  ],
  ["no JSON", text(200, echo, { "content-type": `text/${tokenInUrl}` })],
  ["other letters", text(200, "\xff", { "content-type": `text/plain; charset=${tokenInUrl}` })],
  ["compressed", text(200, echo, { "content-encoding": tokenInUrl })],
  ["wrong JSON", json(200, { [token]: token })],
  ["wrong items", json(200, { data: [{ [token]: token }], result: undefined })],
  ["hung up", hangUp]
]

const vendors: Readonly<
  Record<
    string,
    {
      readonly source: (url: string) => ContentSourceDefinition
      readonly hostile: ReadonlyArray<Hostile>
    }
  >
> = {
  Strapi: {
    source: (url) => strapiSource({ id: "museum", url, token, types: { articles: {} } }),
    hostile: [
      ...refusals((words) => ({
        data: null,
        error: { name: words, message: words, details: { key: words, param: words } }
      })),
      ...strange,
      [
        "refused in another form",
        json(400, { error: { name: "ValidationError", message: echo, details: { key: echo, param: echo } } })
      ],
      [
        "the same entry on two pages",
        json(200, {
          data: [{ documentId: token }],
          meta: { pagination: { pageCount: 2, total: 2 } }
        })
      ]
    ]
  },
  Directus: {
    source: (url) => directusSource({ id: "museum", url, token, collections: { articles: {} } }),
    hostile: [
      ...refusals((words) => ({ errors: [{ message: words, extensions: { code: words } }] })),
      ...strange,
      [
        "the same item on two pages",
        (response, request) => {
          const isSecond = request.url.includes("offset=1")
          const data = [{ id: token }, ...(isSecond ? [{ id: 2 }, { id: token }] : [])]
          json(200, { data, meta: { filter_count: 9 } })(response, request)
        }
      ]
    ]
  },
  Sanity: {
    source: (url) =>
      sanitySource({
        id: "museum",
        projectId: "zp7mbokg",
        dataset: "production",
        token,
        endpointUrl: url,
        queries: { articles: "*" },
        live: false
      }),
    hostile: [
      ...refusals((words) => ({ statusCode: 400, error: words, message: words })),
      ...strange,
      [
        "refused in another form",
        json(400, { error: { type: "queryParseError", description: echo, start: 0 } })
      ],
      ["refused with HTTP 200", json(200, { result: null, error: echo })]
    ]
  },
  JSON: {
    source: (url) =>
      jsonSource({
        id: "museum",
        documents: {
          articles: { url, headers: { authorization: `Bearer ${token}` }, items: "articles", next: "next" }
        }
      }),
    hostile: [
      ...refusals((words) => ({ message: words })),
      ...strange,
      ["refused in another form", json(400, { error: { message: echo } })],
      ["another host", json(200, { articles: [], next: `http://a.example/${tokenInUrl}` })],
      [
        "the same record on two pages",
        (response, request) =>
          json(200, { articles: [{ id: token }, { id: request.url }], next: "/2" })(response, request)
      ]
    ]
  }
}

const media = { find: ["**"] }

/** The response in the place of the needed response; every response for a document is good. */
const repeated: ReadonlyArray<
  readonly [what: string, record: unknown, options: Partial<Parameters<typeof jsonSource>[0]>]
> = [
  ["the id of a record without its file", { id: token, image: "/a.jpg" }, { media }],
  ["the path of a link", { id: 1, image: `/${token}/${tokenInUrl}.jpg` }, { media }],
  [
    "the id of a record without sizes",
    { id: token, [token]: `/picture/${tokenInUrl}.jpg` },
    { media, images: { widths: [100] } }
  ],
  [
    "a record that is not expected",
    { id: token, title: { [token]: token } },
    { expect: { articles: { fields: { title: "text" } } } }
  ],
  [
    "a value that is not expected",
    { id: 1, number: token },
    { expect: { articles: { fields: { number: "number" } } } }
  ],
  [
    "a step",
    { id: token },
    {
      steps: [
        (articles) => {
          throw new Error(JSON.stringify(articles))
        }
      ]
    }
  ]
]

describe("a token in the response of a server", () => {
  it.scoped.each(repeated)("is shown nowhere: %s", ([, record, options]) =>
    Effect.gen(function* () {
      const { everything, see, seen } = makeWitness()
      const server = yield* make((response, request) =>
        (request.url === "/"
          ? json(200, [record, record])
          : request.url.startsWith("/picture")
            ? text(200, "\xff\xd8\xff\xe0 no picture", { "content-type": "image/jpeg" })
            : text(404, ""))(response, request)
      )
      const { directory } = yield* temporaryFolder()
      const source = jsonSource({
        id: "museum",
        documents: { articles: { url: `${server.url}/`, headers: { authorization: `Bearer ${token}` } } },
        ...options
      })
      yield* Effect.gen(function* () {
        const fetch = yield* watchedFetch(source, directory, see)
        expect(Exit.isFailure(yield* fetch)).toBe(true)
      }).pipe(Effect.provide(everything))
      expect(seen.filter((line) => tracesIn(line).length > 0).map((line) => line.slice(0, 900))).toEqual([])
    }).pipe(Effect.provide(platform))
  )

  it.scoped("is in no warning", () =>
    Effect.gen(function* () {
      const { everything, see, seen } = makeWitness()
      const server = yield* make(json(200, [{ id: token }, { id: token }]))
      const { directory } = yield* temporaryFolder()
      const source = jsonSource({
        id: "museum",
        documents: { articles: { url: server.url, headers: { "x-api-key": token } } }
      })
      yield* Effect.gen(function* () {
        const fetch = yield* watchedFetch(source, directory, see)
        expect(Exit.isSuccess(yield* fetch)).toBe(true)
      }).pipe(Effect.provide(everything))
      expect(seen.join("\n")).toContain("<apiKey>")
      expect(seen.filter((line) => tracesIn(line).length > 0).map((line) => line.slice(0, 900))).toEqual([])
    }).pipe(Effect.provide(platform))
  )
})

describe.each(Object.entries(vendors))("a token that %s echoes", (_, { hostile, source }) => {
  it.scoped.each(hostile)("is shown nowhere: %s", ([, answer]) =>
    Effect.gen(function* () {
      const { everything, see, seen } = makeWitness()
      const server = yield* make(answer)
      const { directory } = yield* temporaryFolder()
      yield* Effect.gen(function* () {
        const fetch = yield* watchedFetch(source(server.url), directory, see)
        expect(Exit.isFailure(yield* fetch)).toBe(true)
      }).pipe(Effect.provide(everything))
      expect(seen.filter((line) => tracesIn(line).length > 0).map((line) => line.slice(0, 900))).toEqual([])
    }).pipe(Effect.provide(platform))
  )
})
