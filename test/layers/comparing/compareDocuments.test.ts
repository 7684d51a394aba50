/**
 * What is different in two documents, parsed or as their bytes.
 */
import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import { compareBatches, compareFields } from "../../../src/layers/comparing/compareDocuments.ts"
import { parsedTables, savedTables, type Tables } from "../../../src/layers/comparing/readTables.ts"
import { encodeValue } from "../../../src/layers/documents/jsonFile.ts"
import { sorted } from "../../../src/layers/documents/sortedJson.ts"

type Fields = Readonly<Record<string, unknown>>
type Records = ReadonlyArray<Fields & { readonly id: string }>

const changesIn = (tables: Option.Option<Tables>) =>
  [...compareBatches(Option.getOrThrow(tables).batches)].flat()

const bytes = (text: string) => Option.some(Buffer.from(text))

/** The file that a source writes. */
const saved = (value: unknown) => Option.some(Buffer.from(encodeValue(value).encoded))

const compare = (before: Records, after: Records) =>
  changesIn(parsedTables(bytes(JSON.stringify(before)), bytes(JSON.stringify(after))))

const compareSaved = (before: Records, after: Records) => changesIn(savedTables(saved(before), saved(after)))

/** Few names and values, so that records have much in common. */
const value = FastCheck.oneof(
  FastCheck.constantFrom<unknown>(1, 2, "one", null, true, "\n  }", "\u2028 “é”", "[\n  {"),
  FastCheck.array(FastCheck.constantFrom<unknown>(1, "a", { deep: { x: [] } }, {}), { maxLength: 2 })
)
const fields = FastCheck.dictionary(FastCheck.constantFrom("title", "year", "__proto__", "ü", "0"), value)
const records: FastCheck.Arbitrary<Records> = FastCheck.uniqueArray(
  FastCheck.tuple(FastCheck.constantFrom("a", "b", "c", "rec 1", '"', "\n", "__proto__"), fields),
  { selector: ([id]) => id }
).map((all) => all.map(([id, fields]) => Object.assign({ id }, fields)))

const byId = (records: Iterable<Fields>) => new Map([...records].map((record) => [record.id, record]))

/** The old records with the fields that have changed. */
const applied = (old: Records, changes: ReturnType<typeof compare>) => {
  const records = new Map<unknown, Fields>(byId(old))
  for (const { after: recent, before: former, change, id } of changes) {
    if (change === "removed") {
      records.delete(id)
    } else if (change === "added") {
      records.set(id, Object.assign({}, recent))
    } else {
      const changed = new Map(Object.entries({ ...records.get(id) }))
      for (const field of compareFields(former, recent)) {
        if ("to" in field) changed.set(field.field, field.to)
        else changed.delete(field.field)
      }
      records.set(id, Object.fromEntries(changed))
    }
  }
  return records
}

/** Records of one length and many batches, some of which are changed, gone or in another place. */
const manyRecords = FastCheck.tuple(
  FastCheck.array(
    FastCheck.tuple(FastCheck.nat(1999), FastCheck.constantFrom("change", "remove", "insert", "move")),
    {
      maxLength: 6
    }
  ),
  FastCheck.boolean()
).map(([edits, isWide]) => {
  const text = (isWide ? "“é” " : "text ").repeat(40)
  const old = Array.from({ length: 2000 }, (_, index) => ({ id: `rec${index}`, text, year: index }))
  const recent = old.map((record) => ({ ...record }))
  for (const [place, edit] of edits) {
    const record = recent[place % recent.length] ?? { id: "", text, year: 0 }
    if (edit === "change") recent[place % recent.length] = { ...record, year: -1 }
    if (edit === "remove") recent.splice(place % recent.length, 1)
    if (edit === "insert") recent.splice(place, 0, { id: `new${place}-${recent.length}`, text, year: 1 })
    if (edit === "move") recent.unshift(...recent.splice(place % recent.length, 1))
  }
  return [old, recent] as const
})

