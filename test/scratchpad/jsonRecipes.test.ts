/**
 * The recipes for other makers' content, over stand-ins with the shapes of their answers.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { afterEach, describe, expect, it, vi } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as HttpClientNode from "../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../src/layers/memory/RequestPacingMemory.ts"
import type { ContentSourceDefinition } from "../../src/services/ContentSource.ts"
import { read } from "../support/documents.ts"
import * as ScriptedServer from "../support/ScriptedServer.ts"

const run = Effect.provide(Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer))

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

const fetched = (definition: ContentSourceDefinition) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const { fetch } = yield* definition.make
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    yield* fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    return (document: string) =>
      Effect.map(fileSystem.readFileString(`${directory}/${document}.json`), (text): unknown =>
        JSON.parse(text)
      )
  })

const picture: ScriptedServer.Answer = (response) =>
  response
    .writeHead(200, { "content-type": "image/jpeg" })
    .end(Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xd9]))

describe("the recipe for", () => {
  it.scopedLive(
    "WordPress makes records for a page of all posts without a password, and saves their pictures",
    () =>
      Effect.gen(function* () {
        const without = [
          {},
          {},
          { _embedded: { "wp:featuredmedia": [{ code: "rest_forbidden", data: { status: 401 } }] } }
        ]
        const server = yield* ScriptedServer.make((response, request) => {
          const url = new URL(request.url, server.url)
          if (url.pathname.endsWith(".jpg")) return picture(response, request)
          const page = Number(url.searchParams.get("page") ?? 1)
          if (page > 2) {
            const code = "rest_post_invalid_page_number"
            return ScriptedServer.json(400, { code, message: "…", data: { status: 400 } })(response, request)
          }
          const other = new URL(url)
          other.searchParams.set("page", String(3 - page))
          const featured = {
            id: 7,
            alt_text: "A bell",
            source_url: `${server.url}/wp-content/uploads/bell.jpg`,
            media_details: { sizes: { large: { source_url: `${server.url}/bell-1024.jpg` } } }
          }
          const posts = [0, 1, 2].map((place) => ({
            id: page * 10 + place,
            date: "1998-05-01T10:00:00",
            title: { rendered: "&#8220;No. 1&#x201d; &amp;lt; its <em>story</em>" },
            excerpt: {
              rendered: "<p>Rung by hand &eacute; &euro;&nbsp;5 &ndash; [&hellip;]</p>\n",
              protected: place === 2
            },
            content: { rendered: "<p>Text</p>", protected: place === 2 },
            featured_media: 7,
            ...(place === 0 ? { _embedded: { "wp:featuredmedia": [featured] } } : without[page])
          }))
          return ScriptedServer.json(200, posts, {
            "x-wp-total": "6",
            "x-wp-totalpages": "2",
            link: `<${other}>; rel="${page === 1 ? "next" : "prev"}"`
          })(response, request)
        })
        vi.stubEnv("WORDPRESS", server.url)
        const { wordpress } = yield* Effect.promise(() => import("../../scratchpad/recipes/wordpress.ts"))
        const saved = yield* fetched(wordpress)
        const localPath = expect.stringMatching(/^media\/bell-[0-9a-f]{16}\.jpg$/)
        const record = {
          title: "“No. 1” &lt; its story",
          year: "1998",
          text: "Rung by hand é €\u00a05 – […]"
        }
        const file = { localPath, url: `${server.url}/wp-content/uploads/bell.jpg` }
        const shown = { ...record, alt: "A bell", picture: file }
        expect(yield* saved("Objects")).toEqual([
          { ...shown, id: "10" },
          { ...record, id: "11" },
          { ...shown, id: "20" },
          { ...record, id: "21" }
        ])
        const asked = Chunk.toReadonlyArray(yield* Queue.takeAll(server.received)).map(({ url }) => url)
        expect(asked.filter((url) => url.endsWith(".jpg"))).toEqual(["/wp-content/uploads/bell.jpg"])
      }).pipe(run)
  )

  it.scopedLive("Google Sheets reads the rows, wherever it redirects to", () =>
    Effect.gen(function* () {
      const files = yield* ScriptedServer.make(
        ScriptedServer.text(200, 'number,title,year\r\n1,"Bell, bronze",1862\r\n2,Vase,\r\n', {
          "content-type": "text/csv"
        })
      )
      const server = yield* ScriptedServer.make(ScriptedServer.text(307, "", { location: files.url }))
      vi.stubEnv("SHEET", `${server.url}/pub?gid=0&single=true&output=csv`)
      const { googleSheet } = yield* Effect.promise(() => import("../../scratchpad/recipes/googleSheet.ts"))
      const saved = yield* fetched(googleSheet)
      expect(yield* saved("objects")).toEqual([
        { number: "1", title: "Bell, bronze", year: 1862 },
        { number: "2", title: "Vase" }
      ])
    }).pipe(run)
  )

  it.scopedLive("Contentful reads entries and assets, and saves the files", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedServer.make((response, request) => {
        const url = new URL(request.url, server.url)
        if (url.pathname === "/bell.jpg") return picture(response, request)
        if (request.headers.authorization !== "Bearer secret") {
          const error = { sys: { type: "Error", id: "AccessTokenInvalid" }, message: "…" }
          return ScriptedServer.json(401, error)(response, request)
        }
        const all = url.pathname.endsWith("/entries")
          ? Array.from({ length: 3 }, (_, id) => ({
              sys: { id: `e${id}`, type: "Entry" },
              fields: { title: "A" }
            }))
          : [
              {
                sys: { id: "a1", type: "Asset" },
                fields: { file: { url: `//${new URL(server.url).host}/bell.jpg`, contentType: "image/jpeg" } }
              }
            ]
        const skip = Number(url.searchParams.get("skip") ?? 0)
        const items = all.slice(skip, skip + 2)
        const body = { sys: { type: "Array" }, total: all.length, skip, limit: 2, items }
        return ScriptedServer.json(200, body)(response, request)
      })
      vi.stubEnv("CONTENTFUL", server.url)
      vi.stubEnv("CONTENTFUL_TOKEN", "secret")
      const { contentful } = yield* Effect.promise(() => import("../../scratchpad/recipes/contentful.ts"))
      const saved = yield* fetched(contentful)
      expect(yield* saved("entries")).toMatchObject([0, 1, 2].map((id) => ({ sys: { id: `e${id}` } })))
      expect(yield* saved("assets")).toMatchObject([
        { fields: { file: { localPath: expect.stringMatching(/^media\/bell-/) } } }
      ])
    }).pipe(run)
  )

  it("the recipe for Google Sheets is the one in docs/content.md", () => {
    const [, code = ""] = read("scratchpad/recipes/googleSheet.ts").split(" */\n")
    expect(read("docs/content.md")).toContain(`\`\`\`ts\n${code}\`\`\`\n`)
  })
})
