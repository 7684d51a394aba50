/**
 * The differences of two documents, parsed or as bytes.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { RecordKey } from "../../../src/internal/recordKey.ts"
import { recordChange } from "../../../src/layers/comparing/changeTexts.ts"
import {
  compareFields,
  type EntryChange,
  makeComparison
} from "../../../src/layers/comparing/compareDocuments.ts"
import { NoTable, openTables, tryRead } from "../../../src/layers/comparing/readTables.ts"
import { sorted } from "../../../src/layers/documents/jsonValues.ts"

/** Runs work to its end, and gives the result. The work must not yield. */
const atOnce = <A>(work: Generator<void, A>): A => {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

type Fields = Readonly<Record<string, unknown>>
type Records = ReadonlyArray<Fields & { readonly id: string }>

/** The text of the file that a source writes. */
const saved = (list: ReadonlyArray<unknown>) =>
  list.length === 0 ? "[]\n" : `[\n${list.map((record) => JSON.stringify(sorted(record))).join(",\n")}\n]\n`

/** The text of the file that earlier versions of Vitrine wrote. */
const indented = (list: ReadonlyArray<unknown>) => `${JSON.stringify(list, null, 2)}\n`

/** The changes between two files. */
const changesIn = (before: string, after?: string, key?: RecordKey) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const write = (name: string, text: string) =>
      Effect.as(fs.writeFileString(`${folder}/${name}`, text), `${folder}/${name}`)
    const { batches } = yield* openTables(
      Option.some(yield* write("before.json", before)),
      after === undefined ? Option.none() : Option.some(yield* write("after.json", after)),
      key
    )
    const comparison = makeComparison()
    const changes: Array<EntryChange> = []
    yield* Stream.runForEach(batches, (batch) =>
      Effect.map(
        tryRead(() => comparison.add(batch)),
        (found) => changes.push(...found)
      )
    )
    return [...changes, ...comparison.end()].sort((one, other) => (one.id < other.id ? -1 : 1))
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

/** Compares them as JSON of another form, which is parsed as a whole. */
const compare = (before: Records, after: Records) => changesIn(JSON.stringify(before), JSON.stringify(after))

const compareSaved = (before: Records, after: Records) => changesIn(saved(before), saved(after))

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

/** The old records with the changes applied. */
const applied = (old: Records, changes: ReadonlyArray<EntryChange>) => {
  const records = new Map<unknown, Fields>(byId(old))
  for (const { after: recent, before: former, change, id } of changes) {
    if (change === "removed") {
      records.delete(id)
    } else if (change === "added") {
      records.set(id, Object.assign({}, recent))
    } else {
      const changed = new Map(Object.entries({ ...records.get(id) }))
      for (const field of atOnce(compareFields(former, recent))) {
        if ("to" in field) changed.set(field.field, field.to)
        else changed.delete(field.field)
      }
      records.set(id, Object.fromEntries(changed))
    }
  }
  return records
}

/** Records of one length and many batches, of which some are changed, removed or moved. */
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

/** Few runs: each run writes files. */
const few = { fastCheck: { numRuns: 25 } }

it("a record of many fields is compared in parts of a thousand, between which events go out", () => {
  const wide = (edition: number) =>
    Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field ${index}`, edition]))
  const work = compareFields(wide(1), wide(2))
  let rests = 0
  while (work.next().done !== true) rests++
  expect(rests).toBe(20)
})

describe("the difference of two tables", () => {
  it.effect.prop(
    "turns the old one into the new one, and is the same if they are in the form that Vitrine saves",
    [records, records],
    ([old, recent]) =>
      Effect.gen(function* () {
        const parsed = yield* compare(old, recent)
        expect(applied(old, parsed)).toEqual(byId(recent))
        expect(yield* compareSaved(old, recent)).toEqual(parsed)
        expect(yield* changesIn(indented(old), saved(recent))).toEqual(parsed)
      }),
    few
  )

  it.effect.prop(
    "is the same for tables that are read in many parts",
    [manyRecords],
    ([[old, recent]]) =>
      Effect.gen(function* () {
        const changes = yield* compareSaved(old, recent)
        expect(applied(old, changes)).toEqual(byId(recent))
        expect(changes).toEqual(yield* compare(old, recent))
      }),
    { fastCheck: { numRuns: 6 } }
  )

  it.effect.prop(
    "is empty for the same table in another order of records and fields",
    [records],
    ([old]) =>
      Effect.gen(function* () {
        const turned = old
          .toReversed()
          .map(({ id, ...fields }) =>
            Object.assign(Object.fromEntries(Object.entries(fields).toReversed()), { id })
          )
        expect(yield* compareSaved(old, old)).toEqual([])
        expect(yield* compareSaved(old, turned)).toEqual([])
        expect(yield* compare(old, turned)).toEqual([])
      }),
    few
  )

  it.effect("is found without parsing the parts that are equal", () =>
    Effect.gen(function* () {
      const text = (year: number) =>
        saved(
          Array.from({ length: 3000 }, (_, index) => ({
            id: `rec${index}`,
            text: "x".repeat(100),
            ...(index === 2900 ? { year } : {})
          }))
        ).replace("xxx", '"wrong')
      expect(yield* changesIn(text(1), text(2))).toMatchObject([{ id: "rec2900", change: "changed" }])
    })
  )

  it.effect("ignores the links of attachments, and compares their files", () =>
    Effect.gen(function* () {
      const record = (url: string, localPath: string) => ({
        id: "rec1",
        picture: [{ id: "att1", filename: "a.png", url, localPath, thumbnails: { small: { url } } }]
      })
      const before = record("https://one.example/", "attachments/att1/a.png")
      expect(
        yield* compareSaved([before], [record("https://two.example/", "attachments/att1/a.png")])
      ).toEqual([])
      expect(
        yield* compareSaved([before], [record("https://one.example/", "attachments/att2/a.png")])
      ).toMatchObject([{ id: "rec1", change: "changed" }])
    })
  )

  it.effect("shows the other fields of a record or an object that has a file", () =>
    Effect.gen(function* () {
      const localPath = "media/a-0123456789abcdef.png"
      const url = "https://one.example/a.png"
      const bell = { id: "1", localPath, url, title: "Bell" }
      const lamp = { id: "2", cover: { alternativeText: "A lamp", localPath, url } }
      const gong = { ...bell, title: "Gong" }
      const other = { id: "2", cover: { ...lamp.cover, alternativeText: "A light" } }
      expect(yield* compareSaved([bell, lamp], [gong, other])).toMatchObject([
        { id: "1", change: "changed" },
        { id: "2", change: "changed" }
      ])
      expect(atOnce(compareFields(bell, gong))).toEqual([{ field: "title", from: "Bell", to: "Gong" }])
      expect(
        atOnce(recordChange("records", { id: "2", change: "changed", before: lamp, after: other }))
      ).toEqual({
        id: "2",
        change: "changed",
        fields: [
          { field: "cover", from: expect.stringContaining("A lamp"), to: expect.stringContaining("A light") }
        ]
      })
    })
  )

  it.effect("ignores the signatures of links", () =>
    Effect.gen(function* () {
      const record = (signature: string, title: string) => ({
        id: "1",
        image: `https://one.example/a.png?X-Amz-Date=1&X-Amz-Signature=${signature}&v=2`,
        title
      })
      expect(yield* compareSaved([record("1", "Bell")], [record("2", "Bell")])).toEqual([])
      expect(atOnce(compareFields(record("1", "Bell"), record("2", "Gong")))).toEqual([
        { field: "title", from: "Bell", to: "Gong" }
      ])
    })
  )

  it("shows two values of a field whose files have the same path", () => {
    const picture = (width: number) => [
      { filename: "a.png", id: "att1", localPath: "attachments/att1/a.png", width }
    ]
    const change = recordChange("records", {
      id: "rec1",
      change: "changed",
      before: { picture: picture(0) },
      after: { picture: picture(800) }
    })
    expect(atOnce(change)).toMatchObject({
      fields: [
        { field: "picture", from: expect.stringContaining('"width":0'), to: expect.stringContaining("800") }
      ]
    })
  })
})

