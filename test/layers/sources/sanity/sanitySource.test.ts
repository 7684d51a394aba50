import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import { createClient } from "@sanity/client"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Content from "../../../../src/layers/fetching/Content.ts"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import type { SanitySourceConfig } from "../../../../src/layers/sources/sanity/SanityOptions.ts"
import { sanitySource } from "../../../../src/layers/sources/sanity/sanitySource.ts"
import { contentSourceContract } from "../../../../src/testing/contentSourceContract.ts"
import { follow, services, sourceRows } from "../../../support/content.ts"
import { httpClient } from "../../../support/httpClientWithoutKeepAlive.ts"
import { withLog } from "../../../support/logged.ts"
import * as SanityServer from "../../../support/sanityServer.ts"
import { textsOf } from "../../../support/warnings.ts"

const common = Layer.mergeAll(NodeContext.layer, RequestPacingMemory.layer)
const run = Effect.provide(Layer.merge(common, HttpClientNode.layer))
/** For retries: the clock goes on. */
const runWithAdvancingClock = Effect.provide(Layer.merge(common, httpClient))

const documents: ReadonlyArray<SanityServer.SanityDocument> = [
  {
    _id: "b",
    _type: "event",
    _updatedAt: "2026-01-02",
    title: "Opening",
    room: { _type: "reference", _ref: "r" }
  },
  { _id: "a", _type: "event", _updatedAt: "2026-01-01", title: "Talk" },
  { _id: "drafts.a", _type: "event", _updatedAt: "2026-01-03", title: "Talk, moved" },
  { _id: "r", _type: "room", _updatedAt: "2026-01-01", name: "Hall" }
]

const events = '*[_type == "event"] | order(_id)'

const base = { id: "museum", projectId: "zp7mbokg", dataset: "production", queries: { events } } as const

const setUp = (server: { readonly url: string }, config: Partial<SanitySourceConfig> = {}) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const source = yield* sanitySource({ ...base, endpointUrl: server.url, ...config }).make
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    return {
      ...source,
      fetch: source.fetch({ directory, previous: Option.none(), progress: () => Effect.void }),
      saved: (document: string) =>
        Effect.map(fileSystem.readFileString(`${directory}/${document}.json`), (text): unknown =>
          JSON.parse(text)
        )
    }
  })

const messageOf = (server: { readonly url: string }, config: Partial<SanitySourceConfig> = {}) =>
  Effect.gen(function* () {
    const { fetch } = yield* setUp(server, config)
    return (yield* Effect.flip(fetch)).message
  })

