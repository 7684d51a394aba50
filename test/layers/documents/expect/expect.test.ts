/**
 * The expectations about tables, and fetches that do not meet them.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { FieldType, FullFieldType } from "../../../../src/layers/documents/DocumentConfig.ts"
import { fieldTest } from "../../../../src/layers/documents/expect/ExpectOptions.ts"
import { attachments } from "../../../../src/layers/sources/tables/AirtableClient.ts"
import * as TableSource from "../../../../src/layers/sources/tables/TableSource.ts"
import { decode, type TablesConfig } from "../../../../src/layers/sources/tables/TableSourceOptions.ts"
import type { PreviousContent } from "../../../../src/services/ContentSource.ts"
import { type TableRecord, TableSourceClient } from "../../../../src/services/TableSourceClient.ts"
import * as TableSourceClientMemory from "../../../../src/testing/TableSourceClientMemory.ts"
import { withLog } from "../../../support/logged.ts"
import { textsOf } from "../../../support/warnings.ts"

const options = { id: "exhibits", tables: ["Objects"], keyValueTables: ["Settings"] }

/** Fails if a rejected version is downloaded. */
const noDownloads = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make(() => Effect.dieMessage("nothing is to be downloaded"))
)

/** Fetches tables in memory, each time into its own folder; the last fetch is the last version. */
const setUp = (config: Partial<TablesConfig>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const memory = yield* TableSourceClientMemory.make({ attachments, pageSize: 2 })
    const source = yield* TableSource.make({ ...options, ...config }).pipe(
      Effect.provideService(TableSourceClient, memory.client)
    )
    let previous = Option.none<PreviousContent>()

    const fetch = Effect.gen(function* () {
      const directory = yield* Effect.orDie(fs.makeTempDirectoryScoped())
      const fetched = yield* source.fetch({ directory, previous, progress: () => Effect.void })
      const files = yield* Effect.all(
        Record.map(fetched.digests ?? {}, (sha256, name) =>
          Effect.map(Effect.orDie(fs.stat(`${directory}/${name}`)), ({ size }) => ({
            size: Number(size),
            sha256
          }))
        )
      )
      previous = Option.some({ directory, files, fingerprint: Option.some(fetched.fingerprint) })
      return fetched
    })
    const rejected = Effect.map(Effect.flip(fetch), ({ violations }) => violations ?? [])
    const settings = (values: Readonly<Record<string, string>>) =>
      memory.setTable(
        "Settings",
        Object.entries(values).map(([key, value], index) => ({ id: `set${index}`, fields: { key, value } }))
      )
    const objects = (...fields: ReadonlyArray<TableRecord["fields"]>) =>
      memory.setTable(
        "Objects",
        fields.map((fields, index) => ({ id: `rec${index}`, fields }))
      )
    yield* settings({ title: "Kept" })
    return { fetch, objects, rejected, settings }
  })

const run = Effect.provide(Layer.merge(NodeContext.layer, noDownloads))

const photo = {
  id: "att1",
  url: "https://files.example/a.png?signature=secret",
  filename: "a.png",
  size: 1,
  type: "image/png"
}

