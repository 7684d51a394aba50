/**
 * Finding out what a fetch would change, without changing it.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { attachments } from "../../../src/layers/sources/tables/AirtableClient.ts"
import * as TableSource from "../../../src/layers/sources/tables/TableSource.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ContentCheck } from "../../../src/services/ContentCheck.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { type TableRecord, TableSourceClient } from "../../../src/services/TableSourceClient.ts"
import * as TableSourceClientMemory from "../../../src/testing/TableSourceClientMemory.ts"
import { fetch, follow, names, readManifest, services } from "../../support/content.ts"

const noChanges = { added: 0, changed: 0, removed: 0 }

const check = Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: "content.check" }))

/** Every attachment has a file of one byte. */
const oneByteFiles = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, new Response("x", { status: 200 })))
  )
)

const run = Effect.provide(Layer.merge(services("persistent"), oneByteFiles))

const photo = (id: string, signature: string) => ({
  id,
  url: `https://files.example/${signature}`,
  filename: "a.png"
})

const setUp = Effect.gen(function* () {
  const memory = yield* TableSourceClientMemory.make({ attachments, pageSize: 2 })
  const source = yield* TableSource.make({
    id: "exhibits",
    tables: ["Objects"],
    keyValueTables: ["Settings"],
    expect: { Settings: { fields: { title: "text" } } }
  }).pipe(Effect.provideService(TableSourceClient, memory.client))
  yield* Content.fromSources({}, [source])
  const settings = (values: Readonly<Record<string, string>>) =>
    memory.setTable(
      "Settings",
      Object.entries(values).map(([key, value], index) => ({ id: `set${index}`, fields: { key, value } }))
    )
  const objects = (fields: Readonly<Record<string, TableRecord["fields"]>>) =>
    memory.setTable(
      "Objects",
      Object.entries(fields).map(([id, fields]) => ({ id, fields }))
    )
  return { objects, settings }
})

const filesSource = (files: () => Readonly<Record<string, string>>) =>
  Effect.map(
    FileSystem.FileSystem,
    (fs): ContentSource => ({
      id: "files",
      fetch: ({ directory }) =>
        Effect.forEach(Object.entries(files()), ([name, text]) =>
          fs.writeFileString(`${directory}/${name}`, text)
        ).pipe(
          Effect.mapBoth({
            onFailure: (cause) => new SourceError({ source: "files", cause }),
            onSuccess: () => ({
              fingerprint: JSON.stringify(files()),
              records: 0,
              bytes: 0,
              warnings: ["odd"]
            })
          })
        )
    })
  )

