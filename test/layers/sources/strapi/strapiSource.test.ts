/**
 * A source of Strapi's content, over a stand-in that responds like Strapi.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import type { StrapiSourceConfig } from "../../../../src/layers/sources/strapi/StrapiOptions.ts"
import { strapiSource } from "../../../../src/layers/sources/strapi/strapiSource.ts"
import { contentSourceContract } from "../../../../src/testing.ts"
import { httpClient } from "../../../support/httpClientWithoutKeepAlive.ts"
import { withLog } from "../../../support/logged.ts"
import { messageOf, openWithTestClock } from "../../../support/openSource.ts"
import type { ReceivedRequest } from "../../../support/ScriptedServer.ts"
import { type StrapiEntry, startStrapi, strapiToken } from "../../../support/strapi.ts"
import { textsOf } from "../../../support/warnings.ts"

const environment = Layer.mergeAll(NodeContext.layer, httpClient, RequestPacingMemory.layer)

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

/** As in a response of Strapi, published in this second. */
const entry = (documentId: string, second: number, fields: object = {}): StrapiEntry => ({
  id: second,
  documentId,
  updatedAt: at(0),
  publishedAt: at(second),
  ...fields
})

const uploads = { "/uploads/bell.jpg": "a bell" }

const media = {
  documentId: "file1",
  url: "/uploads/bell.jpg",
  mime: "image/jpeg",
  formats: { thumbnail: {} }
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => entry(`doc${1000 + index}`, index))

type Config = Omit<StrapiSourceConfig, "id" | "url" | "token">

