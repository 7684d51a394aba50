/**
 * A source of Directus' content, over a stand-in that responds like Directus.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import type { DirectusSourceConfig } from "../../../../src/layers/sources/directus/DirectusOptions.ts"
import { directusSource } from "../../../../src/layers/sources/directus/directusSource.ts"
import { contentSourceContract } from "../../../../src/testing.ts"
import { directusToken, startDirectus } from "../../../support/directus.ts"
import { httpClient } from "../../../support/httpClientWithoutKeepAlive.ts"
import { withLog } from "../../../support/logged.ts"
import { messageOf, openWithTestClock } from "../../../support/openSource.ts"
import { json, make, type ReceivedRequest, text } from "../../../support/ScriptedServer.ts"
import { textsOf } from "../../../support/warnings.ts"

const environment = Layer.mergeAll(NodeContext.layer, httpClient, RequestPacingMemory.layer)

const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ id: 1000 + index }))

const fileId = "d9bd4bcd-5a97-42ad-af27-97d5a676e5ce"

const file = {
  id: fileId,
  filename_download: "bell.jpg",
  modified_on: "2026-11-23T22:21:04",
  filesize: 6,
  type: "image/jpeg"
}

const files = { [fileId]: "a bell" }

/** A source of the stand-in, and the saved content of one fetch. */
const setUp = (
  initial: Parameters<typeof startDirectus>[0],
  config: Omit<DirectusSourceConfig, "id" | "url" | "token">
) =>
  Effect.gen(function* () {
    const server = yield* startDirectus(initial)
    const source = yield* openWithTestClock(
      directusSource({ id: "museum", url: server.url, token: directusToken, ...config })
    )
    return { ...server, ...source }
  })

const urlsOf = (requests: Iterable<ReceivedRequest>) =>
  [...requests].map(({ url }) => decodeURIComponent(url))

const scenario = <A, E>(
  title: string,
  test: () => Effect.fn.Return<A, E, Layer.Layer.Success<typeof environment> | Scope.Scope>
) => {
  it.scoped(title, () => Effect.gen(test).pipe(Effect.provide(environment), withLog([])))
}

contentSourceContract(
  "directusSource",
  Effect.gen(function* () {
    const context = yield* Layer.build(environment)
    return yield* Effect.gen(function* () {
      const server = yield* startDirectus({ collections: { rooms: { items: numbered(3) } } })
      const definition = directusSource({
        id: "museum",
        url: server.url,
        token: directusToken,
        collections: { rooms: {} }
      })
      let edition = 10
      const edit = Effect.sync(() => {
        server.state.collections.rooms = { items: [{ id: 1, name: `Edition ${++edition}` }] }
      })
      return { source: yield* definition.make, edit }
    }).pipe(Effect.provide(context))
  })
)

