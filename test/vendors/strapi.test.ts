/**
 * A source of Strapi's content over a real Strapi.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { inject } from "vitest"
import * as RequestPacingMemory from "../../src/layers/memory/RequestPacingMemory.ts"
import type { StrapiSourceConfig } from "../../src/layers/sources/strapi/StrapiOptions.ts"
import { strapiSource } from "../../src/layers/sources/strapi/strapiSource.ts"
import { filesIn } from "../support/media.ts"
import { messageOf, openSource } from "../support/openSource.ts"
import { startStrapi } from "./strapi/server.ts"

const installed = inject("vendors")["strapi-5.54.0"]

class Strapi extends Context.Tag("test/Strapi")<
  Strapi,
  Effect.Effect.Success<ReturnType<typeof startStrapi>>
>() {}

const environment = Layer.mergeAll(
  Layer.scoped(Strapi, startStrapi(installed ?? "")),
  NodeHttpClient.layer,
  RequestPacingMemory.layer
).pipe(Layer.provideMerge(NodeContext.layer))

const Entries = Schema.Array(
  Schema.Struct({
    documentId: Schema.String,
    title: Schema.String,
    locale: Schema.optional(Schema.String),
    fallbackLocale: Schema.optional(Schema.String)
  })
)
const decodeEntries = Schema.decodeUnknownSync(Entries)

/** A source of it, and what one fetch saves. */
const setUp = (config: Pick<StrapiSourceConfig, "types"> & Partial<StrapiSourceConfig>) =>
  Effect.flatMap(Strapi, ({ tokens, url }) =>
    openSource(strapiSource({ id: "museum", url, token: tokens.reading, ...config }))
  )

const populated = {
  objects: {
    populate: { cover: true, room: true, size: true, body: { populate: "*" } },
    filters: { number: { $lte: 3 } },
    sort: "number"
  },
  rooms: {}
}