describe("a Sanity source", () => {
  it.scopedLive("saves the result of each query under its name", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      const { fetch, saved } = yield* setUp(server, {
        queries: {
          events: `${events} {_id, title, "room": room->name}`,
          hall: { groq: "*[_type == $type && name == $name][0]", params: { type: "room", name: "Hall" } },
          nothing: '*[_id == "nowhere"][0]',
          titles: { groq: '*[_type == "event"] {"slug": title}', key: "slug" }
        }
      })
      expect(yield* fetch).toMatchObject({
        records: 4,
        values: 2,
        documents: { "events.json": { key: ["_id"] }, "titles.json": { key: ["slug"] } }
      })
      expect(yield* saved("events")).toEqual([
        { _id: "a", title: "Talk", room: null },
        { _id: "b", title: "Opening", room: "Hall" }
      ])
      expect(yield* saved("hall")).toMatchObject({ _id: "r" })
      expect(yield* saved("nothing")).toBe(null)
    }).pipe(run)
  )

  it.scopedLive("saves lists of texts in languages as objects", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make([
        {
          _id: "a",
          _type: "event",
          title: [
            { _key: "de", _type: "internationalizedArrayStringValue", value: "Glocke" },
            { _key: "en", value: "Bell" }
          ],
          rooms: [{ name: [{ _key: "f3a1", language: "de-AT", value: "Saal" }] }],
          years: [{ _key: "a1b2c3", value: 1862 }],
          none: []
        }
      ])
      const { fetch, saved } = yield* setUp(server, { queries: { events: "*[_type == 'event']" } })
      yield* fetch
      expect(yield* saved("events")).toMatchObject([
        {
          title: { de: "Glocke", en: "Bell" },
          rooms: [{ name: { "de-AT": "Saal" } }],
          years: [{ _key: "a1b2c3", value: 1862 }],
          none: []
        }
      ])
    }).pipe(run)
  )

  it.scopedLive("reads drafts with a token, and sends that to no other server", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents, { isPrivate: true })
      const { fetch, saved } = yield* setUp(server, { token: SanityServer.token, perspective: "drafts" })
      yield* fetch
      expect(yield* saved("events")).toMatchObject([{ _id: "a", title: "Talk, moved" }, { _id: "b" }])
      expect(server.requests[0]?.headers["x-sanity-project-id"]).toBe("zp7mbokg")
    }).pipe(run)
  )

  it.scopedLive("sends a query that is too long for a URL in the body of a request", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      const { fetch, saved } = yield* setUp(server, {
        queries: {
          events: {
            groq: `${events} {_id, "name": $name} // ${"long ".repeat(2500)}\n`,
            params: { name: "ä" }
          }
        }
      })
      yield* fetch
      expect(yield* saved("events")).toEqual([
        { _id: "a", name: "ä" },
        { _id: "b", name: "ä" }
      ])
      expect(server.requests.map(({ method }) => method)).toEqual(["POST"])
    }).pipe(run)
  )

  it.scopedLive("reads the cache at each tick", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      expect((yield* setUp(server, { useCdn: true })).poll).toBeUndefined()
    }).pipe(run)
  )

  it.scopedLive("reads a query that depends on the time at each tick", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      const queries = { events: '*[_type == "event" && dateTime(ends) > dateTime(now())]' }
      expect((yield* setUp(server, { queries })).poll).toBeUndefined()
      expect(
        (yield* setUp(server, { queries: { events: '*[_type == "event" && now > 1]' } })).poll
      ).toBeDefined()
    }).pipe(run)
  )

  it.scopedLive("finds a draft that is discarded, and not the newest document", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make([
        ...documents,
        { _id: "c", _type: "event", _updatedAt: "2026-01-04" }
      ])
      const { poll } = yield* setUp(server, { token: SanityServer.token, perspective: "drafts" })
      const found = (before: Option.Option<string>) => poll?.(before) ?? Effect.dieMessage("It has no poll")
      const { cursor } = yield* found(Option.none())
      server.set(server.documents().filter(({ _id }) => _id !== "drafts.a"))
      expect((yield* found(Option.some(cursor))).changed).toBe("everything")
    }).pipe(run)
  )

  const asset = { _type: "reference", _ref: `image-${"a".repeat(40)}-300x450-jpg` }
  const picture = { _type: "image", asset, hotspot: { x: 0.5, y: 0.5, width: 0.2, height: 0.2 } }
  const url = `https://cdn.sanity.io/images/zp7mbokg/production/${"a".repeat(40)}-300x450.jpg`

  it.scopedLive("warns of references to assets that are not in Sanity", () =>
    Effect.gen(function* () {
      const clip = { _type: "mux.video", asset: { _type: "reference", _ref: "0b5f6b3e-6d2a" } }
      const server = yield* SanityServer.make([{ _id: "a", _type: "event", clip }])
      const { fetch } = yield* setUp(server)
      expect(textsOf((yield* fetch).warnings)).toEqual([
        expect.stringMatching(/^Document "events": 1 reference in "asset" .*"0b5f6b3e-6d2a"/)
      ])
    }).pipe(run, withLog([]))
  )

  it.scopedLive("downloads assets that documents refer to, without an option", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make([{ _id: "a", _type: "event", picture }])
      const instead = HttpClient.mapRequest((request: HttpClientRequest.HttpClientRequest) =>
        HttpClientRequest.setUrl(request, request.url.replace("https://cdn.sanity.io", server.url))
      )
      const { fetch, saved } = yield* Effect.updateService(setUp(server), HttpClient.HttpClient, instead)
      yield* fetch
      expect(yield* saved("events")).toEqual([
        {
          _id: "a",
          _type: "event",
          picture: { ...picture, url, localPath: expect.stringMatching(/^media\/.*\.jpg$/) }
        }
      ])
    }).pipe(runWithAdvancingClock)
  )
})

