/**
 * A source of Directus' content over a real Directus.
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
import type { DirectusSourceConfig } from "../../src/layers/sources/directus/DirectusOptions.ts"
import { directusSource } from "../../src/layers/sources/directus/directusSource.ts"
import { filesIn } from "../support/media.ts"
import { messageOf, openSource } from "../support/openSource.ts"
import { startDirectus, tokens } from "./directus/server.ts"

const installed = inject("vendors")["directus-11.3.5"]

class Directus extends Context.Tag("test/Directus")<
  Directus,
  Effect.Effect.Success<ReturnType<typeof startDirectus>>
>() {}

const environment = Layer.mergeAll(
  Layer.scoped(Directus, startDirectus(installed ?? "")),
  NodeHttpClient.layer,
  RequestPacingMemory.layer
).pipe(Layer.provideMerge(NodeContext.layer))

const Items = Schema.Array(Schema.Struct({ id: Schema.String, number: Schema.Number }))
const Made = Schema.Struct({ id: Schema.String, translations: Schema.Array(Schema.Number) })
const decodeMade = Schema.decodeUnknownSync(Made)
const decodeItems = Schema.decodeUnknownSync(Items)

/** A source of it, and what one fetch saves. */
const setUp = (config: Pick<DirectusSourceConfig, "collections"> & Partial<DirectusSourceConfig>) =>
  Effect.flatMap(Directus, ({ url }) =>
    openSource(directusSource({ id: "museum", url, token: tokens.content, ...config }))
  )

const expanded = {
  objects: {
    fields: ["*", "cover.*", "room.name", "translations.*", "gallery.directus_files_id.*"],
    filter: { number: { _lte: 3 } },
    sort: ["number"]
  },
  rooms: {}
}