describe("a cell", () => {
  const full: Readonly<Record<FullFieldType, FastCheck.Arbitrary<unknown>>> = {
    text: FastCheck.string().filter((text) => text.trim() !== ""),
    number: FastCheck.double({ noNaN: true, noDefaultInfinity: true }).chain((number) =>
      FastCheck.constantFrom<unknown>(number, String(number))
    ),
    boolean: FastCheck.constantFrom<unknown>(true, false, "true", "false", "TRUE", "FALSE"),
    date: FastCheck.date({
      min: new Date("0001-01-01"),
      max: new Date("9999-12-31"),
      noInvalidDate: true
    }).chain((date) => FastCheck.constantFrom(date.toISOString(), date.toISOString().slice(0, 10))),
    attachments: FastCheck.array(FastCheck.constant(photo), { minLength: 1 }),
    file: FastCheck.constantFrom("photos/bell.jpg", { localPath: "photos/bell.jpg" }),
    list: FastCheck.array(FastCheck.anything(), { minLength: 1 }),
    any: FastCheck.oneof(FastCheck.integer(), FastCheck.constant("x"), FastCheck.constant({}))
  }
  const types = Record.keys(full)
  const isAttachment = (item: unknown) => item === photo
  const isFile = (path: string) => path === "photos/bell.jpg"
  const accepts = (type: FieldType, cell: unknown) => fieldTest(type, { isAttachment, isFile }).accepts(cell)

  it.prop(
    "is accepted if it has the expected type, with and without a question mark behind the type",
    [FastCheck.constantFrom(...types).chain((type) => FastCheck.tuple(FastCheck.constant(type), full[type]))],
    ([[type, cell]]) => {
      expect([accepts(type, cell), accepts(`${type}?`, cell)]).toEqual([true, true])
    }
  )

  /** The last are formulas without a result, of Airtable and of spreadsheets. */
  const empty = FastCheck.constantFrom(
    ...[undefined, null, "", " \n", [], { error: "#ERROR!" }],
    ...["#N/A", "#REF!", "#NAME?", "#DIV/0!", "#BEZUG!", "#NV", "#¡VALOR!", "Loading...", "Loading…"],
    ...["NaN", "Infinity", "-Infinity"].map((specialValue) => ({ specialValue }))
  )

  it.prop(
    "may be empty only if the expected type has a question mark",
    [FastCheck.constantFrom(...types), empty],
    ([type, cell]) => {
      expect([accepts(type, cell), accepts(`${type}?`, cell)]).toEqual([false, true])
    }
  )

  it.each<readonly [FullFieldType, unknown]>([
    ["text", 5],
    ["text", ["a"]],
    ["number", "about 1815"],
    ["number", "007"],
    ["file", "photos/boat.jpg"],
    ["file", { url: "photos/bell.jpg" }],
    ["number", "Infinity"],
    ["number", { error: "no number" }],
    ["number", { specialValue: "many" }],
    ["number", "#1!"],
    ["number", "#WOW!"],
    ["boolean", "yes"],
    ["boolean", "tRUE"],
    ["boolean", 1],
    ["date", "2026-02-30"],
    ["date", "2026-13-01"],
    ["date", "2026-11-21T25:00:00Z"],
    ["date", "21.11.2026"],
    ["date", 2026],
    ["attachments", [photo, "a.png"]],
    ["attachments", "a.png"],
    ["list", "a"]
  ])("is not accepted as %s: %j", (type, cell) => {
    expect([accepts(type, cell), accepts(`${type}?`, cell)]).toEqual([false, false])
  })
})