describe.skipIf(installed === null)("strapiSource over Strapi 5.54.0", () => {
  layer(environment, { excludeTestServices: true, timeout: "2 minutes" })((it) => {
    it.scoped("saves pictures, relations, components, zones and blocks", () =>
      Effect.gen(function* () {
        const images = { widths: [100], crop: "square" }
        const { fetch } = yield* setUp({ types: populated, images })
        const { attachments, directory, read } = yield* fetch()
        expect(attachments).toMatchObject({ total: 2, reused: 0 })
        const objects = yield* read("objects")
        const sizes = [{ width: 100, height: 100, type: "image/webp" }]
        const bell = expect.stringMatching(/^media\/bell-[0-9a-f]{16}\.jpg$/)
        expect(objects).toMatchObject([
          {
            title: "Bell 1",
            room: { name: "Hall" },
            size: { unit: "cm", value: 1 },
            cover: {
              url: expect.stringMatching(/^\/uploads\/bell_/),
              mime: "image/jpeg",
              focalPoint: { x: 90, y: 50 },
              sizes,
              localPath: bell
            },
            text: [
              { type: "paragraph" },
              {
                type: "image",
                image: { url: expect.stringMatching(/^http.*\/uploads\/bell_/), localPath: bell }
              }
            ],
            body: [
              {
                __component: "block.picture",
                file: { mime: "text/plain", localPath: expect.stringMatching(/^media\/leaflet-/) }
              }
            ]
          },
          { title: "Bell 2" },
          { title: "Bell 3" }
        ])
        expect(JSON.stringify(objects)).not.toContain("thumbnail")
        expect(
          Object.keys(filesIn(directory)).filter((name) => /^media\/(bell|leaflet)/.test(name))
        ).toHaveLength(2)
        expect(yield* read("rooms")).toMatchObject([{ name: "Hall" }])
      })
    )

    it.scoped("reads all pages in two languages, each entry once", () =>
      Effect.gen(function* () {
        const { fetch } = yield* setUp({
          types: { objects: { fields: ["title"], sort: "number" }, rooms: {}, setting: {} },
          locales: ["de", "en"]
        })
        const { read } = yield* fetch()
        const objects = yield* read("objects")
        expect(objects).toMatchObject({ length: 120, 0: { title: { de: "Glocke 1", en: "Bell 1" } } })
        expect(objects).toContainEqual(expect.objectContaining({ title: { en: "Bell 3" } }))
        expect(yield* read("rooms")).toHaveLength(1)
        expect(yield* read("setting")).toMatchObject({ welcome: { de: "Willkommen", en: "Welcome" } })
      })
    )

    it.scoped("saves drafts only where they are asked for", () =>
      Effect.gen(function* () {
        const types = { objects: { filters: { number: 0 } }, setting: {} }
        const published = yield* (yield* setUp({ types })).fetch()
        expect(yield* published.read("objects")).toEqual([])
        const drafts = yield* (yield* setUp({ types, status: "draft" })).fetch()
        expect(yield* drafts.read("objects")).toMatchObject([{ title: "Only a draft", publishedAt: null }])
      })
    )

    it.scoped(
      "the next fetch has edits, deletions and replaced files; a publish that changes nothing is the same version",
      () =>
        Effect.gen(function* () {
          const { documents, replaceFile } = yield* Strapi
          const { fetch } = yield* setUp({ types: populated })
          const first = yield* fetch()
          const [one, two, three] = decodeEntries(yield* first.read("objects")).map(
            ({ documentId }) => documentId
          )
          const object = "api::object.object"

          /** Whether the next fetch has other content than before. */
          const after = (happens: Effect.Effect<unknown>, before: { fingerprint: string }) =>
            Effect.gen(function* () {
              yield* happens
              const { attachments, fingerprint } = yield* fetch(first)
              return { fingerprint, attachments, isNew: fingerprint !== before.fingerprint }
            })

          const idle = yield* after(Effect.void, first)
          expect(idle).toMatchObject({
            isNew: false,
            attachments: { total: 2, reused: 2 }
          })
          const published = yield* after(
            documents(object, "publish", { documentId: one, locale: "en" }),
            idle
          )
          expect(published).toMatchObject({ isNew: false })
          const draft = yield* after(
            documents(object, "update", { documentId: one, locale: "en", data: { title: "New bell" } }),
            published
          )
          expect(draft).toMatchObject({ isNew: false })
          const edited = yield* after(documents(object, "publish", { documentId: one, locale: "en" }), draft)
          expect(edited).toMatchObject({ isNew: true })
          const replaced = yield* after(replaceFile("bell.jpg", "other.jpg"), edited)
          expect(replaced).toMatchObject({
            isNew: true,
            attachments: { total: 2, reused: 1 }
          })
          const unpublished = yield* after(
            documents(object, "unpublish", { documentId: two, locale: "en" }),
            replaced
          )
          expect(unpublished).toMatchObject({ isNew: true })
          const deleted = yield* after(
            documents(object, "delete", { documentId: three, locale: "*" }),
            unpublished
          )
          expect(deleted).toMatchObject({ isNew: true })
          const room = yield* after(
            Effect.flatMap(documents("api::room.room", "findFirst", {}), (room) =>
              documents("api::room.room", "update", {
                documentId: Schema.decodeUnknownSync(Schema.Struct({ documentId: Schema.String }))(room)
                  .documentId,
                data: { name: "Great hall" },
                status: "published"
              })
            ),
            deleted
          )
          expect(room).toMatchObject({ isNew: true })
        })
    )

    it.scoped("says in the words of Strapi why something cannot be read", () =>
      Effect.gen(function* () {
        const { tokens } = yield* Strapi
        const messageFor = (config: Parameters<typeof setUp>[0]) =>
          Effect.flatMap(setUp(config), ({ fetch }) => messageOf(fetch()))
        expect(yield* messageFor({ types: { rooms: {} }, token: "wrong" })).toMatch(
          "Strapi does not accept the token"
        )
        expect(yield* messageFor({ types: { objects: {} }, token: tokens.roomsOnly })).toMatch(
          "The token may not read objects"
        )
        expect(yield* messageFor({ types: { object: {} } })).toMatch("Strapi has no object.")
        expect(yield* messageFor({ types: { rooms: { sort: "nofield" } } })).toMatch(
          'no "nofield" for "sort"'
        )
        expect(yield* messageFor({ types: { rooms: { populate: ["nofield"] } } })).toMatch(
          'no "nofield" for "populate"'
        )
      })
    )

    it.scoped("reads everything though Strapi crashes between two pages, and starts again", () =>
      Effect.gen(function* () {
        const { kill, startAgain } = yield* Strapi
        let crashes = 0
        const client = HttpClient.mapRequestEffect(yield* HttpClient.HttpClient, (request) =>
          crashes === 0 && decodeURIComponent(request.url).includes("[page]=2")
            ? Effect.sync(() => crashes++).pipe(
                Effect.zipRight(kill),
                Effect.zipRight(Effect.forkDaemon(startAgain)),
                Effect.as(request)
              )
            : Effect.succeed(request)
        )
        const { fetch } = yield* Effect.provideService(
          setUp({ types: { objects: { fields: ["title"] } } }),
          HttpClient.HttpClient,
          client
        )
        const { read } = yield* Effect.retry(fetch(), { times: 5 })
        expect(crashes).toBe(1)
        expect(decodeEntries(yield* read("objects")).length).toBeGreaterThan(110)
      })
    )
  })
})