describe.skipIf(installed === null)("directusSource over Directus 11.3.5", () => {
  layer(environment, { excludeTestServices: true, timeout: "3 minutes" })((it) => {
    it.scoped("saves files, relations and translations", () =>
      Effect.gen(function* () {
        const { fetch } = yield* setUp({
          collections: expanded,
          images: { widths: [100], crop: "square" }
        })
        const { attachments, directory, read } = yield* fetch()
        expect(attachments).toMatchObject({ total: 1, reused: 0 })
        const bell = {
          url: expect.stringMatching(/^http:.*\/assets\/[0-9a-f-]{36}$/),
          filename_download: "bell.jpg",
          localPath: expect.stringMatching(/^media\/bell-[0-9a-f]{16}\.jpg$/),
          sizes: [{ width: 100, height: 100, type: "image/webp" }]
        }
        expect(yield* read("objects")).toMatchObject([
          {
            number: 1,
            room: { name: "Hall" },
            cover: bell,
            gallery: [{ directus_files_id: bell }],
            title: { "en-US": "Bell 1", "de-DE": "Glocke 1" }
          },
          { number: 2 },
          { number: 3 }
        ])
        expect(Object.keys(filesIn(directory)).filter((name) => name.startsWith("media/bell"))).toHaveLength(
          1
        )
        expect(yield* read("rooms")).toMatchObject([{ name: "Hall" }])
      })
    )

    it.scoped("reads all pages in two languages, and fills one from the other", () =>
      Effect.gen(function* () {
        const { fetch } = yield* setUp({
          collections: { objects: { sort: ["number"] }, rooms: {}, setting: {} },
          locales: ["de-DE", "en-US"]
        })
        const { read } = yield* fetch()
        const objects = yield* read("objects")
        expect(objects).toMatchObject({ length: 240 })
        const items = decodeItems(objects)
        expect(new Set(items.map(({ id }) => id)).size).toBe(240)
        expect(objects).toMatchObject({
          0: { title: { "de-DE": "Glocke 1", "en-US": "Bell 1" } },
          2: { title: { "en-US": "Bell 3" } }
        })
        expect(yield* read("rooms")).toMatchObject([{ name: "Hall" }])
        expect(yield* read("setting")).toMatchObject({
          welcome: { "de-DE": "Willkommen", "en-US": "Welcome" }
        })
      })
    )

    it.scoped("saves drafts only where they are asked for", () =>
      Effect.gen(function* () {
        const collections = { objects: { filter: { number: 0 } } }
        const published = yield* (yield* setUp({ collections })).fetch()
        expect(yield* published.read("objects")).toEqual([])
        const drafts = yield* (yield* setUp({ collections, status: ["draft"] })).fetch()
        expect(yield* drafts.read("objects")).toMatchObject([{ number: 0, status: "draft" }])
      })
    )

    it.scoped("the next fetch has edits, deletions and replaced files", () =>
      Effect.gen(function* () {
        const { file, replaceFile, room, send } = yield* Directus
        const made = yield* send("POST", "/items/objects", {
          status: "published",
          number: 1000,
          cover: file,
          room,
          translations: [{ languages_code: "en-US", title: "New bell" }]
        })
        const { id, translations } = decodeMade(made)
        const fields = expanded.objects.fields
        const { fetch } = yield* setUp({
          collections: { objects: { fields, filter: { number: 1000 } } }
        })
        const first = yield* fetch()

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
          attachments: { total: 1, reused: 1 }
        })
        const found = { isNew: true }
        const [row] = translations
        const translated = yield* after(
          send("PATCH", `/items/objects_translations/${row}`, { title: "Old bell" }),
          idle
        )
        expect(translated).toMatchObject(found)
        const moved = yield* after(send("PATCH", `/items/rooms/${room}`, { name: "Great hall" }), translated)
        expect(moved).toMatchObject(found)
        const replaced = yield* after(replaceFile(400), moved)
        expect(replaced).toMatchObject({ ...found, attachments: { total: 1, reused: 0 } })
        const hidden = yield* after(send("PATCH", `/items/objects/${id}`, { status: "archived" }), replaced)
        expect(hidden).toMatchObject(found)
        const shown = yield* after(send("PATCH", `/items/objects/${id}`, { status: "published" }), hidden)
        expect(shown).toMatchObject(found)
        const deleted = yield* after(send("DELETE", `/items/objects/${id}`, {}), shown)
        expect(deleted).toMatchObject(found)
      })
    )

    it.scoped("is sent nothing again that has not changed", () =>
      Effect.gen(function* () {
        const statuses: Array<number> = []
        const client = HttpClient.tap(yield* HttpClient.HttpClient, ({ status }) =>
          Effect.sync(() => statuses.push(status))
        )
        const { fetch } = yield* Effect.provideService(
          setUp({ collections: { setting: {} }, status: [] }),
          HttpClient.HttpClient,
          client
        )
        yield* fetch()
        yield* fetch()
        expect(statuses).toEqual([200, 304])
      })
    )

    it.scoped("says in the words of Directus why something cannot be read", () =>
      Effect.gen(function* () {
        const messageFor = (config: Parameters<typeof setUp>[0]) =>
          Effect.flatMap(setUp(config), ({ fetch }) => messageOf(fetch()))
        expect(yield* messageFor({ collections: { rooms: {} }, token: "wrong" })).toMatch(
          "Directus does not accept the token"
        )
        expect(yield* messageFor({ collections: { objects: {} }, token: tokens.rooms })).toMatch(
          "The token may not read objects"
        )
        expect(yield* messageFor({ collections: { object: {} } })).toMatch("The token may not read object,")
        expect(yield* messageFor({ collections: { rooms: { fields: ["nofield"] } } })).toMatch(
          'permission to access field "nofield"'
        )
        expect(yield* messageFor({ collections: { languages: {} } })).toMatch(
          '"id" in collection "languages"'
        )
        expect(yield* messageFor({ collections: { languages: { key: "code" } } })).toMatch("no failure")
        expect(yield* messageFor({ collections: { rooms: { filter: { name: { _no: 1 } } } } })).toMatch(
          "Directus does not understand the request for rooms"
        )
      })
    )

    it.scoped("reads everything though Directus crashes between two pages, and starts again", () =>
      Effect.gen(function* () {
        const { kill, startAgain } = yield* Directus
        let crashes = 0
        const client = HttpClient.mapRequestEffect(yield* HttpClient.HttpClient, (request) =>
          crashes === 0 && request.url.includes("offset=99")
            ? Effect.sync(() => crashes++).pipe(
                Effect.zipRight(kill),
                Effect.zipRight(Effect.forkDaemon(startAgain)),
                Effect.as(request)
              )
            : Effect.succeed(request)
        )
        const { fetch } = yield* Effect.provideService(
          setUp({ collections: { objects: {} } }),
          HttpClient.HttpClient,
          client
        )
        const { read } = yield* Effect.retry(fetch(), { times: 5 })
        expect(crashes).toBe(1)
        expect(new Set(decodeItems(yield* read("objects")).map(({ id }) => id)).size).toBeGreaterThan(230)
      })
    )
  })
})