describe("a fetch of content that is not as expected", () => {
  it.scoped("fails with the table, the first record, the field, and what was expected and found", () =>
    Effect.gen(function* () {
      const { fetch, objects } = yield* setUp({ expect: { Objects: { fields: { year: "number" } } } })
      yield* objects({ year: 1862 }, { year: "Found 1902" }, {}, { year: "about 1815" })
      const error = yield* Effect.flip(fetch)
      expect(error.message).toBe(
        'Source "exhibits": Table "Objects", record rec1 and 2 more, field "year": expected a number, found "Found 1902".'
      )
      expect(error.isTransient).toBe(false)
      expect(error.violations).toEqual([
        {
          table: "Objects",
          recordId: "rec1",
          records: 3,
          field: "year",
          expected: "a number",
          found: '"Found 1902"'
        }
      ])
    }).pipe(run)
  )

  it.scoped("reports the violations of all tables", () =>
    Effect.gen(function* () {
      const { fetch, objects, settings } = yield* setUp({
        defaultView: "Grid view",
        expect: {
          Objects: { minRecords: 2 },
          Settings: { fields: { title: "text", rooms: "list" }, minRecords: 3 }
        }
      })
      yield* objects()
      yield* settings({ title: "1984", rooms: "Kitchen" })
      expect((yield* Effect.flip(fetch)).message.split("\n")).toEqual([
        'Source "exhibits": Table "Objects": expected at least 2 records, found no records in the view "Grid view".',
        'Table "Settings": expected at least 3 keys, found 2 keys in the view "Grid view".',
        'Table "Settings", record set0, field "title": expected text, found 1984.',
        'Table "Settings", record set1, field "rooms": expected a list, found "Kitchen".'
      ])
    }).pipe(run)
  )

  it.scoped("suggests the new name of a field that was renamed", () =>
    Effect.gen(function* () {
      const { fetch, objects, rejected, settings } = yield* setUp({
        expect: {
          Objects: { fields: { Title: "text", Maker: "text?", Year: "any?", Never: "any?" } },
          Settings: { fields: { title: "text" } }
        }
      })
      const hints = Effect.map(rejected, (all) => all.map(({ field, hint }) => [field, hint]))
      yield* objects({ Photo: "A bell" })
      expect(yield* hints).toEqual([["Title", 'There is no "Title" at all: was it renamed or removed?']])
      yield* objects({ titel: "A bell" }, { titel: "A tin" })
      expect(yield* hints).toEqual([["Title", '"Title" is missing; "titel" is new: was it renamed?']])

      yield* objects({ Title: "A bell", Titled: "x", Maker: "Orle", Year: 5 }, { Title: "A tin" })
      yield* fetch
      yield* objects({ titel: "A bell", Titled: "x", Maker: "Orle" }, { titel: "A tin" })
      expect(yield* hints).toEqual([["Title", '"Title" is missing; "titel" is new: was it renamed?']])
      // A single new field counts, even if its name is not similar; an old field does not.
      yield* objects({ Name: "A bell", Maker: "Orle", Year: 5, Titled: "x" })
      expect(yield* hints).toEqual([["Title", '"Title" is missing; "Name" is new: was it renamed?']])
      yield* objects({ Titled: "A bell" })
      expect(yield* hints).toEqual([["Title", 'There is no "Title" at all: was it renamed or removed?']])

      yield* objects({ Title: "A bell", Makers: "Orle" })
      expect(yield* rejected).toEqual([
        {
          table: "Objects",
          field: "Maker",
          expected: "the field in at least one record, as in the last version",
          found: "it nowhere",
          hint: '"Maker" is missing; "Makers" is new: was it renamed?'
        }
      ])
      // No column has a similar name: the column may have been removed on purpose.
      yield* objects({ Title: "A bell", Year: 6 })
      yield* fetch
      yield* settings({ Titel: "Kept" })
      expect(yield* hints).toEqual([["title", '"title" is missing; "Titel" is new: was it renamed?']])
    }).pipe(run)
  )

  it.scoped("finds every expected key in a table of more than 1,000 names", () =>
    Effect.gen(function* () {
      const { fetch, objects, settings } = yield* setUp({
        expect: { Settings: { fields: { label: "text?" } } }
      })
      yield* objects()
      yield* settings({ label: "Room" })
      yield* fetch
      const others = Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`key${index}`, "x"]))
      yield* settings({ Label: "Rooms", ...others, label: "Room" })
      expect(yield* fetch).toMatchObject({ records: 0, values: 1 })
    }).pipe(run)
  )

  it.scoped("does not count members of Object.prototype as fields", () =>
    Effect.gen(function* () {
      const { objects, rejected } = yield* setUp({
        expect: { Objects: { fields: { constructor: "any" as const } } }
      })
      yield* objects({ title: "A bell" })
      expect((yield* rejected).map(({ field, found }) => [field, found])).toEqual([
        ["constructor", "nothing"]
      ])
    }).pipe(run)
  )

  it.scoped("reports how many records have disappeared", () =>
    Effect.gen(function* () {
      const { fetch, objects, rejected, settings } = yield* setUp({
        expect: { Objects: { maxVanishing: 0.5 }, Settings: { maxVanishing: 0 } }
      })
      const rows = [1, 2, 3, 4, 5].map((order) => ({ order, "nested {": [{ a: {} }] }))
      yield* settings({ "a[0]": "x", "a[1]": "y", b: "z" })
      yield* objects(...rows)
      yield* fetch
      yield* objects(...rows.slice(2))
      yield* fetch
      yield* objects(...rows.slice(4))
      yield* settings({ b: "z" })
      expect((yield* rejected).map(({ expected, found }) => [expected, found])).toEqual([
        ["at least 2 of the 3 records in the last version", "1 record"],
        ["at least 2 of the 2 keys in the last version", "1 key"]
      ])
    }).pipe(run)
  )

  it.scoped("reports the message of a schema, without values in lists and objects", () =>
    Effect.gen(function* () {
      const { objects, rejected, settings } = yield* setUp({
        expect: {
          Objects: {
            fields: {
              year: Schema.Int.pipe(Schema.greaterThan(1000)),
              note: Schema.UndefinedOr(Schema.String),
              picture: Schema.NonEmptyArray(Schema.Struct({ type: Schema.Literal("image/avif") })),
              throws: Schema.UndefinedOr(
                Schema.Unknown.pipe(
                  Schema.filter(() => {
                    throw new Error("a bug")
                  })
                )
              )
            }
          },
          Settings: {
            fields: Schema.Struct({ title: Schema.Literal("Kept"), rooms: Schema.Array(Schema.String) })
          }
        }
      })
      yield* objects({ year: 12, picture: [photo, photo], throws: 5 })
      yield* settings({ Title: "Kept", rooms: "Kitchen" })
      const violations = yield* rejected
      expect(violations.map(({ expected, field, found }) => [field, expected, found])).toEqual([
        ["year", "Int & greaterThan(1000)", "12"],
        ["picture[].type", '"image/avif"', '"image/png"'],
        ["throws", expect.any(String), "5"],
        ["title", '"Kept"', "nothing"],
        ["rooms", "ReadonlyArray<string>", '"Kitchen"']
      ])
      expect(JSON.stringify(violations)).not.toContain("secret")
      expect(violations[3]?.hint).toBe('"title" is missing; "Title" is new: was it renamed?')
    }).pipe(run)
  )

  it.scoped("lists ten violations and counts the others, in lines of bounded length", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 30 }, (_, index) => `\u001b[31m${"x".repeat(500)}${index}`)
      const { fetch, objects, settings } = yield* setUp({
        expect: {
          Objects: { fields: Object.fromEntries(names.map((name) => [`${name.slice(-9)}`, "text"])) },
          Settings: { fields: { title: "number", other: "any" } }
        }
      })
      const cells = Object.fromEntries(names.map((name) => [name.slice(-9), [name]]))
      yield* objects(cells, cells)
      yield* settings({ title: names.join(""), other: "x" })
      const { message, violations } = yield* Effect.flip(fetch)
      expect(violations).toHaveLength(10)
      // 20 fields of two records, and the title.
      expect(message).toContain("There are 41 more violations.")
      expect(message.length).toBeLessThan(3000)
      expect(message).not.toContain("\u001b")
    }).pipe(run)
  )

  it.scoped("does not warn of an empty document in a rejected version", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { fetch, objects, rejected } = yield* setUp({ expect: { Objects: { minRecords: 1 } } })
      yield* objects({ title: "A bell" })
      yield* fetch
      yield* objects()
      expect((yield* rejected).map(({ found }) => found)).toEqual(["no records"])
      expect(log).toEqual([])
    }).pipe(run, withLog(log))
  })

  it.scoped("does not download attachments of a rejected version", () =>
    Effect.gen(function* () {
      const { objects, rejected } = yield* setUp({
        expect: { Objects: { fields: { picture: "attachments", title: "text" } } }
      })
      yield* objects({ picture: [photo] })
      expect((yield* rejected).map(({ field }) => field)).toEqual(["title"])
    }).pipe(run)
  )
})