describe("a table", () => {
  it.effect("has records with unique ids, or keys and values", () =>
    Effect.gen(function* () {
      const twice = '[{"id":"a"},{"id":"a","year":1}]'
      for (const text of [
        "",
        "{",
        "1",
        "null",
        "[1]",
        twice,
        "[\n  {\n",
        '[\n{"id":"a"}',
        '[\n{"id":"a"\n]\n'
      ]) {
        expect([text, yield* Effect.flip(changesIn(text))]).toEqual([text, expect.any(NoTable)])
      }
      expect(yield* Effect.flip(changesIn("[]", "{}"))).toBeInstanceOf(NoTable)
      expect(yield* changesIn('{"opening":"10"}')).toEqual([
        { id: "opening", change: "removed", before: "10" }
      ])
      expect(yield* changesIn(saved([]), saved([{ id: "ü" }]))).toEqual([
        { id: "ü", change: "added", after: { id: "ü" } }
      ])
    })
  )
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

  it.effect("are matched by these", () =>
    Effect.gen(function* () {
      for (const changes of [
        yield* changesIn(saved(before), saved(after), key),
        yield* changesIn(JSON.stringify(before), JSON.stringify(after), key)
      ]) {
        expect(changes.map(({ change, id }) => [id, change])).toEqual([
          ["a/de", "changed"],
          ["a/en", "changed"],
          ["b/en", "changed"]
        ])
      }
    })
  )

  it.effect("are compared as files if one lacks these fields", () =>
    Effect.gen(function* () {
      const changes = changesIn(JSON.stringify(before), JSON.stringify([{ id: 1 }]), key)
      expect(yield* Effect.flip(changes)).toBeInstanceOf(NoTable)
    })
  )
})