describe("directusSource", () => {
  scenario("saves a collection as an array and a singleton as an object", function* () {
    const { fetch } = yield* setUp(
      {
        collections: {
          rooms: { items: numbered(2) },
          homepage: { isSingleton: true, items: [{ id: 1, title: "Hello" }] }
        }
      },
      { collections: { rooms: {}, homepage: {} } }
    )
    const { documents, read } = yield* fetch()
    expect(yield* read("rooms")).toEqual([{ id: 1000 }, { id: 1001 }])
    expect(yield* read("homepage")).toEqual({ id: 1, title: "Hello" })
    expect(documents?.["rooms.json"]?.key).toEqual(["id"])
    expect(documents?.["rooms.json"]?.url).toMatch(/^http:.*\/items\/rooms$/)
  })

  for (const [what, after] of [
    ["added before", [{ id: 1 }, ...numbered(25)]],
    ["removed from", numbered(25).slice(1)],
    ["removed from them, and another one added behind", numbered(26).slice(1)]
  ] as const) {
    scenario(`has each item once while an item is ${what} the pages that were read`, function* () {
      const server = yield* setUp(
        { collections: { rooms: { items: [] } }, limit: 10 },
        { collections: { rooms: {} }, status: [] }
      )
      // The second page comes from the current items.
      server.state.collections.rooms = {
        get items() {
          return Option.getOrElse(server.received.unsafeSize(), () => 0) > 1 ? after : numbered(25)
        }
      }
      expect(yield* (yield* server.fetch()).read("rooms")).toEqual(after)
    })
  }

  scenario("fails after a few attempts if a collection keeps changing", function* () {
    const server = yield* setUp({ limit: 2 }, { collections: { rooms: {} }, status: [] })
    let first = 0
    server.state.collections.rooms = {
      get items() {
        return numbered(9).map(({ id }) => ({ id: id + ++first * 100 }))
      }
    }
    expect(yield* messageOf(server.fetch())).toMatch("rooms: items came or went")
    expect(yield* Queue.size(server.received)).toBeLessThan(10)
  })

  scenario("sends filters, sorting and fields as Directus names them", function* () {
    const server = yield* setUp(
      { collections: { objects: { items: [{ id: 1, status: "published", room: 1, translations: [] }] } } },
      {
        collections: {
          objects: {
            fields: ["status", "room.name"],
            filter: { year: { _gt: 1900 } },
            sort: ["-year", "title"],
            deep: { gallery: { _limit: -1 } }
          }
        },
        locales: ["de-DE"]
      }
    )
    yield* Effect.exit(server.fetch())
    const asked = urlsOf(yield* Queue.takeAll(server.received)).at(-1)
    for (const part of [
      "fields=status,room.name,id,translations.*&",
      'filter={"_and":[{"status":{"_in":["published"]}},{"year":{"_gt":1900}}]}',
      "sort=-year,title,id",
      'deep={"gallery":{"_limit":-1}}'
    ]) {
      expect(asked?.replaceAll("+", " ")).toContain(part)
    }
  })

  scenario(
    "saves published items of a collection with a status, or the items with the statuses in the options",
    function* () {
      const items = [
        { id: 1, status: "published" },
        { id: 2, status: "draft" },
        { id: 3, status: "archived" }
      ]
      const savedWith = Effect.fnUntraced(function* (config: Pick<DirectusSourceConfig, "status">) {
        const { fetch } = yield* setUp(
          { collections: { objects: { items }, rooms: { items: numbered(1) } } },
          { collections: { objects: {}, rooms: {} }, ...config }
        )
        const { read } = yield* fetch()
        expect(yield* read("rooms")).toHaveLength(1)
        return yield* read("objects")
      })
      expect(yield* savedWith({})).toEqual(items.slice(0, 1))
      expect(yield* savedWith({ status: ["published", "draft"] })).toEqual(items.slice(0, 2))
      expect(yield* savedWith({ status: [] })).toEqual(items)
    }
  )

  scenario("leaves out drafts inside of items, at any depth, and says how many", function* () {
    const draft = { id: 7, status: "draft", name: "Secret" }
    const item = {
      id: 1,
      status: "published",
      room: draft,
      related: [draft, { id: 8, object: { id: 9, status: "archived" } }, { id: 10, status: "on loan" }],
      translations: [
        { languages_code: "de-DE", status: "in review", title: "Glocke" },
        { languages_code: "en-US", status: "published", title: "Bell" }
      ]
    }
    const savedWith = Effect.fnUntraced(function* (config: Pick<DirectusSourceConfig, "status">) {
      const { fetch } = yield* setUp(
        {
          collections: {
            objects: { items: [item] },
            homepage: { isSingleton: true, items: [{ id: 1, room: draft }] }
          }
        },
        { collections: { objects: {}, homepage: {} }, ...config }
      )
      const { read, warnings } = yield* fetch()
      return { objects: yield* read("objects"), homepage: yield* read("homepage"), said: textsOf(warnings) }
    })
    const { homepage, objects, said } = yield* savedWith({})
    expect(objects).toEqual([
      {
        id: 1,
        status: "published",
        title: { "en-US": "Bell" },
        room: null,
        related: [
          { id: 8, object: null },
          { id: 10, status: "on loan" }
        ]
      }
    ])
    expect(homepage).toEqual({ id: 1, room: null })
    expect(said).toEqual([
      expect.stringContaining('"objects": 4 unpublished items'),
      expect.stringContaining('"homepage": 1 unpublished item ')
    ])
    expect(JSON.stringify(yield* savedWith({ status: [] }))).toContain("Secret")
  })

  scenario("tells a field that the token may not read from one that is not there", function* () {
    const fetched = Effect.fnUntraced(function* (
      rights: Record<string, ReadonlyArray<string>>,
      config: Pick<DirectusSourceConfig, "locales" | "status">
    ) {
      const { fetch } = yield* setUp(
        { collections: { objects: { items: [{ id: 1, title: "Bell" }] } }, rights },
        { collections: { objects: { fields: ["id", "title"] } }, ...config }
      )
      const outcome = yield* Effect.either(fetch())
      return Either.match(outcome, {
        onLeft: ({ message }) => message,
        onRight: ({ warnings = [] }) =>
          warnings.map((warning) =>
            Predicate.isString(warning) ? warning : `${warning.code} ${warning.subject}`
          )
      })
    })
    const some = { objects: ["id", "title"] }
    expect(yield* fetched({}, { status: ["published"], locales: ["de-DE"] })).toEqual([])
    expect(yield* fetched(some, {})).toEqual(["rights:field objects/status"])
    expect(yield* fetched(some, { status: ["published"] })).toContain(
      'may not read the field "status" of objects'
    )
    expect(yield* fetched(some, { status: [], locales: ["de-DE"] })).toEqual([
      "rights:field objects/translations"
    ])
  })

  scenario("saves translated collections once for each language, and all others once", function* () {
    const translations = [
      { id: 1, languages_code: "en-US", title: "Bell" },
      { id: 2, languages_code: "de-DE", title: "Glocke" }
    ]
    const { fetch } = yield* setUp(
      {
        collections: {
          objects: { items: [{ id: 1, translations }] },
          rooms: { items: numbered(1) },
          homepage: { isSingleton: true, items: [{ id: 1, translations: translations.slice(0, 1) }] }
        }
      },
      {
        collections: { objects: {}, rooms: {}, homepage: {} },
        locales: ["de-DE", "en-US"]
      }
    )
    const { documents, read } = yield* fetch()
    expect(yield* read("objects")).toEqual([{ id: 1, title: { "en-US": "Bell", "de-DE": "Glocke" } }])
    expect(documents?.["objects.json"]?.key).toEqual(["id"])
    expect(yield* read("rooms")).toEqual(numbered(1))
    expect(documents?.["rooms.json"]?.key).toEqual(["id"])
    expect(yield* read("homepage")).toEqual({ id: 1, title: { "en-US": "Bell" } })
  })

  scenario(
    "keeps an item with a translation without a language, and warns of it at every fetch",
    function* () {
      const translations = [
        { id: 1, languages_code: "en-US", title: "Bell" },
        { id: 2, languages_code: null, title: "" }
      ]
      const { fetch } = yield* setUp(
        { collections: { objects: { items: [{ id: 7, translations }] } } },
        { collections: { objects: {} }, locales: ["en-US"] }
      )
      for (const before of [undefined, yield* fetch()]) {
        const { read, warnings } = yield* fetch(before)
        expect(yield* read("objects")).toEqual([{ id: 7, title: { "en-US": "Bell" } }])
        expect(textsOf(warnings)).toEqual([
          'Document "objects": 1 row of "translations" without a language, left out; the item 7 has the first. Choose the language in Directus, or delete the row'
        ])
      }
    }
  )

  scenario("downloads files, and later only replaced files", function* () {
    const server = yield* setUp(
      { collections: { objects: { items: [{ id: 1, cover: file }] } }, files },
      { collections: { objects: { fields: ["*", "cover.*"] } } }
    )
    const before = yield* server.fetch()
    const saved = yield* before.read("objects")
    expect(saved).toEqual([
      {
        id: 1,
        cover: {
          ...file,
          url: `${server.url}/assets/${fileId}`,
          localPath: expect.stringMatching(/^media\/bell-[0-9a-f]{16}\.jpg$/)
        }
      }
    ])
    expect(before.attachments).toMatchObject({ total: 1, reused: 0 })

    yield* Queue.takeAll(server.received)
    expect((yield* server.fetch(before)).fingerprint).toBe(before.fingerprint)
    expect(urlsOf(yield* Queue.takeAll(server.received)).filter((url) => url.includes("/assets"))).toEqual([])

    server.state.files = { [fileId]: "two bells" }
    const replaced = { ...file, modified_on: "2026-11-24T00:00:00", filesize: 9 }
    server.state.collections.objects = { items: [{ id: 1, cover: replaced }] }
    const after = yield* server.fetch(before)
    expect(after.fingerprint).not.toBe(before.fingerprint)
    expect(after.attachments).toMatchObject({ total: 1, bytes: 9, reused: 0 })
  })

  scenario("sends the token to its own server only", function* () {
    const cdn = yield* make(text(200, "a bell", { "content-type": "image/jpeg" }))
    const link = `${cdn.url}/elsewhere.jpg`
    const server = yield* setUp(
      { collections: { objects: { items: [{ id: 1, cover: file, link }] } }, files },
      { collections: { objects: {} }, media: { find: ["**.link"], hosts: ["127.0.0.1"] } }
    )
    expect((yield* server.fetch()).attachments).toMatchObject({ total: 2 })
    const [asked] = yield* Queue.takeAll(cdn.received)
    expect(asked?.url).toBe("/elsewhere.jpg")
    expect(asked?.headers.authorization).toBeUndefined()
  })

  scenario("downloads nothing if media are not wanted", function* () {
    const { fetch } = yield* setUp(
      { collections: { objects: { items: [{ id: 1, cover: file }] } } },
      { collections: { objects: {} }, media: false }
    )
    expect(yield* (yield* fetch()).read("objects")).toMatchObject([{ cover: file }])
  })

  describe("the error of a Directus source says what to do", () => {
    scenario("if a token may not read a collection", function* () {
      const { fetch } = yield* setUp(
        { collections: { articles: { items: [] } }, forbidden: ["articles"] },
        { collections: { articles: {} } }
      )
      expect(yield* messageOf(fetch())).toMatch(
        /The token may not read articles.*in Directus, Settings, Access Policies, allow "read" of it.*\(HTTP 403, FORBIDDEN: /
      )
    })

    scenario("if items have another key", function* () {
      const server = yield* setUp({}, { collections: { languages: {} }, status: [] })
      server.next(json(200, { data: [{ code: "de-DE" }], meta: { filter_count: 1 } }))
      expect(yield* messageOf(server.fetch())).toMatch('Set "collections.languages.key"')
    })
  })

  it("reports mistakes in options", () => {
    const good = { id: "museum", url: "https://cms.example", collections: { articles: {} } }
    const placesIn = (config: object) => directusSource({ ...good, ...config }).issues.map(({ path }) => path)
    expect(placesIn({ locales: [""] })).toEqual(["locales[0]"])
    expect(placesIn({ collections: {} })).toEqual(["collections"])
    expect(placesIn({ status: "published" })).toEqual(["status"])
    expect(placesIn({ collections: { "../users": {}, articles: {} } })).toEqual(["collections.../users"])
    expect(placesIn({ collections: { articles: { sort: "title", deep: 2, populate: "*" } } })).toEqual([
      "collections.articles.populate",
      "collections.articles.sort",
      "collections.articles.deep"
    ])
  })
})