describe("an error of a spreadsheet", () => {
  it.scoped("counts as empty with a warning if the cell may be empty", () =>
    Effect.gen(function* () {
      const { fetch, objects, settings } = yield* setUp({
        expect: {
          Objects: { fields: { year: "number?", title: "text?" } },
          Settings: { fields: { opening: "text?" } }
        }
      })
      yield* objects(
        { year: 1862, title: "Bell" },
        { year: "#REF!", other: "#N/A" },
        { year: " #N/A", title: "#WOW!" },
        { error: "#ERROR!" }
      )
      yield* settings({ opening: "Loading…" })
      expect(textsOf((yield* fetch).warnings)).toEqual([
        'Table "Objects": "year" is an error of a spreadsheet in 2 records, "#REF!" in record rec1 first. It counts as empty, and pages show it. Correct the formula.',
        'Table "Settings": "opening" is an error of a spreadsheet in record set0: "Loading…". It counts as empty, and pages show it. Correct the formula.'
      ])
    }).pipe(run, withLog([]))
  )

  it.scoped("is refused in a cell that must have a value", () =>
    Effect.gen(function* () {
      const { fetch, objects } = yield* setUp({ expect: { Objects: { fields: { title: "text" } } } })
      yield* objects({ title: "Bell" }, { title: "#N/A" })
      expect((yield* Effect.flip(fetch)).message).toBe(
        'Source "exhibits": Table "Objects", record rec1, field "title": expected text, found "#N/A", which is an error of a spreadsheet.'
      )
    }).pipe(run)
  )
})