describe("the difference of two tables", () => {
  it.prop("makes the new one of the old one", [records, records], ([old, recent]) => {
    expect(applied(old, compare(old, recent))).toEqual(byId(recent))
  })

  it.prop("is the same where they are as Vitrine saves them", [records, records], ([old, recent]) => {
    const parsed = compare(old, recent)
    expect(compareSaved(old, recent)).toEqual(parsed)
    expect(changesIn(savedTables(saved(sorted(old)), saved(recent)))).toEqual(parsed)
  })

  it.prop(
    "is the same of tables of many batches, whatever comes in between",
    [manyRecords],
    ([[old, recent]]) => {
      const changes = compareSaved(old, recent)
      expect(applied(old, changes)).toEqual(byId(recent))
      expect(changes.map(({ id }) => id).sort()).toEqual(
        compare(old, recent)
          .map(({ id }) => id)
          .sort()
      )
    },
    { fastCheck: { numRuns: 30 } }
  )

  it.prop("is empty of one with itself, whatever the order of records and fields", [records], ([old]) => {
    const turned = old
      .toReversed()
      .map(({ id, ...fields }) =>
        Object.assign(Object.fromEntries(Object.entries(fields).toReversed()), { id })
      )
    expect(compareSaved(old, old)).toEqual([])
    expect(compareSaved(old, turned)).toEqual([])
    expect(compare(old, turned)).toEqual([])
  })

  it("passes over what is equal in both, without parsing it", () => {
    const text = (year: number) =>
      Option.map(
        saved(
          Array.from({ length: 3000 }, (_, index) => ({
            id: `rec${index}`,
            text: "x".repeat(100),
            ...(index === 2900 ? { year } : {})
          }))
        ),
        (file) => Buffer.from(file.toString().replace("xxx", '"wrong'))
      )
    expect(changesIn(savedTables(text(1), text(2)))).toMatchObject([{ id: "rec2900", change: "changed" }])
  })

  it("does not see the links of attachments, and sees their files", () => {
    const record = (url: string, localPath: string) => ({
      id: "rec1",
      picture: [{ id: "att1", url, localPath, thumbnails: { small: { url } } }]
    })
    const before = record("https://one.example/", "attachments/att1/a.png")
    expect(compareSaved([before], [record("https://two.example/", "attachments/att1/a.png")])).toEqual([])
    expect(compareSaved([before], [record("https://one.example/", "attachments/att2/a.png")])).toMatchObject([
      { id: "rec1", change: "changed" }
    ])
  })
})

describe("a table", () => {
  it("is records with ids of their own, or keys and values", () => {
    for (const text of ["", "{", "1", "null", "[1]", '[{"id":"a"},{"id":"a"}]', "[\n  {\n"]) {
      expect([text, parsedTables(bytes(text), Option.none())]).toEqual([text, Option.none()])
      expect([text, savedTables(bytes(text), Option.none())]).toEqual([text, Option.none()])
    }
    expect(parsedTables(bytes("[]"), bytes("{}"))).toEqual(Option.none())
    expect(changesIn(parsedTables(bytes('{"opening":"10"}'), Option.none()))).toEqual([
      { id: "opening", change: "removed", before: "10" }
    ])
    expect(changesIn(savedTables(saved([]), saved([{ id: "ü" }])))).toEqual([
      { id: "ü", change: "added", after: { id: "ü" } }
    ])
  })

  it("of another form than that of Vitrine is parsed up to 16 MiB", () => {
    const text = (length: number) => bytes(JSON.stringify([{ id: "a", text: "x".repeat(length) }]))
    expect(parsedTables(text(16 * 1024 * 1024), Option.none())).toEqual(Option.none())
    expect(Option.isSome(parsedTables(text(1024 * 1024), Option.none()))).toBe(true)
  })
})

describe("records that are identified by other fields than their id", () => {
  const key = ["documentId", "locale.code"]
  const record = (id: number, documentId: string, code: string, title: string) => ({
    documentId,
    id,
    locale: { code },
    title
  })
  const before = [record(1, "a", "de", "Glocke"), record(2, "a", "en", "Bell"), record(3, "b", "en", "Lamp")]
  const after = [record(7, "b", "en", "Lamp"), record(8, "a", "de", "Glocke"), record(9, "a", "en", "Bells")]

  it("are found again by these", () => {
    for (const tables of [
      savedTables(saved(before), saved(after), key),
      parsedTables(bytes(JSON.stringify(before)), bytes(JSON.stringify(after)), key)
    ]) {
      expect(changesIn(tables).map(({ change, id }) => [id, change])).toEqual([
        ["b/en", "changed"],
        ["a/de", "changed"],
        ["a/en", "changed"]
      ])
    }
  })

  it("are compared as files where one has no such field", () => {
    const tables = parsedTables(bytes(JSON.stringify(before)), bytes(JSON.stringify([{ id: 1 }])), key)
    expect(Option.isNone(tables)).toBe(true)
  })
})