describe("the official client and a Sanity source", () => {
  const value = FastCheck.oneof(
    FastCheck.string(),
    FastCheck.integer(),
    FastCheck.boolean(),
    FastCheck.constant(null)
  )
  const document = FastCheck.record({
    _id: FastCheck.constantFrom("a", "b", "c", "drafts.a", "drafts.d"),
    _type: FastCheck.constantFrom("event", "room"),
    title: value,
    tags: FastCheck.array(FastCheck.string(), { maxLength: 3 })
  })
  const queries = [
    events,
    "*",
    "count(*)",
    '*[_type == $type] | order(_id) {_id, title, "n": count(tags)}',
    '*[_type == "event" && title == $title][0]',
    "*[$word in tags]._id",
    '{"events": *[_type == "event"], "rooms": *[_type == "room"][0...2]}'
  ]
  const long = (groq: string) => `${groq} // ${"long ".repeat(3000)}\n`

  it.scopedLive("return the same documents", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make([])
      const runtime = yield* Effect.runtime<Effect.Effect.Context<ReturnType<typeof setUp>>>()
      const property = FastCheck.asyncProperty(
        FastCheck.uniqueArray(document, { selector: ({ _id }) => _id }),
        FastCheck.constantFrom(...queries, ...queries.map(long)),
        FastCheck.constantFrom("published" as const, "drafts" as const, "raw" as const),
        FastCheck.record({
          type: FastCheck.constantFrom("event", "room"),
          title: value,
          word: FastCheck.string()
        }),
        async (documents, groq, perspective, params) => {
          server.set(documents)
          const { dataset, projectId } = base
          const client = createClient({
            apiHost: server.url,
            useProjectHostname: false,
            projectId,
            dataset,
            token: SanityServer.token,
            apiVersion: "2025-02-19",
            useCdn: false,
            perspective
          })
          const theirs: unknown = await client.fetch<unknown>(groq, params)
          const ours = await Effect.runPromise(
            Effect.gen(function* () {
              const { fetch, saved } = yield* setUp(server, {
                token: SanityServer.token,
                perspective,
                queries: { answer: { groq, params } }
              })
              yield* fetch
              return yield* saved("answer")
            }).pipe(Effect.scoped, Effect.provide(runtime))
          )
          expect(ours).toEqual(theirs)
        }
      )
      yield* Effect.promise(() => FastCheck.assert(property, { numRuns: 60 }))
    }).pipe(run)
  )
})