describe("a check", () => {
  it.scoped("reports what would change, and promotes and publishes nothing", () =>
    Effect.gen(function* () {
      const { objects, settings } = yield* setUp
      const events = yield* follow
      const { state } = yield* ControllerState
      yield* settings({ title: "Kept", "rooms[0]": "Kitchen" })
      yield* objects({ rec1: { title: "A bell", picture: [photo("att1", "1")] }, rec2: {}, rec3: {} })
      expect(yield* check).toEqual({
        sources: [
          {
            sourceId: "exhibits",
            changed: true,
            records: 3,
            values: 1
          }
        ],
        documents: [
          {
            sourceId: "exhibits",
            document: "Objects",
            path: "Objects.json",
            added: 3,
            changed: 0,
            removed: 0,
            records: [
              { id: "rec1", name: "A bell", change: "added" },
              { id: "rec2", change: "added" },
              { id: "rec3", change: "added" }
            ],
            more: 0
          },
          expect.objectContaining({ document: "Settings", added: 2, changed: 0, removed: 0 })
        ],
        files: {
          added: 1,
          changed: 0,
          removed: 0,
          list: [
            { sourceId: "exhibits", path: expect.stringMatching(/^attachments\/.*\.png$/), change: "added" }
          ],
          more: 0
        }
      })
      expect(yield* readManifest).toEqual({ status: "missing" })
      yield* fetch
      yield* events.until("content:fetch:done")
      const before = yield* Effect.all([readManifest, state])
      expect(yield* check).toEqual({
        sources: [
          {
            sourceId: "exhibits",
            changed: false,
            records: 3,
            values: 1
          }
        ],
        documents: [],
        files: { ...noChanges, list: [], more: 0 }
      })

      // With a new signature, the first record counts as unchanged.
      yield* objects({
        rec4: { picture: [photo("att2", "2")] },
        rec1: { title: "A bell", picture: [photo("att1", "3")] },
        rec3: { title: "A tin" }
      })
      yield* settings({ title: "Lost" })
      expect(yield* check).toMatchObject({
        documents: [
          {
            document: "Objects",
            added: 1,
            changed: 1,
            removed: 1,
            records: [
              { id: "rec3", change: "changed", fields: [{ field: "title", to: '"A tin"' }] },
              { id: "rec4", change: "added" },
              { id: "rec2", change: "removed" }
            ]
          },
          { document: "Settings", added: 0, changed: 1, removed: 1 }
        ],
        files: { added: 1, changed: 0, removed: 0 }
      })
      yield* settings({ titel: "Lost" })
      expect((yield* Effect.flip(check)).message).toContain('"titel" is new: was it renamed?')
      expect(yield* Effect.all([readManifest, state])).toEqual(before)
      yield* settings({ title: "Lost" })
      yield* fetch
      // Events of the checks would come first.
      expect(names(yield* events.until("content:fetch:done"))[0]).toBe("content:fetch:start")
    }).pipe(run)
  )

  it.scoped("compares the files of any source", () =>
    Effect.gen(function* () {
      let files: Readonly<Record<string, string>> = { a: "1", b: "1", c: "1" }
      yield* Content.fromSources({}, [yield* filesSource(() => files)])
      yield* fetch
      files = { b: "2", c: "1", d: "1", e: "1" }
      expect(yield* check).toEqual({
        sources: [
          {
            sourceId: "files",
            changed: true,
            records: 0,
            warnings: [{ code: "content:note", subject: "files", text: "odd" }]
          }
        ],
        documents: [],
        files: {
          added: 2,
          changed: 1,
          removed: 1,
          list: [
            { sourceId: "files", path: "b", change: "changed" },
            { sourceId: "files", path: "d", change: "added" },
            { sourceId: "files", path: "e", change: "added" },
            { sourceId: "files", path: "a", change: "removed" }
          ],
          more: 0
        }
      })
    }).pipe(run)
  )

  it.scoped("names sources of the latest version that are no longer configured", () =>
    Effect.gen(function* () {
      const lamps = yield* filesSource(() => ({ "a.txt": "1" }))
      const tours = { ...lamps, id: "tours" }
      yield* Effect.scoped(Effect.zipRight(Content.fromSources({}, [lamps, tours]), fetch))
      yield* Content.fromSources({}, [{ ...tours, id: "walks" }, lamps])
      expect(yield* check).toMatchObject({
        sources: [
          { sourceId: "walks", changed: true },
          { sourceId: "files", changed: false },
          { sourceId: "tours", changed: true, removed: true }
        ],
        files: {
          list: [
            { sourceId: "walks", path: "a.txt", change: "added" },
            { sourceId: "tours", path: "a.txt", change: "removed" }
          ]
        }
      })
    }).pipe(run)
  )

  it.scoped("fails as a fetch does if a file cannot be stored on all systems", () =>
    Effect.gen(function* () {
      yield* Content.fromSources({}, [yield* filesSource(() => ({ "photo?.jpg": "1" }))])
      const refused = "files.photo?.jpg: must be a relative path"
      expect((yield* Effect.flip(fetch)).message).toContain(refused)
      expect((yield* Effect.flip(check)).message).toContain(refused)
    }).pipe(run)
  )

  const rows = FastCheck.dictionary(
    FastCheck.constantFrom("rec1", "rec2", "rec3", "rec4", "rec5"),
    FastCheck.record(
      { "  {": FastCheck.constantFrom("}\n  },", 1), b: FastCheck.jsonValue({ maxDepth: 2 }) },
      { requiredKeys: [] }
    )
  )

  it.scoped.prop(
    "counts the records that differ, whatever is in them",
    [rows, rows],
    ([before, after]) =>
      Effect.gen(function* () {
        const { objects, settings } = yield* setUp
        const saved = (cells: object): TableRecord["fields"] => JSON.parse(JSON.stringify(cells))
        const all = (rows: Readonly<Record<string, object>>) =>
          objects(Object.fromEntries(Object.entries(rows).map(([id, cells]) => [id, saved(cells)])))
        yield* settings({ title: "Kept" })
        yield* all(before)
        yield* fetch
        yield* all(after)
        yield* settings({ title: "Lost" })
        const kept = Object.keys(after).filter((id) => Object.hasOwn(before, id))
        const { documents } = Schema.decodeUnknownSync(ContentCheck)(yield* check)
        const { added, changed, removed } =
          documents.find(({ document }) => document === "Objects") ?? noChanges
        expect({ added, changed, removed }).toEqual({
          added: Object.keys(after).length - kept.length,
          changed: kept.filter((id) => canonical(before[id]) !== canonical(after[id])).length,
          removed: Object.keys(before).length - kept.length
        })
        expect(documents).toContainEqual(expect.objectContaining({ document: "Settings", changed: 1 }))
      }).pipe(run),
    { fastCheck: { numRuns: 15 } }
  )
})

/** Equal for objects that differ only in the order of their keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part
  )
