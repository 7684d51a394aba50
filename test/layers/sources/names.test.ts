/**
 * Names that others have chosen: of documents, fields and keys, including names that every object inherits.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import { folderSource } from "../../../src/layers/sources/folder/folderSource.ts"
import { source } from "../../../src/layers/sources/function/source.ts"
import { jsonSource } from "../../../src/layers/sources/json/jsonSource.ts"
import * as TableSource from "../../../src/layers/sources/tables/TableSource.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { TableSourceClient } from "../../../src/services/TableSourceClient.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { TableSourceClientMemory } from "../../../src/testing.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)

const ofObjects = FastCheck.constantFrom("constructor", "__proto__", "toString", "hasOwnProperty", "valueOf")
const name = FastCheck.oneof(ofObjects, FastCheck.string({ unit: "grapheme", maxLength: 8 }))
const json = FastCheck.dictionary(
  name,
  FastCheck.oneof(FastCheck.string(), FastCheck.dictionary(name, FastCheck.boolean(), { maxKeys: 2 })),
  { maxKeys: 4 }
)

/** As in JSON, in any order: `toEqual` ignores `__proto__`. */
const entriesOf = (value: unknown): unknown =>
  typeof value !== "object" || value === null
    ? value
    : Array.isArray(value)
      ? value.map(entriesOf)
      : Object.entries(value)
          .map(([name, part]) => [name, entriesOf(part)])
          .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1))

/** The content of a document that a fetch saves. */
const saved = ({ fetch }: Pick<ContentSource, "fetch">, document: string) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    const { value } = yield* withAdvancingClock(
      fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    )
    expect(Object.keys(value.documents ?? {})).toContain(`${document}.json`)
    const text = yield* fileSystem.readFileString(`${directory}/${document}.json`)
    return entriesOf(JSON.parse(text))
  })

const few = { fastCheck: { numRuns: 10 } }

describe("a field may have any name", () => {
  it.scoped.prop(
    "in a source from a function",
    [json, ofObjects],
    ([record, document]) =>
      Effect.gen(function* () {
        const own = yield* source({ id: "own", fetch: () => Object.fromEntries([[document, [record]]]) }).make
        expect(yield* saved(own, document)).toEqual(entriesOf([record]))
      }).pipe(Effect.provide(environment)),
    few
  )

  it.scoped.prop(
    "in JSON from a server",
    [json],
    ([record]) =>
      Effect.gen(function* () {
        const server = yield* ScriptedServer.make(ScriptedServer.json(200, [record]))
        const own = yield* jsonSource({ id: "own", documents: { constructor: server.url } }).make
        expect(yield* saved(own, "constructor")).toEqual(entriesOf([record]))
      }).pipe(Effect.provide(environment)),
    few
  )

  it.scoped.prop(
    "in JSON in a folder",
    [json, ofObjects],
    ([record, document]) =>
      Effect.gen(function* () {
        const { directory } = yield* temporaryFolder({ [`${document}.json`]: JSON.stringify([record]) })
        const own = yield* folderSource({ id: "own", directory }).make
        expect(yield* saved(own, document)).toEqual(entriesOf([record]))
      }).pipe(Effect.provide(environment)),
    few
  )

  it.scoped.prop(
    "in a table, whose own name may be any",
    [FastCheck.dictionary(ofObjects, FastCheck.string({ minLength: 1 })), ofObjects],
    ([fields, table]) =>
      Effect.gen(function* () {
        const { client, setTable } = yield* TableSourceClientMemory.make()
        yield* setTable(table, [{ id: "rec1", fields }])
        const own = yield* TableSource.make({ id: "own", tables: [table] }).pipe(
          Effect.provideService(TableSourceClient, client)
        )
        expect(yield* saved(own, table)).toEqual(
          entriesOf([Object.fromEntries([["id", "rec1"], ...Object.entries(fields)])])
        )
      }).pipe(Effect.provide(environment)),
    few
  )
})