describe("a table that has become empty", () => {
  it.scoped("causes a warning until it has records again, and is rejected only if the options say so", () =>
    Effect.gen(function* () {
      const { fetch, objects, settings } = yield* setUp({})
      const warnings = Effect.map(fetch, ({ warnings }) => textsOf(warnings))
      yield* objects()
      expect(yield* warnings).toBeUndefined()
      yield* objects({ a: 1 })
      expect(yield* warnings).toBeUndefined()
      yield* objects()
      const ofObjects =
        'Table "Objects": it is empty, and had records before. If that is meant, accept it ("vitrine accept")'
      expect(yield* warnings).toEqual([ofObjects])
      yield* settings({})
      expect(yield* warnings).toEqual([ofObjects, ofObjects.replace("Objects", "Settings")])
      yield* objects({ a: 2 })
      yield* settings({ title: "Kept" })
      expect(yield* warnings).toBeUndefined()
    }).pipe(run)
  )
})

describe("the option expect", () => {
  const aType =
    'expected "text", "number", "boolean", "date", "attachments", "file", "list", "any", one of these with "?" behind it, or a schema'
  const issues = (expect: unknown) =>
    Either.match(decode({ ...options, expect }), {
      onLeft: ({ issues }) => issues.map(({ message, path }) => `${path}: ${message}`),
      onRight: () => []
    })

  it("reports each mistake with its place", () => {
    expect(
      issues({
        Objcts: {},
        Objects: { fields: { Title: "txt", Year: 5 }, minRecords: -1, maxVanishing: 2, maxVanish: 1 },
        Settings: { fields: "text" }
      })
    ).toEqual([
      'expect.Objects.maxVanish: there is no such key; known are: "fields", "minRecords", "leaveOut", "maxVanishing"',
      `expect.Objects.fields.Title: ${aType}`,
      `expect.Objects.fields.Year: ${aType}`,
      "expect.Objects.minRecords: expected an integer from 0 (records), got -1",
      "expect.Objects.maxVanishing: expected a number from 0 to 1, the share of the records, got 2",
      'expect.Settings.fields: expected an object with a type for each field, or a schema, got "text"',
      'expect.Objcts: there is no such table in "tables" and "keyValueTables"; known are: Objects, Settings'
    ])
    expect(issues("Objects")).toEqual([
      'expect: expected an object with what is expected of each table, got "Objects"'
    ])
  })

  it("accepts every type, with and without a question mark, and schemas", () => {
    expect(
      issues({
        Objects: { fields: { a: "text", b: "number?", c: Schema.String }, minRecords: 1, maxVanishing: 0.5 },
        Settings: { fields: Schema.Struct({ title: Schema.String }) }
      })
    ).toEqual([])
  })
})