/** A source of the stand-in, and the saved content of one fetch. */
const setUp = (initial: Parameters<typeof startStrapi>[0], config: Config) =>
  Effect.gen(function* () {
    const server = yield* startStrapi(initial)
    const source = yield* openWithTestClock(
      strapiSource({ id: "museum", url: server.url, token: strapiToken, ...config })
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
  "strapiSource",
  Effect.gen(function* () {
    const context = yield* Layer.build(environment)
    return yield* Effect.gen(function* () {
      const server = yield* startStrapi({ types: { rooms: { entries: numbered(3) } } })
      const definition = strapiSource({
        id: "museum",
        url: server.url,
        token: strapiToken,
        types: { rooms: {} }
      })
      let edition = 10
      const edit = Effect.sync(() => {
        server.state.types.rooms = { entries: [entry("doc1", ++edition, { title: `Edition ${edition}` })] }
      })
      return { source: yield* definition.make, edit }
    }).pipe(Effect.provide(context))
  })
)

describe("strapiSource", () => {
  scenario("saves a collection as an array and a single type as an object", function* () {
    const { fetch } = yield* setUp(
      {
        types: {
          articles: { entries: [entry("b", 2), entry("a", 1)] },
          homepage: { isSingle: true, entries: [entry("c", 3, { title: "Hello" })] }
        }
      },
      { types: { articles: {}, homepage: {} } }
    )
    const { documents, read } = yield* fetch()
    expect(yield* read("articles")).toMatchObject([{ documentId: "a" }, { documentId: "b" }])
    expect(yield* read("homepage")).toMatchObject({ documentId: "c", title: "Hello" })
    expect(documents?.["articles.json"]?.key).toEqual(["documentId"])
    expect(documents?.["articles.json"]?.url).toMatch(/^http:.*\/api\/articles$/)
  })

  for (const [what, change] of [
    ["added before", (entries: ReadonlyArray<StrapiEntry>) => [entry("doc0", 99), ...entries]],
    ["removed from", (entries: ReadonlyArray<StrapiEntry>) => entries.slice(1)]
  ] as const) {
    scenario(`has each entry once while an entry is ${what} the pages that were read`, function* () {
      const server = yield* setUp(
        { types: { articles: { entries: numbered(25) } }, maxLimit: 10 },
        { types: { articles: {} } }
      )
      const { articles } = server.state.types
      const after = change(articles?.entries ?? [])
      // The second page comes from the current entries.
      server.state.types.articles = {
        get entries() {
          return server.received.unsafeSize().pipe(Option.getOrElse(() => 0)) > 1
            ? after
            : (articles?.entries ?? [])
        }
      }
      const { read } = yield* server.fetch()
      const saved = yield* read("articles")
      expect(saved).toEqual(after)
    })
  }

  scenario("sends filters, sorting and fields as Strapi names them", function* () {
    const server = yield* setUp(
      { types: { articles: { entries: numbered(1) } } },
      {
        types: {
          articles: {
            populate: { cover: true, body: { on: { "block.picture": { populate: "*" } } } },
            filters: { year: { $gt: 1900 } },
            fields: ["title"],
            sort: "year:desc"
          }
        },
        status: "draft"
      }
    )
    yield* Effect.exit(server.fetch())
    const [asked] = urlsOf(yield* Queue.takeAll(server.received))
    for (const part of [
      "populate[cover]=true",
      "populate[body][on][block.picture][populate]=*",
      "filters[year][$gt]=1900",
      "fields[]=title",
      "sort[]=year:desc&sort[]=documentId:asc",
      "status=draft"
    ]) {
      expect(asked).toContain(part)
    }
  })

  scenario("leaves out drafts among related entries, unless it saves drafts", function* () {
    const room = { ...entry("r", 7, { name: "Secret" }), publishedAt: null }
    const savedWith = Effect.fnUntraced(function* (status: "published" | "draft") {
      const publishedAt = status === "draft" ? null : "2026-01-02T03:04:05.678Z"
      const { fetch } = yield* setUp(
        {
          types: {
            articles: { entries: [{ ...entry("a", 1, { room, parts: [{ rooms: [room] }] }), publishedAt }] }
          }
        },
        { types: { articles: { populate: "*" } }, status }
      )
      const { read, warnings } = yield* fetch()
      return { articles: yield* read("articles"), said: textsOf(warnings) }
    })
    const { articles, said } = yield* savedWith("published")
    expect(articles).toMatchObject([{ documentId: "a", room: null, parts: [{ rooms: [] }] }])
    expect(said).toEqual([expect.stringContaining("2 unpublished items")])
    expect(JSON.stringify(yield* savedWith("draft"))).toContain("Secret")
  })

  describe("strapiSource with locales", () => {
    const types = {
      articles: {
        entries: [
          entry("a", 1, { locale: "de", title: "Glocke" }),
          entry("a", 2, { locale: "en", title: "Bell" }),
          entry("b", 3, { locale: "en", title: "Vase" })
        ]
      },
      rooms: { entries: [entry("r", 4)] },
      homepage: { isSingle: true, entries: [entry("h", 5, { locale: "en" })] }
    }

    scenario("saves each entry once, with both languages in the fields that differ", function* () {
      const { fetch } = yield* setUp(
        { types },
        { types: { articles: {}, rooms: {}, homepage: {} }, locales: ["de", "en"] }
      )
      const { documents, read } = yield* fetch()
      const articles = yield* read("articles")
      expect(articles).toMatchObject([
        { documentId: "a", id: 1, title: { de: "Glocke", en: "Bell" } },
        { documentId: "b", id: 3, title: { en: "Vase" } }
      ])
      expect(JSON.stringify(articles)).not.toContain("locale")
      expect(documents?.["articles.json"]?.key).toEqual(["documentId"])
      expect(yield* read("rooms")).toHaveLength(1)
      expect(yield* read("homepage")).toMatchObject({ documentId: "h" })
    })
  })

  scenario(
    "keeps its fingerprint after a publish without a change, and has another after an edit",
    function* () {
      const { fetch, state } = yield* setUp(
        { types: { articles: { entries: [entry("a", 1, { size: { id: 7, unit: "cm" } })] } } },
        { types: { articles: {} } }
      )
      const first = yield* fetch()
      state.types.articles = { entries: [entry("a", 2, { size: { id: 8, unit: "cm" } })] }
      expect((yield* fetch()).fingerprint).toBe(first.fingerprint)
      state.types.articles = { entries: [entry("a", 2, { size: { id: 8, unit: "mm" } })] }
      expect((yield* fetch()).fingerprint).not.toBe(first.fingerprint)
    }
  )

  scenario("has another fingerprint after an edit of a number `id` in a field of JSON", function* () {
    const { fetch, state } = yield* setUp({}, { types: { articles: { fields: ["title", "lamp"] } } })
    const fingerprints: Array<string> = []
    for (const lamp of [{ id: 7 }, { id: 8 }, { lamps: { id: 8 } }, { lamps: { id: 9 } }]) {
      state.types.articles = { entries: [entry("a", 1, { lamp })] }
      fingerprints.push((yield* fetch()).fingerprint)
    }
    expect(new Set(fingerprints).size).toBe(4)
  })

  scenario("keeps its fingerprint when the link to a private file is signed anew", function* () {
    const { fetch, state, url } = yield* setUp({ uploads }, { types: { articles: {} } })
    const sign = (signature: string) => {
      const link = `${url}/uploads/bell.jpg?X-Amz-Signature=${signature}`
      const cover = { ...media, url: link, isUrlSigned: true, updatedAt: at(0), size: 0.01 }
      state.types.articles = { entries: [entry("a", 1, { cover })] }
    }
    sign("one")
    const first = yield* fetch()
    sign("two")
    const second = yield* fetch(first)
    expect(second.fingerprint).toBe(first.fingerprint)
    expect(second.attachments).toMatchObject({ total: 1, reused: 1 })
  })

  scenario("downloads files of the media library, and adds their paths", function* () {
    const cover = { ...media, name: "bell.jpg", size: 0.01, updatedAt: at(0) }
    const server = yield* setUp(
      { types: { articles: { entries: [entry("a", 1, { cover }), entry("b", 1, { cover })] } }, uploads },
      { types: { articles: { populate: "*" } } }
    )
    const { attachments, directory, fingerprint, read } = yield* server.fetch()
    const { formats: _, ...original } = cover
    const localPath = expect.stringMatching(/^media\/bell-[0-9a-f]{16}\.jpg$/)
    const saved = yield* read("articles")
    expect(saved).toEqual([
      { ...entry("a", 1), cover: { ...original, localPath } },
      { ...entry("b", 1), cover: { ...original, localPath } }
    ])
    expect(attachments).toMatchObject({ total: 1, reused: 0 })

    // A publish is not enough. A replaced file is another file under the same address.
    server.state.uploads = { "/uploads/bell.jpg": "two bells" }
    yield* Queue.takeAll(server.received)
    const before = { directory, fingerprint }
    const published = entry("a", 2, { cover })
    server.state.types.articles = { entries: [published, entry("b", 1, { cover })] }
    expect((yield* server.fetch(before)).fingerprint).toBe(fingerprint)
    expect(urlsOf(yield* Queue.takeAll(server.received)).filter((url) => url.startsWith("/uploads"))).toEqual(
      []
    )
    const replaced = { ...cover, updatedAt: at(3) }
    server.state.types.articles = { entries: [entry("a", 1, { cover: replaced })] }
    const after = yield* server.fetch(before)
    expect(after.fingerprint).not.toBe(fingerprint)
    expect(after.attachments).toMatchObject({ total: 1, bytes: 9, reused: 0 })
  })

  scenario("downloads nothing if media are not wanted", function* () {
    const { fetch } = yield* setUp(
      { types: { articles: { entries: [entry("a", 1, { cover: media })] } } },
      { types: { articles: {} }, media: false }
    )
    const { formats: _, ...cover } = media
    expect(yield* (yield* fetch()).read("articles")).toMatchObject([{ cover }])
  })

  scenario("finds an edit of an entry that only relations lead to", function* () {
    const article = (name: string) => entry("a", 1, { maker: entry("m", 2, { name }) })
    const { fetch, state } = yield* setUp(
      { types: { articles: { entries: [article("Ann")] } } },
      { types: { articles: { populate: "*" } } }
    )
    const before = yield* fetch()
    state.types.articles = { entries: [article("Anna")] }
    expect((yield* fetch(before)).fingerprint).not.toBe(before.fingerprint)
  })

  describe("the error of a Strapi source says what to do", () => {
    scenario("if a token may not read a type", function* () {
      const { fetch } = yield* setUp(
        { types: { articles: { entries: [] } }, forbidden: ["articles"] },
        { types: { articles: {} } }
      )
      expect(yield* messageOf(fetch())).toMatch(
        'The token may not read articles: in Strapi, Settings, API Tokens, allow "find" of it, or use a token that is read-only (HTTP 403, ForbiddenError: Forbidden)'
      )
    })

    scenario("if there is no such type", function* () {
      const { fetch } = yield* setUp({}, { types: { article: {} } })
      expect(yield* messageOf(fetch())).toMatch("Strapi has no article. A collection goes by its plural")
    })
  })

  it("reports mistakes in options", () => {
    const good = { id: "museum", url: "https://cms.example", types: { articles: {} } }
    const placesIn = (config: object) => strapiSource({ ...good, ...config }).issues.map(({ path }) => path)
    expect(placesIn({ locales: [""] })).toEqual(["locales[0]"])
    expect(placesIn({ types: {} })).toEqual(["types"])
    expect(placesIn({ types: { "../admin": {}, articles: {} } })).toEqual(["types.../admin"])
    expect(placesIn({ types: { articles: { sort: [1], populate: 2, deep: true } } })).toEqual([
      "types.articles.deep",
      "types.articles.populate",
      "types.articles.sort"
    ])
  })
})
