/**
 * What is different in two documents, parsed or as their bytes.
 */
import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import {
  allIds,
  compareEntry,
  compareFields,
  type Document
} from "../../../src/layers/comparing/compareDocuments.ts"
import { documentOf, readDocument } from "../../../src/layers/comparing/readDocument.ts"
import { savedText, sorted } from "../../../src/layers/sources/sortedJson.ts"

type Fields = Readonly<Record<string, unknown>>
type Records = ReadonlyArray<Fields & { readonly id: string }>

const compare = (before: Document, after: Document) =>
  allIds(before, after).flatMap((id) => Option.toArray(compareEntry(before, after, id)))

const documentOfRecords = (records: Records) => Option.getOrThrow(documentOf(records))
const saved = (value: unknown) => Option.getOrThrow(readDocument(Buffer.from(savedText(value))))

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
const applied = (before: Document, after: Document, old: Records) => {
  const records = new Map<unknown, Fields>(byId(old))
  for (const { after: recent, before: former, change, id } of compare(before, after)) {
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

describe("the difference of two tables", () => {
  it.prop("makes the new one of the old one", [records, records], ([old, recent]) => {
    expect(applied(documentOfRecords(old), documentOfRecords(recent), old)).toEqual(byId(recent))
  })

  it.prop("is the same of their bytes as of what is parsed", [records, records], ([old, recent]) => {
    const parsed = compare(documentOfRecords(old), documentOfRecords(recent))
    expect(compare(saved(old), saved(recent))).toEqual(parsed)
    expect(compare(saved(sorted(old)), documentOfRecords(recent))).toEqual(parsed)
  })

  it.prop("is empty of one with itself, whatever the order of records and fields", [records], ([old]) => {
    const turned = old.toReversed().map((record) => Object.fromEntries(Object.entries(record).toReversed()))
    expect(compare(saved(old), saved(old))).toEqual([])
    expect(compare(saved(old), Option.getOrThrow(documentOf(turned)))).toEqual([])
  })

  it("does not see the links of attachments, and sees their files", () => {
    const record = (url: string, localPath: string) => ({
      id: "rec1",
      picture: [{ id: "att1", url, localPath, thumbnails: { small: { url } } }]
    })
    const before = saved([record("https://one.example/", "attachments/att1/a.png")])
    expect(compare(before, saved([record("https://two.example/", "attachments/att1/a.png")]))).toEqual([])
    expect(compare(before, saved([record("https://one.example/", "attachments/att2/a.png")]))).toMatchObject([
      { id: "rec1", change: "changed" }
    ])
  })
})

describe("a document", () => {
  it("is records with ids of their own, or keys and values", () => {
    for (const text of ["", "{", "1", "null", "[1]", '[{"id":1}]', '[{"id":"a"},{"id":"a"}]', "[\n  {\n"]) {
      expect([text, readDocument(Buffer.from(text))]).toEqual([text, Option.none()])
    }
    expect(saved([]).holds).toBe("records")
    expect(saved({ opening: "10" })).toMatchObject({ holds: "keys", ids: ["opening"] })
  })

  it("is not parsed as a whole where it is saved as tables are: a record is when it is asked for", () => {
    const text = savedText([{ id: "a" }, { id: "b", year: 1 }]).replace('"year": 1', '"year": wrong')
    const document = Option.getOrThrow(readDocument(Buffer.from(text)))
    expect(document.ids).toEqual(["a", "b"])
    expect(document.valueOf("a")).toEqual({ id: "a" })
  })

  it("of another form is parsed up to 16 MiB", () => {
    const text = JSON.stringify([{ id: "a", text: "x".repeat(16 * 1024 * 1024) }])
    expect(readDocument(Buffer.from(text))).toEqual(Option.none())
    expect(Option.isSome(readDocument(Buffer.from(text.slice(0, -100) + text.slice(-3))))).toBe(true)
  })
})
