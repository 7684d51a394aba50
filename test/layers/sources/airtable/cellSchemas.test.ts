/**
 * The types of tables of a hosted base, as its metadata says.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { tableSource } from "../../../../src/layers/sources/airtable/AirtableSource.ts"
import { documentShape } from "../../../../src/layers/types/contentTypes.ts"
import { type DocumentShape, declaration } from "../../../../src/layers/types/declaration.ts"
import { valueShape } from "../../../../src/layers/types/Shape.ts"
import type { DocumentSchema } from "../../../../src/services/ContentSource.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"

const field = (name: string, type: string, result?: string) => ({
  id: `fld${name}`,
  name,
  type,
  ...(result === undefined ? {} : { options: { isValid: true, result: { type: result } } })
})

const tables = [
  {
    id: "tblObjects",
    name: "Objects",
    primaryFieldId: "fldtitle",
    fields: [
      field("title", "singleLineText"),
      field("year", "number"),
      field("shown", "checkbox"),
      field("tags", "multipleSelects"),
      field("photo", "multipleAttachments"),
      field("age", "formula", "number"),
      field("kind", "multipleLookupValues", "singleSelect"),
      field("pictures", "multipleLookupValues", "multipleAttachments"),
      field("editor", "lastModifiedBy"),
      field("own words", "aiText"),
      field("id", "autoNumber"),
      field("maker", "multipleRecordLinks"),
      field("not read", "number")
    ]
  },
  {
    id: "tblMakers",
    name: "Makers",
    fields: [field("name", "singleLineText"), field("teacher", "multipleRecordLinks")]
  }
]

/** What is declared for a source that asks this server, and what it warns of. */
const declared = (answer: ScriptedServer.Answer, seen: ReadonlyMap<string, DocumentShape> = new Map()) =>
  Effect.gen(function* () {
    const { url } = yield* ScriptedServer.make(answer)
    const warnings: Array<string> = []
    const logger = Logger.make(({ message }) => void warnings.push(String(message)))
    const { make } = tableSource({
      id: "museum",
      baseId: "appMuseum",
      apiKey: "key",
      endpointUrl: url,
      tables: ["tblObjects", "Rooms"],
      keyValueTables: ["Settings"],
      fields: {
        tblObjects: tables
          .flatMap(({ fields }) => fields.map(({ name }) => name))
          .filter((name) => name !== "not read")
      },
      links: { tblObjects: { maker: "Makers" } },
      expect: {
        tblObjects: { fields: { title: "text", photo: "attachments", id: "number" } },
        Settings: { fields: { title: "text?" } }
      }
    })
    const { schema = Effect.succeed<Readonly<Record<string, DocumentSchema>>>({}) } = yield* make
    const schemas = yield* Effect.provide(schema, Logger.replace(Logger.defaultLogger, logger))
    const documents = Object.entries(schemas).map(
      ([name, known]) => [name, documentShape(known, seen.get(name))] as const
    )
    return { text: declaration(new Map([["museum", new Map(documents)]])), warnings }
  }).pipe(
    Effect.provide(Layer.mergeAll(NodeContext.layer, NodeHttpClient.layerUndici, RequestPacingMemory.layer))
  )

it.scoped("the type of a table has all fields of the base, and the expected ones are not optional", () =>
  Effect.gen(function* () {
    const { text, warnings } = yield* declared(ScriptedServer.json(200, { tables }))
    expect(warnings).toEqual([])
    expect(text).toContain(`    readonly museum: {
      readonly Rooms: ReadonlyArray<{
        readonly id: string
      }>
      readonly Settings: {
        readonly title?: string | null
      }
      readonly tblObjects: ReadonlyArray<{
        readonly id: string
        readonly age?: number
        readonly editor?: {
          readonly id: string
          readonly email?: string
          readonly name?: string
        }
        readonly id_: number
        readonly kind?: ReadonlyArray<string | null>
        readonly maker?: ReadonlyArray<{
          readonly id: string
          readonly name?: string
          readonly teacher?: ReadonlyArray<string>
        }>
        readonly "own words"?: unknown
        readonly photo: ReadonlyArray<Attachment>
        readonly pictures?: ReadonlyArray<Attachment>
        readonly shown?: boolean
        readonly tags?: ReadonlyArray<string>
        readonly title: string
        readonly year?: number
      }>
`)
    const seen = valueShape({ id: "rec1", former: "x", "own words": { value: "y" }, title: "Bell" })
    const again = yield* declared(
      ScriptedServer.json(200, { tables }),
      new Map([["tblObjects", { holds: "records", shape: seen }]])
    )
    expect(again.text).toBe(
      text.replace(
        `readonly "own words"?: unknown`,
        `readonly "own words"?: {\n          readonly value?: string\n        }`
      )
    )
  })
)

it.scoped(
  "the type of a table has the expected fields where the token may not read the schema of the base",
  () =>
    Effect.gen(function* () {
      const { text, warnings } = yield* declared(
        ScriptedServer.json(403, {
          error: { type: "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND", message: "No." }
        })
      )
      expect(warnings).toEqual([expect.stringContaining("schema.bases:read")])
      expect(text).toContain(`      readonly tblObjects: ReadonlyArray<{
        readonly id: string
        readonly id_: number
        readonly photo: ReadonlyArray<Attachment>
        readonly title: string
      }>
`)
    })
)
