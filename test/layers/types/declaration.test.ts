/**
 * What is saved is of the type that is declared for it.
 */
import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { documentShape } from "../../../src/layers/types/contentTypes.ts"
import { type DocumentShape, declaration } from "../../../src/layers/types/declaration.ts"
import { either, nothing, type Shape, valueShape } from "../../../src/layers/types/Shape.ts"
import type { DocumentSchema } from "../../../src/services/ContentSource.ts"
import { compileModules } from "../../support/pageTypes.ts"

const recordsShape = (records: ReadonlyArray<unknown>): DocumentShape => ({
  holds: "records",
  shape: records.reduce<Shape>((shape, record) => either(shape, valueShape(record)), nothing)
})

const declared = (name: string, document: DocumentShape) =>
  declaration(new Map([["exhibits", new Map([[name, document]])]]))

/** The type of a table, in one line. */
const typeOf = (document: DocumentShape): string =>
  /readonly Objects: (.*)\n {4}}\n {2}}\n}/s.exec(declared("Objects", document))?.[1]?.replace(/\s+/g, " ") ??
  ""

describe("a type from content", () => {
  it("has optional fields, except for the id that all records have", () => {
    const records = [
      { id: "1", title: "Bell", year: 1862, tags: ["brass"], note: null },
      { id: "2", title: "Barometer", year: "about 1800", tags: [], size: { width: 4 } }
    ]
    expect(typeOf(recordsShape(records))).toBe(
      "ReadonlyArray<{ readonly id: string readonly note?: unknown readonly size?: { readonly width?: number } readonly tags?: ReadonlyArray<string> readonly title?: string readonly year?: string | number }>"
    )
    expect(typeOf(recordsShape([...records, { title: "Clock" }]))).toContain("readonly id?: string")
  })

  it("is a file if it has a path, with its other fields", () => {
    const sizes = [{ localPath: "images/a.webp", width: 640, height: 480, type: "image/webp" }]
    const attachment = {
      id: "att1",
      filename: "a.jpg",
      url: "https://…",
      localPath: "attachments/a.jpg",
      sizes
    }
    const media = { url: "https://…", alt: "A bell", localPath: "media/b.jpg" }
    const { url, ...missing } = media
    expect(
      typeOf(recordsShape([{ photo: [attachment], image: media, maybe: media }, { maybe: { url } }]))
    ).toBe(
      "ReadonlyArray<{ readonly image?: (PictureFile & { readonly alt?: string readonly url?: string }) readonly maybe?: { readonly alt?: string readonly localPath?: string readonly url?: string } readonly photo?: ReadonlyArray<Attachment> }>"
    )
    expect(missing).toEqual({ alt: "A bell", localPath: "media/b.jpg" })
  })

  it("is one value if it is not a list of records", () => {
    expect(typeOf({ holds: "value", shape: valueShape({ title: "Kept", "slide seconds": 16 }) })).toBe(
      '{ readonly "slide seconds"?: number readonly title?: string }'
    )
    expect(typeOf({ holds: "value", shape: valueShape(1) })).toBe("number")
    expect(typeOf({ holds: "value", shape: valueShape(null) })).toBe("unknown")
    expect(typeOf({ holds: "value", shape: valueShape({}) })).toBe("{ readonly [key: string]: unknown }")
  })

  it("has keys and no fields if there are too many names", () => {
    const texts = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`key ${index}`, index]))
    expect(typeOf({ holds: "value", shape: valueShape({ texts }) })).toBe(
      "{ readonly texts?: { readonly [key: string]: unknown } }"
    )
  })
})