describe("the error of a Sanity source", () => {
  it.scopedLive("says that a private dataset needs a token", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents, { isPrivate: true })
      expect(yield* messageOf(server)).toBe(
        'Source "museum": Query "events": Sanity does not let anyone read the dataset "production" without a token. Set "token" to a token with the role Viewer: in Sanity, manage.sanity.io, the project, API, Tokens (HTTP 403, Forbidden: Insufficient permissions)'
      )
    }).pipe(run)
  )

  it.scopedLive("says that the token is wrong, without the token that the server repeats", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents, { isPrivate: true })
      expect(yield* messageOf(server, { token: "sk-wrong-secret" })).toBe(
        'Source "museum": Query "events": the token may not read the dataset "production". Check "token", and that it belongs to the project zp7mbokg: in Sanity, manage.sanity.io, the project, API, Tokens (HTTP 401, Unauthorized: Session not found Bearer <apiKey>)'
      )
    }).pipe(run)
  )

  it.scopedLive("says that a dataset does not exist", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      expect(yield* messageOf(server, { dataset: "prod" })).toBe(
        'Source "museum": Query "events": there is no project zp7mbokg, or no dataset "prod" in it. Check "projectId" and "dataset": manage.sanity.io shows both (HTTP 404, Not Found: Dataset not found)'
      )
    }).pipe(run)
  )

  it.scopedLive("has the place of a mistake in GROQ", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      expect(yield* messageOf(server, { queries: { events: '*[_type == "event"]\n  | order(_id))' } })).toBe(
        'Source "museum": Query "events": the GROQ cannot be read at line 2, column 14 ("))"): unexpected token'
      )
      const error = {
        type: "queryParseError",
        description: "unexpected end",
        query: events,
        start: 999,
        end: 999
      }
      server.refuse((response) => server.answer(response, 400, { error }))
      expect(yield* messageOf(server)).toBe(
        'Source "museum": Query "events": the GROQ cannot be read at line 1, column 33 (its end): unexpected end'
      )
    }).pipe(run)
  )

  it.scopedLive("has the message of the server, in any form of its response", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      const answers: ReadonlyArray<readonly [unknown, string]> = [
        [{ statusCode: 400, error: "Bad Request", message: "no" }, ", Bad Request: no)"],
        [{ error: { type: "queryEvaluationError", description: "too much" } }, ", too much)"],
        [{ error: { description: "a\nb" } }, ", a b)"],
        [{ error: { type: "someError" } }, ", someError)"],
        [{ message: "no" }, ", no)"],
        [[], ")"],
        ["<html>", ")"]
      ]
      for (const [body, words] of answers) {
        server.refuse((response) => server.answer(response, 400, body))
        expect(yield* messageOf(server)).toBe(
          `Source "museum": Query "events": Sanity refuses the request (HTTP 400${words}`
        )
      }
      server.refuse((response) => server.answer(response, 200, { result: null, error: "timed out" }))
      expect(yield* messageOf(server)).toBe(
        'Source "museum": Query "events": Sanity refuses the request (HTTP 200, timed out)'
      )
      server.refuse((response) => server.answer(response, 200, { ok: true }))
      expect(yield* messageOf(server)).toBe(
        `Source "museum": Query "events": ${server.url} does not answer like Sanity`
      )
    }).pipe(run)
  )

  it("reports wrong options, and options that exclude each other", () => {
    const issues = (config: object) =>
      sanitySource({ ...base, ...config } as SanitySourceConfig).issues.map(
        ({ message, path }) => `${path}: ${message}`
      )
    expect(issues({ perspective: "drafts", useCdn: true })).toEqual([
      "token: is required to read unpublished content",
      "useCdn: drafts and releases are not in the cache of Sanity: leave it out"
    ])
    expect(issues({ queries: {} })).toEqual([
      "queries: expected at least one, such as { events: '*[_type == \"event\"]' }"
    ])
    const wrong = {
      projectId: "a/b",
      apiVersion: "v1",
      token: "a b",
      queries: { events: 1, rooms: { groq: "" } }
    }
    expect(issues(wrong).map((issue) => issue.split(":")[0])).toEqual([
      "projectId",
      "token",
      "queries.events",
      "queries.rooms",
      "apiVersion"
    ])
    expect(issues({ queries: { events: 1 } })).toEqual([
      'queries.events: expected GROQ, such as *[_type == "event"], or an object with "groq", and optionally "params" and "key"'
    ])
    expect(JSON.stringify(issues({ token: "to ken" }))).not.toContain("to ken")
  })
})

describe("an edit in Sanity", () => {
  it.scopedLive("makes a version before the next poll is due", () =>
    Effect.gen(function* () {
      const server = yield* SanityServer.make(documents)
      const museum = sanitySource({ ...base, endpointUrl: server.url })
      const { until } = yield* follow
      const { start } = yield* Content.make({ sources: [museum], settle: 0, fetchEvery: "1 hour" })
      yield* start
      yield* until("content:version:promoted")
      yield* Queue.take(server.connected)
      server.put({ _id: "a", _type: "event", title: "Talk, moved" })
      const [promoted] = (yield* until("content:version:promoted")).slice(-1)
      expect(promoted?.payload).toMatchObject({ versionId: expect.stringMatching(/Z(-01)?$/) })
      expect(yield* sourceRows("museum")).toContainEqual(["Live events", "received"])
    }).pipe(
      withLog([]),
      Effect.provide(Layer.mergeAll(services("persistent"), HttpClientNode.layer, RequestPacingMemory.layer))
    )
  )
})

contentSourceContract(
  "a Sanity source",
  Effect.gen(function* () {
    const server = yield* SanityServer.make(documents)
    const source = yield* sanitySource({ ...base, endpointUrl: server.url }).make
    let edition = 0
    const edit = Effect.sync(() => server.put({ _id: "a", _type: "event", edition: ++edition }))
    return { source, edit }
  }).pipe(runWithAdvancingClock),
  { polls: true }
)
