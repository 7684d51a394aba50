/**
 * Linked records in the place of their ids, and tables of which only some fields are read.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { attachments } from "../../../../src/layers/sources/tables/AirtableClient.ts"
import * as TableSource from "../../../../src/layers/sources/tables/TableSource.ts"
import { type PageRequest, TableSourceClient } from "../../../../src/services/TableSourceClient.ts"
import * as TableSourceClientMemory from "../../../../src/testing/TableSourceClientMemory.ts"
import { textsOf } from "../../../support/warnings.ts"

type Options = Partial<Parameters<typeof TableSource.make>[0]>

/** The content of a file is the end of its link; a link with `expired` in it is no longer valid. */
const files = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) =>
    Effect.succeed(
      HttpClientResponse.fromWeb(
        request,
        new Response(request.url.at(-1), { status: request.url.includes("expired") ? 410 : 200 })
      )
    )
  )
)

const run = Effect.provide(Layer.merge(NodeContext.layer, files))

/** Two objects and two makers; the first maker is linked to the second. */
const setUp = (
  options: Options = {},
  change: (
    memory: TableSourceClientMemory.TableSourceClientMemory
  ) => Partial<typeof TableSourceClient.Service> = () => ({})
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const memory = yield* TableSourceClientMemory.make({ attachments, changes: true, pageSize: 1 })
    const { requests, setTable } = memory
    yield* setTable("Objects", [
      { id: "rec1", fields: { Name: "Bell", Maker: ["recB", "recA"] } },
      { id: "rec2", fields: { Name: "Vase" } }
    ])
    yield* setTable("Makers", [
      { id: "recA", fields: { Name: "Ada", Teacher: ["recB"] } },
      { id: "recB", fields: { id: 7, Name: "Ben" } }
    ])
    const source = yield* TableSource.make({
      id: "exhibits",
      tables: ["Objects"],
      links: { Maker: "Makers" },
      ...options
    }).pipe(Effect.provideService(TableSourceClient, { ...memory.client, ...change(memory) }))
    let directory = ""
    const fetch = Effect.gen(function* () {
      directory = yield* fs.makeTempDirectoryScoped()
      return yield* source.fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    })
    const saved = (table: string) =>
      Effect.map(
        Effect.suspend(() => fs.readFileString(`${directory}/${table}.json`)),
        (text): unknown => JSON.parse(text)
      )
    return {
      ...memory,
      source,
      fetch,
      saved,
      file: (path: string) => Effect.suspend(() => fs.readFileString(`${directory}/${path}`)),
      fetched: (table: string) => Effect.zipRight(fetch, saved(table)),
      /** The tables whose pages were read. */
      read: Effect.map(requests, (all) => all.map(({ table }) => table))
    }
  })

const ada = { id: "recA", Name: "Ada", Teacher: ["recB"] }
const ben = { id: "recB", id_: 7, Name: "Ben" }