describe("a type from a schema", () => {
  const table = (
    schema: Schema.Schema.AnyNoContext,
    seen?: DocumentShape,
    more: Partial<DocumentSchema> = {}
  ) => typeOf(documentShape({ schemas: [schema], ...more }, seen))

  it("is required, whatever the content has", () => {
    const schema = Schema.Struct({
      title: Schema.String,
      kind: Schema.Literal("bell", "clock"),
      since: Schema.optional(Schema.DateFromString),
      any: Schema.Unknown,
      part: Schema.UndefinedOr(Schema.Struct({ width: Schema.NumberFromString })),
      list: Schema.Array(Schema.NullOr(Schema.Int))
    })
    const expected =
      'ReadonlyArray<{ readonly any: unknown readonly kind: "bell" | "clock" readonly list: ReadonlyArray<number | null> readonly part?: { readonly width: string } readonly since?: string readonly title: string }>'
    expect(table(schema)).toBe(expected)
    const seen = recordsShape([{ title: "a", kind: "bell", part: { width: "4", more: 1 }, list: [] }])
    expect(table(schema, seen)).toBe(expected)
    expect(table(schema, recordsShape([{ any: 1, own: "x" }]))).toBe(
      expected
        .replace("any: unknown", "any: number")
        .replace("readonly part", "readonly own?: string readonly part")
    )
    expect(table(schema, recordsShape([{ own: "x" }]), { isComplete: true })).toBe(expected)
  })

  it("is replaced if all the content has another form", () => {
    const schema = Schema.Struct({ year: Schema.Number, image: Schema.String })
    const seen = recordsShape([{ year: "1862", image: { url: "https://…", localPath: "media/a.jpg" } }])
    expect(table(schema, seen)).toBe(
      "ReadonlyArray<{ readonly image: (PictureFile & { readonly url?: string }) readonly year: string }>"
    )
  })

  it("is a list of records by default, and one value if the content has that", () => {
    const schema = Schema.Struct({ title: Schema.String })
    const value: DocumentShape = { holds: "value", shape: valueShape({ title: "Kept", seconds: 8 }) }
    expect(table(schema)).toBe("ReadonlyArray<{ readonly title: string }>")
    expect(table(schema, value)).toBe("{ readonly seconds?: number readonly title: string }")
    expect(table(schema, undefined, { holds: "value" })).toBe("{ readonly title: string }")
  })

  it("may be recursive", () => {
    interface Part {
      readonly parts: ReadonlyArray<Part>
    }
    const Part: Schema.Schema<Part> = Schema.Struct({ parts: Schema.Array(Schema.suspend(() => Part)) })
    expect(table(Part)).toContain("readonly parts: ReadonlyArray<unknown>")
  })
})

const names = FastCheck.oneof(
  FastCheck.constantFrom("id", "__proto__", "localPath", "sizes", "filename", "readonly", "new"),
  FastCheck.constantFrom('"', "'", "\\", "`$", "*/", "\u2028", "\u202e", "\ud800", "a b", "1", "-1", "ß", ""),
  FastCheck.string({ maxLength: 4, unit: "binary" })
)

const { json } = FastCheck.letrec((tie) => ({
  json: FastCheck.oneof(
    { maxDepth: 4 },
    FastCheck.constantFrom(null, true, false, 0, 1.5, "", "text", "1"),
    FastCheck.array(tie("json"), { maxLength: 3 }),
    FastCheck.dictionary(names, tie("json"), { maxKeys: 4, noNullPrototype: true })
  )
}))

const records = FastCheck.array(FastCheck.dictionary(names, json, { maxKeys: 5, noNullPrototype: true }), {
  minLength: 1,
  maxLength: 4
})

/** JSON as an expression: `__proto__` is a field like any other. */
const expression = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(expression).join(", ")}]`
    : typeof value === "object" && value !== null
      ? `{${Object.entries(value)
          .map(([name, part]) => `[${JSON.stringify(name)}]: ${expression(part)}`)
          .join(", ")}}`
      : JSON.stringify(value)

it("every value conforms to its declared type", { timeout: 120_000 }, () => {
  const tables = FastCheck.sample(FastCheck.tuple(names, records), { numRuns: 300, seed: 26 })
  const values = FastCheck.sample(json, { numRuns: 300, seed: 26 })
  const documents = new Map<string, DocumentShape>([
    ...tables.map(([name, records], index) => [`${index} ${name}`, recordsShape(records)] as const),
    ...values.map((value, index) => [`v${index}`, { holds: "value", shape: valueShape(value) }] as const)
  ])
  const uses = [
    ...tables.map(([name, records], index) => [`${index} ${name}`, records] as const),
    ...values.map((value, index) => [`v${index}`, value] as const)
  ].map(
    ([name, value], index) =>
      `export const used${index}: Content["exhibits"][${JSON.stringify(name)}] = ${expression(value)}`
  )
  const page = ['import type { Content } from "vitrine/client"', ...uses, ""].join("\n")
  const text = declaration(new Map([["exhibits", documents]]))
  expect(compileModules(text, { page })).toBe("")
  expect(declaration(new Map([["exhibits", new Map([...documents].reverse())]]))).toBe(text)
})