describe("linked records", () => {
  it.scoped("replace their ids in the same order, and keep their own links as ids", () =>
    Effect.gen(function* () {
      const { fetched, read } = yield* setUp()
      expect(yield* fetched("Objects")).toEqual([
        { id: "rec1", Name: "Bell", Maker: [ben, ada] },
        { id: "rec2", Name: "Vase" }
      ])
      expect(yield* read).toEqual(["Makers", "Makers", "Objects", "Objects"])
    }).pipe(run)
  )

  it.scoped("are read once if their table is saved, too, and may be in the same table", () =>
    Effect.gen(function* () {
      const { fetched, read, saved } = yield* setUp({
        tables: ["Objects", "Makers"],
        links: { Maker: "Makers", Teacher: "Makers" }
      })
      expect(yield* fetched("Objects")).toMatchObject([{ Maker: [ben, ada] }, {}])
      expect(yield* saved("Makers")).toEqual([{ ...ada, Teacher: [ben] }, ben])
      expect(yield* read).toEqual(["Makers", "Makers", "Objects", "Objects"])
    }).pipe(run)
  )

  it.scoped("stay ids with a warning if their table does not have them", () =>
    Effect.gen(function* () {
      const { fetch, saved, setTable } = yield* setUp({ defaultView: "Grid view" })
      yield* setTable("Objects", [
        { id: "rec1", fields: { Maker: ["recA", "recX"] } },
        { id: "rec2", fields: { Maker: ["recX"] } }
      ])
      expect(textsOf((yield* fetch).warnings)).toEqual([
        'Table "Objects": the field "Maker" has 2 ids that no record of "Makers" has; kept as they are (recX)'
      ])
      expect(yield* saved("Objects")).toEqual([
        { id: "rec1", Maker: [ada, "recX"] },
        { id: "rec2", Maker: ["recX"] }
      ])
    }).pipe(run)
  )

  it.scoped("are read again from the first page if their list has expired", () =>
    Effect.gen(function* () {
      const forgotten: Array<PageRequest> = []
      const { fetched } = yield* setUp({}, ({ client, expireCursors }) => ({
        listPage: (request) =>
          Effect.suspend(() => {
            const isFirst =
              request.table === "Makers" && request.cursor !== undefined && forgotten.length === 0
            if (isFirst) forgotten.push(request)
            return Effect.zipRight(isFirst ? expireCursors : Effect.void, client.listPage(request))
          })
      }))
      expect(yield* fetched("Objects")).toMatchObject([{ Maker: [ben, ada] }, {}])
      expect(forgotten).toHaveLength(1)
    }).pipe(run)
  )

  it.scoped("fail the fetch if two of their columns would be saved as one", () =>
    Effect.gen(function* () {
      const { fetch, setTable } = yield* setUp()
      yield* setTable("Makers", [{ id: "recA", fields: { id: 1, id_: 2 } }])
      expect((yield* Effect.flip(fetch)).message).toContain('Table "Makers": the columns "id" and "id_"')
    }).pipe(run)
  )

  it.scoped("fail the fetch if their table does not exist, and the message names the option", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({ links: { Maker: "Nobody" } })
      const { message } = yield* Effect.flip(fetch)
      for (const words of ['Table "Nobody"', "no such table", '"links"']) expect(message).toContain(words)
    }).pipe(run)
  )

  it.scoped("have their files downloaded, and expired links read again in their own table", () =>
    Effect.gen(function* () {
      const photo = (url: string) => ({
        id: "att1",
        filename: "ada.png",
        url: `https://files.example/${url}`
      })
      const maker = (url: string) => [
        { id: "recA", fields: { url: "x", filename: "y", Photo: [photo(url)] } }
      ]
      const { fetch, file, requests, saved, setTable } = yield* setUp({}, ({ client, setTable }) => ({
        readRecord: (request) =>
          Effect.zipRight(setTable("Makers", maker("fresh/1")), client.readRecord(request))
      }))
      yield* setTable("Objects", [{ id: "rec1", fields: { Maker: ["recA"] } }])
      yield* setTable("Makers", maker("expired/1"))
      const first = yield* fetch
      const localPath = "attachments/att1/ada.png"
      expect(first.attachments).toMatchObject({ total: 1 })
      expect(yield* saved("Objects")).toMatchObject([{ Maker: [{ id: "recA", Photo: [{ localPath }] }] }])
      expect(yield* file(localPath)).toBe("1")
      expect((yield* requests).at(-1)).toEqual({ table: "Makers", recordId: "recA" })
      expect((yield* fetch).fingerprint).toBe(first.fingerprint)
      yield* setTable("Makers", [{ id: "recA", fields: { url: "x", filename: "y", Name: "Ada" } }])
      const second = yield* fetch
      yield* setTable("Makers", [{ id: "recA", fields: { url: "x", filename: "y", Name: "Eve" } }])
      expect(new Set([first, second, yield* fetch].map(({ fingerprint }) => fingerprint)).size).toBe(3)
    }).pipe(run)
  )

  it.scoped("are checked as a list if a list is expected", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({ expect: { Objects: { fields: { Maker: "list?", Name: "text" } } } })
      expect(yield* fetch).toMatchObject({ records: 2 })
    }).pipe(run)
  )
})

describe("the option fields", () => {
  it.scoped("limits the fields to read, of all tables or of one table", () =>
    Effect.gen(function* () {
      const all = yield* setUp({ fields: ["Maker"] })
      expect(yield* all.fetched("Objects")).toEqual([{ id: "rec1", Maker: [ben, ada] }, { id: "rec2" }])
      const some = yield* setUp({ fields: { Makers: ["Name"] } })
      expect(yield* some.fetched("Objects")).toEqual([
        {
          id: "rec1",
          Name: "Bell",
          Maker: [
            { id: "recB", Name: "Ben" },
            { id: "recA", Name: "Ada" }
          ]
        },
        { id: "rec2", Name: "Vase" }
      ])
    }).pipe(run)
  )

  it.scoped("fails the fetch if a field does not exist", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp({ links: {}, fields: ["Name", "Title"] })
      expect((yield* Effect.flip(fetch)).message).toContain('Table "Objects": there is no field "Title"')
    }).pipe(run)
  )

  it.effect.each<{ readonly options: Options; readonly paths: ReadonlyArray<string> }>([
    { options: { fields: ["Name"] }, paths: ["links.Maker"] },
    { options: { links: { Maker: "" } }, paths: ["links.Maker"] },
    { options: { fields: { Rooms: ["Name"] } }, paths: ["fields.Rooms"] },
    { options: { fields: [] }, paths: ["fields"] },
    {
      options: { fields: ["Maker"], expect: { Objects: { fields: { Maker: "list", Name: "text" } } } },
      paths: ["expect.Objects.fields.Name"]
    }
  ])("is rejected if it is invalid or contradicts the links: $paths", ({ options, paths }) =>
    Effect.gen(function* () {
      const { issues } = yield* Effect.flip(
        TableSource.make({ id: "exhibits", tables: ["Objects"], links: { Maker: "Makers" }, ...options })
      ).pipe(Effect.scoped)
      expect(issues.map(({ path }) => path)).toEqual(paths)
    }).pipe(run, Effect.provide(TableSourceClientMemory.layer({})))
  )
})
